"""Operators that hand a value on as it is: out of reach of gradients, or to another place."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import UnsupportedError

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


for function in (share_data, memcpy):
    function.no_grad(NO_GRADIENT)
    function.lower(lambda index, x, **attrs: lang.at(x, index))
