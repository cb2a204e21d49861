"""Dropout."""

import math
from typing import Any

from scull.core.dtype import bool_, float32, int32
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.nn.functional.naming import named
from scull.ops import dropout as ops
from scull.ops.compare import greater_equal
from scull.ops.create import cast, fill_constant, scale
from scull.ops.elementwise import add, multiply
from scull.ops.like import shape
from scull.ops.random import uniform
from scull.ops.slicing import slice
from scull.tensor.size import integers, is_one_of, needs_tensor

MODES = {"upscale_in_train": "upscale_in_train", "downscale_in_infer": "downgrade_in_infer"}


def dropout(
    x: Any,
    p: Any = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """`x` with some elements made 0 by chance.

    Args:
        x (Tensor): of floating-point numbers.
        p (float | Tensor): the chance of each.
        axis (int | list[int], optional): elements along all other axes are dropped together.
        training (bool): False drops none.
        mode (str): "upscale_in_train" multiplies those kept by ``1 / (1 - p)``;
            "downscale_in_infer" multiplies all by ``1 - p`` where none is dropped.
        name (str, optional): the name of the output in a Program.

    Where the default main Program has a `random_seed`, all calls drop the same elements.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.dropout(paddle.ones([2]), 1.0).tolist()
        [0.0, 0.0]
    """
    needs_tensor(x, "dropout")
    p = p.item() if isinstance(p, Tensor) else p
    if isinstance(p, Variable) and axis is None:  # known when the Program runs
        check(0, mode)
    else:
        check(p, mode)
        if p == 0:
            return x
    if axis is not None:
        return dropped_along(x, p, axis, training, mode, name)
    seed = main_program().random_seed
    out, _ = ops.dropout(
        x,
        dropout_prob=p,
        is_test=not training,
        dropout_implementation=MODES[mode],
        seed=seed,
        fix_seed=seed != 0,
        **named(name),
    )
    return out


def check(p: Any, mode: str) -> None:
    """Refuse chances and modes that make no sense."""
    if not isinstance(p, int | float):
        raise ArgumentTypeError("p argument should be a number or Variable")
    if not 0 <= p <= 1:
        raise ArgumentError("p argument should between 0 and 1")
    if not is_one_of(mode, MODES):
        raise ArgumentError("mode argument should be 'downscale_in_infer' or 'upscale_in_train'")


def dropped_along(x: Any, p: float, axis: Any, training: bool, mode: str, name: str | None) -> Any:
    """Dropout where the elements along all axes but `axis` share one chance."""
    upscale = mode == "upscale_in_train"
    if not training:
        return x if upscale else scale(x, scale=1 - p, **named(name))
    axes = list(integers(axis, "axis"))
    ndim = len(x.shape)
    if max(axes, default=0) >= ndim or min(axes, default=0) < 0 or len(axes) > ndim:
        raise ArgumentError(
            "axis value should be greater than or equal to 0 and less than dimensions of "
            f"x:{ndim}, but get axis value:{axis}"
        )
    if p == 1:
        return scale(x, scale=0.0, **named(name))
    scaled = scale(x, scale=1 / (1 - p)) if upscale else x
    return multiply(scaled, chances(x, axes, p), name)


def chances(x: Any, axes: list[int], p: float) -> Any:
    """1 for what is kept and 0 for the rest, like `x` but of size 1 along all axes but `axes`."""
    sizes = [n if i in axes else 1 for i, n in enumerate(x.shape)]
    if -1 not in sizes:
        drawn = uniform(shape=sizes, min=0.0, max=1.0, dtype=float32)
    else:
        every, one = shape(x), fill_constant(shape=(), value=1.0, dtype=int32, str_value="1")
        parts = [
            slice(
                every, axes=(0,), starts=(i,), ends=(i + 1,), infer_flags=(1,), decrease_axis=(0,)
            )
            if i in axes
            else one
            for i in range(len(sizes))
        ]
        known = [n if n == 1 else -1 for n in sizes]
        drawn = uniform(None, parts, shape=known, min=0.0, max=1.0, dtype=float32)
    return cast(greater_equal(drawn, float(p)), out_dtype=x.dtype, in_dtype=bool_)


def dropout2d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Images with some channels made 0 by chance.

    Args:
        x (Tensor): of 4 axes.
        p (float): the chance of each channel.
        training (bool): False drops none.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.dropout2d(paddle.ones([1, 1, 1, 2]), 1.0).tolist()
        [[[[0.0, 0.0]]]]
    """
    needs_tensor(x, "dropout2d")
    return dropped_channels(x, p, training, data_format, name, ("NCHW", "NHWC"))


def dropout3d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Volumes with some channels made 0 by chance.

    Args:
        x (Tensor): of 5 axes.
        p (float): the chance of each channel.
        training (bool): False drops none.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.dropout3d(paddle.ones([1, 1, 1, 1, 2]), 1.0).tolist()
        [[[[[0.0, 0.0]]]]]
    """
    needs_tensor(x, "dropout3d")
    return dropped_channels(x, p, training, data_format, name, ("NCDHW", "NDHWC"))


def dropped_channels(
    x: Any, p: float, training: bool, data_format: str, name: str | None, formats: tuple[str, str]
) -> Any:
    """Dropout of whole channels; `formats` are the orders of axes, channels first and last."""
    if len(x.shape) != len(formats[0]):
        raise ShapeError(
            f"dimensions of x should be {len(formats[0])}, "
            f"but received {len(x.shape)} != {len(formats[0])}"
        )
    if not is_one_of(data_format, formats):
        raise ArgumentError(
            f"Attr(data_format) should be '{formats[0]}' or '{formats[1]}'. "
            f"Received Attr(data_format): {data_format}."
        )
    axis = [0, data_format.index("C")]
    return dropout(x, p, axis, training, "upscale_in_train", name)


SELU_FLOOR = -1.6732632423543772 * 1.0507009873554805  # what selu comes down to


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout that keeps mean and variance of what `selu` gives.

    Args:
        x (Tensor): of floating-point numbers.
        p (float): the chance of each element.
        training (bool): False drops none.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.alpha_dropout(paddle.ones([2]), 1.0).tolist()
        [0.0, 0.0]
    """
    check(p, "upscale_in_train")
    if not training:
        return x
    if p == 1:
        return scale(x, scale=0.0, **named(name))
    kept = chances(x, list(range(len(x.shape))), p)
    factor = 1 / math.sqrt((1 - p) * (1 + p * SELU_FLOOR**2))
    floor = scale(kept, scale=-SELU_FLOOR, bias=SELU_FLOOR)
    shift = -factor * SELU_FLOOR * p
    return scale(add(multiply(x, kept), floor), scale=factor, bias=shift, **named(name))
