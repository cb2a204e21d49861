"""Proof that a kernel reads only within its arrays: ranges of integer expressions.

An index must lie in range for every position of its axes, or the condition of a guard around it
must say so. A condition is understood as far as it is made of comparisons of integers joined by
`&`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from scull.errors import RangeError
from scull.lang.dtype import element
from scull.lang.expression import Apply, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.walk import eager_operands, ordered

INFINITY = 1 << 80


@dataclass(frozen=True)
class Range:
    """The integers from `low` to `high`, both included; empty if `low` is above `high`."""

    low: int
    high: int

    def meet(self, other: "Range") -> "Range":
        """What lies in both."""
        return Range(max(self.low, other.low), min(self.high, other.high))


EVERYTHING = Range(-INFINITY, INFINITY)


class Facts:
    """Ranges known within a scope; the inside of a guard knows what its condition says besides."""

    def __init__(self, told: dict[Expression, Range]) -> None:
        self.told = told
        self.ranges: dict[Expression, Range] = {}

    def range_of(self, root: Expression) -> Range:
        """The values an integer expression may have."""
        if root in self.ranges:
            return self.ranges[root]
        for node in ordered([root], known=self.ranges.__contains__):
            operands = [self.ranges[x] for x in node.operands]
            found = _range(node, operands).meet(_whole(node.dtype))
            self.ranges[node] = found.meet(self.told.get(node, EVERYTHING))
        return self.ranges[root]

    def given(self, condition: Expression, holds: bool) -> "Facts":
        """The facts where a condition holds, or does not."""
        told = dict(self.told)
        for small, large, strict in _comparisons(condition, holds):
            low, high = self.range_of(small).low + strict, self.range_of(large).high - strict
            told[small] = told.get(small, EVERYTHING).meet(Range(-INFINITY, high))
            told[large] = told.get(large, EVERYTHING).meet(Range(low, INFINITY))
        return Facts(told)


def check_loads(root: Expression, condition: Expression | None = None) -> None:
    """Raise unless every load of an expression stays within its array, where a condition holds."""
    facts = Facts({})
    pending = [(root, facts if condition is None else facts.given(condition, True))]
    seen: set[tuple[Expression, int]] = set()
    scopes = []
    while pending:
        top, facts = pending.pop()
        scopes.append(facts)  # keeps each scope alive, so that its id stays its own
        for node in ordered([top], eager_operands):
            if (node, id(facts)) in seen:
                continue
            seen.add((node, id(facts)))
            if isinstance(node, Load):
                _check(node, facts)
            elif isinstance(node, Reduce):
                if all(axis.size for axis in node.axes):
                    pending.append((node.operands[0], facts))
            elif isinstance(node, Guard):
                condition, value, otherwise = node.operands
                pending.append((value, facts.given(condition, True)))
                pending.append((otherwise, facts.given(condition, False)))


def _check(load: Load, facts: Facts) -> None:
    ranges = [facts.range_of(index) for index in load.operands]
    if any(found.low > found.high for found in ranges):
        return  # no position reaches it
    for number, (found, size) in enumerate(zip(ranges, load.array.shape, strict=True)):
        if found.low < 0 or found.high >= size:
            raise RangeError(
                f"index {number} of `{load.array.name}` may be {_text(found)} and the axis has"
                f" {size} elements: put the load in a `guarded`"
            )


def _text(found: Range) -> str:
    return str(found.low) if found.low == found.high else f"{found.low} to {found.high}"


def _whole(dtype: str) -> Range:
    facts = element(dtype)
    if facts.kind == "float":
        return EVERYTHING
    return Range(int(facts.lowest), int(facts.highest))


def _comparisons(
    condition: Expression, holds: bool
) -> Iterator[tuple[Expression, Expression, bool]]:
    """What a condition says: pairs (smaller, greater, whether they differ)."""
    pending = [(condition, holds)]
    while pending:
        node, truth = pending.pop()
        if not isinstance(node, Apply):
            continue
        if node.operation == "not":
            pending.append((node.operands[0], not truth))
        elif node.operation == ("and" if truth else "or"):
            pending.extend((x, truth) for x in node.operands)
        elif element(node.operands[0].dtype).kind == "integer":
            x, y = node.operands[:2]
            if node.operation in ("less", "less_equal"):
                strict = (node.operation == "less") is truth
                yield (x, y, strict) if truth else (y, x, strict)
            elif node.operation == ("equal" if truth else "not_equal"):
                yield (x, y, False)
                yield (y, x, False)


def _range(node: Expression, operands: list[Range]) -> Range:
    match node:
        case Axis(size=size):
            return Range(0, size - 1)
        case Constant(value=value) if element(node.dtype).kind != "float":
            return Range(int(value), int(value))
        case Reduce(operation="argmax" | "argmin", axes=axes):
            count = 1
            for axis in axes:
                count *= axis.size
            return Range(0, count - 1)
        case Reduce(operation="max" | "min", axes=axes) if all(axis.size for axis in axes):
            return operands[0]
        case Guard():
            return _hull(operands[1], operands[2])
        case Apply(operation=operation) if element(node.dtype).kind == "integer":
            return _range_of_operation(node, operation, operands)
    return EVERYTHING


def _hull(x: Range, y: Range) -> Range:
    return Range(min(x.low, y.low), max(x.high, y.high))


def _range_of_operation(node: Apply, operation: str, operands: list[Range]) -> Range:
    exact = EVERYTHING
    if operation == "select":
        return _hull(operands[1], operands[2])
    if operation == "cast":
        integers = element(node.operands[0].dtype).kind != "float"
        exact = operands[0] if integers else EVERYTHING
    elif len(operands) == 2:
        exact = _range_of_pair(operation, *operands)
    elif operation == "negative":
        exact = Range(-operands[0].high, -operands[0].low)
    whole = _whole(node.dtype)
    wraps = exact.low < whole.low or exact.high > whole.high
    return whole if wraps else exact


def _range_of_pair(operation: str, x: Range, y: Range) -> Range:
    match operation:
        case "add":
            return Range(x.low + y.low, x.high + y.high)
        case "subtract":
            return Range(x.low - y.high, x.high - y.low)
        case "multiply":
            ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
            return Range(min(ends), max(ends))
        case "within" if y.low == y.high:
            return Range(0, max(y.high - 1, 0))
        case "minimum":
            return Range(min(x.low, y.low), min(x.high, y.high))
        case "maximum":
            return Range(max(x.low, y.low), max(x.high, y.high))
        case "floor_divide" if y.low > 0:
            ends = [a // b for a in (x.low, x.high) for b in (y.low, y.high)]
            return Range(min(ends), max(ends))
        case "remainder" if y.low > 0:
            return x if x.low >= 0 and x.high < y.low else Range(0, y.high - 1)
    return EVERYTHING
