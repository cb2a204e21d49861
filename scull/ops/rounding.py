"""Whole numbers near each element."""

from typing import Any

from scull import lang
from scull.ops.half import refuse_integers
from scull.ops.like import full_like
from scull.ops.math import unary

PLAIN = {"use_cudnn": False, "use_mkldnn": False}


def whole(name: str) -> Any:
    """The kernel that is NumPy's function `name`, without the integers that this would take."""

    def kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
        if x.dtype.kind not in "fV":
            refuse_integers(x)
        return getattr(xp, name)(x, out=out)

    kernel.__doc__ = f"The `{name}` of each element."
    return kernel


def round_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    """The nearest whole number; of two equally near ones that further from 0."""
    if x.dtype.kind not in "fV":
        refuse_integers(x)
    size = xp.absolute(x)
    found = xp.floor(size)
    found += (size - found >= 0.5).astype(x.dtype)
    return xp.copysign(found, x, out=out)


def round_at(a: Any) -> Any:
    """One element of `round`."""
    found = lang.trunc(a)
    rest = a - found
    one = lang.constant(1, a.dtype)
    up = lang.select(rest >= 0.5, one, lang.constant(0, a.dtype))
    down = lang.select(rest <= -0.5, one, lang.constant(0, a.dtype))
    return found + up - down


def trunc_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    """Each element without its fraction."""
    return xp.trunc(x, out=out) if x.dtype.kind in "fV" else xp.positive(x, out=out)


def trunc_at(a: Any) -> Any:
    """One element of `trunc`."""
    return lang.trunc(a) if "float" in a.dtype else a


floor = unary("floor", whole("floor"), lambda a: lang.floor(a), fixed=PLAIN)
ceil = unary("ceil", whole("ceil"), lambda a: lang.ceil(a), fixed=PLAIN)
round = unary("round", round_kernel, round_at, fixed=PLAIN)
trunc = unary("trunc", trunc_kernel, trunc_at, any_dtype=True)

for function in (floor, ceil, round, trunc):
    function.grad(lambda dout: full_like(dout))
