"""What blocks reach for outside them."""

from collections.abc import Iterator
from typing import Any

from scull.ir.operator import Operator
from scull.ir.variable import Variable


def within(block: Any) -> Iterator[Operator]:
    """The operators of `block` and of the blocks in it."""
    for o in block.ops:
        yield o
        for inner in o.blocks():
            yield from within(inner)


def blocks_within(block: Any) -> Iterator[Any]:
    """`block` and the blocks in it."""
    yield block
    for o in block.ops:
        for inner in o.blocks():
            yield from blocks_within(inner)


def changed(block: Any) -> dict[Variable, None]:
    """The variables around `block` that get a value within it, in order."""
    own = set(blocks_within(block))
    return {v: None for o in within(block) for v in o.results() if v.block not in own}


def read(block: Any) -> dict[Variable, None]:
    """The variables around `block` whose values operators without blocks read within it."""
    own = set(blocks_within(block))
    plain = (o for o in within(block) if not o.op.has_blocks)
    return {v: None for o in plain for v in o.operands() if v.block not in own}
