"""A tree as Python source: a Layer whose `forward` is what a user would write."""

import linecache
import textwrap
from collections.abc import Iterator
from itertools import count
from typing import Any

import scull as paddle
from tests.control.tree import (
    LIST,
    RESULTS,
    Append,
    Block,
    Both,
    Break,
    Continue,
    Denied,
    Either,
    For,
    If,
    Leaf,
    Pop,
    Return,
    Set,
    Statement,
    Store,
    Test,
    Text,
    Tree,
    While,
)

HEAD = """class Model(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 3], dtype="float64")
        self.scale = self.create_parameter([3], dtype="float64")

    def forward(self, x, y, n):
"""
DEPTH = {
    Leaf: 3,
    Denied: 2,
    Both: 1,
    Either: 0,
}  # how closely the parts of a condition hang together
RESULT = f"return {', '.join(RESULTS)}"
numbers = count()


def source(tree: Tree) -> str:
    """The text of the Layer."""
    body = [*lines(tree.start), *lines(tree.body), RESULT]
    return HEAD + textwrap.indent("\n".join(body), " " * 8) + "\n"


def model_of(tree: Tree) -> Any:
    """The class that the source declares; its text can be found by `inspect`."""
    name, text = f"<program {next(numbers)}>", source(tree)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"paddle": paddle, "__name__": "tests.control"}
    exec(compile(text, name, "exec"), names)
    return names["Model"]


def lines(block: Block) -> Iterator[str]:
    """The lines of a block."""
    for statement in block:
        yield from LINES[type(statement)](statement)


def inner(block: Block) -> Iterator[str]:
    """The lines of a block within a statement."""
    yield from ("    " + line for line in lines(block) or ())
    if not block:
        yield "    pass"


def if_lines(statement: If) -> Iterator[str]:
    word = "if"
    for test, block in statement.branches:
        yield f"{word} {condition(test)}:"
        yield from inner(block)
        word = "elif"
    if statement.otherwise:
        yield "else:"
        yield from inner(statement.otherwise)


def while_lines(statement: While) -> Iterator[str]:
    counter = statement.counter
    bound = Leaf(f"{counter} < {statement.limit}")
    yield f"{counter} = 0"
    yield f"while {condition(Both(bound, statement.test))}:"
    yield f"    {counter} = {counter} + 1"
    yield from inner(statement.body)


def for_lines(statement: For) -> Iterator[str]:
    yield f"for {statement.counter} in range({statement.bound}):"
    yield from inner(statement.body)


def pop_lines(statement: Pop) -> Iterator[str]:
    yield f"{statement.target} = {LIST}[-1]"
    yield f"if len({LIST}) > 1:"
    yield f"    {LIST}.pop()"


LINES: dict[type[Statement], Any] = {
    Set: lambda s: [f"{s.target} = {s.text}"],
    Append: lambda s: [f"{LIST}.append({s.text})"],
    Store: lambda s: [f"{LIST}[{s.index}] = {s.text}"],
    Pop: pop_lines,
    Break: lambda s: ["break"],
    Continue: lambda s: ["continue"],
    Return: lambda s: [RESULT],
    If: if_lines,
    While: while_lines,
    For: for_lines,
    Text: lambda s: s.lines,
}


def condition(test: Test) -> str:
    """The text of a condition."""
    if isinstance(test, Leaf):
        return test.text
    if isinstance(test, Denied):
        return f"not {part(test.test, test)}"
    word = "and" if isinstance(test, Both) else "or"
    return f"{part(test.left, test)} {word} {part(test.right, test)}"


def part(test: Test, around: Test) -> str:
    """The text of a condition within another."""
    text = condition(test)
    return text if DEPTH[type(test)] > DEPTH[type(around)] else f"({text})"
