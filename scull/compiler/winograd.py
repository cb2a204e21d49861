"""Sums over windows of three with fewer multiplications: Winograd's F(2, 3) and F(3, 2).

Two neighbouring places of a convolution with three taps have four elements of data in common, d0 to
d3: with d0 - d2, d1 + d2, d2 - d1, d1 - d3 and four sums of the taps, four products make both
results, which take six otherwise. The same four make three places of a sum over two, which is what
the gradient of the taps is. Over images it is done along both axes: 16 products for 36.
(S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, arXiv:1509.09308.)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from math import prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.pair import takes_pairs
from scull.compiler.simplify import simplified, substituted
from scull.compiler.stage import OFTEN, contracts
from scull.compiler.trace import Statement
from scull.flags import flag
from scull.lang.body import Map
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce, constant
from scull.lang.walk import ordered, rewritten

TAPS = 3
KINDS = ("float32", "float64")
MOVED = 8  # products that reading, adding and writing one element of what lies between costs
MOST = 2  # windows: rounding grows with each
LEAST = 1 << 20  # products that are worth it

Term = tuple[int, int, int]  # of a sum of two: which is first, which second, the second's sign
DATA: tuple[Term, ...] = ((0, 2, -1), (1, 2, 1), (2, 1, -1), (1, 3, -1))


@dataclass(frozen=True)
class Window:
    """An axis of the results and one of the sum along which data is read in one: at their sum.

    `turned`: at the difference, so that the taps count backwards.
    """

    along: Axis
    over: Axis
    turned: bool

    @property
    def is_gradient(self) -> bool:
        """Whether the results are the taps."""
        return self.along.size == TAPS

    @property
    def reach(self) -> int:
        """How many places of data there are."""
        return self.along.size + self.over.size - 1

    @property
    def pairs(self) -> int:
        """How many pairs of places, or of terms, there are."""
        return -(-(self.over if self.is_gradient else self.along).size // 2)


def with_few_products(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, sums over windows in steps that multiply less where that pays."""
    if not flag("WINOGRAD"):
        return list(statements)
    found: list[Statement] = []
    for statement in statements:
        body = statement.body
        steps = _steps(statement) if isinstance(body, Map) and contracts(body) else None
        found += [statement] if steps is None else steps.written()
    return found


def _steps(statement: Statement) -> "_Steps | None":
    """The steps of a statement, if it is such a sum and they take less work."""
    nodes = [x for x in ordered(statement.body.roots) if isinstance(x, Reduce)]
    if len(nodes) != 1 or nodes[0].operation != "sum" or nodes[0].dtype not in KINDS:
        return None
    if takes_pairs(nodes[0]):
        return None
    (term,) = nodes[0].operands
    if not isinstance(term, Apply) or term.operation != "multiply":
        return None
    both = (_Steps(statement, nodes[0], *pair) for pair in (term.operands, term.operands[::-1]))
    return next((steps for steps in both if steps.pays), None)


_numbers = count()


class _Steps:
    """The statements that a sum over windows becomes.

    Between `data` and `taps` and the results lie one array of each in sums, and their products: a
    place along `tiles` is one choice of four for each window, `halves` are pairs.
    """

    def __init__(
        self, statement: Statement, node: Reduce, data: Expression, taps: Expression
    ) -> None:
        assert isinstance(statement.body, Map)
        self.statement, self.body, self.node = statement, statement.body, node
        self.positions, self.found = Positions(), list[Statement]()
        self.data, self.taps = data, taps
        self.windows = _windows(statement.body, node, data, taps, self.positions)
        self.is_gradient = any(w.is_gradient for w in self.windows)
        self.tiles = lang.axis(4 ** len(self.windows))
        self.halves = {w: lang.axis(w.pairs) for w in self.windows}
        self.along = frozenset(w.along for w in self.windows)
        self.over = frozenset(w.over for w in self.windows)

    @property
    def pays(self) -> bool:
        """Whether fewer products are worth what is moved for them."""
        every = frozenset((*self.body.axes, *self.node.axes)) - self.along - self.over
        if not self.windows or every <= frozenset(self.body.axes):
            return False
        before = prod(w.along.size * w.over.size for w in self.windows)
        after = prod(4 * w.pairs for w in self.windows)
        other = self.taps.free if self.is_gradient else frozenset(self.body.axes)
        moved = [x - self.along - self.over for x in (self.data.free, other)]
        saved = _size(every) * (before - after)
        return _size(every) * before > LEAST and saved > MOVED * after * sum(map(_size, moved))

    def written(self) -> list[Statement]:
        """The statements."""
        lead = self._lead()
        products = self._products(lead, self._data(lead), self._taps(lead))
        done: dict[Expression, Expression] = {self.node: self._results(products)}
        root = rewritten([self.body.value], lambda x: simplified(x, self.positions), done)[0]
        why = f"{4 ** len(self.windows)} products for {6 ** len(self.windows)}"
        decided("together", self.statement.out.name, "", why)
        return [*self.found, replace(self.statement, body=Map(self.body.axes, root))]

    def _lead(self) -> tuple[Axis, ...]:
        """The axis that comes first because each of its places is much work: of images, one.

        Gradients have one sum for each of its places where these are less than what they sum up.
        """
        pairs = prod(w.pairs for w in self.windows)
        if self.is_gradient:
            shared = (self.data.free & self.taps.free) - self.over
            mine = [_size(x.free - self.over - shared - self.along) for x in (self.data, self.taps)]
            few = prod(mine) < pairs * sum(mine)
            return tuple(x for x in self.node.axes if x in shared and few)[:1]
        first = self.body.axes[0]
        apart = first in self.data.free and first not in self.taps.free | self.along
        return (first,) if apart and pairs >= OFTEN else ()

    def _made(self, axes: Sequence[Axis], value: Expression) -> Expression:
        """An element of a new array, whose axes these are."""
        own: dict[Axis, Expression] = {x: lang.axis(x.size) for x in axes}
        out = Array(f"w{next(_numbers)}", tuple(x.size for x in axes), value.dtype)
        places = tuple(x for x in own.values() if isinstance(x, Axis))
        body = Map(places, substituted(value, own, self.positions))
        self.found.append(Statement(out, body, self.statement.origin))
        return out[tuple(axes)]

    def _at(self, value: Expression, pairs: dict[Axis, Expression]) -> Expression:
        return substituted(value, pairs, self.positions)

    def _data(self, lead: tuple[Axis, ...]) -> Expression:
        """The sums of data."""
        value = self.data
        ends = {w: lang.axis(2 * w.pairs + 2) for w in self.windows}
        for w in self.windows:
            whole = joined(value, w, ends[w], self.positions)
            assert whole is not None
            value = whole
            if ends[w].size > w.reach:
                value = lang.guarded(ends[w] < w.reach, value, 0.0)
        inner = frozenset(self.body.axes if self.is_gradient else self.node.axes)
        rest = sorted(value.free - frozenset(ends.values()), key=lambda x: (x in inner, x.number))
        last = [x for x in rest if x in inner]
        first = [x for x in rest if x not in inner and x not in lead]
        if not self._runs_along(value, last):
            value = self._made([*lead, *first, *ends.values(), *last], value)

        def sums(windows: Sequence[Window], value: Expression) -> list[Expression]:
            if not windows:
                return [value]
            w, *others = windows
            at = [self._at(value, {ends[w]: self.halves[w] * 2 + i}) for i in range(4)]
            four = [sums(others, x) for x in at]
            return [
                x - y if sign < 0 else x + y
                for p, q, sign in DATA
                for x, y in zip(four[p], four[q], strict=True)
            ]

        axes = [*lead, self.tiles, *first, *self.halves.values(), *last]
        return self._made(axes, _one_of(self.tiles, sums(self.windows, value)))

    def _taps(self, lead: tuple[Axis, ...]) -> Expression:
        """The sums of taps."""
        value, own = self.taps, frozenset(self.body.axes)
        rest = sorted(value.free - self.over, key=lambda x: (x in own, x.number))
        if not self._runs_along(value, rest):
            value = self._made([*(w.over for w in self.windows), *rest], value)

        def sums(windows: Sequence[Window], value: Expression) -> list[Expression]:
            if not windows:
                return [value]
            w, *others = windows
            each = [sums(others, x) for x in self._of_window(value, w)]
            made = _of_two if self.is_gradient else _of_three
            columns = [made(taps) for taps in zip(*each, strict=True)]
            return [x for row in zip(*columns, strict=True) for x in row]

        halves = self.halves.values() if self.is_gradient else ()
        first = [x for x in rest if x in lead]
        shared = [x for x in rest if x not in own and x not in lead]
        mine = [x for x in rest if x in own and x not in lead]
        axes = [*first, self.tiles, *shared, *halves, *mine]
        return self._made(axes, _one_of(self.tiles, sums(self.windows, value)))

    def _of_window(self, value: Expression, w: Window) -> list[Expression]:
        """The taps of a window; of those that are pairs, the two."""
        size = w.over.size
        if not self.is_gradient:
            return [self._tap(value, w, constant(i, "int64")) for i in range(size)]
        first = self.halves[w] * 2
        second = self._tap(value, w, first + 1)
        if size % 2:
            second = lang.guarded(first + 1 < size, second, 0.0)
        return [self._tap(value, w, first), second]

    def _tap(self, value: Expression, w: Window, place: Expression) -> Expression:
        return self._at(value, {w.over: w.over.size - 1 - place if w.turned else place})

    def _products(self, lead: tuple[Axis, ...], data: Expression, taps: Expression) -> Expression:
        """The products of both, summed over what is no window."""
        halves = {w.along: self.halves[w] for w in self.windows}
        over = [x for x in self.node.axes if x not in self.over]
        if self.is_gradient:
            rest = [x for x in self.body.axes if x not in halves]
            over = [x for x in (*over, *self.halves.values()) if x not in lead]
        else:
            rest = [halves.get(x, x) for x in self.body.axes if x not in lead]
        found = self._made([*lead, self.tiles, *rest], lang.sum(data * taps, over=tuple(over)))
        if self.is_gradient and lead:
            found = self._made([self.tiles, *rest], lang.sum(found, over=lead))
        return found

    def _results(self, products: Expression) -> Expression:
        """The sum that was, at the places of the results."""

        def at(windows: Sequence[Window], tile: int, scale: int) -> Expression:
            if not windows:
                place: dict[Axis, Expression] = {self.tiles: constant(tile, "int64")}
                if not self.is_gradient:
                    place |= {self.halves[w]: w.along // 2 for w in self.windows}
                return self._at(products, place)
            *others, w = windows
            m = [at(others, tile + n * scale, scale * 4) for n in range(4)]
            if self.is_gradient:
                half, other = (m[1] + m[2]) * 0.5, (m[1] - m[2]) * 0.5
                return _one_of(w.along, [m[0] + half, other, half + m[3]])
            return _one_of(w.along % 2, [m[0] + m[1] + m[2], m[1] - m[2] - m[3]])

        return at(self.windows, 0, 1)

    def _runs_along(self, value: Expression, axes: Sequence[Axis]) -> bool:
        """Whether a value is read as it is in memory, along the last of the axes."""
        if not isinstance(value, Load) or not axes:
            return False
        return self.positions.offset(value.array, value.operands).step(axes[-1]) == 1


def _one_of(place: Expression, values: Sequence[Expression]) -> Expression:
    """The value of so many that a place says."""
    *first, value = values
    for number, each in reversed(list(enumerate(first))):
        value = lang.guarded(lang.equal(place, number), each, value)
    return value


def _of_three(taps: Sequence[Expression]) -> list[Expression]:
    """What sums of data are multiplied with for two places of three taps."""
    a, b, c = taps
    return [a, (a + b + c) * 0.5, (a - b + c) * 0.5, c]


def _of_two(taps: Sequence[Expression]) -> list[Expression]:
    """The same for three places of two taps, but for halves that the results have."""
    a, b = taps
    return [a, a + b, a - b, -b]


def _size(axes: Iterable[Axis]) -> int:
    return prod(x.size for x in axes)


def joined(value: Expression, window: Window, end: Axis, positions: Positions) -> Expression | None:
    """Data at one place of a window, at the place of its results and the tap together."""
    tap = window.over
    place = end + tap - (tap.size - 1) if window.turned else end - tap
    found = substituted(value, {window.along: place}, positions)
    return None if tap in found.free else found


def _windows(
    body: Map, node: Reduce, data: Expression, taps: Expression, positions: Positions
) -> list[Window]:
    """The windows that data is read along, all of one kind."""
    found: list[Window] = []
    for along, over in product(body.axes, node.axes):
        small, large = sorted((along.size, over.size))
        used = any(along is w.along or over is w.over for w in found)
        if used or small != TAPS or large <= TAPS or along in taps.free:
            continue
        if not {along, over} <= data.free or over not in taps.free:
            continue
        for turned in (False, True):
            w = Window(along, over, turned)
            if joined(data, w, lang.axis(w.reach), positions) is not None:
                if not found or found[0].is_gradient == w.is_gradient:
                    found.append(w)
                break
    return found[-MOST:]
