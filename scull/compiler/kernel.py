"""A group as one LLVM function, which takes the addresses of the arrays it reads and writes."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from scull.compiler.affine import Affine, Positions
from scull.compiler.ahead import ask, lines_of, note_next
from scull.compiler.assembly import Function
from scull.compiler.chunk import over_chunks, over_tiles
from scull.compiler.draw import draws
from scull.compiler.flatten import flat, flattened
from scull.compiler.group import Group
from scull.compiler.memory import fetch_before, store
from scull.compiler.recall import Saying
from scull.compiler.remainder import REMAINDER
from scull.compiler.scatter import write_scatter
from scull.compiler.schedule import (
    Schedule,
    Tiling,
    alternatives,
    is_map,
    offset_of,
    scheduled,
)
from scull.compiler.skip import either, places_of
from scull.compiler.split import Code, Span, rows_of, span_of
from scull.compiler.stage import Stage
from scull.compiler.step import is_long
from scull.compiler.target import Target
from scull.compiler.tile import ALONE, STATUS, Place, columns_of
from scull.compiler.unite import united
from scull.compiler.writer import Writer
from scull.lang.body import with_roots
from scull.lang.expand import basic
from scull.lang.expression import Apply, Array, Axis, Expression, Reduce
from scull.lang.walk import ordered, rewritten

Tilings = Sequence[Tiling | None]  # of each stage; None and nothing stand for the usual one
NOTE = Array(STATUS, (1,), "int64")
WIDE = 16  # vectors of a tile beside which a term of their sums may ask for something


def arrays_of(group: Group) -> list[Array]:
    """The arrays whose addresses the function of a group takes, in order."""
    rows = rows_of(group)
    roots = [root for s in group.stages for body in s.bodies for root in body.roots]
    looks = any(isinstance(x, Apply) and x.operation == "within" for x in ordered(roots))
    return [*group.read, *group.written, *rows, *([NOTE] if looks else [])]


def said_of(group: Group) -> str:
    """What decides about the code of a group."""
    stages = [(stage.axes, stage.arrays, stage.bodies) for stage in group.stages]
    return Saying().of((group.shared, group.local, group.far, stages))


def code_of(group: Group, target: Target, tilings: Tilings = ()) -> Code:
    """The function of a group, with a name by what it does."""
    code = function_of(group, "KERNEL", target, tilings)
    name = "k" + hashlib.sha256(code.text.encode()).hexdigest()[:24]
    text = code.text.replace("@KERNEL(", f"@{name}(")
    return replace(
        code, name=name, text=text + (REMAINDER if "@truncated_remainder" in text else "")
    )


def function_of(group: Group, name: str, target: Target, tilings: Tilings = ()) -> Code:
    """A group's function."""
    arrays = arrays_of(group)
    names = {array.name: f"%array{number}" for number, array in enumerate(arrays)}
    names |= {row.name: names[home.name] for row, home in group.over.items()}
    given = [f"ptr %array{number}" for number in range(len(arrays))]
    head = ", ".join([*given, "i64 %first", "i64 %last"])
    function = Function(f"define void @{name}({head}) nounwind {{")
    function.has_half, function.has_scale = target.has_half, target.has_scale
    function.has_pairs, function.permuted = target.has_pairs, target.permuted
    writer = Writer(function, names)
    writer.far = frozenset(array.name for array in group.far)
    positions = writer.positions
    shared = tuple(axis for axis in group.shared if axis.size != 1)
    stages = [prepared(stage, shared, target, positions) for stage in group.stages]
    found = _schedules(stages, shared, target, positions, tilings)
    span = span_of(group, stages, found, target)
    roots = [root for stage in stages for body in stage.bodies for root in body.roots]
    made = frozenset(x.name for stage in stages for x in stage.arrays)
    rows = set(group.local)
    lines = lines_of(stages, shared, frozenset(x.name for x in rows), positions)

    def row(_: list[str]) -> list[str]:
        writer.unready = frozenset()
        for number, (stage, chosen) in enumerate(zip(stages, found, strict=True)):
            writer.ahead, writer.stores = lines[number], ()
            if chosen is not None:
                _write_maps(writer, stage, shared, rows, chosen, None if shared else span)
            elif not is_map(stage):
                write_scatter(writer, stage, target, _tiled)
        writer.unready = made
        return []

    writer.unready = made
    if span is not None and shared:
        rest = shared[len(span.axes) :]
        over_chunks(writer, span, roots, lambda: writer.nest(rest, roots, (), row))
    elif not any(axis.size == 0 for axis in shared):
        writer.nest(shared, roots if shared else (), (), row)
    chunks, work = (span.chunks, span.work) if span else (1, 0.0)
    return Code(name, function.text(), chunks, work, rows_of(group))


def schedules(group: Group, target: Target, tilings: Tilings = ()) -> list[Schedule | None]:
    """How each stage of a group is cut into tiles; None where it is run one by one, or never."""
    shared, positions = tuple(axis for axis in group.shared if axis.size != 1), Positions()
    stages = [prepared(stage, shared, target, positions) for stage in group.stages]
    return _schedules(stages, shared, target, positions, tilings)


def choices(group: Group, target: Target) -> list[list[Tiling]]:
    """For each stage of a group, what its tiles could be too: nothing but for contractions."""
    shared, positions = tuple(axis for axis in group.shared if axis.size != 1), Positions()
    stages = [prepared(stage, shared, target, positions) for stage in group.stages]
    found = _schedules(stages, shared, target, positions, ())
    return [
        alternatives(stage, chosen, stage.axes[len(shared) :], target, positions)
        if stage.is_contraction and chosen is not None and chosen.vector is not None
        else []
        for stage, chosen in zip(stages, found, strict=True)
    ]


def _schedules(
    stages: Sequence[Stage],
    shared: tuple[Axis, ...],
    target: Target,
    positions: Positions,
    tilings: Tilings,
) -> list[Schedule | None]:
    found: list[Schedule | None] = []
    for stage, tiling in zip(stages, tilings or [None] * len(stages), strict=True):
        plain = is_map(stage) and all(axis.size for axis in stage.axes)
        own = stage.axes[len(shared) :]
        found.append(scheduled(stage, own, target, positions, tiling) if plain else None)
    return found


def prepared(stage: Stage, shared: Sequence[Axis], target: Target, positions: Positions) -> Stage:
    """A stage in basic operations, flat, with axes of rows as one where that saves tiles."""
    done: dict[Expression, Expression] = {}
    bodies = [with_roots(body, rewritten(body.roots, basic, done)) for body in stage.bodies]
    stage = replace(stage, bodies=bodies)
    if any(axis.size == 0 for axis in stage.axes):
        return stage
    return united(flattened(stage, shared, positions), shared, target, positions)


def _write_maps(
    writer: Writer,
    stage: Stage,
    shared: tuple[Axis, ...],
    rows: set[Array],
    chosen: Schedule,
    span: Span | None,
) -> None:
    own = stage.axes[len(shared) :]
    writer.folds, writer.by_unit = chosen.folds, chosen.by_unit
    writer.following = following(chosen)
    values = [body.roots[-1] for body in stage.bodies]
    stores = [
        (flat(array), offset_of(array, own if array in rows else stage.axes))
        for array in stage.arrays
    ]
    writer.stores = stores
    outer = [axis for axis in own if axis not in (chosen.vector, chosen.row)]

    def inside(_: list[str]) -> list[str]:
        _tiles(writer, chosen, values, stores, span)
        return []

    if span is None or span.axes[0] not in outer:
        writer.nest(outer, values, (), inside)
        return
    rest = outer[len(span.axes) :]
    over_chunks(writer, span, values, lambda: writer.nest(rest, values, (), inside))


def _tiles(
    writer: Writer,
    chosen: Schedule,
    values: Sequence[Expression],
    stores: Sequence[tuple[Array, Affine]],
    span: Span | None,
) -> None:
    """All tiles of the vector axis and the row axis: columns outside, unless they are `inner`."""
    shared = [n for n in ordered(values, writer.eager) if isinstance(n, Reduce) or draws(n)]
    places = places_of(writer, values, stores)

    def write() -> None:
        sums = [n for n in shared if isinstance(n, Reduce)]
        if len(writer.active) >= WIDE and any(is_long(n, writer.active) for n in sums):
            note_next(writer, values, stores)
        elif sums:
            fetch_before(writer, values)
        writer.compute(shared, writer.active)
        writer.noted = None
        if len(writer.tile.columns) == 1 and writer.tile.columns[0].mask is not None:
            # a load waits for the store before it where that could have reached so far
            writer.compute(values, writer.active)
        for point in writer.active:
            writer.compute(values, [point])
            writer.stand(point)
            ask(writer, [point])
            for value, (array, where) in zip(values, stores, strict=True):
                varies = chosen.vector is not None and where.step(chosen.vector) != 0
                name = writer.operand(value, point, writer.wide if varies else writer.one)
                if array.name in writer.buffers:
                    store(writer, array, where, name, point)
                else:  # one element of a row, which the stages after this one have at hand
                    writer.known[-1][writer.key(array[0], point)] = name

    def columns(inside: Callable[[], None]) -> None:
        _over_columns(writer, chosen, values, span, inside)

    def rows(inside: Callable[[], None]) -> None:
        _over_rows(writer, chosen, values, span, inside)

    def tile() -> None:
        if places is None:
            write()
        else:
            either(writer, places, write, values, stores)

    outer, inner = (rows, columns) if chosen.inner else (columns, rows)
    outer(lambda: inner(tile))


def following(chosen: Schedule) -> tuple[Axis | None, int]:
    """The axis along which the next tile lies, and how many positions from this one."""
    if chosen.inner or chosen.row is None:
        return chosen.vector, chosen.lanes * chosen.columns
    return chosen.row, chosen.rows


def _over_rows(
    writer: Writer,
    chosen: Schedule,
    values: Sequence[Expression],
    span: Span | None,
    inside: Callable[[], None],
) -> None:
    row = chosen.row
    if row is None:
        inside()
        return

    def rows(size: int) -> None:
        with writer.tiled(writer.tile._replace(row=row, rows=size)):
            inside()

    _along(writer, row, chosen.rows, values, rows, span)


def _over_columns(
    writer: Writer,
    chosen: Schedule,
    values: Sequence[Expression],
    span: Span | None,
    inside: Callable[[], None],
) -> None:
    axis = chosen.vector
    if axis is None:
        with writer.tiled(ALONE):
            inside()
        return

    def columns(size: int) -> None:
        found = columns_of(size, chosen.lanes, chosen.least)
        with writer.tiled(writer.tile._replace(axis=axis, columns=found)):
            inside()

    _along(writer, axis, chosen.lanes * chosen.columns, values, columns, span)


def _along(
    writer: Writer,
    axis: Axis,
    tile: int,
    values: Sequence[Expression],
    body: Callable[[int], None],
    span: Span | None,
) -> None:
    """A loop over an axis in tiles, and what is left as one that is smaller."""
    rounds, rest = divmod(axis.size, tile)

    def part(base: str, start: int, size: int) -> None:
        with writer.scope([axis]):
            writer.bind(axis, Place(base, start))
            body(size)

    def turn(base: str, _: list[str]) -> list[str]:
        part(base, 0, tile)
        return []

    writer.hoist(values)
    if span is not None and span.axes == (axis,):
        over_tiles(writer, span, tile, part)
        return
    if rounds == 1:
        part("0", 0, tile)
    elif rounds:
        writer.function.loop(rounds * tile, (), turn, step=tile)
    if rest:
        part("0", rounds * tile, rest)


def _tiled(
    writer: Writer,
    axis: Axis,
    tile: int,
    values: Sequence[Expression],
    body: Callable[[int], None],
) -> None:
    """The same of all that there is."""
    _along(writer, axis, tile, values, body, None)
