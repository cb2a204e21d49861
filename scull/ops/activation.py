"""Activations: functions of one tensor, element by element."""

import math
from typing import Any

from scull import lang
from scull.core.eager import composite, gradient, primitive
from scull.core.meta import Meta, real
from scull.core.op import meta_of
from scull.lang import coefficient
from scull.ops.compare import where
from scull.ops.conjugate import turned
from scull.ops.elementwise import maximum, minimum
from scull.ops.half import refuse_integers, widening
from scull.ops.math import exp, log, sigmoid, tanh
from scull.ops.portion import chunked

PLAIN = {"use_mkldnn": False}
HALF_PI_ROOT = math.sqrt(2 / math.pi)


def room(xp: Any, x: Any, out: Any) -> Any:
    """`out`, or a new array like `x`."""
    return xp.empty(x.shape, x.dtype) if out is None else out


# The error function.


@primitive
def erf(x: Meta) -> Meta:
    """The error function."""
    real(x)
    return x


@erf.kernel
@widening
def erf_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return chunked(xp, erf_of, out, x)


def erf_of(xp: Any, x: Any, out: Any) -> None:
    """The error function of few elements, by the polynomial of the loop language."""
    far = xp.abs(x)
    xp.minimum(far, 4 if x.dtype.itemsize == 4 else 6, out=far)
    rate = horner(xp, far, coefficient.ERF["float32" if x.dtype.itemsize == 4 else "float64"])
    rate *= far
    rate += far
    xp.negative(rate, rate)
    xp.expm1(rate, rate)
    xp.copysign(rate, x, out)


def horner(xp: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """The polynomial with these coefficients, the lowest first."""
    total = xp.full(x.shape, coefficients[-1], x.dtype)
    for number in coefficients[-2::-1]:
        total *= x
        total += x.dtype.type(number)
    return total


erf.grad(lambda x, dout: dout * exp(x * x * -1.0) * (2 / math.sqrt(math.pi)))
erf.lower(lambda index, x: lang.erf(x[index]))


@primitive
def normal_cdf(x: Meta) -> Meta:
    """The chance that a number of the standard normal distribution is less than `x`."""
    real(x)
    return x


@normal_cdf.kernel
@widening
def normal_cdf_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return chunked(xp, normal_cdf_by_erf, out, x)


def normal_cdf_by_erf(xp: Any, x: Any, out: Any) -> None:
    erf_of(xp, x * x.dtype.type(math.sqrt(0.5)), out)
    out += 1.0
    out *= 0.5


normal_cdf.grad(lambda x, dout: dout * exp(x * x * -0.5) * (HALF_PI_ROOT / 2))
normal_cdf.lower(lambda index, x: lang.normal_cdf(x[index]))


# Smooth ones.


@composite(fixed={"mkldnn_data_type": "float32", "use_mkldnn": False})
def gelu(x, *, approximate: bool = False):
    """``x`` times the chance that a normal number lies below it; `approximate` by tanh."""
    real(meta_of(x))
    if approximate:
        return x * 0.5 * (1.0 + tanh((x + x * x * x * 0.044715) * HALF_PI_ROOT))
    return x * normal_cdf(x)


@gelu.kernel
@widening
def gelu_kernel(xp: Any, x: Any, *, out: Any = None, approximate: bool) -> Any:
    def step(xp: Any, x: Any, out: Any) -> None:
        chance_below(xp, x, approximate, out)
        out *= x

    return chunked(xp, step, out, x)


def chance_below(xp: Any, x: Any, approximate: bool, out: Any) -> None:
    """The chance that a normal number lies below `x`."""
    if approximate:
        xp.multiply(x, x, out)
        out *= 0.044715
        out += 1.0
        out *= x
        out *= HALF_PI_ROOT
        xp.tanh(out, out)
        out += 1.0
        out *= 0.5
    else:
        normal_cdf_by_erf(xp, x, out)


@gelu.grad
def gelu_grad(x: Any, dout: Any, approximate: bool) -> Any:
    if approximate:
        t = tanh((x + x * x * x * 0.044715) * HALF_PI_ROOT)
        slope = (x * x * (3 * 0.044715) + 1.0) * HALF_PI_ROOT
        return dout * ((1.0 + t) * 0.5 + x * (1.0 - t * t) * slope * 0.5)
    return dout * (normal_cdf(x) + x * exp(x * x * -0.5) * (HALF_PI_ROOT / 2))


@gradient(gelu).kernel("cpu")
@widening
def gelu_grad_cpu(
    xp: Any, x: Any, dout: Any, *, out: Any = None, approximate: bool, wanted: Any = None
) -> Any:
    def step(xp: Any, x: Any, dout: Any, out: Any) -> None:
        chance_below(xp, x, approximate, out)
        slope = x * x
        if approximate:
            slope *= 3 * 0.044715
            slope += 1.0
            slope *= out
            slope *= 1.0 - out
            slope *= 2 * HALF_PI_ROOT
        else:
            slope *= -0.5
            xp.exp(slope, slope)
            slope *= HALF_PI_ROOT / 2
        slope *= x
        out += slope
        out *= dout

    return chunked(xp, step, out, x, dout)


@composite(fixed={"use_cudnn": False, "use_mkldnn": False})
def silu(x):
    """``x * sigmoid(x)``."""
    return x * sigmoid(x)


@silu.kernel
@widening
def silu_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return xp.multiply(x, sigmoid.op.cpu(x), out=out)


@silu.grad
def silu_grad(x: Any, out: Any, dout: Any) -> Any:
    s = sigmoid(x)
    return dout * turned(s + out * (1.0 - s))


@composite(fixed=PLAIN, unprinted=("beta",))
def swish(x, *, beta: float = 1.0):
    """``x * sigmoid(beta * x)``."""
    return x * sigmoid(x * beta)


@swish.kernel
@widening
def swish_kernel(xp: Any, x: Any, *, out: Any = None, beta: float) -> Any:
    return xp.multiply(x, sigmoid.op.cpu(xp.asarray(x * beta)), out=out)


@swish.grad
def swish_grad(x: Any, dout: Any, beta: float) -> Any:
    s = sigmoid(x * beta)
    return dout * (s + x * beta * s * (1.0 - s))


@composite(fixed={"use_cudnn": False, "use_mkldnn": False})
def softplus(x, *, beta: float = 1.0, threshold: float = 20.0):
    """``log(1 + e^(beta * x)) / beta``; ``x`` itself where ``beta * x`` is above `threshold`."""
    inner = minimum(x * beta, threshold)
    return where(x * beta > threshold, x, log(1.0 + exp(inner)) / beta)


@softplus.kernel
@widening
def softplus_kernel(xp: Any, x: Any, *, out: Any = None, beta: float, threshold: float) -> Any:
    scaled = xp.asarray(x * beta)
    out = room(xp, x, out)
    xp.log1p(xp.exp(xp.minimum(scaled, threshold)), out)
    out /= beta
    xp.copyto(out, x, where=scaled > threshold)
    return out


@softplus.grad
def softplus_grad(x: Any, dout: Any, beta: float, threshold: float) -> Any:
    return where(x * beta > threshold, dout, dout * sigmoid(x * beta))


@composite(fixed=PLAIN)
def elu(x, *, alpha: float = 1.0):
    """``x`` from 0 on, ``alpha * (e^x - 1)`` below."""
    return where(x < 0, (exp(minimum(x, 0.0)) - 1.0) * alpha, x)


@elu.kernel
@widening
def elu_kernel(xp: Any, x: Any, *, out: Any = None, alpha: float) -> Any:
    out = room(xp, x, out)
    xp.expm1(xp.minimum(x, 0), out)
    out *= alpha
    xp.copyto(out, x, where=x >= 0)
    return out


@elu.grad
def elu_grad(x: Any, out: Any, dout: Any, alpha: float) -> Any:
    return where(x > 0, dout, dout * (out + alpha))


# Piecewise straight ones.


@composite(fixed=PLAIN)
def leaky_relu(x, *, alpha: float = 0.02):
    """``x`` above 0, ``alpha * x`` below."""
    refuse_integers(x)
    return where(x > 0, x, x * alpha)


@leaky_relu.kernel
@widening
def leaky_relu_kernel(xp: Any, x: Any, *, out: Any = None, alpha: float) -> Any:
    out = room(xp, x, out)
    xp.multiply(x, alpha, out)
    xp.copyto(out, x, where=x > 0)
    return out


@leaky_relu.grad
def leaky_relu_grad(x: Any, dout: Any, alpha: float) -> Any:
    return where(x < 0, dout * alpha, dout)


@composite(fixed=PLAIN, unprinted=("threshold",))
def relu6(x, *, threshold: float = 6.0):
    """``x`` kept within [0, 6]."""
    refuse_integers(x)
    return minimum(maximum(x, 0.0), threshold)


@relu6.kernel
@widening
def relu6_kernel(xp: Any, x: Any, *, out: Any = None, threshold: float) -> Any:
    return xp.minimum(xp.maximum(x, 0), threshold, out=out)


@relu6.grad
def relu6_grad(out: Any, dout: Any, threshold: float) -> Any:
    return where(out > 0, where(out < threshold, dout, 0.0), 0.0)


@composite(prefix="hardsigmoid")
def hard_sigmoid(x, *, slope: float = 0.2, offset: float = 0.5):
    """``slope * x + offset`` kept within [0, 1]."""
    refuse_integers(x)
    return minimum(maximum(x * slope + offset, 0.0), 1.0)


@hard_sigmoid.kernel
@widening
def hard_sigmoid_kernel(xp: Any, x: Any, *, out: Any = None, slope: float, offset: float) -> Any:
    out = room(xp, x, out)
    xp.multiply(x, slope, out)
    out += offset
    return xp.minimum(xp.maximum(out, 0, out=out), 1, out=out)


@hard_sigmoid.grad
def hard_sigmoid_grad(out: Any, dout: Any, slope: float) -> Any:
    return where(out > 0, where(out < 1, dout * slope, 0.0), 0.0)


@composite(fixed=PLAIN, prefix="hardswish")
def hard_swish(x, *, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0):
    """``x`` times ``x + offset`` kept within [0, threshold], over `scale`."""
    refuse_integers(x)
    return x * minimum(maximum(x + offset, 0.0), threshold) / scale


@hard_swish.kernel
@widening
def hard_swish_kernel(
    xp: Any, x: Any, *, out: Any = None, threshold: float, scale: float, offset: float
) -> Any:
    inner = xp.asarray(x + offset)
    xp.minimum(xp.maximum(inner, 0, out=inner), threshold, out=inner)
    inner /= scale
    return xp.multiply(x, inner, out=out)


@hard_swish.grad
def hard_swish_grad(x: Any, dout: Any, threshold: float, scale: float, offset: float) -> Any:
    inner = x + offset
    rising = where(inner < threshold, dout * (x * 2.0 + offset) / scale, dout * (threshold / scale))
    return where(inner > 0, rising, 0.0)
