"""Kernels as text to be read: their loops, and how they are cut into tiles."""

from collections.abc import Mapping
from dataclasses import replace

from scull.compiler.affine import Positions
from scull.compiler.fuse import counted
from scull.compiler.group import Group, Stage
from scull.compiler.kernel import schedules
from scull.compiler.scatter import axis_of_rows
from scull.compiler.schedule import Schedule
from scull.compiler.target import Target, target
from scull.lang import text
from scull.lang.body import Body, Map, Scatter, with_roots
from scull.lang.expression import Array, Expression, Load
from scull.lang.walk import rewritten


def group_lines(
    group: Group, machine: Target | None = None, names: Mapping[str, str] | None = None
) -> list[str]:
    """The loops of one kernel, with arrays called as `names` say.

    What runs for every position of the rows that its stages share stands within their loop.
    """
    rows = [axis for axis in group.shared if axis.size != 1]
    places = ", ".join(f"i{group.shared.index(axis)} in {axis.size}" for axis in rows)
    found = [f"for {places}:"] if rows else []
    local = set(group.local)
    for stage, schedule in zip(group.stages, schedules(group, machine or target()), strict=True):
        own = stage.axes[len(group.shared) :]
        named = _named(stage, names or {})
        bodies: list[Body] = [
            Map(own, body.roots[-1]) if array in local else body
            for array, body in zip(stage.arrays, named.bodies, strict=True)
        ]
        inner = [f"# {tile_text(stage, schedule)}"]
        inner += text.lines(named.arrays, bodies, stage.axes if schedule else ())
        found += ["    " * bool(rows) + line for line in inner]
    return found


def _named(stage: Stage, names: Mapping[str, str]) -> Stage:
    """A stage with other names for its arrays."""

    def of(array: Array) -> Array:
        return Array(names.get(array.name, array.name), array.shape, array.dtype)

    def change(node: Expression) -> Expression:
        return of(node.array)[node.operands] if isinstance(node, Load) else node

    bodies = [with_roots(body, rewritten(body.roots, change, {})) for body in stage.bodies]
    return replace(stage, arrays=[of(array) for array in stage.arrays], bodies=bodies)


def tile_text(stage: Stage, schedule: Schedule | None) -> str:
    """The sizes of a stage's loops and tiles, in words."""
    sizes = " x ".join(str(axis.size) for axis in stage.axes) or "1"
    if schedule is None:
        body = stage.bodies[0]
        along = axis_of_rows(body, Positions()) if isinstance(body, Scatter) else None
        rows = (
            f"row by row, vectors along {along.size} positions"
            if along is not None
            else "one by one"
        )
        return f"{sizes}, {rows}"
    if schedule.vector is None:
        folds = f", sums in {schedule.folds} lanes" if schedule.folds > 1 else ""
        return f"{sizes}, no vectors{folds}"
    rows = counted(schedule.rows, "row") + " x " if schedule.row is not None else ""
    tile = f"{rows}{counted(schedule.columns, 'vector')} of {schedule.lanes} lanes"
    return f"{sizes}, tiles of {tile} along {schedule.vector.size} positions"
