"""Losses of each element by itself."""

from typing import Any

from scull.core.eager import composite
from scull.core.meta import agree
from scull.core.op import meta_of
from scull.errors import ShapeError
from scull.ops.compare import not_equal, where
from scull.ops.create import cast
from scull.ops.elementwise import maximum
from scull.ops.half import widening
from scull.ops.math import exp, log, relu, sigmoid
from scull.ops.reduce import reduce_sum


@composite(slots={"pos_weight": "pos_weight"})
def sigmoid_cross_entropy_with_logits(
    x, label, pos_weight=None, *, normalize: bool = False, ignore_index: int = -100
):
    """How many nats the chance ``sigmoid(x)`` needs to say `label`, if not `ignore_index`."""
    same_shape(x, label, "x", "label")
    rest = log(1.0 + exp(-maximum(x, -x)))
    loss = relu(x) - x * label + (rest if pos_weight is None else rest * pos_weight)
    counts = not_equal(label, float(ignore_index))
    loss = where(counts, loss, 0.0)
    return loss / number_of(counts, label) if normalize else loss


def same_shape(x: Any, y: Any, x_name: str, y_name: str) -> None:
    """Refuse operands of differing shapes."""
    if len(x.shape) != len(y.shape):
        raise ShapeError(f"{x_name} has {len(x.shape)} axes and {y_name} {len(y.shape)}")
    for i, (n, m) in enumerate(zip(x.shape, y.shape, strict=True)):
        agree(n, m, f"{x_name} has {{}} elements along axis {i}, {y_name} has {{}}")


def number_of(counts: Any, like: Any) -> Any:
    """How many elements hold, at least 1e-5, as a number of the element type of `like`."""
    total = reduce_sum(cast(counts, out_dtype=meta_of(like).dtype), reduce_all=True)
    return maximum(total, 1e-5)


@sigmoid_cross_entropy_with_logits.kernel
@widening
def sigmoid_cross_entropy_kernel(
    xp: Any,
    x: Any,
    label: Any,
    pos_weight: Any = None,
    *,
    out: Any = None,
    normalize: bool,
    ignore_index: int,
) -> Any:
    same_shape(x, label, "x", "label")
    rest = xp.log1p(xp.exp(-xp.abs(x)))
    rest = rest if pos_weight is None else rest * pos_weight
    loss = xp.maximum(x, 0) - x * label + rest
    counts = label != ignore_index
    total = max(xp.count_nonzero(counts), 1e-5) if normalize else 1
    return xp.multiply(loss, counts / x.dtype.type(total), out=out)


@sigmoid_cross_entropy_with_logits.grad("x")
def sigmoid_cross_entropy_grad(
    x: Any, label: Any, pos_weight: Any, dout: Any, normalize: bool, ignore_index: int
) -> Any:
    if pos_weight is None:
        slope = sigmoid(x) - label
    else:
        slope = where(x > 0, 1.0 - pos_weight * sigmoid(-x), pos_weight * sigmoid(x)) - label
    counts = not_equal(label, float(ignore_index))
    dx = where(counts, slope * dout, 0.0)
    return dx / number_of(counts, label) if normalize else dx


@composite(outputs=("residual", "out"), hidden=("residual",))
def huber_loss(x, y, *, delta: float):
    """``y - x``, and half its square up to `delta`, then on in a straight line."""
    same_shape(x, y, "x", "y")
    residual = y - x
    size = maximum(residual, -residual)
    small = residual * residual * 0.5
    return residual, where(size > delta, (size - 0.5 * delta) * delta, small)


@huber_loss.kernel
@widening
def huber_loss_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, delta: float) -> Any:
    same_shape(x, y, "x", "y")
    residual, loss = out or (None, None)
    residual = xp.subtract(y, x, out=residual)
    size = xp.abs(residual)
    inside = xp.minimum(size, delta)
    return residual, xp.multiply(inside, size - inside * 0.5, out=loss)


@huber_loss.grad
def huber_loss_grad(residual: Any, dout: Any, delta: float, dresidual: Any = None) -> Any:
    bounded = where(residual > delta, delta, residual)
    dy = dout * where(residual < -delta, -delta, bounded)
    if dresidual is not None:
        dy = dy + dresidual
    return -dy, dy
