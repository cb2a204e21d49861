"""What a comparison of places leaves out, as a causal mask does, is not computed.

An array that is 0 wherever a comparison fails is told by how it is made, as exponentials of what is
-infinity there are. Sums of products with it have no such terms (`edge.py`): what else stands
there, even NaN, is not looked at. An array of which nobody wants more than such places is computed
there alone, and tiles that lie outside are left out (`skip.py`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from scull import lang
from scull.compiler.affine import Affine, Positions
from scull.compiler.decision import decided
from scull.compiler.edge import edges_of, finds_faults
from scull.compiler.group import long_places, with_long_axes
from scull.compiler.inside import Inside, choice_of
from scull.compiler.stage import contracts
from scull.compiler.trace import Statement
from scull.lang.arithmetic import of_nothing
from scull.lang.body import Map
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
    constant,
    with_operands,
)
from scull.lang.walk import rewritten

Choose = Callable[[Expression, Expression, float], Expression]


def trimmed(statements: Sequence[Statement], outputs: Collection[Array]) -> list[Statement]:
    """The statements, which compute and add up less where comparisons of places leave some out."""
    trim = Trim()
    found = [trim.forward(statement) for statement in statements]
    return trim.backward(found, set(outputs)) if trim.zeros else found


class Trim:
    """What is known of arrays: the long axes they are made along, where they are not 0.

    `lows` tells where they are more than -infinity. What is subtracted from such might be infinite,
    too; then it is NaN wherever it is read.
    """

    def __init__(self) -> None:
        self.positions = Positions()
        self.axes: dict[Array, tuple[Axis, ...]] = {}
        self.zeros: dict[Array, Inside] = {}
        self.lows: dict[Array, Inside] = {}

    def forward(self, statement: Statement) -> Statement:
        """A statement whose sums leave out what is 0, and what it says of its own array."""
        body = statement.body
        if not isinstance(body, Map):
            return statement
        if self.zeros or self.lows:
            choose = lang.guarded if contracts(body) else lang.select
            value = rewritten([body.value], partial(self._shorter, choose=choose), {})[0]
            if value is not body.value:
                decided("trimmed", statement.out.name, "", "factors of its terms are 0")
                statement = replace(statement, body=replace(body, value=value))
        body = with_long_axes(statement.body, self.positions)
        assert isinstance(body, Map)
        self.axes[statement.out] = body.axes
        for known, inside in (
            (self.zeros, self._outside_zero(body.value)),
            (self.lows, self._low(body.value)),
        ):
            if inside is not None and all(n in body.axes for gap in inside.gaps for n in gap.terms):
                known[statement.out] = inside
        return statement

    def _shorter(self, node: Expression, choose: Choose) -> Expression:
        """A sum without terms that are 0, the greatest of terms without those of -infinity."""
        if not isinstance(node, Reduce) or node.operation not in ("sum", "max"):
            return node
        if len(node.axes) > 1 or finds_faults(node.operands[0]):
            return node
        sums = node.operation == "sum"
        for factor in factors(node.operands[0]) if sums else node.operands:
            inside = self._zero(factor) if sums else self._low(factor)
            if inside is not None and not isinstance(factor, Guard):
                chooses = choice_of(factor, self.positions) is not None
                value = factor.operands[1] if chooses else factor
                nothing = of_nothing(node.operation, node.dtype)
                chosen = choose(inside.condition(self.positions), value, nothing)
                terms = rewritten(node.operands, lambda x: x, {factor: chosen})
                found = with_operands(node, tuple(terms))
                assert isinstance(found, Reduce)
                return node if edges_of(found, self.positions) is None else found
        return node

    def _outside_zero(self, value: Expression) -> Inside | None:
        """Where a product is not 0, if one of its factors tells."""
        each = (self._zero(factor) for factor in factors(value))
        return next((inside for inside in each if inside is not None), None)

    def _zero(self, node: Expression) -> Inside | None:
        if isinstance(node, Apply) and node.operation == "exp":
            return self._low(node.operands[0])
        return self._told(node, self.zeros, 0)

    def _low(self, node: Expression) -> Inside | None:
        if isinstance(node, Apply) and node.operation == "subtract":
            return self._low(node.operands[0])
        return self._told(node, self.lows, -inf)

    def _told(self, node: Expression, known: dict[Array, Inside], number: float) -> Inside | None:
        """Where a node is not a number, if it is known or said that it is that elsewhere."""
        if isinstance(node, Load):
            if node.array not in known:
                return None
            pairs = zip(self.axes[node.array], long_places(node), strict=True)
            found = known[node.array].at({x: self.positions.of(y) for x, y in pairs})
            plain = all(isinstance(n, Axis) for gap in found.gaps for n in gap.terms)
            return found if plain else None
        inside = choice_of(node, self.positions)
        return inside if inside is not None and is_number(node.operands[2], number) else None

    def backward(self, statements: list[Statement], outputs: set[Array]) -> list[Statement]:
        """The same, of which arrays are computed where they are wanted alone."""
        wanted: dict[Array, list[Inside]] = {}
        found = []
        for statement in reversed(statements):
            body = with_long_axes(statement.body, self.positions)
            uses = wanted.pop(statement.out, [])
            if isinstance(body, Map) and uses and statement.out not in outputs:
                inside = _common(uses)
                chosen = choice_of(body.value, self.positions) is not None
                if inside is not None and not chosen and not finds_faults(body.value):
                    decided("trimmed", statement.out.name, "", "nobody wants more of it")
                    zero = constant(False if body.value.dtype == "bool" else 0, body.value.dtype)
                    condition = inside.condition(self.positions)
                    body = replace(body, value=lang.select(condition, body.value, zero))
                    statement = replace(statement, body=body)
            found.append(statement)
            for load, inside in self._uses(statement):
                wanted.setdefault(load.array, []).append(self._named(load, inside))
        return found[::-1]

    def _named(self, load: Load, inside: Inside) -> Inside:
        """Where an array is wanted, in the words of its own axes."""
        pairs = zip(long_places(load), self.axes.get(load.array, ()), strict=False)
        return inside.at({x: Affine(0, {own: 1}) for x, own in pairs if isinstance(x, Axis)})

    def _uses(self, statement: Statement) -> Iterator[tuple[Load, Inside]]:
        """What a statement reads, each with where it wants it."""
        pending = [(root, Inside(())) for root in statement.body.roots]
        seen = set()
        while pending:
            node, inside = pending.pop()
            key = node, frozenset(inside.keys)
            if key in seen:
                continue
            seen.add(key)
            if isinstance(node, Load):
                yield node, inside
            own = choice_of(node, self.positions)
            if own is not None:
                pending.append((node.operands[1], Inside(inside.gaps + own.gaps)))
                continue
            if isinstance(node, Apply) and node.operation == "multiply":
                zero = self._outside_zero(node)
                inside = Inside(inside.gaps + zero.gaps) if zero is not None else inside
            pending.extend((x, inside) for x in node.operands)


def factors(value: Expression) -> Iterator[Expression]:
    """Those of a product, however it is converted."""
    pending = [value]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Apply) and node.operation in ("multiply", "cast", "negative"):
            pending.extend(node.operands)


def is_number(node: Expression, number: float) -> bool:
    """Whether it is a number."""
    return isinstance(node, Constant) and node.value == number


def _common(uses: Sequence[Inside]) -> Inside | None:
    """What all who want an array say of its places."""
    keys = frozenset.intersection(*(frozenset(x.keys) for x in uses))
    gaps = {key: gap for x in uses for key, gap in zip(x.keys, x.gaps, strict=True)}
    return Inside(tuple(gaps[key] for key in gaps if key in keys)) if keys else None
