"""Conditions that hold for all lanes of a vector or for none."""

from scull.compiler.affine import Positions
from scull.lang.expression import Apply, Axis, Expression


def is_alike(condition: Expression, along: Axis, lanes: int, positions: Positions) -> bool:
    """Whether lanes along an axis agree, where each vector begins at a multiple of their number."""
    if along not in condition.free:
        return True
    if not isinstance(condition, Apply):
        return False
    if condition.operation in ("and", "or", "not"):
        return all(is_alike(x, along, lanes, positions) for x in condition.operands)
    if condition.operation not in ("less", "less_equal"):
        return False
    x, y = condition.operands
    if x.dtype != "int64":
        return False
    gap = positions.of(y) + positions.of(x).times(-1)
    step = gap.step(along)
    rest = (many for node, many in gap.terms.items() if node is not along)
    if step not in (1, -1) or any(many % lanes for many in rest):
        return False
    edge = gap.constant if condition.operation == "less" else gap.constant + 1
    return (edge if step == -1 else edge - 1) % lanes == 0
