"""Values that only one side of a branch makes, where operators of both sides read them."""

from typing import TYPE_CHECKING

from scull.core.op import op_of
from scull.ir.operator import Operator, each
from scull.ir.variable import Variable
from scull.passes.constant import zero_of
from scull.passes.place import Guard, Place, Side, denied

if TYPE_CHECKING:
    from scull.passes.dataflow import Lowering


def is_doubtful(to: "Lowering", place: Place | None, x: Variable) -> bool:
    """Whether `x` may have no value at `place`."""
    if x not in to.perhaps:
        return False
    while isinstance(place, Side) and place.guard != to.perhaps[x]:
        place = place.around
    return not isinstance(place, Side)


def refuse_doubt(to: "Lowering", place: Place, x: Variable, what: str) -> None:
    """Refuse a value that may be dead where a loop needs one."""
    if is_doubtful(to, place, x):
        raise to.refused(f"`{x.name}` {what} and only one branch gives it a value")


def guard_of(to: "Lowering", x: Variable) -> Guard:
    """What must hold for `x`, which may be dead where it stands, to be alive."""
    guard = to.perhaps[x]
    if guard is None:
        raise to.refused(f"`{x.name}` may have no value, in more than one case")
    return guard


def nothing_at(to: "Lowering", place: Place, guard: Guard) -> Variable:
    """Any value, alive at `place` where a guard holds."""
    return to.switched(place, to.from_root(place, zero_of(to)), guard)


def is_of(to: "Lowering", place: Place | None, v: Variable, ran: Side, side: Side) -> bool:
    """Whether `v` has a value only where a branch ran, whose gradient is that `side`."""
    while place is not None:
        if v in place.values:
            return to.perhaps.get(place.values[v], ()) == side.guard
        if v in place.recalls:
            return to.perhaps.get(place.recalls[v][0], ()) == ran.guard
        place = place.around
    return False


def write_sum(to: "Lowering", o: Operator, place: Place) -> None:
    """A sum; of gradients it is that of those which are there."""
    values = [to.value(place, v) for v in each(o.inputs[0])]
    if not o.role & 1 or not any(is_doubtful(to, place, x) for x in values):
        to.write_plain(o, place)
    else:
        place.set(o.results()[0], sum_of(to, o, place, values))


def sum_of(to: "Lowering", o: Operator, place: Place, values: list[Variable]) -> Variable:
    """The sum of those of `values` that are alive at `place`; where none is there is none."""
    guards = [guard_of(to, x) if is_doubtful(to, place, x) else None for x in values]
    guard = next(filter(None, guards), None)
    if guard is None or all(g == guard for g in guards):
        made = values[0]
        if len(values) > 1:
            made = to.version(o.results()[0])
            to.write(op_of("sum"), (values,), (made,), o.attrs)
        if guard is not None:
            to.perhaps[made] = guard
        return made
    arms = []
    for side in (Side(place, denied(guard)), Side(place, guard)):
        there = [
            to.where(place, x, side.guard)
            for x, g in zip(values, guards, strict=True)
            if g != denied(side.guard)
        ]
        arms.append(sum_of(to, o, side, there))
    made = to.merged(arms if guard.holds else arms[::-1], o.results()[0])
    if any(
        is_doubtful(to, Side(place, g), x)
        for x, g in zip(arms, (denied(guard), guard), strict=True)
    ):
        to.perhaps[made] = None
    return made
