"""Functions of angles and of hyperbolas, and their inverses."""

from typing import Any

from scull.ops import create, trigonometry
from scull.ops.promotion import cast_to
from scull.tensor.size import called, needs_tensor


def sin(x: Any, name: str | None = None) -> Any:
    """The sine.

    Args:
        x (Tensor): angles in radians.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sin(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "sin")
    return trigonometry.sin(x, name)


def cos(x: Any, name: str | None = None) -> Any:
    """The cosine.

    Args:
        x (Tensor): angles in radians.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.cos(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """
    needs_tensor(x, "cos")
    return trigonometry.cos(x, name)


def tan(x: Any, name: str | None = None) -> Any:
    """The tangent.

    Args:
        x (Tensor): angles in radians.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tan(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "tan")
    return trigonometry.tan(x, name)


def asin(x: Any, name: str | None = None) -> Any:
    """The angle whose sine is given, from -pi/2 to pi/2.

    Args:
        x (Tensor): numbers from -1 to 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.asin(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "asin")
    return trigonometry.asin(x, name)


def acos(x: Any, name: str | None = None) -> Any:
    """The angle whose cosine is given, from 0 to pi.

    Args:
        x (Tensor): numbers from -1 to 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.acos(paddle.to_tensor([1.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "acos")
    return trigonometry.acos(x, name)


def atan(x: Any, name: str | None = None) -> Any:
    """The angle whose tangent is given, between -pi/2 and pi/2.

    Args:
        x (Tensor): the tangents.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.atan(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "atan")
    return trigonometry.atan(x, name)


def sinh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic sine.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sinh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "sinh")
    return trigonometry.sinh(x, name)


def cosh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic cosine.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.cosh(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """
    needs_tensor(x, "cosh")
    return trigonometry.cosh(x, name)


def asinh(x: Any, name: str | None = None) -> Any:
    """The inverse of the hyperbolic sine.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.asinh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "asinh")
    return trigonometry.asinh(x, name)


def acosh(x: Any, name: str | None = None) -> Any:
    """The inverse of the hyperbolic cosine.

    Args:
        x (Tensor): numbers from 1 on.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.acosh(paddle.to_tensor([1.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "acosh")
    return trigonometry.acosh(x, name)


def atanh(x: Any, name: str | None = None) -> Any:
    """The inverse of the hyperbolic tangent.

    Args:
        x (Tensor): numbers between -1 and 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.atanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "atanh")
    return trigonometry.atanh(x, name)


def atan2(x: Any, y: Any, name: str | None = None) -> Any:
    """The angle of the point with `x` above and `y` to the right of the origin.

    Args:
        x (Tensor): how far above; integers are taken as float64.
        y (Tensor): how far to the right.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.atan2(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "atan2")
    needs_tensor(y, "atan2", "y")
    pair = [cast_to(v, "float64") if v.dtype.is_integer else v for v in (x, y)]
    return trigonometry.atan2(*pair, name=name)


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
    needs_tensor(x, "stanh")
    return trigonometry.stanh(x, scale_a=scale_a, scale_b=scale_b, name=name)


def turned_by(x: Any, factor: float, name: str | None) -> Any:
    """`x` times a factor; integers as float32."""
    x = cast_to(x, "float32") if x.dtype.is_integer else x
    return create.scale(x, scale=factor, name=name)


def deg2rad(x: Any, name: str | None = None) -> Any:
    """Angles in degrees as radians.

    Args:
        x (Tensor): angles in degrees.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.deg2rad(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "deg2rad")
    return turned_by(x, 0.017453292519943295, called(name, "deg2rad"))


def rad2deg(x: Any, name: str | None = None) -> Any:
    """Angles in radians as degrees.

    Args:
        x (Tensor): angles in radians.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.rad2deg(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "rad2deg")
    return turned_by(x, 57.29577951308232, called(name, "rad2deg"))
