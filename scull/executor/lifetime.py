"""How long values live: when each temporary is dropped, or kept only as a shape.

A run in the plan's order follows the sequential map, from steps to what they drop. A run in any
order counts: a value goes when the last users of it that no other user follows are done.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scull.core.meta import count
from scull.core.tensor import stub
from scull.executor.alias import shape_readers
from scull.executor.dependency import Graph
from scull.executor.instruction import Instruction, first_of
from scull.ir.variable import Variable

SMALL = 1024  # elements of a value that may stay although only its shape is still needed


def last_uses(instructions: Sequence[Instruction], kept: Iterable[int]) -> list[tuple[int, ...]]:
    """For every instruction the slots nobody reads before they get a new value, if they do.

    Those in `kept` live on.
    """
    last: dict[int, int] = {}
    frees: list[list[int]] = [[] for _ in instructions]
    for i, step in enumerate(instructions):
        for slot in step.writes:
            if slot in last and slot not in step.reads:
                frees[last[slot]].append(slot)
        for slot in (*step.writes, *step.reads):
            last[slot] = i
    for slot, i in last.items():
        frees[i].append(slot)
    keep = set(kept)
    return [tuple(sorted(set(f) - keep)) for f in frees]


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


@dataclass
class Uses:
    """The instructions that use one value: its elements, or its shape alone."""

    slot: Any
    users: list[int] = field(default_factory=list)
    shapes: list[int] = field(default_factory=list)
    replaced: bool = False  # by its last user: it goes by that


@dataclass(frozen=True)
class Lifetime:
    """When one value goes, in whatever order the instructions run."""

    slot: Any  # of a frame; where there are several, which and its slot
    users: tuple[int, ...]  # who makes, reads or overwrites it
    last: tuple[int, ...]  # those of `users` that no other follows; none: it goes at once
    keeps_shape: bool  # whether somebody may still look at its shape then

    def __str__(self) -> str:
        users, last = (" ".join(map(str, found)) for found in (self.users, self.last))
        text = f"{users} -> {last}" if users else "at once"
        return text + ", its shape stays" * self.keeps_shape


def lifetimes(
    instructions: Sequence[Any], graph: Graph, kept: Iterable[Any]
) -> tuple[Lifetime, ...]:
    """The lifetime of every value but of those in `kept`, in the order of their first use.

    Of what reads, fills and looks at the shapes of slots: instructions, or tasks.
    """
    keep = set(kept)
    found = (u for u in uses(instructions) if u.slot not in keep and not u.replaced)
    return tuple(lifetime(use, graph) for use in found)


def uses(instructions: Sequence[Any]) -> list[Uses]:
    """Who uses each value; a slot that gets a new one holds several by turns."""
    found: list[Uses] = []
    current: dict[Any, Uses] = {}

    def opened(slot: Any) -> Uses:
        current[slot] = Uses(slot)
        found.append(current[slot])
        return current[slot]

    for i, step in enumerate(instructions):
        for slot in dict.fromkeys(step.reads):
            use = current.get(slot) or opened(slot)
            (use.shapes if slot in step.shapes else use.users).append(i)
        for slot in step.writes:
            old = current.get(slot)
            if old is not None:
                old.replaced = i in (*old.users[-1:], *old.shapes[-1:])
            opened(slot).users.append(i)
    return found


def lifetime(use: Uses, graph: Graph) -> Lifetime:
    """The last users of a value: those that happen before no other user."""
    followed = done = 0
    for i in use.users:
        followed |= graph.before[i]
    last = tuple(i for i in use.users if not followed >> i & 1)
    for i in last:
        done |= graph.before[i] | 1 << i
    return Lifetime(use.slot, tuple(use.users), last, any(not done >> i & 1 for i in use.shapes))
