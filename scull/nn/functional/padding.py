"""Tensors made larger at their edges."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, AssertError
from scull.ir.variable import Variable
from scull.ops import like
from scull.ops.join import concat
from scull.ops.move import reshape
from scull.ops.pad3d import pad3d
from scull.ops.padding import pad as pad_operator
from scull.ops.promotion import cast_to
from scull.tensor.size import held_number, integers, is_one_of, needs_tensor, number

MODES = ("constant", "reflect", "replicate", "circular")
FIRST = {3: "NCL", 4: "NCHW", 5: "NCDHW"}  # channels on axis 1, by the number of axes
LAST = {3: "NLC", 4: "NHWC", 5: "NDHWC"}


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """`x` made larger at its edges.

    Args:
        x (Tensor): of any shape; of 3 to 5 axes where `pad` speaks of the inner ones only.
        pad (int | list[int] | Tensor): by how much before and after: of each axis in order where
            there are twice as many as axes, else of the inner axes, the last first; fewer
            elements where it is negative. In a Program Variables may stand among the latter.
        mode (str): what is put there: "constant", "reflect", "replicate" or "circular".
        value (float): the constant.
        data_format (str): the order of axes, where `pad` speaks of the inner ones.
        name (str, optional): not used.

    Returns:
        Tensor: the larger tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.pad(paddle.ones([2]), [1, 2]).tolist()
        [0.0, 1.0, 1.0, 0.0, 0.0]
    """
    needs_tensor(x, "pad")
    if not is_one_of(mode, MODES):
        raise AssertError(
            f"mode should be one of constant, reflect, replicate, circular, but got {mode}."
        )
    ndim = len(x.shape)
    if isinstance(pad, Tensor):
        pad = pad.array.tolist()
    if isinstance(pad, list | tuple) and any(isinstance(n, Variable) for n in pad):
        pad = joined(pad, ndim)
    if mode == "constant" and isinstance(pad, list | tuple) and len(pad) == 2 * ndim:
        return pad_operator(x, paddings=integers(pad, "pad"), pad_value=number(value, "value"))
    last = format_of(ndim, data_format) == LAST[ndim]
    new = {3: (2, 3) if last else (3, 4), 4: (1,) if last else (2,), 5: ()}[ndim]
    how = {
        "mode": mode,
        "value": number(value, "value"),
        "data_format": LAST[5] if last else FIRST[5],
    }
    volume = like.unsqueeze(x, axes=new) if new else x
    if isinstance(pad, Variable):
        found = pad3d(volume, with_zeros(pad, ndim), paddings=(), **how)
    else:
        found = pad3d(volume, paddings=all_sizes(pad, ndim), **how)
    return like.squeeze(found, axes=new) if new else found


def format_of(ndim: int, data_format: str) -> str:
    """The order of the axes, once it is one for that many."""
    if ndim not in FIRST:
        raise AssertError(f"input tensor dimension must be in [3, 4, 5] but got {ndim}")
    if not is_one_of(data_format, (FIRST[ndim], LAST[ndim])):
        raise AssertError(
            f"input tensor dimension is {ndim}, it's data format should be in "
            f"['{FIRST[ndim]}', '{LAST[ndim]}'] but got {data_format}"
        )
    return data_format


def all_sizes(pad: Any, ndim: int) -> list[int]:
    """What is put before and after three inner axes; those put in for a volume get nothing."""
    count = 2 * (ndim - 2)
    sizes = [pad] * count if isinstance(pad, int | np.integer) else list(integers(pad, "pad"))
    if len(sizes) != count:
        raise ArgumentError(f"pad has {len(sizes)} sizes, and {ndim} axes need {count}")
    zeros = [0] * (6 - count)
    return [*zeros, *sizes] if ndim == 3 else [*sizes, *zeros]


def joined(pad: Any, ndim: int) -> Any:
    """Sizes for the inner axes, of which a run tells some, as one tensor."""
    if len(pad) != 2 * (ndim - 2):
        raise ArgumentError(
            f"pad holds Variables and has {len(pad)} sizes: those of the inner axes of {ndim} are "
            f"{2 * max(ndim - 2, 0)}"
        )
    sizes = [n if isinstance(n, Variable) else held_number(n, "int32") for n in pad]
    return concat([cast_to(reshape(n, shape=(1,)), "int32") for n in sizes], axis=0)


def with_zeros(pad: Any, ndim: int) -> Any:
    """The same, of a tensor."""
    if ndim == 5:
        return pad
    zeros = held_number(0, "int32", (4 if ndim == 3 else 2,))
    return concat([zeros, pad] if ndim == 3 else [pad, zeros], axis=0)


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Images with zeros around them.

    Args:
        x (Tensor): of 4 axes.
        padding (int | list[int]): by how much to the left, right, top and bottom.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): not used.

    Returns:
        Tensor: the larger images.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 0]).tolist()
        [[[[0.0, 1.0]]]]
    """
    needs_tensor(x, "zeropad2d")
    return pad(x, padding, "constant", 0.0, data_format, name)
