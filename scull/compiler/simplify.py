"""Expressions written the one way: positions as sums, and what is known before anything runs."""

from math import inf
from operator import add, eq, le, lt, mul, ne, sub
from typing import TypeGuard

from scull.compiler.affine import Positions
from scull.lang.expression import Apply, Axis, Constant, Expression, Guard, apply, constant
from scull.lang.walk import rewritten

FOLDS = {"add": add, "subtract": sub, "multiply": mul}  # what is computed of constants at once
FOLDED = ("float32", "float64")
COMPARED = {"less": lt, "less_equal": le, "equal": eq, "not_equal": ne}
SIMPLIFIED = {*FOLDS, *COMPARED, "floor_divide", "remainder", "cast", "select", "power", "and"}
ORDERS = {"less": "less_equal", "less_equal": "less"}  # each holds, turned, where the other fails


def substituted(
    root: Expression, pairs: dict[Axis, Expression], positions: Positions
) -> Expression:
    """An expression at other positions; all of it simplified where there are none."""
    done: dict[Expression, Expression] = {axis: place for axis, place in pairs.items()}
    return rewritten([root], lambda node: simplified(node, positions), done, pairs.keys())[0]


def simplified(node: Expression, positions: Positions) -> Expression:
    """A node with its positions as sums; comparisons that ranges decide are decided."""
    if not isinstance(node, Guard) and getattr(node, "operation", "") not in SIMPLIFIED:
        return node
    match node:
        case Apply(operation=("add" | "subtract" | "multiply" | "floor_divide" | "remainder")) if (
            node.dtype == "int64"
        ):
            return positions.expression(positions.of(node))
        case Apply(operation="cast", operands=(x,)) if (x.dtype, node.dtype) == ("int32", "int64"):
            return node
        case Apply(operation="cast", dtype="bool", operands=(Apply(operation="select") as x,)) if (
            isinstance(x.operands[1], Constant) and isinstance(x.operands[2], Constant)
        ):
            return _where(x.operands[0], bool(x.operands[1].value), bool(x.operands[2].value))
        case Apply(operation=("less" | "less_equal"), operands=(x, y)) if x.dtype == "int64":
            gap = positions.range_of(positions.of(y) + positions.of(x).times(-1))
            least = 1 if node.operation == "less" else 0
            if gap.low >= least or gap.high < least:
                return constant(gap.low >= least, "bool")
        case Apply(operation=("less" | "less_equal" | "equal" | "not_equal")) if (
            told := _told(node)
        ) is not None:
            return told
        case Apply(operation="add") if (
            node.dtype in FOLDED and (chosen := _masked(node)) is not None
        ):
            return chosen
        case Apply(operation="select", operands=(Apply(operation="not", operands=(c,)), x, y)):
            return apply("select", c, y, x)
        case Apply(operation="select", operands=(Apply() as c, Constant() as number, x)) if (
            compares_places(c) and not isinstance(x, Constant)
        ):  # the number is last, as in what is guarded
            return apply("select", opposite(c), x, number)
        case Apply(operation="equal", operands=(Constant(value=x), Constant(value=y))):
            return constant(x == y, "bool")
        case Apply(operands=(Constant(value=x), Constant(value=y))) if node.dtype in FOLDED:
            if node.operation in FOLDS:  # the float64 of two float32 is exact, or rounds the same
                return constant(FOLDS[node.operation](x, y), node.dtype)
        case Apply(operation="power", operands=(x, Constant(value=exponent))) if exponent in (1, 2):
            return x if exponent == 1 else x * x
        case Apply(operation="and", operands=(x, y)) if node.dtype == "bool":
            if isinstance(x, Constant):
                return y if x.value else x
            if isinstance(y, Constant):
                return x if y.value else y
        case Guard(operands=(Constant(value=value), x, y)):
            return x if value else y
    return node


def _told(node: Apply) -> Expression | None:
    """A comparison of one of two numbers with a third, as what chooses between these."""
    test = COMPARED[node.operation]
    match node.operands:
        case (
            Apply(operation="select", operands=(c, Constant(value=x), Constant(value=y))),
            Constant(value=z),
        ):
            first, second = test(x, z), test(y, z)
        case (
            Constant(value=z),
            Apply(operation="select", operands=(c, Constant(value=x), Constant(value=y))),
        ):
            first, second = test(z, x), test(z, y)
        case _:
            return None
    return _where(c, first, second)


def _where(condition: Expression, first: bool, second: bool) -> Expression:
    """One of two truth values."""
    if first == second:
        return constant(first, "bool")
    return condition if first else opposite(condition)


def compares_places(node: Expression) -> TypeGuard[Apply]:
    """Whether it tells which of two places comes first."""
    orders = isinstance(node, Apply) and node.operation in ORDERS
    return orders and node.operands[0].dtype == "int64"


def opposite(condition: Expression) -> Expression:
    """What holds where a condition does not."""
    if compares_places(condition):
        return apply(ORDERS[condition.operation], *condition.operands[::-1])
    return apply("not", condition)


def _masked(node: Apply) -> Expression | None:
    """A sum with a mask of 0 and -infinity, as what chooses between the other term and -infinity.

    What is hidden so may be anything then, infinity and NaN too.
    """
    for x, mask in (node.operands, node.operands[::-1]):
        match mask:
            case Apply(operation="select", operands=(c, Constant(value=first) as low, last)) if (
                isinstance(last, Constant) and {first, last.value} == {0.0, -inf}
            ):
                seen = apply("add", x, constant(0.0, x.dtype))  # which makes 0 of -0
                return apply("select", c, *((seen, last) if first == 0 else (low, seen)))
    return None
