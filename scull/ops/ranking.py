"""Losses of margins and of orders, and what they are made of."""

from typing import Any

from scull.core.eager import composite
from scull.core.meta import floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.clip import clip
from scull.ops.compare import where
from scull.ops.complex import abs, sign
from scull.ops.cross_entropy import beside, check_label, is_label
from scull.ops.elementwise import maximum
from scull.ops.half import by_body
from scull.ops.likelihood import column
from scull.ops.loss import same_shape
from scull.ops.math import exp, log, log1p, relu, sigmoid, sqrt
from scull.ops.reduce import reduce_max, reduce_sum
from scull.ops.trigonometry import acos, cos, sin


@composite(outputs=("loss",))
def hinge_loss(logits, labels):
    """How far a score lies short of 1 on the side of its label, 0 or 1."""
    column(logits, "logits")
    same_shape(logits, labels, "logits", "labels")
    return relu(1.0 - logits * (labels * 2.0 - 1.0))


by_body(hinge_loss)


@hinge_loss.grad("logits")
def hinge_loss_grad(logits: Any, labels: Any, dloss: Any) -> Any:
    side = labels * 2.0 - 1.0
    return where(logits * side < 1.0, dloss * side * -1.0, 0.0)


@composite
def rank_loss(label, left, right):
    """How many nats it needs to say whether `left` ranks above `right`."""
    for x, name in ((left, "left"), (right, "right")):
        same_shape(label, x, "label", name)
    if len(label.shape) != 1:
        column(label, "label")
    ahead = left - right
    return relu(ahead) + log(1.0 + exp(-maximum(ahead, -ahead))) - label * ahead


by_body(rank_loss)


@rank_loss.grad("left", "right")
def rank_loss_grad(label: Any, left: Any, right: Any, dout: Any) -> Any:
    dleft = dout * (sigmoid(left - right) - label)
    return dleft, -dleft


@composite(outputs=("intermediate_val", "out"), hidden=("intermediate_val",))
def modified_huber_loss(x, y):
    """The score on the side of its label, 0 or 1; the square of what it lacks to 1.

    From -1 down it goes on in a straight line.
    """
    column(x, "x")
    same_shape(x, y, "x", "y")
    margin = x * (y * 2.0 - 1.0)
    short = relu(1.0 - margin)
    return margin, where(margin < -1.0, margin * -4.0, short * short)


by_body(modified_huber_loss)


@modified_huber_loss.grad("x")
def modified_huber_loss_grad(
    y: Any, intermediate_val: Any, dout: Any, dintermediate_val: Any = None
) -> Any:
    side = y * 2.0 - 1.0
    slope = where(intermediate_val < -1.0, -4.0, relu(1.0 - intermediate_val) * -2.0)
    dmargin = slope * dout if dout is not None else None
    if dintermediate_val is not None:
        dmargin = dintermediate_val if dmargin is None else dmargin + dintermediate_val
    return dmargin * side


@composite
def l1_norm(x):
    """The sum of the sizes of all elements."""
    floating(meta_of(x))
    return reduce_sum(abs(x), axis=(), reduce_all=True)


by_body(l1_norm)
l1_norm.grad(lambda x, dout: sign(x) * dout)


@composite
def soft_relu(x, *, threshold: float = 40.0):
    """``log(1 + exp(x))`` of `x` kept within `threshold` on both sides."""
    if threshold < 0:
        raise ArgumentError(f"threshold is {threshold}, below 0")
    return log1p(exp(clip(x, min=-threshold, max=threshold)))


by_body(soft_relu)


@soft_relu.grad
def soft_relu_grad(out: Any, dout: Any, threshold: float) -> Any:
    """Of what lies within `threshold`, judged by the result."""
    inner = where(out < threshold, dout * (1.0 - exp(-out)), 0.0)
    return where(out > -threshold, inner, 0.0)


@composite(outputs=("softmax", "loss"))
def margin_cross_entropy(
    logits,
    label,
    *,
    return_softmax: bool = False,
    ring_id: int = 0,
    rank: int = 0,
    nranks: int = 1,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
):
    """The softmax of cosines made harder by margins, and how many nats it needs to say `label`.

    The cosine of a label's angle becomes ``cos(margin1 * angle + margin2) - margin3``; all are
    multiplied by `scale`.
    """
    if nranks != 1:
        raise ArgumentError(f"the classes lie on {nranks} processes; one holds all of them here")
    if len(logits.shape) != 2:
        raise ShapeError(f"logits has {len(logits.shape)} axes, 2 are needed")
    label = beside(logits, label, -1)
    check_label(logits, label, -1, False)
    marks = is_label(label, logits, axis=-1)
    harder = where(marks, cos(acos(logits) * margin1 + margin2) - margin3, logits) * scale
    shifted = harder - reduce_max(harder, axis=(-1,), keepdim=True)
    logs = shifted - log(reduce_sum(exp(shifted), axis=(-1,), keepdim=True))
    return exp(logs), reduce_sum(where(marks, logs, 0.0), axis=(-1,), keepdim=True) * -1.0


by_body(margin_cross_entropy)


@margin_cross_entropy.grad("logits")
def margin_cross_entropy_grad(
    logits: Any,
    label: Any,
    softmax: Any,
    dloss: Any,
    margin1: float,
    margin2: float,
    scale: float,
    dsoftmax: Any = None,
) -> Any:
    marks = is_label(beside(logits, label, -1), logits, axis=-1)
    dharder = where(marks, softmax - 1.0, softmax) * dloss
    if dsoftmax is not None:
        mean = reduce_sum(dsoftmax * softmax, axis=(-1,), keepdim=True)
        dharder = dharder + softmax * (dsoftmax - mean)
    slope = sin(acos(logits) * margin1 + margin2) / sqrt(1.0 - logits * logits) * margin1
    return dharder * where(marks, slope, 1.0) * scale
