"""The conjugate, by which the gradients of complex functions are multiplied."""

from typing import Any

from scull.core.dtype import DType
from scull.core.eager import primitive
from scull.core.meta import Meta


def is_complex(x: Any) -> bool:
    """Whether the elements of an array, or of anything that has a dtype, are complex."""
    dtype = x.dtype
    return dtype.is_complex if type(dtype) is DType else dtype.kind == "c"


@primitive(inline_gradient=True)
def conj(x: Meta) -> Meta:
    """Each element with the other sign of its imaginary part."""
    return x


conj.kernel(lambda xp, x, *, out=None: xp.conjugate(x, out=out))
conj.grad(lambda dout: conj(dout))
conj.lower(lambda index, x: x[index])


def turned(x: Any) -> Any:
    """`x`, or its conjugate where it is complex."""
    if isinstance(x, bool | int | float | complex):
        return x.conjugate()
    return conj(x) if is_complex(x) else x
