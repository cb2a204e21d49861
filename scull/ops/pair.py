"""Operators of two tensors, element by element, that stretch them and know no `axis`."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta, broadcast
from scull.errors import DtypeError
from scull.ops.compare import equal, not_equal, where


def pairwise(
    name: str, kernel: Any, lower: Any, dtypes: Any = lambda x: x.dtype, **options: Any
) -> Any:
    """Declare one operator of the family.

    `kernel` is a kernel, or the name of the array namespace's function; `dtypes` gives the element
    type of the result and refuses others.
    """

    def body(x: Meta, y: Meta) -> Meta:
        if x.dtype is not y.dtype:
            raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        return Meta(broadcast(x, y), dtypes(x))

    body.__name__ = name
    body.__doc__ = kernel.__doc__ if callable(kernel) else f"`{kernel}` of two tensors."
    function = primitive(body, broadcasts=True, **options)
    if isinstance(kernel, str):
        function.ufunc(kernel)
    else:
        function.kernel(kernel)
    if lower:
        function.lower(lambda index, x, y: lower(lang.at(x, index), lang.at(y, index)))
    return function


def known(a: Any, b: Any, found: Any) -> Any:
    """`found`, but the other of two elements where one is NaN."""
    return lang.select(lang.not_equal(a, a), b, lang.select(lang.not_equal(b, b), a, found))


def step_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    """1 above 0, `y` at 0, 0 below and for NaN."""
    found = xp.where(x == 0, y, (x > 0).astype(x.dtype))
    if out is None:
        return found
    out[...] = found
    return out


def step_at(a: Any, b: Any) -> Any:
    """One element of `heaviside`."""
    zero, one = lang.constant(0, a.dtype), lang.constant(1, a.dtype)
    return lang.select(lang.equal(a, zero), b, lang.select(a > zero, one, zero))


fmax = pairwise(
    "fmax", "fmax", lambda a, b: known(a, b, lang.maximum(a, b)), type="elementwise_fmax", bare=True
)
fmin = pairwise(
    "fmin", "fmin", lambda a, b: known(a, b, lang.minimum(a, b)), type="elementwise_fmin", bare=True
)
heaviside = pairwise("heaviside", step_kernel, step_at, type="elementwise_heaviside", bare=True)


@fmax.grad("x")
def fmax_grad_x(x: Any, y: Any, dout: Any) -> Any:
    return where(x >= y, dout, where(not_equal(y, y), dout, 0.0))


@fmax.grad("y")
def fmax_grad_y(x: Any, y: Any, dout: Any) -> Any:
    return where(x >= y, 0.0, where(not_equal(y, y), 0.0, dout))


@fmin.grad("x")
def fmin_grad_x(x: Any, y: Any, dout: Any) -> Any:
    return where(x <= y, dout, where(not_equal(y, y), dout, 0.0))


@fmin.grad("y")
def fmin_grad_y(x: Any, y: Any, dout: Any) -> Any:
    return where(x <= y, 0.0, where(not_equal(y, y), 0.0, dout))


heaviside.grad("x")(lambda dout: dout * 0.0)
heaviside.grad("y")(lambda x, dout: where(equal(x, 0.0), dout, 0.0))


@primitive(broadcasts=True, infer_first=True)
def lerp(x: Meta, y: Meta, weight: Meta) -> Meta:
    """The point between `x` and `y` at `weight`: ``x + weight * (y - x)``."""
    for other in (y, weight):
        if other.dtype is not x.dtype or not x.dtype.is_float:
            raise DtypeError(f"x is {x.dtype.name} beside {other.dtype.name}; one float is needed")
    return Meta(broadcast(x, y, weight), x.dtype)


lerp.kernel(lambda xp, x, y, weight, *, out=None: xp.add(x, weight * (y - x), out=out))
lerp.grad("x")(lambda weight, out_meta, dout: dout - dout * weight)
lerp.grad("y")(lambda weight, dout: dout * weight)


@lerp.lower
def lerp_at(index: Any, x: Any, y: Any, weight: Any) -> Any:
    a, b, w = (lang.at(v, index) for v in (x, y, weight))
    return a + w * (b - a)
