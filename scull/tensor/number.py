"""Functions of single numbers: their divisors, neighbours, parts and sums of exponentials."""

from typing import Any

from scull.errors import DtypeError
from scull.ops import arithmetic, compare, elementwise, like, rounding
from scull.ops import math as math_ops
from scull.ops.complex import abs
from scull.ops.promotion import cast_to
from scull.tensor.size import needs_tensor


def two_tensors(x: Any, y: Any, function: str) -> None:
    """Refuse operands that are no tensors."""
    needs_tensor(x, function)
    needs_tensor(y, function, "y")


def gcd(x: Any, y: Any, name: str | None = None) -> Any:
    """The greatest number that divides both; 0 of two zeros.

    Args:
        x (Tensor): of int32 or int64.
        y (Tensor): of the same type; the shapes stretch to one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape both stretch to, never negative.

    Examples:
        >>> import scull as paddle
        >>> paddle.gcd(paddle.to_tensor([12, -4, 0]), paddle.to_tensor([18, 6, 5])).tolist()
        [6, 2, 5]
    """
    two_tensors(x, y, "gcd")
    return arithmetic.gcd(x, y, name=name)


def lcm(x: Any, y: Any, name: str | None = None) -> Any:
    """The least number above 0 that both divide; 0 where one is 0.

    Args:
        x (Tensor): of int32 or int64.
        y (Tensor): of the same type; the shapes stretch to one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape both stretch to, never negative.

    Examples:
        >>> import scull as paddle
        >>> paddle.lcm(paddle.to_tensor([4, 0]), paddle.to_tensor([6, 5])).tolist()
        [12, 0]
    """
    two_tensors(x, y, "lcm")
    divisor = arithmetic.gcd(x, y)
    nothing = compare.equal(divisor, like.full_like(divisor, value=0.0))
    safe = compare.where(nothing, like.full_like(divisor, value=1.0), divisor)
    return abs(elementwise.multiply(arithmetic.floor_divide(x, safe), y), name=name)


def nextafter(x: Any, y: Any, name: str | None = None) -> Any:
    """The floating-point number next to `x` on the way to `y`.

    Args:
        x (Tensor): of float32 or float64.
        y (Tensor): of the same type; the shapes stretch to one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape both stretch to; `y` where they are equal.

    Examples:
        >>> import scull as paddle
        >>> paddle.nextafter(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).item() - 1.0
        1.1920928955078125e-07
    """
    two_tensors(x, y, "nextafter")
    return arithmetic.nextafter(x, y, name=name)


def logaddexp(x: Any, y: Any, name: str | None = None) -> Any:
    """``log(exp(x) + exp(y))``, without overflow.

    Args:
        x (Tensor): of floating-point elements.
        y (Tensor): of the same type; the shapes stretch to one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape both stretch to.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1000.0])
        >>> round(paddle.logaddexp(x, x).item(), 3)
        1000.693
    """
    two_tensors(x, y, "logaddexp")
    x, y = (cast_to(v, "float32") if v.dtype.is_integer else v for v in (x, y))
    less = math_ops.log1p(math_ops.exp(-abs(elementwise.subtract(x, y))))
    return elementwise.add(less, elementwise.maximum(x, y), name=name)


def frexp(x: Any, name: str | None = None) -> Any:
    """Each number as a mantissa, of a size from 0.5 to before 1, times a power of 2.

    Args:
        x (Tensor): of float32 or float64.
        name (str, optional): of no effect.

    Returns:
        tuple[Tensor, Tensor]: the mantissas and the exponents, both of the shape and dtype of `x`;
        of 0 both are 0.

    Examples:
        >>> import scull as paddle
        >>> mantissa, exponent = paddle.frexp(paddle.to_tensor([0.0, 1.0, -6.0]))
        >>> mantissa.tolist(), exponent.tolist()
        ([0.0, 0.5, -0.75], [0.0, 1.0, 3.0])
    """
    needs_tensor(x, "frexp")
    if x.dtype.name not in ("float32", "float64"):
        raise DtypeError(f"{x.meta} has neither float32 nor float64 elements")
    size = abs(x)
    nothing, one = compare.equal(size, 0.0), like.full_like(x, value=1.0)
    exponent = rounding.floor(math_ops.log2(compare.where(nothing, one, size))) + 1.0
    exponent = compare.where(nothing, like.full_like(x, value=0.0), exponent)
    mantissa = scaled(x, -exponent)
    over = compare.greater_equal(abs(mantissa), 1.0)  # the logarithm was rounded
    under = compare.less_than(abs(mantissa), 0.5) & ~nothing
    by = cast_to(over, x.dtype) - cast_to(under, x.dtype)
    return scaled(mantissa, -by), exponent + by


def scaled(x: Any, exponent: Any) -> Any:
    """`x` times 2 to the power of `exponent`, in two steps, so that neither overflows."""
    half = rounding.floor(exponent * 0.5)
    two = like.full_like(x, value=2.0)
    return x * arithmetic.power(two, half) * arithmetic.power(two, exponent - half)
