"""Operations defined by others: a kernel in basic operations, as every target takes it."""

from collections.abc import Callable
from dataclasses import replace

from scull.lang.body import with_roots
from scull.lang.dtype import HALF, element
from scull.lang.elementary import (
    Format,
    erf_of,
    exp_of,
    expm1_of,
    log1p_of,
    log_of,
    normal_cdf_of,
    rsqrt_of,
    tanh_of,
)
from scull.lang.expression import Apply, Expression, apply, bitcast, cast, constant
from scull.lang.function import equal, floor, not_equal, select
from scull.lang.kernel import Kernel
from scull.lang.power import power_of
from scull.lang.trigonometry import cos_of, sin_of
from scull.lang.walk import rewritten


def floor_divide_of(x: Expression, y: Expression) -> Expression:
    """x // y of floats: the whole number q with x = q * y + x % y."""
    rest = apply("truncated_remainder", x, y)
    quotient = (x - rest) / y
    adjusted = not_equal(rest, 0.0) & ((y < 0) ^ (rest < 0))
    quotient = select(adjusted, quotient - 1, quotient)
    whole = floor(quotient)
    whole = select(quotient - whole > 0.5, whole + 1, whole)
    zero = Format(x.dtype).with_sign(abs(quotient), x / y)
    return select(equal(y, 0.0), x / y, select(equal(quotient, 0.0), zero, whole))


def remainder_of(x: Expression, y: Expression) -> Expression:
    """x % y of floats, with the sign of y."""
    rest = apply("truncated_remainder", x, y)
    moved = select((y < 0) ^ (rest < 0), rest + y, rest)
    zero = Format(x.dtype).with_sign(abs(rest), y)
    return select(equal(rest, 0.0), zero, moved)


EXPANSIONS: dict[str, Callable[..., Expression]] = {
    "floor_divide": floor_divide_of,
    "remainder": remainder_of,
    "power": power_of,
    "rsqrt": rsqrt_of,
    "exp": exp_of,
    "expm1": expm1_of,
    "log": log_of,
    "log1p": log1p_of,
    "tanh": tanh_of,
    "erf": erf_of,
    "normal_cdf": normal_cdf_of,
    "sin": sin_of,
    "cos": cos_of,
}

IN_FLOAT64 = ("sin", "cos", "power")


def expanded(kernel: Kernel) -> Kernel:
    """The same kernel in basic operations."""
    done: dict[Expression, Expression] = {}
    bodies = [with_roots(body, rewritten(body.roots, basic, done)) for body in kernel.bodies]
    return replace(kernel, bodies=tuple(bodies))


def basic(node: Expression) -> Expression:
    """A node over basic operands, in basic operations."""
    if not isinstance(node, Apply):
        return node
    if node.operation == "cast":
        return _cast(node)
    rule = EXPANSIONS.get(node.operation)
    kind = element(node.dtype).kind
    if rule is None or (kind == "integer" and node.operation in ("floor_divide", "remainder")):
        return node
    wide = _wide(node)
    if wide != node.dtype:
        operands = [cast(x, wide) for x in node.operands]
        return _again(cast(apply(node.operation, *operands), node.dtype), node)
    return _again(rule(*node.operands), node)


def _wide(node: Apply) -> str:
    """The dtype in which an operation is computed."""
    if element(node.dtype).kind == "float" and node.operation in IN_FLOAT64:
        return "float64"
    return "float32" if node.dtype in HALF else node.dtype


def _again(root: Expression, node: Apply) -> Expression:
    known = {x: x for x in node.operands}
    return rewritten([root], basic, known)[0]


def _cast(node: Apply) -> Expression:
    """A cast to a half float goes by way of float32, prepared so that it rounds once."""
    (x,) = node.operands
    if node.dtype not in HALF or x.dtype == "float32":
        return node
    if x.dtype == "float64":
        near = cast(x, "float32")
        wide = cast(near, "float64")
        bits = bitcast(near, "uint32")
        down = select(abs(wide) > abs(x), constant(1, "uint32"), 0)
        inexact = not_equal(wide, x) & equal(x - x, 0.0)
        odd = bitcast((bits - down) | 1, "float32")
        return cast(select(inexact, odd, near), node.dtype)
    return cast(cast(x, "float32"), node.dtype)
