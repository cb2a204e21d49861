"""Activations that shrink, saturate or cut off, and those whose slope is learnt."""

from typing import Any

from scull.core.eager import composite
from scull.core.meta import agree, count
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.compare import where
from scull.ops.elementwise import maximum, minimum
from scull.ops.half import by_body, refuse_integers
from scull.ops.like import reshape_like, sum_like
from scull.ops.math import exp, log, sigmoid, tanh
from scull.ops.move import reshape

LIBRARIES = {"use_cudnn": False, "use_mkldnn": False}


@composite
def selu(x, *, scale: float = 1.0507009873554804934, alpha: float = 1.6732632423543772848):
    """``scale * x`` above 0, ``scale * alpha * (e^x - 1)`` below."""
    refuse_integers(x)
    return where(x > 0, x, (exp(minimum(x, 0.0)) - 1.0) * alpha) * scale


@selu.grad
def selu_grad(out: Any, dout: Any, scale: float, alpha: float) -> Any:
    return dout * where(out > 0, out * 0.0 + scale, out + scale * alpha)


@composite
def celu(x, *, alpha: float = 1.0):
    """``x`` above 0, ``alpha * (e^(x / alpha) - 1)`` below."""
    refuse_integers(x)
    return where(x > 0, x, (exp(minimum(x, 0.0) / alpha) - 1.0) * alpha)


@celu.grad
def celu_grad(x: Any, dout: Any, alpha: float) -> Any:
    return dout * exp(minimum(x, 0.0) / alpha)


@composite(fixed={"use_mkldnn": False})
def mish(x, *, threshold: float = 20.0):
    """``x * tanh(log(1 + e^x))``; the logarithm is ``x`` itself above `threshold`."""
    refuse_integers(x)
    return x * tanh(bent(x, threshold))


def bent(x: Any, threshold: float) -> Any:
    """``log(1 + e^x)``."""
    return where(x > threshold, x, log(1.0 + exp(minimum(x, threshold))))


@mish.grad
def mish_grad(x: Any, dout: Any, threshold: float) -> Any:
    t = tanh(bent(x, threshold))
    return dout * (t + x * (1.0 - t * t) * sigmoid(x))


@composite(fixed=LIBRARIES, prefix="log_sigmoid")
def logsigmoid(x):
    """The logarithm of the sigmoid."""
    refuse_integers(x)
    return minimum(x, 0.0) - log(1.0 + exp(-maximum(x, -x)))


@logsigmoid.grad
def logsigmoid_grad(x: Any, dout: Any) -> Any:
    return dout * sigmoid(-x)


@composite(fixed=LIBRARIES)
def softsign(x):
    """``x / (1 + |x|)``."""
    refuse_integers(x)
    return x / (1.0 + maximum(x, -x))


@softsign.grad
def softsign_grad(x: Any, dout: Any) -> Any:
    reach = 1.0 + maximum(x, -x)
    return dout / (reach * reach)


@composite(fixed=LIBRARIES)
def tanh_shrink(x):
    """``x - tanh(x)``."""
    refuse_integers(x)
    return x - tanh(x)


@tanh_shrink.grad
def tanh_shrink_grad(x: Any, dout: Any) -> Any:
    t = tanh(x)
    return dout * t * t


@composite(prefix="hardtanh")
def brelu(x, *, t_min: float = 0.0, t_max: float = 24.0):
    """``x`` kept within [t_min, t_max]."""
    refuse_integers(x)
    return minimum(maximum(x, t_min), t_max)


@brelu.grad
def brelu_grad(x: Any, dout: Any, t_min: float, t_max: float) -> Any:
    return where(x > t_min, where(x < t_max, dout, 0.0), 0.0)


@composite(attrs={"threshold": "lambda"})
def softshrink(x, *, threshold: float = 0.5):
    """``x`` moved towards 0 by `threshold`, and 0 where it is nearer."""
    refuse_integers(x)
    return where(x > threshold, x - threshold, where(x < -threshold, x + threshold, 0.0))


@softshrink.grad
def softshrink_grad(x: Any, dout: Any, threshold: float) -> Any:
    return where(x > threshold, dout, where(x < -threshold, dout, 0.0))


@composite(prefix="hardshrink")
def hard_shrink(x, *, threshold: float = 0.5):
    """``x``, and 0 where it is within `threshold` of 0."""
    refuse_integers(x)
    return where(x > threshold, x, where(x < -threshold, x, 0.0))


@hard_shrink.grad
def hard_shrink_grad(x: Any, dout: Any, threshold: float) -> Any:
    return where(x > threshold, dout, where(x < -threshold, dout, 0.0))


@composite
def thresholded_relu(x, *, threshold: float = 1.0):
    """``x`` above `threshold`, and 0 elsewhere."""
    refuse_integers(x)
    return where(x > threshold, x, 0.0)


@thresholded_relu.grad
def thresholded_relu_grad(x: Any, dout: Any, threshold: float) -> Any:
    return where(x > threshold, dout, 0.0)


@composite(
    fixed={"is_test": False, "mkldnn_data_type": "float32", "use_mkldnn": False},
)
def prelu(x, alpha, *, data_format: str = "NCHW", mode: str = "all"):
    """``x`` above 0, ``alpha * x`` below; `mode` says how far one number of `alpha` reaches."""
    refuse_integers(x)
    if x.dtype != alpha.dtype:
        raise DtypeError(f"x is {x.dtype.name} and alpha is {alpha.dtype.name}; cast one")
    return where(x > 0, x, x * beside(alpha, x, data_format, mode))


def beside(alpha: Any, x: Any, data_format: str, mode: str) -> Any:
    """`alpha` in a shape that meets that of `x`."""
    ndim = len(x.shape)
    if mode == "element":
        return alpha
    if mode == "all":
        return reshape(alpha, shape=(1,) * ndim)
    if mode != "channel":
        raise ArgumentError(f"mode is {mode!r}, not 'all', 'channel' or 'element'")
    if ndim < 2:
        raise ShapeError(f"x has {ndim} axes, so no channels")
    place = 1 if data_format.startswith("NC") else ndim - 1
    agree(count(alpha.shape), x.shape[place], "alpha has {} numbers and x has {} channels")
    return reshape(alpha, shape=tuple([-1 if i == place else 1 for i in range(ndim)]))


@prelu.grad("x")
def prelu_grad_x(x: Any, alpha: Any, dout: Any, data_format: str, mode: str) -> Any:
    return where(x > 0, dout, dout * beside(alpha, x, data_format, mode))


@prelu.grad("alpha")
def prelu_grad_alpha(x: Any, alpha: Any, dout: Any, data_format: str, mode: str) -> Any:
    share = where(x > 0, 0.0, dout * x)
    return reshape_like(sum_like(share, beside(alpha, x, data_format, mode)), alpha)


for function in (selu, celu, mish, logsigmoid, softsign, tanh_shrink, brelu):
    by_body(function)
for function in (softshrink, hard_shrink, thresholded_relu, prelu):
    by_body(function)
