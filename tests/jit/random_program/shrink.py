"""Smaller sources that fail as a large one does."""

import ast
import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

BLOCKS = ("body", "orelse", "finalbody")


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    """The smallest source that still fails and that deleting finds; `text` fails."""
    start = 0
    while True:
        smaller = list(smaller_texts(text))
        order = [*smaller[start:], *smaller[:start]]
        found = next((i for i, small in enumerate(order) if fails(small)), None)
        if found is None:
            return text
        start = (start + found) % len(smaller)
        text = order[found]


def smaller_texts(text: str) -> Iterator[str]:
    """The sources that one deletion makes; what removes most comes first."""
    tree = ast.parse(text)
    for changes in (without_statements, opened, without_else, parts_of_expressions):
        for at, node in enumerate(ast.walk(tree)):
            for way in range(len(changes(node))):
                other = copy.deepcopy(tree)
                same = next(islice(ast.walk(other), at, None))
                changes(same)[way]()
                yield ast.unparse(other) + "\n"


Changes = list[Callable[[], None]]


def blocks(node: Any) -> list[list[ast.stmt]]:
    """The blocks that a node owns."""
    return [b for field in BLOCKS if isinstance(b := getattr(node, field, None), list)]


def replace(block: list[ast.stmt], at: int, statements: list[ast.stmt]) -> None:
    """Put other statements into the place of one."""
    block[at : at + 1] = statements
    if not block:
        block.append(ast.Pass())


def without_statements(node: Any) -> Changes:
    """One statement less."""
    return [
        partial(replace, block, i, [])
        for block in blocks(node)
        for i, statement in enumerate(block)
        if not isinstance(statement, ast.Pass)
    ]


def opened(node: Any) -> Changes:
    """What a statement holds in its place."""
    return [
        partial(replace, block, i, held)
        for block in blocks(node)
        for i, statement in enumerate(block)
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for held in blocks(statement)
        if held
    ]


def without_else(node: Any) -> Changes:
    """A statement without its `else`."""
    held = getattr(node, "orelse", None)
    return [held.clear] if isinstance(held, list) and held else []


def parts_of_expressions(node: Any) -> Changes:
    """A part of an expression in its place."""
    return [
        partial(setattr, node, field, part)
        for field, value in ast.iter_fields(node)
        for part in parts(value)
    ]


def parts(value: Any) -> list[Any]:
    """What may stand in the place of an expression."""
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    if isinstance(value, ast.BoolOp):
        return value.values
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.UnaryOp):
        return [value.operand]
    return value.args if isinstance(value, ast.Call) else []
