"""Operators of one tensor, element by element."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, floating
from scull.ops.compare import where


def unary(name: str, kernel: Any, lower: Any, *, any_dtype: bool = False, **options: Any) -> Any:
    """Declare one operator of the family.

    `kernel` is a kernel, or the name of the array namespace's function.
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
        function.kernel(kernel)
    function.lower(lambda index, x: lower(x[index]))
    return function


def sigmoid_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    """1 / (1 + e^-x), by tanh so that nothing overflows."""
    half = xp.tanh(x * x.dtype.type(0.5), out)
    half = np.asarray(half)
    half *= x.dtype.type(0.5)
    half += x.dtype.type(0.5)
    return half


negative = unary("negative", "negative", lambda a: -a, any_dtype=True)
exp = unary("exp", "exp", lambda a: lang.exp(a))
log = unary("log", "log", lambda a: lang.log(a))
tanh = unary("tanh", "tanh", lambda a: lang.tanh(a))
sqrt = unary("sqrt", "sqrt", lambda a: lang.sqrt(a))
sigmoid = unary("sigmoid", sigmoid_kernel, lambda a: lang.tanh(a * 0.5) * 0.5 + 0.5)
rsqrt = unary("rsqrt", lambda xp, x, *, out=None: 1 / xp.sqrt(x), lambda a: lang.rsqrt(a))
relu = unary(
    "relu",
    lambda xp, x, *, out=None: xp.maximum(x, 0, out=out),
    lambda a: lang.maximum(a, lang.constant(0, a.dtype)),
    any_dtype=True,
    fixed={"use_cudnn": False, "use_mkldnn": False},
)

negative.grad(lambda dout: -dout)
exp.grad(lambda out, dout: dout * out)
log.grad(lambda x, dout: dout / x)
tanh.grad(lambda out, dout: dout * (1 - out * out))
sqrt.grad(lambda out, dout: dout * 0.5 / out)
sigmoid.grad(lambda out, dout: dout * (1 - out) * out)
rsqrt.grad(lambda out, dout: dout * out * out * out * -0.5)
relu.grad(lambda out, dout: where(out > 0, dout, 0.0))


@composite
def square(x):  # type: ignore[no-untyped-def]
    """``x * x``."""
    return x * x


square.ufunc("square")
square.grad(lambda x, dout: dout * x * 2.0)
