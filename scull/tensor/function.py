"""Functions of one tensor, element by element."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.ops import (
    activation,
    classify,
    compare,
    complex,
    create,
    elementwise,
    math,
    rounding,
)
from scull.ops import clip as ops_clip
from scull.ops.promotion import cast_to
from scull.tensor.creation import full_like
from scull.tensor.size import needs_tensor, number


def as_floats(x: Any, function: str) -> Any:
    """`x`, where integers are taken as float32."""
    needs_tensor(x, function)
    return cast_to(x, "float32") if x.dtype.is_integer else x


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
    return math.exp(as_floats(x, "exp"), name)


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
    return math.expm1(as_floats(x, "expm1"), name)


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
    return math.log(as_floats(x, "log"), name)


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
    return math.log2(as_floats(x, "log2"), name)


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
    return math.log10(as_floats(x, "log10"), name)


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
    return math.log1p(as_floats(x, "log1p"), name)


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
    needs_tensor(x, "reciprocal")
    return math.reciprocal(x, name)


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
    return complex.abs(x, name)


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
    needs_tensor(x, "sign")
    return complex.sign(x, name)


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
    needs_tensor(x, "floor")
    return rounding.floor(x, name)


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
    needs_tensor(x, "ceil")
    return rounding.ceil(x, name)


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
    needs_tensor(input, "trunc", "input")
    return rounding.trunc(input, name)


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
    needs_tensor(x, "round")
    return rounding.round(x, name)


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
    bounds, attrs = [], {}
    for word, bound in (("min", min), ("max", max)):
        if isinstance(bound, Tensor | Variable):
            bounds.append(bound)
        else:
            bounds.append(None)
            attrs |= {} if bound is None else {word: number(bound, word)}
    return ops_clip.clip(x, *bounds, **attrs, name=name)


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
    needs_tensor(x, "isnan")
    return classify.isnan(x, name)


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
    needs_tensor(x, "isfinite")
    return classify.isfinite(x, name)


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
    needs_tensor(x, "isinf")
    return classify.isinf(x, name)


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
    needs_tensor(x, "nan_to_num")
    greatest = {"float64": 1.7976931348623157e308, "float16": 65504.0}.get(
        x.dtype.name, 3.4028234663852886e38
    )
    numbers = (float("inf"), -float("inf"), nan, greatest if posinf is None else posinf)
    numbers = (*numbers, -greatest if neginf is None else neginf)
    above, below, nothing, high, low = [full_like(x, v) for v in numbers]
    found = compare.where(isnan(x), nothing, x)
    found = compare.where(compare.equal(found, above), high, found)
    return compare.where(compare.equal(found, below), low, found)


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
