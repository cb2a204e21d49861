"""What is copied into panels, made in panels at once where nobody wants it otherwise.

The gradient of a layer, and what it is made of, is read by two products: one runs along its rows,
one takes panels of it. Both read panels as well, and so does what lies element by element beside.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.fuse import loads_of
from scull.compiler.memory import LARGE
from scull.compiler.panel import width
from scull.compiler.simplify import simplified, substituted
from scull.compiler.stage import contracts, nbytes
from scull.compiler.trace import Statement
from scull.lang.body import Map
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce, only
from scull.lang.walk import ordered, rewritten

LEAST = 32  # columns of a panel: as many terms a loop over what lies in panels has at a time
KINDS = ("float32", "float64")


@dataclass(frozen=True)
class Form:
    """Panels of an array: its axes in order, of which the last is cut, and lanes at the end."""

    order: tuple[int, ...]

    def shape(self, array: Array) -> tuple[int, ...]:
        """The sizes of its axes."""
        *others, last = array.shape
        sizes = (*others, last // width())
        return (*(sizes[n] for n in self.order), width())

    def index(self, index: Sequence[Expression], positions: Positions) -> tuple[Expression, ...]:
        """Where what stood at an index stands in it."""
        *others, last = index
        panel, lane = (simplified(x, positions) for x in (last // width(), last % width()))
        places = (*others, panel)
        return (*(places[n] for n in self.order), lane)


@dataclass(frozen=True)
class Settled:
    """Arrays that are made in panels, `made` in place of others, and the copies that are not."""

    forms: Mapping[Array, Form]
    made: Mapping[Array, Array]
    copies: Mapping[Array, Map]
    positions: Positions

    def has(self, array: Array) -> bool:
        """Whether an array is one of these."""
        return array in self.forms or array in self.copies

    def source(self, load: Load) -> tuple[Array, tuple[Expression, ...]]:
        """What a load reads, be it of a copy, and where."""
        copy = self.copies.get(load.array)
        if copy is None:
            return load.array, load.operands
        assert isinstance(copy.value, Load)
        pairs: dict[Axis, Expression] = dict(zip(copy.axes, load.operands, strict=True))
        places = copy.value.operands
        return copy.value.array, tuple(substituted(x, pairs, self.positions) for x in places)

    def load(self, load: Load) -> Expression:
        """The same element, where it is made."""
        array, index = self.source(load)
        return self.made[array][self.forms[array].index(index, self.positions)]


def settled(statements: Sequence[Statement], kept: Collection[Array]) -> list[Statement]:
    """The statements without the copies whose sources can be made as these are."""
    if width() < LEAST:
        return list(statements)
    plan = _Plan(statements, kept)
    forms, gone = plan.forms()
    if not gone:
        return list(statements)
    made = {x: Array(x.name, form.shape(x), x.dtype) for x, form in forms.items()}
    where = Settled(forms, made, {x: plan.copies[x] for x in gone}, Positions())
    found = []
    for statement in statements:
        out, body = statement.out, statement.body
        if out in gone:
            continue
        for load in loads_of(body):
            if load.array in gone:
                decided("copied", load.array.name, out.name, "made so where it comes about")
        if isinstance(body, Map):
            body = _reading(body, where)
            body = _making(body, forms[out], where.positions) if out in forms else body
        found.append(replace(statement, out=made.get(out, out), body=body))
    return found


class _Plan:
    """What statements make, who but copies reads it, and what lies element by element beside."""

    def __init__(self, statements: Sequence[Statement], kept: Collection[Array]) -> None:
        self.made = {s.out: s for s in statements if s.out not in kept}
        self.copies: dict[Array, Map] = {}
        self.beside: dict[Array, set[Array]] = {}
        self.readers: dict[Array, list[Statement]] = {}
        for s in statements:
            if s.out in self.made and _copies(s):
                assert isinstance(s.body, Map)
                self.copies[s.out] = s.body
                continue
            for load in loads_of(s.body):
                if _is_beside(load, s):
                    self.beside.setdefault(load.array, set()).add(s.out)
                    self.beside.setdefault(s.out, set()).add(load.array)
                self.readers.setdefault(load.array, []).append(s)

    def forms(self) -> tuple[dict[Array, Form], set[Array]]:
        """The arrays that are made in panels, and the copies that are not made."""
        forms, gone = dict[Array, Form](), set[Array]()
        for copy, body in self.copies.items():
            form, source = _form(body), self.source(copy)
            little = form.order[0] != source.ndim - 1 or nbytes(source) < LARGE
            if little or source in self.copies:
                continue  # of a product in a batch, or small: a copy takes little
            if not all(_may_read(s) for s in self.readers.get(copy, ())):
                continue
            if source not in forms:
                together = self._together(source)
                if not all(self._may(x) for x in together):
                    continue
                forms |= dict.fromkeys(together, form)
            if forms[source] == form:
                gone.add(copy)
        return forms, gone

    def source(self, copy: Array) -> Array:
        """What it is a copy of."""
        value = self.copies[copy].value
        assert isinstance(value, Load)
        return value.array

    def _together(self, array: Array) -> set[Array]:
        """It and all that lies element by element beside it."""
        found, pending = {array}, [array]
        while pending:
            for x in self.beside.get(pending.pop(), ()):
                if x not in found:
                    found.add(x)
                    pending.append(x)
        return found

    def _may(self, array: Array) -> bool:
        """Whether an array may be made in panels."""
        maker = self.made.get(array)
        if maker is None or maker.strip is not None or not isinstance(maker.body, Map):
            return False
        body = maker.body
        follows = any(x.array in self.beside.get(array, ()) for x in loads_of(body))
        if not (contracts(body) or follows or _moves(body)):
            return False
        return all(_reads_so(s, array) for s in self.readers.get(array, ()))


def _copies(statement: Statement) -> bool:
    """Whether a statement copies an array whole into panels, or with its last axis elsewhere."""
    body = statement.body
    if not isinstance(body, Map) or not isinstance(body.value, Load) or statement.strip is not None:
        return False
    load, axes = body.value, body.axes
    if load.array.size != statement.out.size or load.dtype not in KINDS or not load.operands:
        return False
    (*others, last), size = load.operands, load.array.shape[-1]
    if size <= width() or size % width() or not all(isinstance(x, Axis) for x in others):
        return False
    if last in axes:
        return last is not axes[-1] and sorted(map(id, load.operands)) == sorted(map(id, axes))
    *_, lane = axes
    where = Positions().of(last)
    panels = [x for x in axes if where.step(x) == width() and x.size == size // width()]
    return lane.size == width() and where.step(lane) == 1 and {*others, *panels, lane} == set(axes)


def _form(copy: Map) -> Form:
    """The panels that a copy is, or that would do in its place."""
    assert isinstance(copy.value, Load)
    *others, last = copy.value.operands
    axes = copy.axes if last in copy.axes else copy.axes[:-1]
    return Form(tuple(others.index(x) if x in others else len(others) for x in axes))


def _is_beside(load: Load, statement: Statement) -> bool:
    """Whether a statement reads an array of its own sizes element by element."""
    body, shape = statement.body, statement.out.shape
    return isinstance(body, Map) and load.operands == body.axes and load.array.shape == shape


def _moves(body: Map) -> bool:
    """Whether a body only chooses among elements."""
    nodes = ordered([body.value])
    return not any(
        isinstance(x, Reduce) or (isinstance(x, Apply) and x.dtype in KINDS) for x in nodes
    )


def _may_read(statement: Statement) -> bool:
    """Whether what a statement reads may lie in panels."""
    return isinstance(statement.body, Map) and statement.strip is None


def _reads_so(statement: Statement, array: Array) -> bool:
    """Whether a statement reads an array in panels well.

    That is element by element, by its last axis beside sums, or along that axis in products.
    """
    body = statement.body
    if not isinstance(body, Map) or not _may_read(statement):
        return False
    loads = [x for x in loads_of(body) if x.array == array]
    if all(_is_beside(x, statement) for x in loads):
        return True
    sums = [x for x in ordered([body.value]) if isinstance(x, Reduce)]
    terms = {axis for x in sums for axis in x.axes}
    for load in loads:
        last = load.operands[-1]
        if not isinstance(last, Axis) or last.size != array.shape[-1] or not sums:
            return False
        if last in terms and not contracts(body):
            return False
    return True


def _reading(body: Map, where: Settled) -> Map:
    """A body that reads what is made in panels."""
    loads = [x for x in loads_of(body) if where.has(x.array)]
    if not loads:
        return body
    lasts = {where.source(x)[1][-1] for x in loads}
    sums = (x for x in ordered([body.value]) if isinstance(x, Reduce))
    whole = (axis for x in sums for axis in x.axes if axis.size % width() == 0)
    cut = [axis for axis in whole if axis in lasts]  # a part of a panel is told by its places
    both = {x: (lang.axis(x.size // width()), lang.axis(width())) for x in cut}

    def change(node: Expression) -> Expression:
        if isinstance(node, Load) and where.has(node.array):
            return where.load(node)
        if isinstance(node, Reduce) and any(x in both for x in node.axes):
            axes = tuple(y for x in node.axes for y in both.get(x, (x,)))
            return only(Reduce, node.dtype, node.operands, node.operation, axes)
        return simplified(node, where.positions)

    done: dict[Expression, Expression] = {
        x: panel * width() + lane for x, (panel, lane) in both.items()
    }
    return replace(body, value=rewritten([body.value], change, done)[0])


def _making(body: Map, form: Form, positions: Positions) -> Map:
    """A body that makes panels."""
    *others, last = body.axes
    panel, lane = lang.axis(last.size // width()), lang.axis(width())
    value = substituted(body.value, {last: panel * width() + lane}, positions)
    axes = (*others, panel)
    return Map((*(axes[n] for n in form.order), lane), value)
