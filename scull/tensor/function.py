"""Functions of one tensor, element by element."""

import math as numbers
from typing import Any

from scull.core.dtype import dtype_of
from scull.ops import activation, arithmetic, compare, create, elementwise, math
from scull.ops.promotion import cast_to
from scull.tensor.size import needs_tensor, tensor_like


def neg(x: Any, name: str | None = None) -> Any:
    """``-x``.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.neg(paddle.to_tensor([1, -2])).tolist()
        [-1, 2]
    """
    return create.scale(x, scale=-1.0, name=name)


def exp(x: Any, name: str | None = None) -> Any:
    """e to the power `x`.

    Args:
        x (Tensor): the exponents; integers are taken as float32.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.exp(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """
    needs_tensor(x, "exp")
    return math.exp(cast_to(x, "float32") if x.dtype.is_integer else x, name)


def expm1(x: Any, name: str | None = None) -> Any:
    """e to the power `x`, less 1.

    Args:
        x (Tensor): the exponents.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.expm1(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    half = math.tanh(x * 0.5)
    return elementwise.divide(half * 2.0, 1.0 - half, name)


def log(x: Any, name: str | None = None) -> Any:
    """The natural logarithm.

    Args:
        x (Tensor): positive numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.log(paddle.to_tensor([1.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "log")
    return math.log(x, name)


def log2(x: Any, name: str | None = None) -> Any:
    """The logarithm to base 2.

    Args:
        x (Tensor): positive numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.log2(paddle.to_tensor([1.0, 2.0])).tolist()
        [0.0, 1.0]
    """
    return elementwise.divide(log(x), tensor_like(numbers.log(2.0), x), name)


def log10(x: Any, name: str | None = None) -> Any:
    """The logarithm to base 10.

    Args:
        x (Tensor): positive numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.log10(paddle.to_tensor([1.0, 10.0])).tolist()
        [0.0, 1.0]
    """
    return elementwise.divide(log(x), tensor_like(numbers.log(10.0), x), name)


def log1p(x: Any, name: str | None = None) -> Any:
    """The natural logarithm of ``1 + x``, exact also for small `x`.

    Args:
        x (Tensor): numbers above -1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.log1p(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    above = 1.0 + x
    rest = above - 1.0
    exact = compare.equal(rest, 0.0)
    safe = compare.where(exact, tensor_like(1.0, x), rest)
    return compare.where(exact, x, math.log(above) * x / safe, name=name)


def sqrt(x: Any, name: str | None = None) -> Any:
    """The square root.

    Args:
        x (Tensor): numbers from 0 on.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sqrt(paddle.to_tensor([9.0])).tolist()
        [3.0]
    """
    needs_tensor(x, "sqrt")
    return math.sqrt(x, name)


def rsqrt(x: Any, name: str | None = None) -> Any:
    """1 divided by the square root.

    Args:
        x (Tensor): positive numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.rsqrt(paddle.to_tensor([4.0])).tolist()
        [0.5]
    """
    needs_tensor(x, "rsqrt")
    return math.rsqrt(x, name)


def square(x: Any, name: str | None = None) -> Any:
    """``x * x``.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.square(paddle.to_tensor([3.0])).tolist()
        [9.0]
    """
    needs_tensor(x, "square")
    return math.square(x, name)


def reciprocal(x: Any, name: str | None = None) -> Any:
    """``1 / x``.

    Args:
        x (Tensor): the divisors.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.reciprocal(paddle.to_tensor([4.0])).tolist()
        [0.25]
    """
    return elementwise.divide(1.0, x, name)


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "tanh")
    return math.tanh(x, name)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """``1 / (1 + exp(-x))``.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.sigmoid(paddle.to_tensor([0.0])).tolist()
        [0.5]
    """
    needs_tensor(x, "sigmoid")
    return math.sigmoid(x, name)


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """The hyperbolic tangent of ``scale_a * x``, times `scale_b`.

    Args:
        x (Tensor): the operand.
        scale_a (float): the inner factor.
        scale_b (float): the outer factor.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.stanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return elementwise.multiply(math.tanh(x * scale_a), tensor_like(scale_b, x), name)


def erf(x: Any, name: str | None = None) -> Any:
    """The error function.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.erf(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "erf")
    return activation.erf(x, name)


def abs(x: Any, name: str | None = None) -> Any:
    """The size of each element without its sign; at 0 the gradient is 0.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.abs(paddle.to_tensor([-1.5, 2.0])).tolist()
        [1.5, 2.0]
    """
    needs_tensor(x, "abs")
    return elementwise.add(math.relu(x), math.relu(-x), name)


def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1, as each element is negative, 0 or positive.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sign(paddle.to_tensor([-3.0, 0.0, 5.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    above, below = (cast_to(v, x.dtype) for v in (x > 0, x < 0))
    return elementwise.subtract(above, below, name)


def floor(x: Any, name: str | None = None) -> Any:
    """The greatest whole number that is not above each element.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.floor(paddle.to_tensor([1.5, -1.5])).tolist()
        [1.0, -2.0]
    """
    return arithmetic.floor_divide(x, 1, name)


def ceil(x: Any, name: str | None = None) -> Any:
    """The least whole number that is not below each element.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.ceil(paddle.to_tensor([1.5, -1.5])).tolist()
        [2.0, -1.0]
    """
    return create.scale(floor(-x), scale=-1.0, name=name)


def trunc(input: Any, name: str | None = None) -> Any:
    """Each element without its fraction.

    Args:
        input (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.trunc(paddle.to_tensor([1.5, -1.5])).tolist()
        [1.0, -1.0]
    """
    return elementwise.multiply(floor(abs(input)), sign(input), name)


def round(x: Any, name: str | None = None) -> Any:
    """The nearest whole number; of two equally near ones the one further from 0.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.round(paddle.to_tensor([0.5, -1.4])).tolist()
        [1.0, -1.0]
    """
    return elementwise.multiply(floor(abs(x) + 0.5), sign(x), name)


def frac(x: Any, name: str | None = None) -> Any:
    """The fraction of each element, with its sign.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.frac(paddle.to_tensor([1.5])).tolist()
        [0.5]
    """
    return elementwise.subtract(x, trunc(x), name)


def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """Each element, but none below `min` or above `max`; there the gradient is 0.

    Args:
        x (Tensor): the operand.
        min (number | Tensor, optional): the least.
        max (number | Tensor, optional): the greatest.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.clip(paddle.to_tensor([1.0, 5.0]), 2.0, 3.0).tolist()
        [2.0, 3.0]
    """
    needs_tensor(x, "clip")
    found = x
    if min is not None:
        low = tensor_like(min, x)
        found = compare.where(x < low, low, found)
    if max is not None:
        high = tensor_like(max, x)
        found = compare.where(x > high, high, found)
    return create.assign(x) if found is x else found


def isnan(x: Any, name: str | None = None) -> Any:
    """Whether each element is NaN.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.isnan(paddle.to_tensor([1.0, float("nan")])).tolist()
        [False, True]
    """
    return compare.not_equal(x, x, name)


def isfinite(x: Any, name: str | None = None) -> Any:
    """Whether each element is neither infinite nor NaN.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.isfinite(paddle.to_tensor([1.0, float("inf")])).tolist()
        [True, False]
    """
    if not (x.dtype.is_float or x.dtype.is_complex):
        return compare.equal(x, x, name)
    return compare.less_than(abs(x), tensor_like(numbers.inf, x), name)


def isinf(x: Any, name: str | None = None) -> Any:
    """Whether each element is infinite.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.isinf(paddle.to_tensor([1.0, float("inf")])).tolist()
        [False, True]
    """
    if not (x.dtype.is_float or x.dtype.is_complex):
        return compare.not_equal(x, x, name)
    return compare.equal(abs(x), tensor_like(numbers.inf, x), name)


def nan_to_num(
    x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None, name: str | None = None
) -> Any:
    """`x` with numbers in the place of NaN and infinities.

    Args:
        x (Tensor): the operand.
        nan (float): in the place of NaN.
        posinf (float, optional): in the place of infinity; the greatest number when None.
        neginf (float, optional): in the place of minus infinity; the least number when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), 1.0])).tolist()
        [0.0, 1.0]
    """
    greatest = {"float64": 1.7976931348623157e308, "float16": 65504.0}.get(
        x.dtype.name, 3.4028234663852886e38
    )
    high = tensor_like(greatest if posinf is None else posinf, x)
    low = tensor_like(-greatest if neginf is None else neginf, x)
    found = compare.where(isnan(x), tensor_like(nan, x), x)
    found = compare.where(compare.equal(x, numbers.inf), high, found)
    return compare.where(compare.equal(x, -numbers.inf), low, found)


def cast(x: Any, dtype: Any) -> Any:
    """`x` as elements of another type; a float becomes an integer without its fraction.

    Args:
        x (Tensor): the operand.
        dtype (str | DType): the element type.

    Examples:
        >>> import scull as paddle
        >>> paddle.cast(paddle.to_tensor([1.7]), "int32").tolist()
        [1]
    """
    needs_tensor(x, "cast")
    return create.cast(x, in_dtype=x.dtype, out_dtype=dtype_of(dtype))
