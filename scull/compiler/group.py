"""Statements as groups, each a kernel: stages that run in one loop over their first axes.

A stage computes several arrays at the same positions, so that what one needs of another stays in
registers. Stages of a group share rows: what lies between them is as small as a row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import prod

from scull.compiler.affine import Positions
from scull.compiler.decision import Kind, decided
from scull.compiler.fuse import loads_of, words_of
from scull.compiler.nest import nested
from scull.compiler.queue import Queue
from scull.compiler.simplify import substituted
from scull.compiler.stage import Stage, folds, inner_loads, nbytes, reduces, rows_deep
from scull.compiler.trace import Statement
from scull.lang.body import Body, Map, Scatter, with_roots
from scull.lang.expression import Array, Axis, Expression, Load, constant
from scull.lang.walk import rewritten

FEW = 4  # elements of stages that go together though nothing relates them
MANY = 64  # arrays of such a stage: LLVM takes four times as long for twice as many
UNRELATED = "it reads nothing of that"
AT_ONCE = "at the same positions"
OTHERS = "one is of strips that the other is not of"
ROWS = 3 << 19  # bytes of rows that a thread has room for


@dataclass
class Group:
    """Stages that run one after another for each position of `shared`."""

    shared: tuple[Axis, ...]
    stages: list[Stage] = field(default_factory=list)
    local: list[Array] = field(default_factory=list)  # arrays of a row that nobody else sees
    over: dict[Array, Array] = field(default_factory=dict)  # local ones that lie where others did
    far: list[Array] = field(default_factory=list)  # those it reads that are rows of large ones

    @property
    def written(self) -> list[Array]:
        """The arrays it gives to others."""
        return [x for s in self.stages for x in s.arrays if x not in self.local]

    @property
    def read(self) -> list[Array]:
        """The arrays it takes from others."""
        made = {x for s in self.stages for x in s.arrays}
        found = dict.fromkeys(load.array for s in self.stages for load in s.loads)
        return [x for x in found if x not in made]

    @property
    def origins(self) -> list[str]:
        """The operators it comes from."""
        return list(dict.fromkeys(o for s in self.stages for o in s.origins))


def grouped(
    statements: Sequence[Statement],
    outputs: Iterable[Array],
    over: Mapping[Array, Array] | None = None,
) -> list[Group]:
    """The groups of statements, in an order in which they may run.

    What is to lie `over` another array comes after all that reads that, if it can.
    """
    kept = set(outputs)
    stages = joined(statements)
    readers: dict[Array, list[Stage]] = {}
    for stage in stages:
        for array in stage.reads:
            readers.setdefault(array, []).append(stage)
    groups = [_local(group, readers, kept) for group in _scheduled(stages, over or {})]
    return [group for group in groups if group.stages]


def joined(statements: Sequence[Statement]) -> list[Stage]:
    """Statements at the same positions as stages, where they have something in common."""
    stages: list[Stage] = []
    place: dict[Array, int] = {}  # of the stage that makes an array
    sized: dict[tuple[int, ...], list[int]] = {}  # stages by how many positions they have
    near: dict[Array, set[int]] = {}  # stages that read or make an array
    positions = Positions()
    for statement in statements:
        body = with_long_axes(statement.body, positions)
        axes = body.axes if isinstance(body, Map) else body.over
        stage = Stage(axes, [statement.out], [body], [statement.origin], statement.strip)
        least = max((place[x.array] for x in stage.loads if x.array in place), default=0)
        alike = sized.setdefault(stage.sizes, [])
        related = {n for x in stage.loads for n in near.get(x.array, ())}
        for number in reversed(alike):
            if number < least:
                continue
            small = prod(stage.sizes) <= FEW and len(stages[number].arrays) < MANY
            if number not in related and not small and not stage.words:
                continue
            found = _together(stages[number], stage, positions)
            if isinstance(found, Stage):
                decided("together", statement.out.name, stages[number].arrays[0].name, AT_ONCE)
                stages[number] = found
                break
        else:
            number = len(stages)
            if any(x.array in place for x in stage.loads):
                why = _together(stages[least], stage, positions)
                other = stages[least].arrays[0].name
                decided("separate", statement.out.name, other, str(why))
            stages.append(stage)
            alike.append(number)
        place[statement.out] = number
        for array in (statement.out, *(x.array for x in stage.loads)):
            near.setdefault(array, set()).add(number)
    return stages


def _together(first: Stage, second: Stage, positions: Positions) -> Stage | str:
    """Both as one stage, or why they do not belong together."""
    sizes = [s.sizes for s in (first, second)]
    if first.strip is not second.strip:
        return OTHERS
    if sizes[0] != sizes[1]:
        return f"positions of {list(sizes[1])} beside {list(sizes[0])}"
    if not all(isinstance(body, Map) for s in (first, second) for body in s.bodies):
        return _setting(first, second, positions)
    if first.is_contraction and second.is_contraction:
        return "both are contractions"
    if any(s.is_contraction for s in (first, second)) and (first.words or second.words):
        return "random words are made beside no contraction"
    (body,) = second.bodies
    pairs: dict[Axis, Expression] = dict(zip(second.axes, first.axes, strict=True))
    moved = Map(first.axes, substituted(body.roots[-1], pairs, positions))
    values = dict(zip(first.arrays, (b.roots[-1] for b in first.bodies), strict=True))
    loads = loads_of(moved)
    if moved.value in values.values():
        return "it is the same once more, made again rather than kept"
    if any(x.array in values and long_places(x) != first.axes for x in loads):
        return "it is read at other positions"
    if any(reduces(values[x.array]) for x in inner_loads(moved) if x.array in values):
        return "a reduction would run within another"
    related = (
        any(x.free for x in set(loads) & set(first.loads))
        or any(x.array in values for x in loads)
        or bool(first.words & words_of([moved]))
    )
    if not related and prod(sizes[0]) > FEW:
        return "they read nothing in common"
    if first.is_contraction and not any(x.array in values for x in loads):
        return "a contraction goes with what reads it alone"

    def at_hand(node: Expression) -> Expression:
        return values[node.array] if isinstance(node, Load) and node.array in values else node

    value = rewritten([moved.value], at_hand, {})[0]
    return first.joined_by(second, with_roots(moved, [value]))


def _setting(first: Stage, second: Stage, positions: Positions) -> Stage | str:
    """Both as one stage that sets elements of several arrays at the same places."""
    pairs: dict[Axis, Expression] = dict(zip(second.axes, first.axes, strict=True))
    (body,), others = second.bodies, first.bodies
    if not isinstance(body, Scatter) or not body.sets or body.base is None:
        return "one adds to places"
    *index, value = [substituted(root, pairs, positions) for root in body.roots]
    moved = replace(body, index=tuple(index), value=value, over=first.axes)
    for other in others:
        if not isinstance(other, Scatter) or not other.sets or other.base is None:
            return "one adds to places"
        if other.index != moved.index or other.shape != moved.shape:
            return "they set other places"
    if any(x.array in first.arrays for x in loads_of(moved)):
        return "it reads what that sets"
    return first.joined_by(second, moved)


def _scheduled(stages: list[Stage], over: Mapping[Array, Array]) -> list[Group]:
    """The stages in groups: each group takes whatever may follow in its loop."""
    queue, groups = Queue(stages, over), list[Group]()
    while queue.left:
        ready = queue.next()
        group = Group(ready.axes[: ready.strip.depth] if ready.strip else ready.axes, [ready])
        queue.take(ready)
        if ready.strip or not ready.is_contraction or rows_deep(ready):
            while _grown(group, queue, groups):
                pass
        groups.append(group)
    return groups


def _grown(group: Group, queue: Queue, before: list[Group]) -> bool:
    """Whether one more stage was taken into a group; what it asks for besides comes `before`."""
    made = {x for s in group.stages for x in s.arrays}
    strip, held = group.stages[0].strip, _held(group)
    for stage in queue.of(strip) if strip else queue.near((*made, *held)):
        missing = queue.missing(stage)
        if missing and (stage.strip or not (stage.is_contraction and stage.reads & made)):
            continue
        if any(
            s.strip or queue.missing(s) or s.reads & made or queue.too_early(s) for s in missing
        ):
            continue
        why = "others still read what it is written over"
        if queue.waits(stage):
            why = "who reads it waits for others"
        elif not queue.too_early(stage):
            why = _take(group, stage, queue, held)
        if why != UNRELATED:
            kind: Kind = "apart" if why else "joined"
            name, other = stage.arrays[0].name, group.stages[0].arrays[0].name
            decided(kind, name, other, why or "the same rows")
        if not why:
            before.extend(Group(s.axes, [s]) for s in missing)
            for each in (*missing, stage):
                queue.take(each)
            return True
    return False


def _held(group: Group) -> dict[Array, int]:
    """Large arrays that a group reads row by row as contractions do, along how many axes each."""
    if not any(s.is_contraction for s in group.stages):
        return {}
    found: dict[Array, int] = {}
    for load in (x for s in group.stages for x in s.loads if nbytes(x.array) > ROWS):
        depth = _agreeing(load, group.shared)
        found[load.array] = min(depth, found.get(load.array, depth))
    made = {x for s in group.stages for x in s.arrays}
    return {x: depth for x, depth in found.items() if depth and x not in made}


def _agreeing(load: Load, axes: Sequence[Axis]) -> int:
    """Along how many first axes it reads at these positions."""
    pairs = zip(long_places(load), axes, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))


def _take(group: Group, stage: Stage, queue: Queue, held: Mapping[Array, int]) -> str:
    """Take a stage into a group if its rows are those of the group; else say why not.

    One that reads nothing of the group belongs to it if a contraction in the `queue` does and
    reads that, too. A contraction that reads nothing of the group belongs to it if it runs row by
    row over what is `held`, too.
    """
    if group.stages[0].strip is not stage.strip:
        return OTHERS
    if stage.strip:
        _put(group, stage, len(group.shared))
        return ""
    if any(isinstance(b, Scatter) for s in (*group.stages, stage) for b in s.bodies):
        return "one adds to places"
    near = {x for s in group.stages for x in s.arrays if x in stage.reads}
    if not near and stage.is_contraction and rows_deep(stage, alone=True):
        near = {x for x in stage.reads if x in held}
    beside = len(stage.axes) if near else _feeds(stage, group, queue, held)
    if not beside:
        return UNRELATED
    if stage.is_contraction:
        stage = nested(stage, (), Positions(), 2)
    reads = [x for x in stage.loads if x.array in near]
    contractions = [s for s in (*group.stages, stage) if s.is_contraction]
    own = stage.axes
    ranks = [len(s.axes) + folds(s) for s in (*group.stages, stage)]
    places = [long_places(x) for x in reads]
    plain = [s.plain for s in (*group.stages, stage)]
    depths = [*map(len, places), *plain, beside, len(group.shared), len(own), max(ranks) - 1]
    depths += [held[x] for x in near if x in held]
    agree, depth = 0, min(*depths, *map(rows_deep, contractions))
    while (
        agree < depth
        and group.shared[agree].size == own[agree].size
        and all(index[agree] is own[agree] for index in places)
    ):
        agree += 1
    if not agree:
        return "they share no rows"
    if contractions and len(group.stages) > 1 and agree < len(group.shared):
        return "its rows are larger"
    if contractions and _bytes_of_rows((*group.stages, stage), own[:agree]) > ROWS:
        return "what lies between is too large for a thread of its own"
    between = sum(nbytes(x) for x in {x.array for x in reads})
    if between <= ROWS and any(rows_deep(s, alone=True) < agree for s in contractions):
        return "all of what lies between stays near"
    _put(group, stage, agree)
    return ""


def _put(group: Group, stage: Stage, depth: int) -> None:
    """Add a stage to a group: they share so many axes."""
    own, group.shared = stage.axes, group.shared[:depth]
    pairs: dict[Axis, Expression] = dict(zip(own[:depth], group.shared, strict=True))
    positions = Positions()
    axes = (*group.shared, *own[depth:])
    bodies: list[Body] = [
        Map(axes, substituted(body.roots[-1], pairs, positions)) for body in stage.bodies
    ]
    group.stages.append(replace(stage, axes=axes, bodies=bodies))


def _bytes_of_rows(stages: Sequence[Stage], shared: Sequence[Axis]) -> int:
    """How many bytes all arrays of stages have at one position of the axes they share."""
    rows = prod(axis.size for axis in shared)
    return sum(nbytes(x) for s in stages for x in s.arrays) // rows


def _feeds(stage: Stage, group: Group, queue: Queue, held: Mapping[Array, int]) -> int:
    """Along how many axes all that reads a stage are contractions in rows of what a group has.

    That is what it made, or what is `held`.
    """
    made = {x for s in group.stages for x in s.arrays}
    depths = []
    for reader in queue.readers(stage):
        beside = made.isdisjoint(reader.reads)
        if not reader.is_contraction or (beside and held.keys().isdisjoint(reader.reads)):
            return 0
        depths.append(rows_deep(reader, alone=beside))
        arrays = (*stage.arrays, *(held if beside else ()))
        depths += [_agreeing(x, reader.axes) for x in reader.loads if x.array in arrays]
    return min(depths, default=0)


def with_long_axes(body: Body, positions: Positions) -> Body:
    """A map without axes of one position, which make no rows."""
    if not isinstance(body, Map) or all(x.size != 1 for x in body.axes):
        return body
    zero = constant(0, "int64")
    pairs: dict[Axis, Expression] = {x: zero for x in body.axes if x.size == 1}
    axes = tuple(x for x in body.axes if x.size != 1)
    return Map(axes, substituted(body.value, pairs, positions))


def _long_shape(array: Array) -> tuple[int, ...]:
    return tuple(size for size in array.shape if size != 1)


def long_places(load: Load) -> tuple[Expression, ...]:
    """Where it reads along the axes of an array that are longer than one."""
    pairs = zip(load.operands, load.array.shape, strict=True)
    return tuple(index for index, size in pairs if size != 1)


def _local(group: Group, readers: dict[Array, list[Stage]], kept: set[Array]) -> Group:
    """A group with arrays that nobody else reads as small as a row, or gone."""
    if len(group.stages) == 1:
        group.shared = ()
    names = {x for s in group.stages for x in s.arrays}
    apart = {x for s in group.stages for x in s.arrays if _long_shape(x) != s.sizes}
    outside = apart | {
        x for x in names if x in kept or any(not names & set(r.arrays) for r in readers.get(x, ()))
    }
    depth = len(group.shared)
    own = (x for s in group.stages for x in s.arrays if x not in outside)
    rows = {x: Array(x.name, _long_shape(x)[depth:], x.dtype) for x in own}

    def shortened(node: Expression) -> Expression:
        if isinstance(node, Load) and node.array in rows:
            return rows[node.array][long_places(node)[depth:]]
        return node

    stages = []
    for number, stage in enumerate(group.stages):
        later = {x.array for s in group.stages[number + 1 :] for x in s.loads}
        rest = zip(stage.arrays, stage.bodies, strict=True)
        pairs = [(x, b) for x, b in rest if x in outside or x in later]
        if not pairs:
            continue
        bodies = [with_roots(b, rewritten(b.roots, shortened, {})) for _, b in pairs]
        arrays = [rows.get(x, x) for x, _ in pairs]
        stages.append(replace(stage, arrays=arrays, bodies=bodies))
    found = {x for s in stages for x in s.arrays}
    local = [x for x in rows.values() if x in found]
    return replace(group, stages=stages, local=local)
