"""Operators of one tensor, element by element."""

import math as numbers
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import composite, gradient, primitive
from scull.core.meta import Meta, floating
from scull.core.scratch import scratch
from scull.ops.compare import where
from scull.ops.conjugate import turned

PLAIN = {"use_cudnn": False, "use_mkldnn": False}


def unary(
    name: str,
    kernel: Any,
    lower: Any,
    *,
    any_dtype: bool = False,
    over: bool = False,
    **options: Any,
) -> Any:
    """Declare one operator of the family.

    `kernel` is a kernel, or the name of the array namespace's function; with `over` its `out`
    may be its operand.
    """

    def body(x: Meta) -> Meta:
        if not any_dtype:
            floating(x)
        return x

    body.__name__ = name
    body.__doc__ = lower.__doc__
    function = primitive(body, **options)
    if isinstance(kernel, str):
        function.ufunc(kernel)
    else:
        function.kernel(over=over)(kernel)
    function.lower(lambda index, x: lower(x[index]))
    return function


def sigmoid_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    """1 / (1 + e^-x), which is 0 where the exponential overflows."""
    total = np.asarray(xp.negative(x, out))
    with np.errstate(over="ignore"):
        xp.exp(total, total)
    total += x.dtype.type(1)
    return xp.reciprocal(total, total)


def logarithm_at(a: Any, base: int) -> Any:
    """One logarithm to another base, by way of float64."""
    return lang.cast(lang.log(lang.cast(a, "float64")) / numbers.log(base), a.dtype)


negative = unary("negative", "negative", lambda a: -a, any_dtype=True)
exp = unary("exp", "exp", lambda a: lang.exp(a))
log = unary("log", "log", lambda a: lang.log(a))
tanh = unary("tanh", "tanh", lambda a: lang.tanh(a))
sqrt = unary("sqrt", "sqrt", lambda a: lang.sqrt(a))
sigmoid = unary("sigmoid", sigmoid_kernel, lambda a: 1 / (lang.exp(-a) + 1), over=True)
expm1 = unary("expm1", "expm1", lambda a: lang.expm1(a), fixed=PLAIN)
log1p = unary("log1p", "log1p", lambda a: lang.log1p(a), fixed=PLAIN)
log2 = unary("log2", "log2", lambda a: logarithm_at(a, 2), fixed=PLAIN)
log10 = unary("log10", "log10", lambda a: logarithm_at(a, 10), fixed=PLAIN)
reciprocal = unary("reciprocal", "reciprocal", lambda a: 1 / a, fixed=PLAIN)
rsqrt = unary("rsqrt", lambda xp, x, *, out=None: 1 / xp.sqrt(x), lambda a: lang.rsqrt(a))
relu = unary(
    "relu",
    lambda xp, x, *, out=None: xp.maximum(x, 0, out=out),
    lambda a: lang.maximum(a, lang.constant(0, a.dtype)),
    any_dtype=True,
    over=True,
    fixed=PLAIN,
)

negative.grad(lambda dout: -dout)
exp.grad(lambda out, dout: dout * turned(out))
log.grad(lambda x, dout: dout / turned(x))
tanh.grad(lambda out, dout: dout * turned(1 - out * out))
expm1.grad(lambda out, dout: dout * turned(out + 1.0))
log1p.grad(lambda x, dout: dout / turned(x + 1.0))
log2.grad(lambda x, dout: dout / (turned(x) * numbers.log(2)))
log10.grad(lambda x, dout: dout / (turned(x) * numbers.log(10)))
reciprocal.grad(lambda out, dout: -dout * turned(out * out))
sqrt.grad(lambda out, dout: dout * 0.5 / turned(out))
sigmoid.grad(lambda out, dout: dout * turned((1 - out) * out))
rsqrt.grad(lambda out, dout: dout * turned(out * out * out) * -0.5)
relu.grad(lambda out, dout: where(out > 0, dout, 0.0))
relu.direct(lambda dtype: (np.maximum, np.zeros((), dtype)))


@gradient(relu).kernel(planned=True)
def relu_grad_planned(xp: Any, y: Any, dy: Any, *, wanted: tuple[str, ...] = ()) -> Any:
    """The rule without a branch: the bits of `dy` times one or zero."""
    found, rises = xp.empty(y.shape, dy.dtype), scratch(xp, y.shape, bool)
    bits = np.dtype(f"i{dy.dtype.itemsize}")
    xp.greater(y, 0, out=rises)
    xp.multiply(dy.view(bits), rises, out=found.view(bits))
    return found


@gradient(tanh).kernel(planned=True)
def tanh_grad_planned(xp: Any, y: Any, dy: Any, *, wanted: tuple[str, ...] = ()) -> Any:
    """The rule in the memory of its result."""
    found = xp.multiply(y, y, out=xp.empty(y.shape, y.dtype))
    xp.subtract(1, found, out=found)
    return xp.multiply(dy, turned(found), out=found)


@composite
def square(x):  # type: ignore[no-untyped-def]
    """``x * x``."""
    return x * x


square.ufunc("square")
square.grad(lambda x, dout: dout * 2.0 * turned(x))
