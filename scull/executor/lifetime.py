"""How long values live: when each temporary is dropped, or kept only as a shape."""

from collections.abc import Iterable

from scull.core.meta import count
from scull.core.tensor import stub
from scull.executor.instruction import Instruction, first_of
from scull.ir.operator import Operator
from scull.ir.variable import Variable

SMALL = 1024  # elements of a value that may stay although only its shape is still needed


def last_uses(instructions: list[Instruction], kept: Iterable[int]) -> list[tuple[int, ...]]:
    """For every instruction the slots nobody reads after it; those in `kept` live on."""
    last: dict[int, int] = {}
    for i, step in enumerate(instructions):
        for slot in (*step.writes, *step.reads):
            last[slot] = i
    keep = set(kept)
    frees: list[list[int]] = [[] for _ in instructions]
    for slot, i in last.items():
        if slot not in keep:
            frees[i].append(slot)
    return [tuple(sorted(f)) for f in frees]


def shape_readers(operator: Operator) -> set[Variable]:
    """The operands of which the operator looks at the shape only."""
    op = operator.op
    shapes, values = set[Variable](), set[Variable]()
    for name, slot in zip(op.inputs, operator.inputs, strict=True):
        found = {v for v in (slot if isinstance(slot, list) else [slot]) if isinstance(v, Variable)}
        (shapes if name in op.shape_only else values).update(found)
    return shapes - values


def shrunk(
    steps: list[Instruction], slots: dict[Variable, int], kept: set[int]
) -> list[Instruction]:
    """`steps` with one more after the last read of a large value whose shape is needed later."""
    last_value: dict[Variable, int] = {}
    last_shape: dict[Variable, int] = {}
    for i, step in enumerate(steps):
        shapes = shape_readers(step.operator)
        for v in (*step.operator.operands(), *step.operator.results()):
            (last_shape if v in shapes else last_value)[v] = i
    after: dict[int, list[Variable]] = {}
    for v, i in last_shape.items():
        done = last_value.get(v, -1)
        size = count(v.meta.shape)
        if done < i and slots[v] not in kept and (size == -1 or size > SMALL):
            after.setdefault(done, []).append(v)
    result: list[Instruction] = []
    for i in range(-1, len(steps)):
        if i >= 0:
            result.append(steps[i])
        for v in after.get(i, ()):
            at, slot = steps[max(i, 0)].operator, slots[v]
            result.append(
                Instruction(at, stub, first_of(slot), slot, (slot,), (slot,), is_shape=True)
            )
    return result
