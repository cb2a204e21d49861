"""Values of the forward pass made again in the backward pass, so that they need not be kept."""

from typing import Any

from scull.core import session
from scull.core.dtype import int32
from scull.core.meta import Meta
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.block import Block
from scull.ir.clone import copied_operator, copied_variable
from scull.ir.operator import Operator
from scull.ir.variable import Variable

BACKWARD = 1
Segment = tuple[int, list[Operator]]  # its place among the segments from behind, its operators


def checkpoint_names(checkpoints: Any) -> list[str]:
    """The names of variables given as themselves or by name."""
    if not isinstance(checkpoints, list | tuple):
        raise ArgumentTypeError(f"checkpoints is a list, not {type(checkpoints).__name__}")
    for v in checkpoints:
        if not isinstance(v, Variable | str):
            raise ArgumentTypeError("checkpoints holds variables or names")
    return [v if isinstance(v, str) else v.name for v in checkpoints]


def recompute(block: Block, checkpoints: Any) -> None:
    """Let the gradient operators of `block` read copies, made from the `checkpoints` on.

    Between two checkpoints nothing but they is kept for the backward pass, except for the results
    of operators that must not run twice: those draw, act outside or change what they read.
    """
    held = set(checkpoint_names(checkpoints))
    for name in held:
        if block.find(name) is None:
            raise ArgumentError(f"the Program has no variable `{name}` to be a checkpoint")
    forward = [o for o in block.ops if not o.role & BACKWARD]
    written: dict[Variable, int] = {}
    for o in forward:
        for v in o.results():
            written[v] = written.get(v, 0) + 1
    for number, operators in segments(forward, held):
        for o in operators:
            give_seed(block, o)
        inside = set(operators)
        outer = {v for o in forward if o not in inside for v in o.operands()}
        kept = {v for v in written if v.name in held or v.persistable or v in outer}
        again = chosen(block, operators, kept, written)
        if again:
            replay(block, again, kept, f".subprog_{number}")


def segments(forward: list[Operator], held: set[str]) -> list[Segment]:
    """The operators between each two checkpoints, the last first; before one checkpoint alone."""
    places = dict.fromkeys(held, -1)
    for i, o in enumerate(forward):
        places.update((v.name, i) for v in o.results() if v.name in held)
    ends = sorted(places.values())
    starts = [-1] if len(ends) == 1 else ends[:-1]
    pairs = list(zip(starts, ends[len(ends) - len(starts) :], strict=True))
    return [(n, forward[a + 1 : b + 1]) for n, (a, b) in enumerate(reversed(pairs))]


def give_seed(block: Block, o: Operator) -> None:
    """Let a dropout draw from a seed of its own, so that it drops the same a second time."""
    if o.type != "dropout" or o.input("Seed") or o.attrs["is_test"]:
        return
    name = session.unique_name("rc_seed")
    made = block.variable(name, Meta((1,), int32), stop_gradient=True)
    seed = block.made("seed", {}, {"Out": [made]}, {"seed": o.attrs["seed"]})
    seed.role, seed.line, seed.namescope, seed.device = o.role, o.line, o.namescope, o.device
    block.insert(block.ops.index(o), seed)
    place = o.op.inputs.index("seed_tensor")
    o.inputs = (*o.inputs[:place], made, *o.inputs[place + 1 :])


def repeats(o: Operator, written: dict[Variable, int]) -> bool:
    """Whether an operator gives the same results when it runs again later."""
    acts = o.op.effects - ({"random"} if o.type == "dropout" else set())
    touched = [*o.operands(), *o.results()]
    once = all(written.get(v, 0) <= 1 for v in touched)
    lasting = any(v.persistable for v in o.results())
    return once and not (acts or lasting or o.op.in_place or o.op.has_blocks)


def chosen(
    block: Block, operators: list[Operator], kept: set[Variable], written: dict[Variable, int]
) -> list[Operator]:
    """The operators of a segment that make again what gradients read, in order."""
    needed = {v for o in block.ops if o.role & BACKWARD for v in o.operands()} - kept
    found: list[Operator] = []
    for o in reversed(operators):
        if repeats(o, written) and needed & set(o.results()):
            found.append(o)
            needed |= set(o.operands()) - kept
    return found[::-1]


def replay(block: Block, again: list[Operator], kept: set[Variable], suffix: str) -> None:
    """Run operators again before the first gradient operator that reads what they make."""
    twins: dict[Variable, Variable] = {}
    for o in again:
        for v in o.results():
            twins[v] = copied_variable(v, block)
            twins[v].name += suffix
            block.add(twins[v])
    replaced = {v: twin for v, twin in twins.items() if v not in kept}
    readers = [o for o in block.ops if o.role & BACKWARD and set(o.operands()) & set(replaced)]
    place = block.ops.index(readers[0])
    for o in readers:
        o.inputs = tuple(exchanged(slot, replaced) for slot in o.inputs)
    for i, o in enumerate(again):
        around = {v: v for v in o.operands()} | replaced | {v: twins[v] for v in o.results()}
        made = copied_operator(o, block, around)
        made.role = BACKWARD
        block.insert(place + i, made)


def exchanged(slot: Any, twins: dict[Variable, Variable]) -> Any:
    """A slot with some variables replaced."""
    if isinstance(slot, list | tuple):
        return [exchanged(v, twins) for v in slot]
    return twins.get(slot, slot)
