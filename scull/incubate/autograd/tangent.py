"""How results of basic operators change with their operands: the rules of forward derivatives.

A rule takes the operator and the changes of its operands, None for one that does not change, and
gives that of its result. What it makes is linear in the changes.
"""

import math
from collections.abc import Callable
from typing import Any

from scull.incubate.autograd import primops
from scull.incubate.autograd.primops import add, div, eq, filled, ge, log, mul, neg, select, sub

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


def rule(*types: str) -> Callable[[Rule], Rule]:
    """Note the rule of operators of these types; nothing changes where no operand does."""

    def note(function: Rule) -> Rule:
        def changing(o: Any, *dots: Any) -> Any:
            return function(o, *dots) if any(map(changes, dots)) else None

        RULES.update(dict.fromkeys(types, changing))
        return function

    return note


def changes(dot: Any) -> bool:
    """Whether there is a change, or one in a list."""
    return any(map(changes, dot)) if isinstance(dot, list) else dot is not None


def again(o: Any, *operands: Any) -> Any:
    """The same operator on other operands."""
    return o.op.call(*operands, **o.attrs)


def sum_of(x: Any, y: Any) -> Any:
    """The sum of two changes, of which one may be None."""
    if x is None or y is None:
        return x if y is None else y
    return add(x, y)


def or_zeros(dot: Any, x: Any) -> Any:
    """A change, zeros in the shape of `x` where there is none."""
    return filled(0.0, x) if dot is None else dot


@rule("reshape_p", "broadcast_p", "transpose_p", "split_p", "reduce_sum_p", "slice_select_p")
def linear_tangent(o: Any, dot: Any) -> Any:
    """The operator is linear: it is its own derivative."""
    return again(o, dot)


@rule("concat_p")
def concat_tangent(o: Any, dots: Any) -> Any:
    """Pieces that do not change have zeros."""
    xs, dots = o.inputs[0], dots if isinstance(dots, list) else [dots]
    return again(o, [or_zeros(d, x) for d, x in zip(dots, xs, strict=True)])


@rule("add_p")
def add_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """Changes add up."""
    return sum_of(x_dot, y_dot)


@rule("sub_p")
def sub_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """Changes are subtracted."""
    if x_dot is None:
        return neg(y_dot)
    return x_dot if y_dot is None else sub(x_dot, y_dot)


@rule("mul_p", "matmul_p")
def product_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """The product is linear in each of its factors."""
    x, y = o.inputs
    left = None if x_dot is None else again(o, x_dot, y)
    right = None if y_dot is None else again(o, x, y_dot)
    return sum_of(left, right)


@rule("div_p")
def div_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """x'/y - x y'/y²."""
    x, y = o.inputs
    if y_dot is None:
        return div(x_dot, y)
    less = div(mul(x, y_dot), mul(y, y))
    return neg(less) if x_dot is None else sub(div(x_dot, y), less)


@rule("sqrt_p")
def sqrt_tangent(o: Any, dot: Any) -> Any:
    """x' / 2√x."""
    (y,) = o.outputs
    return div(dot, mul(filled(2.0, y), y))


@rule("rsqrt_p")
def rsqrt_tangent(o: Any, dot: Any) -> Any:
    """x' (y / x) / -2."""
    (x,), (y,) = o.inputs, o.outputs
    return mul(dot, div(div(y, x), filled(-2.0, y)))


@rule("tanh_p")
def tanh_tangent(o: Any, dot: Any) -> Any:
    """x' (1 - y²)."""
    (y,) = o.outputs
    return mul(dot, sub(filled(1.0, y), mul(y, y)))


@rule("sin_p")
def sin_tangent(o: Any, dot: Any) -> Any:
    """x' cos x."""
    return mul(dot, primops.cos(o.inputs[0]))


@rule("cos_p")
def cos_tangent(o: Any, dot: Any) -> Any:
    """-x' sin x."""
    return mul(dot, neg(primops.sin(o.inputs[0])))


@rule("exp_p")
def exp_tangent(o: Any, dot: Any) -> Any:
    """x' e^x."""
    return mul(dot, o.outputs[0])


@rule("log_p")
def log_tangent(o: Any, dot: Any) -> Any:
    """x' / x."""
    return div(dot, o.inputs[0])


@rule("erf_p")
def erf_tangent(o: Any, dot: Any) -> Any:
    """2/√π x' e^(-x²)."""
    (x,) = o.inputs
    bell = primops.exp(neg(primops.square(x)))
    return mul(filled(2.0 / math.sqrt(math.pi), x), mul(dot, bell))


@rule("abs_p")
def abs_tangent(o: Any, dot: Any) -> Any:
    """x' with the sign of x; at 0 it is x'."""
    (x,) = o.inputs
    return select(ge(x, filled(0.0, x)), dot, neg(dot))


@rule("pow_p")
def pow_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """x' y x^(y-1) + y' log(x) x^y; where y is 0 the first is 0, whatever x is."""
    (x, y), (z,) = o.inputs, o.outputs
    left = right = None
    if x_dot is not None:
        one = filled(1.0, y)
        below = select(eq(y, filled(0.0, y)), one, sub(y, one))
        left = mul(x_dot, mul(y, primops.pow(x, below)))
    if y_dot is not None:
        right = mul(y_dot, mul(log(x), z))
    return sum_of(left, right)


@rule("max_p")
def max_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """The change of the greater operand, that of the second where they are equal."""
    (_, y), (z,) = o.inputs, o.outputs
    x_dot, y_dot = or_zeros(x_dot, z), or_zeros(y_dot, z)
    return select(eq(y, z), y_dot, x_dot)


@rule("select_p")
def select_tangent(o: Any, _: Any, x_dot: Any, y_dot: Any) -> Any:
    """The change of the operand that was taken."""
    if x_dot is None and y_dot is None:
        return None
    condition, x, y = o.inputs
    return select(condition, or_zeros(x_dot, x), or_zeros(y_dot, y))


@rule("eq_p", "ne_p", "gt_p", "ge_p")
def comparison_tangent(o: Any, *_: Any) -> Any:
    """Comparisons are constant almost everywhere."""
    return filled(0.0, o.inputs[0])


@rule("cast_p")
def cast_tangent(o: Any, dot: Any) -> Any:
    """The change in the new element type."""
    return primops.cast(dot, o.outputs[0].dtype)


@rule("slice_assign_p")
def slice_assign_tangent(o: Any, x_dot: Any, y_dot: Any) -> Any:
    """What is left of the change of `x`, and that of `y` where it was put."""
    x, y = o.inputs
    inside = None if y_dot is None else again(o, filled(0.0, x), y_dot)
    around = None if x_dot is None else again(o, x_dot, filled(0.0, y))
    return sum_of(inside, around)


@rule("gather_p")
def gather_tangent(o: Any, x_dot: Any, _: Any) -> Any:
    """The same slices of the change."""
    return None if x_dot is None else again(o, x_dot, o.inputs[1])


@rule("scatter_add_p")
def scatter_add_tangent(o: Any, x_dot: Any, y_dot: Any, _: Any = None) -> Any:
    """The changes are added at the same places."""
    x, y, places = o.inputs
    if x_dot is None and y_dot is None:
        return None
    return again(o, or_zeros(x_dot, x), or_zeros(y_dot, y), places)
