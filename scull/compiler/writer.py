"""The writer of one kernel: values of expressions at all points of a tile at once.

What does not vary with the rows of a tile is computed once for all of them; what does not vary with
the vector axis is a scalar, spread over the lanes where they meet. What does not vary with a loop
is computed before it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from scull.compiler.address import mask_of, pointer
from scull.compiler.affine import Affine, Positions
from scull.compiler.ahead import Line, Noted
from scull.compiler.alike import is_alike
from scull.compiler.assembly import Carried, Function
from scull.compiler.compare import compared, difference
from scull.compiler.draw import draws, words_at
from scull.compiler.fold import reduce_at
from scull.compiler.lanes import Lanes, held_scalar
from scull.compiler.memory import is_one_load, load, load_pair
from scull.compiler.tile import ALONE, STATUS, Key, Place, Point, Tile
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.random import round_keys
from scull.lang.walk import eager_operands, ordered

NONE: Mapping[Axis, tuple[str, str]] = {}


class Writer:
    """Writes expressions; what is known in the loops and branches around is used again."""

    def __init__(self, function: Function, buffers: dict[str, str]) -> None:
        self.function, self.buffers = function, buffers
        self.positions = Positions()
        self.known: list[dict[Key, str]] = [{}]
        self.bound: list[frozenset[Axis]] = [frozenset()]
        self.places: dict[Axis, Place] = {}
        self.depths: dict[Axis, int] = {}
        self.tile = ALONE
        self.mask: str | None = None
        self.active: list[Point] = [Point(0, 0)]  # the points that are computed
        self.unready: frozenset[str] = frozenset()  # arrays that are written later
        self.far: frozenset[str] = frozenset()  # small arrays that are in no near cache
        self.ahead: list[Line] = []  # rows that are needed soon
        self.noted: Noted | None = None  # what the next tile needs
        self.reading: dict[Expression, frozenset[str]] = {}
        self.keys: dict[tuple[Expression, ...], list[tuple[Expression, Expression]]] = {}
        self.folds = 1  # lanes of a reduction whose results are scalars
        self.by_unit: frozenset[Reduce] = frozenset()  # sums that a matrix unit makes
        self.stores: Sequence[tuple[Array, Affine]] = ()  # where results go
        self.terms: Axis | None = None  # along which a contraction reads one term after the other
        self.stretches: Axis | None = None  # along which terms go on elsewhere
        self.following: tuple[Axis | None, int] = None, 0  # where the next tile lies, and how far
        self.one = Lanes(function)
        self.wide = self.one  # the lanes of the point that is written

    @contextmanager
    def tiled(self, tile: Tile) -> Iterator[None]:
        """Expressions are computed at the points of `tile`."""
        before = self.tile, self.wide, self.active
        self.tile = tile
        self.active = [Point(r, c) for r in range(tile.rows) for c in range(len(tile.columns))]
        self.stand(self.active[0])
        yield
        self.tile, self.wide, self.active = before

    def stand(self, point: Point) -> None:
        """Vectors are as wide as those of a point from here on."""
        self.wide = Lanes(self.function, self.tile.columns[point.column].lanes)

    @contextmanager
    def at(self, point: Point, mask: str | None) -> Iterator[None]:
        """One point alone is computed, in the lanes of a mask."""
        before = self.active, self.mask
        self.active, self.mask = [point], mask
        with self.scope():
            yield
        self.active, self.mask = before

    def eager(self, node: Expression) -> tuple[Expression, ...]:
        """What has to be computed before a node; axes have places."""
        if isinstance(node, Load):
            return tuple(x for x in self.where(node).terms if not isinstance(x, Axis))
        if isinstance(node, Apply) and node.operation == "pair" and is_one_load(self, node):
            return self.eager(node.operands[0])
        if difference(self, node) is not None:
            return ()
        if isinstance(node, Apply) and draws(node):
            return (*(x for both in self.round_keys(node) for x in both), node.operands[2])
        return eager_operands(node)

    def round_keys(self, node: Apply) -> list[tuple[Expression, Expression]]:
        """What the words of a draw are made with, which no loop changes."""
        key = node.operands[:2]
        if key not in self.keys:
            self.keys[key] = round_keys(*key)
        return self.keys[key]

    def where(self, load: Load) -> Affine:
        """The place a load reads."""
        return self.positions.of(load.operands[0]) if load.operands else Affine(0, {})

    @contextmanager
    def scope(self, axes: Iterable[Axis] = ()) -> Iterator[None]:
        """What becomes known within is forgotten after; `axes` stand somewhere else each time."""
        axes = frozenset(axes)
        outside = {x: (self.places[x], self.depths[x]) for x in axes if x in self.places}
        self.known.append({})
        self.bound.append(axes)
        yield
        self.known.pop()
        self.bound.pop()
        for axis, (place, depth) in outside.items():  # it is another position out there
            self.places[axis], self.depths[axis] = place, depth

    def key(self, node: Expression, point: Point) -> Key:
        """What a value is known by: only what it varies with counts."""
        return (
            node,
            point.row if self.tile.row in node.free else 0,
            point.column if self.tile.axis in node.free else 0,
        )

    def find(self, key: Key, free: frozenset[Axis]) -> str | None:
        """The name of what is known where we are."""
        known, bound = self.known, self.bound
        for depth in range(len(known) - 1, -1, -1):
            found = known[depth].get(key)
            if found is not None:
                return found
            if not free.isdisjoint(bound[depth]):
                return None  # further out, its axis stands elsewhere
        return None

    def lanes_of(self, node: Expression) -> Lanes:
        """How many lanes a value has."""
        return self.wide if self.tile.axis in node.free else self.one

    def value(self, root: Expression, point: Point) -> str:
        """The name of a value at one point."""
        self.compute([root], [point])
        found = self.find(self.key(root, point), root.free)
        assert found is not None
        return found

    def operand(self, node: Expression, point: Point, lanes: Lanes) -> str:
        """A known value in so many lanes."""
        if isinstance(node, Constant):
            return lanes.literal(node.value, node.dtype)
        key = self.key(node, point)
        found = self.find(key, node.free)
        assert found is not None, node
        if lanes.count == 1 or self.lanes_of(node).count == lanes.count:
            return found
        key = ("spread", lanes.count, *key)
        spread = self.find(key, node.free)
        if spread is None:
            spread = self.known[-1][key] = lanes.spread(found, held_scalar(node.dtype))
        return spread

    def compute(self, roots: Sequence[Expression], points: Sequence[Point]) -> None:
        """Write the values of expressions at points, each once."""

        def is_known(node: Expression) -> bool:
            return isinstance(node, Constant) or all(
                self.find(self.key(node, p), node.free) is not None for p in points
            )

        before = self.wide
        for node in ordered(roots, self.eager, is_known):
            if isinstance(node, Constant):
                continue
            keys = {self.key(node, p): p for p in reversed(points)}
            missing = {k: p for k, p in keys.items() if self.find(k, node.free) is None}
            if isinstance(node, Reduce):
                reduce_at(self, node, dict(reversed(missing.items())))
                continue
            if isinstance(node, Apply) and draws(node):
                words_at(self, node, dict(reversed(missing.items())))
                continue
            for key, point in reversed(missing.items()):
                if key not in self.known[-1]:  # a load across the tile gives that of every row
                    self.stand(point)
                    self.known[-1][key] = self._written(node, point)
        self.wide = before

    def _written(self, node: Expression, point: Point) -> str:
        match node:
            case Axis():
                return self._axis(node, point)
            case Load():
                return load(self, node, point)
            case Apply(operation="pair") if is_one_load(self, node):
                return load_pair(self, node, point)
            case Apply(operation="within"):
                return self._within(node, point)
            case Apply(operation="pick", operands=(place, *numbers)):
                lanes = self.lanes_of(node)
                constants = [x.value for x in numbers if isinstance(x, Constant)]
                return lanes.picked(self.operand(place, point, lanes), constants)
            case Apply() if (sum := difference(self, node)) is not None:
                return compared(self, node, sum, point)
            case Apply(operation=operation):
                lanes = self.lanes_of(node)
                operands = [self.operand(x, point, lanes) for x in node.operands]
                return lanes.applied(operation, operands, node.operands[-1].dtype, node.dtype)
        assert isinstance(node, Guard)
        return self._guarded(node, point)

    def _axis(self, axis: Axis, point: Point) -> str:
        place = self.place(axis, point)
        f = self.function
        base = f.value(f"add i64 {place.base}, {place.offset}") if place.offset else place.base
        if axis is not self.tile.axis or self.wide.count == 1:
            return base
        steps = ", ".join(f"i64 {lane}" for lane in range(self.wide.count))
        kind = self.wide.type("i64")
        return f.value(f"add {kind} {self.wide.spread(base, 'i64')}, <{steps}>")

    def _within(self, node: Apply, point: Point) -> str:
        """A place that is in range, or a note in the status that one was not."""
        f, lanes = self.function, self.lanes_of(node)
        place, size = (self.operand(x, point, lanes) for x in node.operands)
        kind, truth = lanes.type("i64"), lanes.type("i1")
        wrong = f.value(f"icmp uge {kind} {place}, {size}")
        if lanes.count > 1:
            mask = mask_of(self, point)
            wrong = f.value(f"and {truth} {wrong}, {mask}") if mask else wrong
            some = f.value(f"call i1 @llvm.vector.reduce.or.{lanes.suffix('i1')}({truth} {wrong})")
        else:
            some = wrong
            if self.mask is not None:
                lane = f"{self.wide.type('i1')} {self.mask}"
                any_lane = f"@llvm.vector.reduce.or.{self.wide.suffix('i1')}"
                some = f.value(f"and i1 {wrong}, {f.value(f'call i1 {any_lane}({lane})')}")
        f.when(some, lambda: f.act(f"store i64 1, ptr {self.buffers[STATUS]}"))
        last = f.value(f"sub {kind} {size}, {lanes.number('i64', 1)}")
        low = f.value(
            f"call {kind} @llvm.smin.{lanes.suffix('i64')}({kind} {place}, {kind} {last})"
        )
        zero = lanes.number("i64", 0)
        return f.value(f"call {kind} @llvm.smax.{lanes.suffix('i64')}({kind} {low}, {kind} {zero})")

    def place(self, axis: Axis, point: Point) -> Place:
        """Where an axis stands at a point."""
        base, offset = self.places[axis]
        if axis is self.tile.row:
            return Place(base, offset + point.row)
        if axis is self.tile.axis:
            return Place(base, offset + self.tile.columns[point.column].offset)
        return Place(base, offset)

    # loops

    def nest(
        self,
        axes: Sequence[Axis],
        roots: Sequence[Expression],
        carried: Carried,
        body: Callable[[list[str]], Sequence[str]],
        *,
        unroll: int = 1,
        limits: Mapping[Axis, tuple[str, str]] = NONE,
    ) -> list[str]:
        """Loops over the axes around `body`; the innermost repeats it `unroll` times a round.

        An axis with `limits` runs from the first of them to before the second.
        """
        if not axes:
            return list(body([first for _, first in carried]))
        self.hoist(roots)
        kinds = [kind for kind, _ in carried]
        first, inner = axes[0], axes[1:]
        many = unroll if not inner else 1

        def round_of(base: str, offsets: range, values: list[str]) -> list[str]:
            for offset in offsets:
                with self.scope([first]):
                    self.bind(first, Place(base, offset))
                    pairs = list(zip(kinds, values, strict=True))
                    values = self.nest(inner, roots, pairs, body, unroll=unroll, limits=limits)
            return values

        values = [start for _, start in carried]
        if first in limits:
            low, high = limits[first]
            return self.function.loop(
                high, carried, lambda base, now: round_of(base, range(1), now), start=low
            )
        if first.size == 1:
            return round_of("0", range(1), values)
        rounds = first.size // many
        if rounds == 1:
            values = round_of("0", range(many), values)
        elif rounds:
            pairs = list(zip(kinds, values, strict=True))

            def turn(base: str, now: list[str]) -> list[str]:
                return round_of(base, range(many), now)

            values = self.function.loop(rounds * many, pairs, turn, step=many)
        if first.size % many:
            values = round_of("0", range(rounds * many, first.size), values)
        return values

    def bind(self, axis: Axis, place: Place) -> None:
        """An axis stands at a place from here on."""
        self.places[axis] = place
        self.depths[axis] = len(self.bound)

    def hoist(self, roots: Sequence[Expression]) -> None:
        """Compute what does not vary with the loops to come, and where loads and stores begin."""
        bound: frozenset[Axis] = frozenset().union(*self.bound)
        pending, seen, loads = list(roots), set(roots), list[Load]()
        while pending:
            node = pending.pop()
            if isinstance(node, (Constant, Axis)):
                continue
            if node.free <= bound and self.unready.isdisjoint(self.reads(node)):
                self.compute([node], self.active)
                continue
            if isinstance(node, Load):
                loads.append(node)
            if isinstance(node, Guard):  # what it guards may not be read yet, but lies somewhere
                loads += [x for x in ordered(node.operands[1:]) if isinstance(x, Load)]
            inner = node.operands if isinstance(node, Reduce) else self.eager(node)
            pending.extend(x for x in inner if x not in seen)
            seen.update(inner)
        read = [(x.array, self.where(x)) for x in loads]
        for array, where in (*read, *self.stores):
            terms: dict[Expression, int] = {
                n: k for n, k in where.terms.items() if isinstance(n, Axis) and n in bound
            }
            if array.name in self.buffers:
                pointer(self, array, Affine(0, terms), self.active[0])

    def reads(self, root: Expression) -> frozenset[str]:
        """The names of the arrays an expression reads."""
        if root not in self.reading:
            own = {root.array.name} if isinstance(root, Load) else set[str]()
            for node in ordered(root.operands, known=self.reading.__contains__):
                self.reads(node)
            self.reading[root] = frozenset(own).union(*(self.reading[x] for x in root.operands))
        return self.reading[root]

    # branches

    def _guarded(self, node: Guard, point: Point) -> str:
        """A value that is computed where its condition holds."""
        condition, value, otherwise = node.operands
        holds = self.known_truth(condition, point)
        if holds is not None:
            taken = value if holds else otherwise
            self.compute([taken], [point])
            return self.operand(taken, point, self.lanes_of(node))
        if self.wide.count > 1 and self.tile.axis in node.free and self.mask_serves(node):
            return self._masked(node, point)
        axis, wide = self.tile.axis, self.wide
        varies = axis is not None and wide.count > 1 and axis in condition.free
        alike = axis is not None and is_alike(condition, axis, wide.count, self.positions)
        if varies and not alike:
            return self._masked(node, point)

        def side(root: Expression) -> Callable[[], str]:
            def write() -> str:
                with self.at(point, self.mask):
                    self.compute([root], [point])
                    return self.operand(root, point, lanes)

            return write

        lanes = self.lanes_of(node)
        chosen = self.operand(condition, point, wide if varies else self.one)
        if varies:
            chosen = self.function.value(f"extractelement {wide.type('i1')} {chosen}, i64 0")
        return self.function.choose(chosen, lanes.held(node.dtype), side(value), side(otherwise))

    def known_truth(self, condition: Expression, point: Point) -> bool | None:
        """Whether an axis is at a place, if where it stands is written in numbers."""
        match condition:
            case Apply(operation="equal", operands=(Axis() as axis, Constant(value=number))):
                base, offset = self.place(axis, point)
                if base == "0" and axis is not self.tile.axis:
                    return offset == number
        return None

    @staticmethod
    def mask_serves(node: Guard) -> bool:
        """Whether what is guarded is little enough to be computed in any case."""
        return not any(isinstance(x, (Reduce, Guard)) for x in ordered(node.operands[1:]))

    def _masked(self, node: Guard, point: Point) -> str:
        condition, value, otherwise = node.operands
        f, wide, before = self.function, self.wide, self.mask
        chosen = self.operand(condition, point, wide)
        kind = wide.type("i1")
        sides = []
        for root, holds in ((value, True), (otherwise, False)):
            mask = chosen
            if not holds:
                if isinstance(root, Constant):
                    sides.append(self.operand(root, point, wide))
                    continue
                mask = f.value(f"xor {kind} {chosen}, {wide.number('i1', 'true')}")
            both = mask if before is None else f.value(f"and {kind} {before}, {mask}")
            with self.at(point, both):
                self.compute([root], [point])
                sides.append(self.operand(root, point, wide))
        return wide.select(chosen, wide.held(node.dtype), *sides)
