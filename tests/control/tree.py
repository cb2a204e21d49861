"""Programs with control flow, as trees: what source text and Programs are both written from.

A program is a `forward` over an input `x` (three numbers), a matrix `y` of two rows, and a whole
number `n`. Its variables are the vectors `a`, `b`, `c`, `d`, the matrix `m`, the scalar `s`, and a
list `items` of vectors. Expressions are Python text, that means the same in both. Those that draw
random numbers are for `d`, which no other loses: a Program does not draw what nobody asks for.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

RESULTS = ("a", "b", "c", "d", "m", "s")
LIST = "items"


@dataclass(frozen=True)
class Leaf:
    """A condition told by an expression."""

    text: str


@dataclass(frozen=True)
class Both:
    """Two conditions hold."""

    left: "Test"
    right: "Test"


@dataclass(frozen=True)
class Either:
    """One of two conditions holds, or both."""

    left: "Test"
    right: "Test"


@dataclass(frozen=True)
class Denied:
    """A condition does not hold."""

    test: "Test"


Test = Leaf | Both | Either | Denied


@dataclass(frozen=True)
class Set:
    """A variable gets the value of an expression."""

    target: str
    text: str


@dataclass(frozen=True)
class Append:
    """The list gets one more vector."""

    text: str


@dataclass(frozen=True)
class Store:
    """The list gets another vector at a place."""

    index: str
    text: str


@dataclass(frozen=True)
class Pop:
    """A variable gets the last vector of the list, which loses it unless it is the only one."""

    target: str


@dataclass(frozen=True)
class Break:
    """The loop ends."""


@dataclass(frozen=True)
class Continue:
    """The round ends."""


@dataclass(frozen=True)
class Return:
    """The function ends."""


@dataclass(frozen=True)
class If:
    """The first branch whose test holds; `form` says by which functions a Program tells it."""

    branches: tuple[tuple[Test, "Block"], ...]
    otherwise: "Block"
    form: str  # "results" of functions, or "writes" of blocks


@dataclass(frozen=True)
class While:
    """Rounds as long as a test holds, `limit` at most, counted from 1 on."""

    counter: str
    limit: int
    test: Test
    body: "Block"
    form: str  # a "function" of what is carried, or a "block" that overwrites it


@dataclass(frozen=True)
class For:
    """Rounds counted from 0 on; `bound` is an expression."""

    counter: str
    bound: str
    body: "Block"
    form: str


@dataclass(frozen=True)
class Text:
    """Lines that only Python has, not one of the Programs."""

    lines: tuple[str, ...]


Statement = Set | Append | Store | Pop | Break | Continue | Return | If | While | For | Text
Block = tuple[Statement, ...]
LOOPS = (While, For)


@dataclass(frozen=True)
class Tree:
    """A program: how its variables begin, then its statements."""

    start: Block
    body: Block


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks that a statement owns."""
    if isinstance(statement, If):
        return (*(block for _, block in statement.branches), statement.otherwise)
    return (statement.body,) if isinstance(statement, LOOPS) else ()


def with_blocks(statement: Statement, blocks: tuple[Block, ...]) -> Statement:
    """`statement` with other blocks."""
    if isinstance(statement, If):
        tests = [test for test, _ in statement.branches]
        branches = tuple(zip(tests, blocks[:-1], strict=True))
        return replace(statement, branches=branches, otherwise=blocks[-1])
    assert isinstance(statement, LOOPS)
    return replace(statement, body=blocks[0])


def within(block: Block) -> Iterator[Statement]:
    """The statements of a block and of the blocks in it."""
    for statement in block:
        yield statement
        for inner in blocks_of(statement):
            yield from within(inner)


def has(block: Block, kind: type) -> bool:
    """Whether such a statement stands in a block."""
    return any(isinstance(s, kind) for s in within(block))


def jumps(statement: Statement, loop: str) -> set[str]:
    """The flags that a statement of the loop with the counter `loop` may raise."""
    if isinstance(statement, Break):
        return {f"broke_{loop}"}
    if isinstance(statement, Continue):
        return {f"skipped_{loop}"}
    if isinstance(statement, Return):
        return {"returned"}
    inner = statement.counter if isinstance(statement, LOOPS) else loop
    found: set[str] = set()
    for block in blocks_of(statement):
        found |= raised(block, inner)
    return found & {"returned"} if isinstance(statement, LOOPS) else found


def raised(block: Block, loop: str) -> set[str]:
    """The flags that a block of a loop may raise."""
    return set().union(*(jumps(s, loop) for s in block))


def written(block: Block, loop: str) -> list[str]:
    """The variables and flags that a block sets, in order."""
    names: dict[str, None] = {}
    for s in block:
        if isinstance(s, Set | Pop):
            names[s.target] = None
        if isinstance(s, Append | Store | Pop):
            names[LIST] = None
        inner = s.counter if isinstance(s, LOOPS) else loop
        for owned in blocks_of(s):
            outside = [n for n in written(owned, inner) if not n.endswith(f"_{inner}")]
            names.update(dict.fromkeys(outside))
        names.update(dict.fromkeys(sorted(jumps(s, loop))))
    return list(names)


def tests_of(statement: Statement) -> Iterator[Test]:
    """The conditions a statement asks for, and those they are made of."""
    found: list[Test] = []
    if isinstance(statement, If):
        found = [test for test, _ in statement.branches]
    elif isinstance(statement, While):
        found = [statement.test]
    while found:
        test = found.pop()
        yield test
        parts: list[Any] = [getattr(test, f.name) for f in fields(test)]
        found += [part for part in parts if not isinstance(part, str)]
