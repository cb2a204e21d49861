"""Functions of two tensors, element by element, that stretch their operands."""

from typing import Any

from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.ops import arithmetic, create, math, move, pair
from scull.ops import elementwise as ops
from scull.ops.promotion import cast_to
from scull.tensor.creation import full
from scull.tensor.size import dtype_or_default, is_one_of, needs_tensor, number, tensor_like


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """``x + y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.add(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [4, 5]
    """
    return ops.add(x, y, name)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """``x - y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.subtract(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [-2, -1]
    """
    return ops.subtract(x, y, name)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """``x * y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.multiply(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [3, 6]
    """
    return ops.multiply(x, y, name)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y``, element by element; of integers the whole part.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.divide(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([4.0])).tolist()
        [0.25, 0.5]
    """
    tensors = all(isinstance(v, Tensor | Variable) for v in (x, y))
    if tensors and x.dtype.is_integer and not y.dtype.is_complex:
        wide = cast_to(x, "float64"), cast_to(y, "float64")
        return cast_to(ops.divide(*wide), x.dtype)
    return ops.divide(x, y, name)


def floor_divide(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y`` rounded down, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2])).tolist()
        [3, -4]
    """
    return arithmetic.floor_divide(x, y, name)


def mod(x: Any, y: Any, name: str | None = None) -> Any:
    """What `floor_divide` leaves: of the sign of `y`.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.mod(paddle.to_tensor([7, -7]), paddle.to_tensor([2])).tolist()
        [1, 1]
    """
    return arithmetic.remainder(x, y, name)


remainder = floor_mod = mod


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """`x` to the power `y`, element by element.

    Args:
        x (Tensor): what is raised.
        y (number | Tensor): the exponent.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.pow(paddle.to_tensor([1.0, 3.0]), 2).tolist()
        [1.0, 9.0]
    """
    if isinstance(y, int | float):
        return arithmetic.pow(x, factor=float(y), name=name)
    if not isinstance(y, Tensor | Variable):
        raise ArgumentTypeError(f"`y` is a number or a tensor, not {type(y).__name__}")
    return arithmetic.power(x, y, name)


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """The greater of two elements; NaN when one is.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.maximum(paddle.to_tensor([1, 5]), paddle.to_tensor([3])).tolist()
        [3, 5]
    """
    return ops.maximum(x, y, name)


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """The lesser of two elements; NaN when one is.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.minimum(paddle.to_tensor([1, 5]), paddle.to_tensor([3])).tolist()
        [1, 3]
    """
    return ops.minimum(x, y, name)


def fmax(x: Any, y: Any, name: str | None = None) -> Any:
    """The greater of two elements; the other one where one is NaN.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other, of the same shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.fmax(paddle.to_tensor([float("nan")]), paddle.to_tensor([3.0])).tolist()
        [3.0]
    """
    return pair.fmax(x, y, name=name)


def fmin(x: Any, y: Any, name: str | None = None) -> Any:
    """The lesser of two elements; the other one where one is NaN.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other, of the same shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.fmin(paddle.to_tensor([float("nan")]), paddle.to_tensor([3.0])).tolist()
        [3.0]
    """
    return pair.fmin(x, y, name=name)


def heaviside(x: Any, y: Any, name: str | None = None) -> Any:
    """1 above 0, `y` at 0, and 0 below.

    Args:
        x (Tensor): the operand.
        y (Tensor): the values at 0; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([-1.0, 0.0, 2.0])
        >>> paddle.heaviside(x, paddle.to_tensor([0.5])).tolist()
        [0.0, 0.5, 1.0]
    """
    needs_tensor(x, "heaviside")
    needs_tensor(y, "heaviside", "y")
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    return pair.heaviside(x, y, name=name)


def hypot(x: Any, y: Any, name: str | None = None) -> Any:
    """The longest side of a right triangle, from the other two.

    Args:
        x (Tensor): one side.
        y (Tensor): the other; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.hypot(paddle.to_tensor([3.0]), paddle.to_tensor([4.0])).tolist()
        [5.0]
    """
    return math.sqrt(pow(x, 2) + pow(y, 2), name)


def ldexp(x: Any, y: Any, name: str | None = None) -> Any:
    """`x` times 2 to the power `y`.

    Args:
        x (Tensor): the factor; integers are taken as the default element type.
        y (Tensor): the exponent.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.ldexp(paddle.to_tensor([3.0]), paddle.to_tensor([2])).tolist()
        [12.0]
    """
    needs_tensor(x, "ldexp")
    needs_tensor(y, "ldexp", "y")
    wide = "float64" if "float64" in (x.dtype.name, y.dtype.name) else dtype_or_default(None)
    x, y = cast_to(x, wide), cast_to(y, wide)
    return ops.multiply(x, arithmetic.power(tensor_like(2.0, y), y), name)


def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> Any:
    """The point between `x` and `y` at `weight`: ``x + weight * (y - x)``.

    Args:
        x (Tensor): the point at weight 0.
        y (Tensor): the point at weight 1.
        weight (float | Tensor): where between them.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.lerp(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), 0.5).tolist()
        [2.0]
    """
    needs_tensor(x, "lerp")
    if not isinstance(weight, Tensor | Variable):
        weight = full([], weight, x.dtype)
    return pair.lerp(x, y, weight, name=name)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of several tensors of one shape; a number may stand among those of shape [1].

    Args:
        inputs (Tensor | list[Tensor]): the tensors.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.add_n([paddle.ones([2]), paddle.ones([2])]).tolist()
        [2.0, 2.0]
    """
    if isinstance(inputs, Variable) and inputs.kind is Kind.ARRAY:  # a list of tensors
        return load("scull.tensor", "sum")(load("scull.tensor", "stack")(inputs), 0, name=name)
    listed = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if {tuple(x.shape) for x in listed if isinstance(x, Tensor | Variable)} == {(), (1,)}:
        listed = [x if x.shape else move.reshape(x, shape=(1,)) for x in listed]
    return create.add_n(listed, name=name)


def scale(
    x: Any,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """``x * scale + bias``, or ``(x + bias) * scale``.

    Args:
        x (Tensor): the operand.
        scale (float | Tensor): the factor.
        bias (float): what is added.
        bias_after_scale (bool): whether it is added after multiplying.
        act (str, optional): an activation, such as `relu`.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
        [3.0, 5.0]
    """
    needs_tensor(x, "scale")
    if act is not None and not is_one_of(act, ACTIVATIONS):
        raise ArgumentError(f"`act` is {act!r}, not one of {', '.join(ACTIVATIONS)}")
    attrs = {"bias": number(bias, "bias"), "bias_after_scale": bias_after_scale}
    if isinstance(scale, int | float):
        found = create.scale(x, scale=float(scale), **attrs, name=name)
    else:
        found = create.scale(x, tensor_like(scale, x), **attrs, name=name)
    return found if act is None else ACTIVATIONS[act](found)


def increment(x: Any, value: float = 1.0, name: str | None = None) -> Any:
    """Add `value` to the one number in `x`, in place.

    Args:
        x (Tensor): of one element.
        value (float): what is added.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.increment(paddle.zeros([1])).tolist()
        [1.0]
    """
    if not isinstance(x, Tensor):
        return create.increment(x, step=number(value, "value"))
    x.set_value(create.increment(x.detach(), step=number(value, "value")))
    return x


ACTIVATIONS = {"relu": math.relu, "tanh": math.tanh, "sigmoid": math.sigmoid}
