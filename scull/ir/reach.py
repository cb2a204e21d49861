"""What blocks reach for outside them."""

from collections.abc import Iterator
from typing import Any

from scull.ir.operator import Operator, each
from scull.ir.variable import Variable


def within(block: Any) -> Iterator[Operator]:
    """The operators of `block` and of the blocks in it."""
    waiting = [iter(block.ops)]
    while waiting:
        o = next(waiting[-1], None)
        if o is None:
            waiting.pop()
            continue
        yield o
        if o.op.has_blocks:
            waiting.extend(iter(inner.ops) for inner in reversed([*o.blocks()]))


def blocks_within(block: Any) -> Iterator[Any]:
    """`block` and the blocks in it."""
    yield block
    for o in within(block):
        yield from o.blocks()


def changed(block: Any) -> dict[Variable, None]:
    """The variables around `block` that get a value within it, in order."""
    own = set(blocks_within(block))
    return {v: None for o in within(block) for v in o.results() if v.block not in own}


def read(block: Any) -> dict[Variable, None]:
    """The variables around `block` whose values operators without blocks read within it."""
    own = set(blocks_within(block))
    plain = (o for o in within(block) if not o.op.has_blocks)
    return {v: None for o in plain for v in o.operands() if v.block not in own}


def reads_and_writes(block: Any) -> tuple[list[Variable], list[Variable]]:
    """The variables around `block` that it reads before it writes them, and those it writes."""
    reads: dict[Variable, None] = {}
    writes: dict[Variable, None] = {}
    for o in block.ops:
        reads.update((v, None) for v in o.operands() if v not in writes)
        writes.update((v, None) for v in o.results())
    return [v for v in reads if v.block is not block], [v for v in writes if v.block is not block]


# ---- gradients of operators with blocks ----


def results_of(o: Operator) -> dict[Variable, Variable]:
    """The variables whose gradients an operator computes, and those gradients."""
    name = "input" if o.type == "conditional_block_grad" else "x"
    pairs = zip(o.inputs[o.op.inputs.index(name)], o.outputs[0], strict=False)
    return {v: d for v, d in pairs if d is not None}


def seeds_of(o: Operator) -> tuple[tuple[Variable, Variable], ...]:
    """The gradients that the gradient of a loop is given, and what its block calls them."""
    (into,), names = o.blocks(), o.attrs["original_output_grad"]
    pairs = zip(each(o.inputs[o.op.inputs.index("dout")]), names, strict=False)
    return tuple((d, inside) for d, name in pairs if (inside := into.find(name)) is not None)


def inner_gradients(o: Operator) -> dict[Variable, Variable]:
    """For each variable whose gradient is computed what its block calls that gradient."""
    (into,) = o.blocks()
    return {v: d for v in results_of(o) if (d := into.find(v.name + "@GRAD")) is not None}
