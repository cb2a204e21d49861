"""Axes of reductions that are told only by quotients and remainders become two.

What a reshape merges, where another operand has the parts in another order, is taken apart again:
positions are then plain sums.
"""

from collections.abc import Sequence
from dataclasses import replace

from scull.compiler.affine import Positions
from scull.compiler.simplify import simplified
from scull.compiler.trace import Statement
from scull.lang.body import Body, Map, with_roots
from scull.lang.expression import Apply, Axis, Constant, Expression, Load, Reduce, axis, only
from scull.lang.walk import ordered, rewritten


def divided(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with such axes as two."""
    return [replace(s, body=_divided(s.body)) for s in statements]


def _divided(body: Body) -> Body:
    """A body whose reductions run over parts of axes where only the parts are read."""
    if not isinstance(body, Map):
        return body
    nodes = ordered(body.roots)
    axes = [x for node in nodes if isinstance(node, Reduce) for x in node.axes]
    pairs: dict[Axis, tuple[Axis, Axis]] = {}
    done: dict[Expression, Expression] = {}
    for each in dict.fromkeys(axes):
        size = divisor(each, nodes)
        if size:
            outer, inner = axis(each.size // size), axis(size)
            pairs[each] = outer, inner
            done[each // size], done[each % size] = outer, inner
    if not pairs:
        return body
    positions = Positions()

    def change(node: Expression) -> Expression:
        if isinstance(node, Reduce):
            axes = tuple(y for x in node.axes for y in pairs.get(x, (x,)))
            return only(Reduce, node.dtype, node.operands, node.operation, axes)
        return node if isinstance(node, Load) else simplified(node, positions)

    return with_roots(body, rewritten(body.roots, change, done))


def divisor(each: Axis, nodes: Sequence[Expression]) -> int:
    """The one number by which an axis is divided wherever it is read; 0: there is none."""
    sizes = set()
    for node in nodes:
        if isinstance(node, Reduce) and each in node.axes:
            if node.operation not in ("sum", "max", "min", "prod", "any", "all"):
                return 0
        elif each in node.operands:
            if not isinstance(node, Apply) or node.operation not in ("floor_divide", "remainder"):
                return 0
            x, size = node.operands
            if x is not each or not isinstance(size, Constant):
                return 0
            sizes.add(int(size.value))
    (found,) = sizes if len(sizes) == 1 else (0,)
    return found if found > 0 and each.size % found == 0 else 0
