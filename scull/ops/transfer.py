"""Operators that hand a value on as it is: out of reach of gradients, or to another place."""

from typing import Any

from scull import lang
from scull.core.attribute import Dtype
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import ArgumentError, UnsupportedError

LAYOUTS = {1: "NHWC", 2: "NCHW", 3: "NCDHW", 4: "NDHWC"}  # by the numbers of a Program
LAST = (1, 4)  # those with the channels last
AFTER = "a plan inserts it behind all gradients"
NO_GRADIENT = "what it gives is cut off from gradients, as in Paddle"
HOSTS = (0, 2)  # the numbers of the CPU and of its pinned memory


@primitive(views={"out": "x"})
def share_data(x: Meta) -> Meta:
    """`x` itself, which no gradient goes through."""
    return x


@primitive
def memcpy(x: Meta, *, dst_place_type: int) -> Meta:
    """A copy of `x` in the memory of another place, by its number: 0 is the CPU."""
    check_place(dst_place_type)
    return x


def check_place(kind: int) -> None:
    """Refuse places that are not there."""
    if kind not in HOSTS:
        raise UnsupportedError(f"there is no place of type {kind} to copy to, only CPUs")


@share_data.kernel
def share_data_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return x


@memcpy.kernel
def memcpy_kernel(xp: Any, x: Any, *, out: Any = None, dst_place_type: int) -> Any:
    check_place(dst_place_type)
    if out is None:
        return x.copy()
    out[...] = x
    return out


@primitive(views={"out": "x"})
def transfer_layout(x: Meta, *, src_layout: int = -1, dst_layout: int) -> Meta:
    """`x` with its axes in another order: channels first, or last."""
    return x.with_shape(x.shape[k] for k in turn(x.ndim, src_layout, dst_layout))


def turn(axes: int, source: int, target: int) -> tuple[int, ...]:
    """Which axis comes to stand where."""
    for layout in (source, target):
        if len(LAYOUTS.get(layout, "")) != axes:
            known = ", ".join(f"{n} ({name})" for n, name in LAYOUTS.items())
            raise ArgumentError(f"{layout} is no layout of {axes} axes; there are {known}")
    if (source in LAST) == (target in LAST):
        return tuple(range(axes))
    inner = range(1, axes)
    return (0, axes - 1, *inner[:-1]) if source in LAST else (0, *inner[1:], 1)


@transfer_layout.kernel
def transfer_layout_kernel(
    xp: Any, x: Any, *, out: Any = None, src_layout: int, dst_layout: int
) -> Any:
    found = x.transpose(turn(x.ndim, src_layout, dst_layout))
    if out is None:
        return found
    out[...] = found
    return out


@transfer_layout.lower
def transfer_layout_at(index: Any, x: Any, src_layout: int, dst_layout: int) -> Any:
    back = turn(len(x.shape), dst_layout, src_layout)
    return x[tuple(index[k] for k in back)]


@primitive
def transfer_dtype(x: Meta, *, out_dtype: Dtype, in_dtype: Dtype) -> Meta:
    """The elements of `x` as those of another type."""
    return x.with_dtype(out_dtype)


@transfer_dtype.kernel
def transfer_dtype_kernel(
    xp: Any, x: Any, *, out: Any = None, out_dtype: Any, in_dtype: Any
) -> Any:
    if out is None:
        return xp.asarray(x.astype(out_dtype.array))
    out[...] = x
    return out


@transfer_dtype.lower
def transfer_dtype_at(index: Any, x: Any, out_dtype: Any, in_dtype: Any) -> Any:
    return lang.cast(lang.at(x, index), out_dtype.name)


for function in (transfer_layout, transfer_dtype):
    function.no_grad(AFTER)
for function in (share_data, memcpy):
    function.no_grad(NO_GRADIENT)
    function.lower(lambda index, x, **attrs: lang.at(x, index))
