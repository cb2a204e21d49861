"""Positions as sums: a constant and terms, each an axis or a node with an integer before it.

What reshapes and slices leave of `//` and `%` goes where ranges show that it may.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import gcd

from scull.lang.bounds import Facts, Range
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, constant


@dataclass(frozen=True)
class Affine:
    """`constant` and each node of `terms` as often as it says."""

    constant: int
    terms: Mapping[Expression, int]

    def __add__(self, other: "Affine") -> "Affine":
        terms = dict(self.terms)
        for node, many in other.terms.items():
            terms[node] = terms.get(node, 0) + many
        kept = {node: many for node, many in terms.items() if many}
        return Affine(self.constant + other.constant, kept)

    def times(self, factor: int) -> "Affine":
        """It so many times."""
        terms = {node: many * factor for node, many in self.terms.items() if factor}
        return Affine(self.constant * factor, terms)

    def step(self, axis: Axis) -> int | None:
        """How far one position of `axis` moves it; None where that is not always as far."""
        if any(node is not axis and axis in node.free for node in self.terms):
            return None
        return self.terms.get(axis, 0)

    @property
    def axes(self) -> frozenset[Axis]:
        """What it varies with."""
        return frozenset().union(*(node.free for node in self.terms))


class Positions:
    """Integer expressions as sums, each computed once."""

    def __init__(self) -> None:
        self.facts = Facts({})
        self.known: dict[Expression, Affine] = {}

    @staticmethod
    def plain(node: Expression) -> Affine:
        """A node as it is."""
        return Affine(0, {node: 1})

    def of(self, node: Expression) -> Affine:
        """The sum that an integer expression is."""
        if node not in self.known:
            self.known[node] = self._of(node)
        return self.known[node]

    def offset(self, array: Array, index: tuple[Expression, ...]) -> Affine:
        """Where an element lies in memory, in elements from the first."""
        parts = (
            self.of(place).times(stride) for place, stride in zip(index, array.strides, strict=True)
        )
        return self._joined(reduce(lambda x, y: x + y, parts, Affine(0, {})))

    def _joined(self, sum: Affine) -> Affine:
        """The same with `x // m` so many times m and `x % m` as often made one x."""
        for rest, many in sum.terms.items():
            if not isinstance(rest, Apply) or rest.operation != "remainder":
                continue
            x, m = rest.operands
            if not isinstance(m, Constant):
                continue
            whole = self.of(x // m)
            if whole.constant or list(whole.terms.values()) != [1]:
                continue
            (node,) = whole.terms
            if sum.terms.get(node) == many * int(m.value):
                terms = {n: k for n, k in sum.terms.items() if n not in (rest, node)}
                return self._joined(Affine(sum.constant, terms) + self.of(x).times(many))
        return sum

    def _of(self, node: Expression) -> Affine:
        if isinstance(node, Constant):
            return Affine(int(node.value), {})
        if not isinstance(node, Apply):
            return self.plain(node)
        match node.operation, node.operands:
            case "add", (x, y) if self._whole(node):
                return self._joined(self.of(x) + self.of(y))
            case "subtract", (x, y) if self._whole(node):
                return self._joined(self.of(x) + self.of(y).times(-1))
            case "negative", (x,) if self._whole(node):
                return self.of(x).times(-1)
            case "multiply", (x, y) if self._whole(node):
                if isinstance(y, Constant):
                    return self.of(x).times(int(y.value))
                if isinstance(x, Constant):
                    return self.of(y).times(int(x.value))
            case "cast", (x,) if element(x.dtype).kind == "integer" and node.dtype == "int64":
                inner = self.of(x)
                return inner if all(n.dtype == "int64" for n in inner.terms) else self.plain(node)
            case (("floor_divide" | "remainder"), (x, Constant(value=m))) if int(m) > 0:
                return self._divided(node, self.of(x), int(m))
        return self.plain(node)

    def _whole(self, node: Expression) -> bool:
        return node.dtype == "int64"

    def _divided(self, node: Apply, x: Affine, m: int) -> Affine:
        """`x // m` or `x % m`: what m divides leaves the brackets."""
        whole = Affine(
            x.constant // m * m, {n: many for n, many in x.terms.items() if many % m == 0}
        )
        rest = x + whole.times(-1)
        found = self.range_of(rest)
        quotient = node.operation == "floor_divide"
        outside = Affine(whole.constant // m, {n: k // m for n, k in whole.terms.items()})
        if found.low >= 0 and found.high < m:
            return outside if quotient else rest
        size, rows = self._rows(rest, m)
        if size > 1:
            row, over = self.expression(rows), m // size
            if quotient:
                return outside + self.of(row // over)
            return self.of(row % over).times(size) + rest + rows.times(-size)
        inner = self.expression(rest)
        if not quotient:
            return self.plain(inner % m)
        if isinstance(inner, Apply) and inner.operation == "floor_divide":
            once, n = inner.operands
            if isinstance(n, Constant) and int(n.value) > 0:
                return outside + self.plain(once // (int(n.value) * m))
        return outside + self.plain(inner // m)

    def _rows(self, x: Affine, m: int) -> tuple[int, Affine]:
        """A size that divides m, and y, where x is y rows of that size and less than one more."""
        sizes = {gcd(m, many) for many in x.terms.values()} - {1}
        for size in sorted(sizes, reverse=True):
            terms = {n: many // size for n, many in x.terms.items() if many % size == 0}
            rows = Affine(x.constant // size, terms)
            found = self.range_of(x + rows.times(-size))
            if found.low >= 0 and found.high < size:
                return size, rows
        return 1, Affine(0, {})

    def range_of(self, x: Affine) -> Range:
        """The least and the greatest it can be."""
        low = high = x.constant
        for node, many in x.terms.items():
            found = self.facts.range_of(node)
            ends = (found.low * many, found.high * many)
            low, high = low + min(ends), high + max(ends)
        return Range(low, high)

    def expression(self, x: Affine) -> Expression:
        """The sum as an expression, written the one way."""
        return _written(x.constant, tuple(x.terms.items()))


@lru_cache(maxsize=4096)
def _written(number: int, terms: tuple[tuple[Expression, int], ...]) -> Expression:
    total: Expression | None = None
    for node, many in sorted(terms, key=lambda each: -abs(each[1])):
        part = node if many == 1 else node * many
        total = part if total is None else total + part
    if total is None:
        return constant(number, "int64")
    return total + number if number else total
