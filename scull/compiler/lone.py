"""Sums of which no more than one term counts, as that term.

The gradient of pooling asks each window whether it reaches a place. Where windows do not overlap
one does at most, and which one follows from the place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from scull import lang
from scull.compiler.affine import Affine, Positions
from scull.compiler.simplify import simplified, substituted
from scull.compiler.stage import contracts
from scull.compiler.trace import Statement
from scull.lang.body import Map, with_roots
from scull.lang.expression import Apply, Axis, Constant, Expression, Guard, Reduce, only
from scull.lang.walk import rewritten


def alone(statements: Sequence[Statement]) -> list[Statement]:
    """The statements; such sums in them are their terms, unless they are products."""
    found: list[Statement] = []
    for statement in statements:
        body = statement.body
        if isinstance(body, Map) and not contracts(body):
            positions = Positions()
            (root,) = rewritten([body.value], partial(_lone, positions=positions), {})
            if root is not body.value:
                statement = replace(statement, body=with_roots(body, [root]))
        found.append(statement)
    return found


def _lone(node: Expression, positions: Positions) -> Expression:
    """A node; a sum without those of its axes of which one place at most counts."""
    while isinstance(node, Reduce) and node.operation == "sum":
        term = node.operands[0]
        chosen = _chosen(node, positions) if isinstance(term, Guard) else None
        if chosen is None:
            break
        axis, place, certain = chosen
        condition, value, nought = term.operands
        condition, value = (substituted(x, {axis: place}, positions) for x in (condition, value))
        if not certain:
            condition = simplified(lang.both(condition, place < axis.size), positions)
        alone = simplified(lang.guarded(condition, value, nought), positions)
        axes = tuple(x for x in node.axes if x is not axis)
        node = only(Reduce, node.dtype, (alone,), "sum", axes) if axes else alone
    return node


def _chosen(node: Reduce, positions: Positions) -> tuple[Axis, Expression, bool] | None:
    """An axis of a sum, its one place where terms count, and whether it has that everywhere."""
    condition, _, nought = node.operands[0].operands
    if not isinstance(nought, Constant) or nought.value != 0:
        return None
    for where, stride in _multiples(condition, positions):
        inner = [x for x in node.axes if x in where.axes]
        if len(inner) != 1 or not 0 < inner[0].size <= stride:
            continue
        (axis,), step = inner, where.step(inner[0])
        if step not in (1, -1):
            continue
        rest = (where + Affine(0, {axis: -step})).times(-step)
        whole = positions.of(positions.expression(rest) // stride)
        place = positions.expression(rest + whole.times(-stride))
        return axis, place, axis.size == stride
    return None


def _multiples(condition: Expression, positions: Positions) -> Iterator[tuple[Affine, int]]:
    """What must be a multiple for a condition to hold, and of what."""
    pending = [condition]
    while pending:
        match pending.pop():
            case Apply(operation="and", operands=operands):
                pending.extend(operands)
            case Apply(
                operation="equal",
                operands=(
                    Apply(operation="remainder", operands=(x, Constant(value=stride))),
                    Constant(value=0),
                ),
            ) if int(stride) > 0:
                yield positions.of(x), int(stride)
