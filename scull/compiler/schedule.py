"""How a stage is cut into tiles: which axis the lanes lie along, how many rows and columns.

Only how expressions read memory counts here, never which operator they come from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from scull.compiler.affine import Affine, Positions
from scull.compiler.draw import vectors_at_once
from scull.compiler.edge import edges_of, is_stepped
from scull.compiler.fuse import reads_of, words_of
from scull.compiler.inside import choice_of
from scull.compiler.matrix import ROWS, sums_by_unit
from scull.compiler.narrow import FEW as FEW_REGISTERS
from scull.compiler.narrow import cut
from scull.compiler.stage import NEAR, Stage, nbytes, told_apart
from scull.compiler.target import Target
from scull.compiler.tile import even, most_rows, vectors_of
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Expression, Guard, Load, Reduce
from scull.lang.walk import ordered
from scull.runtime.line import LINE

FAR = 12.0  # lanes that lie apart, beside lanes side by side
CROSS = 3.0  # the same where a tile's rows lie side by side, so that they are read and turned
NARROW = 128  # bits of the least vectors that are half the work of those of twice as many
SAME = 0.4  # one element for all lanes
KINDS = 16  # places along an axis that are computed each in its way, all at once
COLUMNS = (1, 2, 3, 4, 5, 6, 8)  # vectors of a tile that are tried
SLOW = ("divide", "sqrt")  # operations that a CPU does beside sums of products
SHORT, BESIDE = 128, 8  # terms of sums after which these take long; vectors of their tiles
FARTHER = 3, 5  # columns and rows of these where a CPU looks far ahead
FOUR = 4, 4  # the same of four vectors, of which three would leave one alone
MUCH_BESIDE, STREAMED = 1 << 21, 32  # bytes read beside sums of so many terms that come from far
ENDING, MUCH = 8, 1 << 22  # tiles along an axis that are shared well; products worth sharing
FEW = 16  # vectors along an axis of which narrow tiles leave out many places
HEAVY = 24  # nodes of an expression, along the lanes, that one vector at a time is enough for
IN_ROWS = 12  # the same with few registers in a row of several: constants of all loops fill these


@dataclass(frozen=True)
class Tiling:
    """What may be chosen about the tiles of a contraction; none of it changes a bit.

    `axis` is the place of the axis of rows among the stage's own. All columns of a row come first
    if it is `inner`, else all rows of a column.
    """

    columns: int
    axis: int
    rows: int
    inner: bool = False


@dataclass(frozen=True)
class Schedule:
    """The axes and sizes of a stage's tiles; `folds` are the lanes of sums into scalars.

    What is left of the vector axis may have fewer lanes, down to `least`, if that is not 0. The
    loop over columns is around that over rows, unless it is `inner`. A matrix unit makes the sums
    `by_unit`.
    """

    vector: Axis | None
    row: Axis | None
    lanes: int
    columns: int
    rows: int
    folds: int
    least: int = 0
    inner: bool = False
    by_unit: frozenset[Reduce] = frozenset()


def offset_of(array: Array, axes: tuple[Axis, ...]) -> Affine:
    """Where a stage stores: its axes in order fill the array."""
    stride, terms = 1, dict[Expression, int]()
    for axis in reversed(axes):
        terms[axis] = stride
        stride *= axis.size
    assert stride == array.size
    return Affine(0, terms)


def scheduled(
    stage: Stage,
    own: tuple[Axis, ...],
    target: Target,
    positions: Positions,
    tiling: Tiling | None = None,
) -> Schedule:
    """The tiles of a stage of maps whose `own` axes are not those of the group."""
    lanes = lanes_for(stage, target)
    loads = _weighted(stage, own)
    reduces = _reduces(stage)
    best: Axis | None = None
    least = _cost_of_folds(loads, lanes, positions)
    for axis in own:
        cost = _cost_along(axis, own, loads, lanes, positions, sums=bool(reduces))
        if cost < least:
            best, least = axis, cost
    if best is None:
        beside = _rereading(stage, own) if reduces else None
        many = 1 if beside is None else even(beside.size, BESIDE)
        return Schedule(None, beside, 1, 1, many, lanes if reduces else 1)
    vectors = ceil(best.size / lanes)
    if not stage.is_contraction:
        return _of_elements(stage, own, best, loads, lanes, target, positions)
    least = 0 if _draws(stage) else lanes * NARROW // target.bits
    if tiling is not None:
        chosen = own[tiling.axis]
        return Schedule(best, chosen, lanes, tiling.columns, tiling.rows, 1, least, tiling.inner)
    rows = _row_axes(stage, best, own, positions)
    roots = [body.roots[-1] for body in stage.bodies]
    found = sums_by_unit(roots, best, rows, positions) if target.has_matrix else None
    if found is not None:
        many = min(found[0].size, 2 * ROWS)
        return Schedule(best, found[0], lanes, min(vectors, 2), many, 1, least, by_unit=found[1])
    if target.registers <= FEW_REGISTERS:
        terms = [x for x, _, within in loads if x is not None and within is not None]
        late = _changes_each(stage, own)
        row, columns, many, first = cut(best, lanes, rows, terms, positions, late=late)
        return Schedule(best, row, lanes, columns, many, 1, least, first)
    columns = vectors if vectors <= 2 else 4 if vectors % 4 == 0 else 2
    if columns == 4 and vectors <= FEW and _is_left_out(stage, best, positions):
        columns = 2
    wide = [x for x, _, within in loads if x is not None and within is not None and best in x.free]
    row = max(rows, key=lambda x: (any(x not in n.free for n in wide), x.size), default=None)
    if row is not None and _is_slow_after(stage):
        columns, many = _small_tile(stage, vectors, row.size, target)
        return Schedule(best, row, lanes, columns, many, 1, least, inner=True)
    many = 1 if row is None else even(row.size, most_rows(columns, target.registers))
    if row is not None and _is_cut_badly(stage, own, ceil(vectors / columns), row.size / many):
        columns, many = 1, even(row.size, most_rows(1, target.registers))
    return Schedule(best, row, lanes, columns, many, 1, least)


def _of_elements(
    stage: Stage,
    own: tuple[Axis, ...],
    vector: Axis,
    loads: list[tuple[Load | None, int, Reduce | None]],
    lanes: int,
    target: Target,
    positions: Positions,
) -> Schedule:
    """The tiles of a stage that is no contraction, with lanes along an axis.

    A tile that is turned writes whole lines: their other halves would be elsewhere by its turn.
    """
    roots, plain = [body.roots[-1] for body in stage.bodies], not _draws(stage)
    size, told = sum(vector in node.free for node in ordered(roots)), told_apart(roots)
    if _reduces(stage):
        return Schedule(vector, None, lanes, min(ceil(vector.size / lanes), 4), 1, 1)
    kinds = [x for x in own if x in told and x is not vector and x.size <= KINDS]
    if kinds and plain:
        kind = max(kinds, key=lambda x: x.size)
        return Schedule(vector, kind, lanes, 1, kind.size, 1)
    across = crossed(vector, own, loads, lanes, positions) if plain else None
    if across is not None:
        columns = min(ceil(vector.size / lanes), ceil(8 * LINE / target.bits))
        return Schedule(vector, across, lanes, columns, min(lanes, across.size), 1)
    in_rows = target.registers <= FEW_REGISTERS and len(own) < len(stage.axes)
    in_rows = in_rows and not _is_left_out(stage, vector, positions)
    many = _vectors_of_draws(stage) or (1 if size > (IN_ROWS if in_rows else HEAVY) else 2)
    return Schedule(vector, None, lanes, min(ceil(vector.size / lanes), many), 1, 1)


def _reduces(stage: Stage) -> list[Reduce]:
    return [n for n in ordered([b.roots[-1] for b in stage.bodies]) if isinstance(n, Reduce)]


def _draws(stage: Stage) -> bool:
    return _vectors_of_draws(stage) > 0


def _vectors_of_draws(stage: Stage) -> int:
    """Of how many vectors the random words of a stage are made together; 0 where it has none."""
    return max(map(vectors_at_once, words_of(stage.bodies)), default=0)


def _is_left_out(stage: Stage, vector: Axis, positions: Positions) -> bool:
    """Whether places along an axis tell what is computed: narrow tiles leave out more."""
    roots = [body.roots[-1] for body in stage.bodies]
    choices = [inside for x in roots if (inside := choice_of(x, positions)) is not None]
    sums = [x for x in ordered(roots) if isinstance(x, Reduce)]
    edges = [found for x in sums if (found := edges_of(x, positions)) and is_stepped(found, x)]
    return any(vector in gap.terms for x in choices for gap in x.gaps) or any(
        vector in found.axes for found in edges
    )


def _is_cut_badly(stage: Stage, own: tuple[Axis, ...], tiles: float, rows: float) -> bool:
    """Whether threads would share a large matrix in few chunks: one of five takes long at the end.

    Columns of one vector, with as many rows as there are registers, are more chunks.
    """
    if max(tiles, rows) >= ENDING or len(own) != 2 or len(stage.axes) != 2:
        return False
    terms = max(prod(k.size for k in x.axes) for x in _reduces(stage))
    return prod(axis.size for axis in own) * terms >= MUCH


def _is_slow_after(stage: Stage) -> bool:
    """Whether what follows short sums takes long, as an update by Adam does.

    A CPU is still at the roots and quotients of a small tile while it sums the next; of a large
    one they fill all that it looks ahead to.
    """
    within = _beside_sums(stage)
    slow = any(isinstance(x, Apply) and x.operation in SLOW for x in within)
    return slow and _most_terms(within) <= SHORT


def _small_tile(stage: Stage, vectors: int, size: int, target: Target) -> tuple[int, int]:
    """The columns and the rows of tiles whose sums are short beside what follows them."""
    columns, many = 1, BESIDE
    if target.looks_far:
        columns, many = FOUR if vectors == 4 else FARTHER
    if _changes_much(stage):
        columns, many = BESIDE, 2
    return min(vectors, columns), min(many, size)


def _changes_each(stage: Stage, own: Sequence[Axis]) -> bool:
    """Whether short sums are followed by what reads something else for each element."""
    within = _beside_sums(stage)
    each = any(isinstance(x, Load) and x.free >= set(own) for x in within)
    return each and _most_terms(within) <= SHORT


def _rereading(stage: Stage, own: tuple[Axis, ...]) -> Axis | None:
    """The axis along which most is read again that is far: its rows go one after the other."""
    far = [x for x in stage.loads if nbytes(x.array) > NEAR]
    again = {x: sum(nbytes(load.array) for load in far if x not in load.free) for x in own}
    best = max(again, key=again.__getitem__, default=None)
    return best if best is not None and again[best] and best.size > 1 else None


def _changes_much(stage: Stage) -> bool:
    """Whether more is read beside sums of few terms than stays near: it comes row by row."""
    within = _beside_sums(stage)
    read = sum(map(nbytes, {x.array for x in within if isinstance(x, Load)}))
    return read > MUCH_BESIDE and _most_terms(within) <= STREAMED


def _beside_sums(stage: Stage) -> list[Expression]:
    """The nodes of a stage besides those within its sums."""
    roots = [body.roots[-1] for body in stage.bodies]
    return ordered(roots, lambda x: () if isinstance(x, Reduce) else x.operands)


def _most_terms(nodes: Sequence[Expression]) -> int:
    return max(prod(k.size for k in x.axes) for x in nodes if isinstance(x, Reduce))


def _row_axes(
    stage: Stage, vector: Axis, own: tuple[Axis, ...], positions: Positions
) -> list[Axis]:
    """The axes that rows may be of: not those that tell how many terms a sum has, if it may be.

    A sum whose terms begin or end one after the other may have them, too.
    """
    rows = [axis for axis in own if axis is not vector and axis.size > 1]
    reduces = _reduces(stage)
    each = [(found, x) for x in reduces if (found := edges_of(x, positions)) is not None]
    asked = [found.axes for found, x in each if not is_stepped(found, x)]
    return [axis for axis in rows if not any(axis in axes for axes in asked)] or rows


def alternatives(
    stage: Stage, usual: Schedule, own: tuple[Axis, ...], target: Target, positions: Positions
) -> list[Tiling]:
    """What else the tiles of a contraction could be than what they usually are."""
    assert usual.vector is not None
    if usual.by_unit:
        return []  # sums of vectors have other bits
    vectors = ceil(usual.vector.size / usual.lanes)
    found = dict[Tiling, None]()
    for columns in (x for x in COLUMNS if x <= vectors):
        most = most_rows(columns, target.registers)
        if most < 1:
            continue
        for axis in _row_axes(stage, usual.vector, own, positions):
            for rows in (most + 1, most, ceil(most * 3 / 4), ceil(most / 2)):
                many = even(axis.size, rows)
                for inner in (False, True):
                    found[Tiling(columns, own.index(axis), many, inner)] = None
    return list(found)


def lanes_for(stage: Stage, target: Target) -> int:
    """How many lanes: as many float32, or float64 where there are any, as a register holds."""
    nodes = ordered([root for body in stage.bodies for root in body.roots])
    wide = any(node.dtype == "float64" for node in nodes) or all(
        element(node.dtype).bits == 64 for node in nodes
    )
    return target.bits // (64 if wide else 32)


def _weighted(stage: Stage, own: tuple[Axis, ...]) -> list[tuple[Load | None, int, Reduce | None]]:
    """Loads with how often they run and the reduction they run in; None is a store."""
    found: list[tuple[Load | None, int, Reduce | None]] = []
    around = prod(axis.size for axis in own)
    for body in stage.bodies:
        found.append((None, around, None))
        found += reads_of(body.roots[-1:], around)
    return found


def _cost_along(
    axis: Axis,
    own: tuple[Axis, ...],
    loads: list[tuple[Load | None, int, Reduce | None]],
    lanes: int,
    positions: Positions,
    *,
    sums: bool,
) -> float:
    vectors = (vectors_of(axis.size, lanes) if sums else ceil(axis.size / lanes)) / axis.size
    across = None if sums else crossed(axis, own, loads, lanes, positions)
    total = 0.0
    for load, times, _ in loads:
        step: int | None = 1
        if load is None:
            later = own[own.index(axis) + 1 :]
            step = prod(x.size for x in later)
        elif axis in load.free:
            step = positions.of(load.operands[0]).step(axis)
        else:
            step = 0
        far = FAR
        if across is not None and load is not None and across in load.free:
            turns = positions.of(load.operands[0]).step(across) == 1
            far = CROSS * ceil(across.size / lanes) * lanes / across.size if turns else FAR
        total += times * vectors * {0: SAME, 1: 1.0}.get(step if step is not None else -1, far)
    return total


def crossed(
    along: Axis,
    own: tuple[Axis, ...],
    loads: list[tuple[Load | None, int, Reduce | None]],
    lanes: int,
    positions: Positions,
) -> Axis | None:
    """The axis that memory runs with where lanes along another lie apart, if there is one."""
    if lanes == 1:
        return None
    places = [positions.of(x.operands[0]) for x, _, _ in loads if x is not None and along in x.free]
    apart = [where for where in places if where.step(along) not in (0, 1, None)]
    best, most = None, 0
    for axis in own:
        count = sum(where.step(axis) == 1 for where in apart)
        if axis is not along and axis.size > 3 and count > most:
            best, most = axis, count
    return best


def _cost_of_folds(
    loads: list[tuple[Load | None, int, Reduce | None]], lanes: int, positions: Positions
) -> float:
    """The same where reductions run along lanes and all else is scalar."""
    total = 0.0
    for load, times, within in loads:
        if load is None or within is None:
            total += times
            continue
        best = (
            min(
                (
                    ceil(k.size / lanes) / max(1, k.size)
                    if positions.of(load.operands[0]).step(k) in (0, 1)
                    else 1.0
                )
                for k in within.axes
                if k.size
            )
            if all(k.size for k in within.axes)
            else 0.0
        )
        blocked = any(isinstance(x, (Reduce, Guard)) for x in ordered(within.operands))
        total += times * (1.0 if blocked or within.operation.startswith("arg") else best)
        if within.operation == "sum":
            total += times / max(1, prod(k.size for k in within.axes)) * 4
    return total


def is_map(stage: Stage) -> bool:
    """Whether a stage computes elements, rather than adding to them."""
    return all(isinstance(body, Map) for body in stage.bodies)
