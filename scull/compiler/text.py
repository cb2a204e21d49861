"""Kernels as text to be read: their loops, and how they are cut into tiles."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from scull.compiler.act import Clear, Demand, Give, Hand, Read, Write
from scull.compiler.affine import Positions
from scull.compiler.flow import Branch, Nodes
from scull.compiler.fuse import counted
from scull.compiler.group import Group
from scull.compiler.scatter import axis_of_rows
from scull.compiler.schedule import Schedule
from scull.compiler.stage import Stage
from scull.compiler.target import Target, target
from scull.compiler.tuner import tiles_of
from scull.lang import text
from scull.lang.body import Body, Map, Scatter, with_roots
from scull.lang.expression import Array, Expression, Load
from scull.lang.walk import rewritten


def node_lines(nodes: Nodes, numbers: Iterator[int] | None = None) -> list[str]:
    """Kernels, loops and branches in order, kernels numbered."""
    numbers = count() if numbers is None else numbers
    found: list[str] = []
    for node in nodes:
        if isinstance(node, Group):
            found.append(f"kernel {next(numbers)}: {', '.join(node.origins)}")
            found += [f"    {line}" for line in group_lines(node)]
            continue
        for head, body in zip(heads(node), node.bodies, strict=False):
            found.append(head)
            found += [f"    {line}" for line in node_lines(body, numbers)]
        found += heads(node)[len(node.bodies) :]
    return found


def heads(node: Any, names: Mapping[str, str] | None = None) -> list[str]:
    """What stands before the bodies of a loop or a branch, and behind them."""

    def of(array: Array) -> str:
        return (names or {}).get(array.name, array.name)

    if isinstance(node, Branch):
        ends = [f"{of(c.out)} = {of(c.then)} or {of(c.otherwise)}" for c in node.results]
        return [f"if {of(node.condition)}:", "else:", *ends]
    if isinstance(node, Demand):
        return [f"leave unless {of(node.condition)}"]
    if isinstance(node, Clear):
        return [f"{of(node.place)} holds nothing"]
    if isinstance(node, Write):
        return [f"{of(node.place)} holds {of(node.x)} at {of(node.index)}"]
    if isinstance(node, Give):
        return [f"{of(node.out)} tells where {of(node.place)} lies, {of(node.length)} long"]
    if isinstance(node, Hand):
        return [f"{of(node.out)} tells where lies what {of(node.place)} tells of, and takes it"]
    if isinstance(node, Read):
        made = f"{of(node.out)}, {of(node.there)}"
        return [f"{made} from {of(node.place)} at {of(node.index)}"]
    rounds = f"for each of {node.count} rounds" if node.count else "for each row, the last first"
    if node.condition is not None:
        rounds = f"while {of(node.condition)}"
    first = ", ".join(f"{of(c.now)} from {of(c.first)}" for c in node.carries)
    found = [f"{rounds}{f', {first}' if first else ''}:"]
    found += [f"    {of(c.now)} becomes {of(c.next)}" for c in node.carries]
    return [*found, f"    kept: {', '.join(map(of, node.kept))}"] if node.kept else found


def surroundings(
    nodes: Nodes, names: Mapping[str, str], outer: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """For each kernel in order the loops and branches it is in, outer ones first."""
    for node in nodes:
        if isinstance(node, Group):
            yield outer
            continue
        for head, body in zip(heads(node, names), node.bodies, strict=False):
            yield from surroundings(body, names, (*outer, head))


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
    for stage, schedule in zip(group.stages, tiles_of(group, machine or target()), strict=True):
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
    by = ", sums by the matrix unit" if schedule.by_unit else ""
    return f"{sizes}, tiles of {tile} along {schedule.vector.size} positions{by}"
