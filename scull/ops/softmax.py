"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

from typing import Any

from scull.core.attribute import Ints
from scull.core.eager import composite
from scull.core.meta import axis_of
from scull.ops.classify import isfinite
from scull.ops.compare import where
from scull.ops.half import widening
from scull.ops.like import squeeze
from scull.ops.math import exp, log
from scull.ops.reduce import reduce_max, reduce_sum, reduced_axes, spread


@composite(
    fixed={"data_format": "AnyLayout", "is_test": False, "mkldnn_data_type": "float32"}
    | {"use_cudnn": True, "use_mkldnn": False}
)
def softmax(x, *, axis: int = -1):
    """e to the elements, divided by the sum of these along `axis`."""
    e = exp(x - reduce_max(x, axis=(axis,), keepdim=True))
    return e * (1.0 / reduce_sum(e, axis=(axis,), keepdim=True))  # one division a row


@softmax.kernel
@widening
def softmax_kernel(xp: Any, x: Any, *, out: Any = None, axis: int) -> Any:
    axis, shifted = shifted_down(xp, x, axis, out)
    xp.exp(shifted, shifted)
    shifted *= 1 / xp.add.reduce(shifted, axis=axis, keepdims=True)
    return shifted


def shifted_down(xp: Any, x: Any, axis: int, out: Any) -> tuple[Any, Any]:
    """The axis from 0 on, and `x` less its largest element along it, in `out` or a new array."""
    axis = axis_of(axis, x.ndim)
    out = xp.empty(x.shape, x.dtype) if out is None else out
    if x.size == 0:
        return axis, out
    return axis, xp.subtract(x, xp.maximum.reduce(x, axis=axis, keepdims=True), out)


@softmax.grad
def softmax_grad(out: Any, dout: Any, axis: int) -> Any:
    return out * (dout - reduce_sum(dout * out, axis=(axis,), keepdim=True))


@composite(fixed={"use_mkldnn": False})
def log_softmax(x, *, axis: int = -1):
    """The logarithm of softmax along `axis`."""
    shifted = x - reduce_max(x, axis=(axis,), keepdim=True)
    return shifted - log(reduce_sum(exp(shifted), axis=(axis,), keepdim=True))


@log_softmax.kernel
@widening
def log_softmax_kernel(xp: Any, x: Any, *, out: Any = None, axis: int) -> Any:
    axis, shifted = shifted_down(xp, x, axis, out)
    shifted -= xp.log(xp.add.reduce(xp.exp(shifted), axis=axis, keepdims=True))
    return shifted


@log_softmax.grad
def log_softmax_grad(out: Any, dout: Any, axis: int) -> Any:
    return dout - exp(out) * reduce_sum(dout, axis=(axis,), keepdim=True)


@composite
def logsumexp(x, *, axis: Ints = (0,), keepdim: bool = False, reduce_all: bool = False):
    """The logarithm of the sum of exponentials over axes, without overflow."""
    over = {"axis": axis, "reduce_all": reduce_all}
    top = reduce_max(x, keepdim=True, **over)
    top = where(isfinite(top), top, 0.0)
    total = log(reduce_sum(exp(x - top), keepdim=keepdim, **over))
    return total + (top if keepdim else squeeze(top, axes=reduced_axes(x, axis, reduce_all)))


@logsumexp.kernel
@widening
def logsumexp_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: Any, keepdim: bool, reduce_all: bool
) -> Any:
    axes = reduced_axes(x, axis, reduce_all)
    top = xp.maximum.reduce(x, axis=axes, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0)
    total = xp.log(xp.add.reduce(xp.exp(x - top), axis=axes, keepdims=keepdim))
    return xp.add(total, top if keepdim else top.squeeze(axes), out=out)


@logsumexp.grad
def logsumexp_grad(x: Any, out: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool) -> Any:
    total, dout = (spread(v, x, axis, keepdim, reduce_all) for v in (out, dout))
    return dout * exp(x - total)
