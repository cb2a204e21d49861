"""The operators of a Program that nobody declared: which, how many, and where the first stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scull.errors import UnknownOpError
from scull.ir.block import Block
from scull.ir.operator import ForeignOp, Operator

FRAME = re.compile(r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+)')
EDGES = ("feed", "fetch", "fetch_v2")  # they only say what goes in and out
LEVELLED = re.compile(r"(lstmp$|sequence_)")
LIBRARY = re.compile(r"[/\\](paddle|scull)[/\\]")


@dataclass(frozen=True)
class Lacking:
    """Operators of one type that nobody declared."""

    type: str
    count: int
    place: str  # of the first: a line of the user's, else where it stands in the Program

    def __str__(self) -> str:
        many = "1 operator" if self.count == 1 else f"{self.count} operators, the first"
        return f"no operator of type `{self.type}` is declared: {many} at {self.place}"


def check_declared(block: Any) -> None:
    """Raise UnknownOpError with all types that nobody declared, in `block` and what it owns."""
    found = lacking(block)
    lines = [*map(str, found), *advice(found)]
    if len(found) > 1:
        total = sum(one.count for one in found)
        lines = [f"{total} operators of {len(found)} types cannot run", *lines]
    if found:
        raise UnknownOpError("\n".join(lines))


def advice(found: list[Lacking]) -> Iterator[str]:
    """What to do about operators that go step by step through sequences of several lengths."""
    types = [f"`{one.type}`" for one in found if LEVELLED.match(one.type)]
    if types:
        yield (
            f"{', '.join(types)}: networks written step by step over rows of several lengths "
            "(projected LSTM) are not computed here. Save the model with padded rows "
            "and their lengths: `paddle.nn.LSTM`, `sequence_mask`"
        )


def lacking(block: Any) -> list[Lacking]:
    """The types that nobody declared, by how many operators there are of each."""
    places: dict[str, list[str]] = {}
    for owner, place, o in inside(block):
        if isinstance(o.op, ForeignOp) and o.type not in EDGES:
            where = line_of(o) or f"block {owner.idx}, operator {place}"
            places.setdefault(o.type, []).append(where)
    found = [Lacking(type, len(where), where[0]) for type, where in places.items()]
    return sorted(found, key=lambda one: (-one.count, one.type))


def inside(block: Any) -> Iterator[tuple[Any, int, Operator]]:
    """The operators of a block and of the blocks they own, each with its block and its place."""
    waiting, met = [block], {block}
    while waiting:
        owner = waiting.pop(0)
        for place, o in enumerate(owner.ops):
            yield owner, place, o
            own = [b for b in dict.fromkeys(owned(o)) if b not in met]
            waiting += own
            met.update(own)


def owned(o: Operator) -> list[Block]:
    """The sub-blocks of an operator, of one that nobody declared as well."""
    given = [v if isinstance(v, list) else [v] for v in o.extra.values()]
    return [*o.blocks(), *(v for values in given for v in values if isinstance(v, Block))]


def line_of(o: Operator) -> str:
    """The line of the user that made an operator, as far as the Program tells."""
    if o.line:
        return str(o.line)
    frames = list(filter(None, map(FRAME.match, o.extra.get("op_callstack", ()))))
    own = [f for f in frames if not LIBRARY.search(f["file"])] or frames
    return f"{own[-1]['file']}:{own[-1]['line']}" if own else ""
