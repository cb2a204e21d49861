"""Losses other than cross entropy."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Long
from scull.core.dtype import bool_
from scull.core.eager import composite, gradient
from scull.core.meta import agree, count
from scull.core.op import meta_of
from scull.errors import ArgumentError, RangeError, ShapeError
from scull.ops.compare import not_equal, where
from scull.ops.create import assign, cast
from scull.ops.cross_entropy import (
    guarded_ratio,
    is_label,
    places_of,
    valid_labels,
    with_axis_amid,
)
from scull.ops.elementwise import maximum
from scull.ops.half import by_body, placed, wide_at, widening
from scull.ops.like import size_of, unsqueeze
from scull.ops.math import exp, log, relu, sigmoid
from scull.ops.move import reshape
from scull.ops.reduce import reduce_mean, reduce_sum


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


@composite(prefix="binary_cross_entropy")
def bce_loss(x, label):
    """How many nats the chance `x` needs to say `label`, 100 at most."""
    same_shape(x, label, "x", "label")
    yes, no = maximum(log(x), -100.0), maximum(log(1.0 - x), -100.0)
    return (label - 1.0) * no - label * yes


@bce_loss.kernel
@widening
def bce_loss_kernel(xp: Any, x: Any, label: Any, *, out: Any = None) -> Any:
    same_shape(x, label, "x", "label")
    if x.size and not (
        xp.minimum.reduce(x, axis=None) >= 0 and xp.maximum.reduce(x, axis=None) <= 1
    ):
        raise RangeError("x has elements outside [0, 1]")
    with np.errstate(divide="ignore"):
        yes, no = xp.maximum(xp.log(x), -100), xp.maximum(xp.log1p(-x), -100)
    no *= label - 1
    yes *= label
    return xp.subtract(no, yes, out=out)


@bce_loss.lower
def bce_loss_at(index: Any, x: Any, label: Any) -> Any:
    chance, said = wide_at(x[index]), wide_at(label[index])
    chance = lang.sure(chance, (chance >= 0.0) & (chance <= 1.0))
    yes = lang.maximum(lang.log(chance), -100.0)
    no = lang.maximum(lang.log1p(-chance), -100.0)
    return lang.cast((said - 1.0) * no - said * yes, x.dtype)


@bce_loss.grad("x")
def bce_loss_grad(x: Any, label: Any, dout: Any) -> Any:
    return dout * (x - label) / maximum((1.0 - x) * x, 1e-12)


@composite(outputs=("loss",), slots={"target": "Target"}, prefix="kl_div")
def kldiv_loss(x, target, *, reduction: str = "mean"):
    """How much longer it is to say `target` with chances whose logarithms are `x`."""
    same_shape(x, target, "x", "target")
    held = target > 0
    found = where(held, target * (log(where(held, target, 1.0)) - x), 0.0)
    if reduction == "none":
        return found
    if reduction == "mean":
        return reduce_mean(found, axis=(), reduce_all=True)
    if reduction not in ("sum", "batchmean"):
        raise ArgumentError(f"reduction is {reduction!r}, not 'none', 'mean', 'sum' or 'batchmean'")
    total = reduce_sum(found, axis=(), reduce_all=True)
    return total / size_of(x, axis=(0,)) if reduction == "batchmean" else total


by_body(kldiv_loss)


@kldiv_loss.grad("x")
def kldiv_loss_grad(x_meta: Any, target: Any, dloss: Any, reduction: str) -> Any:
    if reduction == "mean":
        dloss = dloss / size_of(x_meta)
    elif reduction == "batchmean":
        dloss = dloss / size_of(x_meta, axis=(0,))
    return where(target > 0, target * -1.0 * dloss, 0.0)


@composite
def label_smooth(x, prior_dist=None, *, epsilon: float = 0.0):
    """Chances along the last axis, a part `epsilon` of each spread over all, or as `prior_dist`."""
    kept = x * (1.0 - epsilon)
    if prior_dist is None:
        return kept + epsilon / size_of(x, axis=(-1,))
    return kept + prior_dist * epsilon


by_body(label_smooth)


@label_smooth.grad("x")
def label_smooth_grad(dout: Any, epsilon: float) -> Any:
    return dout * (1.0 - epsilon)


@composite(outputs=("out", "total_weight"), slots={"total_weight": "Total_weight"})
def nll_loss(x, label, weight=None, *, ignore_index: Long = -100, reduction: str = "mean"):
    """Of `x` the number of the class that `label` names, with the sign changed, and all weights."""
    marks, weights = weighed(x, label, weight, ignore_index)
    total = reduce_sum(weights, axis=(), reduce_all=True)
    chosen = where(marks, x * weights, 0.0)
    if reduction == "none":
        return reduce_sum(chosen, axis=(1,)) * -1.0, total
    out = reduce_sum(chosen, axis=(), reduce_all=True) * -1.0
    return out if reduction == "sum" else guarded_ratio(out, total), total


def weighed(x: Any, label: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """Where the classes named are, and the weight of each place, 0 elsewhere."""
    if len(x.shape) < 2 or len(label.shape) != len(x.shape) - 1:
        raise ShapeError(f"x has {len(x.shape)} axes and label {len(label.shape)}, not one less")
    marks = is_label(unsqueeze(label, axes=(1,)), x, axis=1, ignore_index=ignore_index)
    weights = cast(marks, out_dtype=meta_of(x).dtype, in_dtype=bool_)
    if weight is not None:
        agree(count(weight.shape), x.shape[1], "weight has {} numbers and x has {} classes")
        weights = weights * reshape(weight, shape=(1, -1) + (1,) * (len(x.shape) - 2))
    return marks, weights


@nll_loss.kernel
@widening
def nll_loss_kernel(
    xp: Any,
    x: Any,
    label: Any,
    weight: Any = None,
    *,
    out: Any = None,
    ignore_index: int,
    reduction: str,
) -> Any:
    loss, total = out or (None, None)
    if len(x.shape) < 2 or label.shape != x.shape[:1] + x.shape[2:]:
        raise ShapeError(f"x is of shape {x.shape} and label of {label.shape}")
    if weight is not None and weight.size != x.shape[1]:
        raise ShapeError(f"weight has {weight.size} numbers and x has {x.shape[1]} classes")
    valid = valid_labels(xp, label, x.shape[1], ignore_index)
    counts = (label != ignore_index).astype(x.dtype)
    if weight is not None:
        counts *= weight.reshape(-1)[valid]
    chosen = with_axis_amid(x, 1)[places_of(xp, valid, x.shape, 1)].reshape(label.shape)
    total = xp.add.reduce(counts, axis=None, out=total)
    if reduction == "none":
        return xp.multiply(chosen, -counts, out=loss), total
    found = -xp.add.reduce(chosen * counts, axis=None)
    if reduction == "mean" and total != 0:
        found /= total
    return placed(xp.asarray(found), x.dtype, loss), total


@nll_loss.grad("x")
def nll_loss_grad(
    x: Any,
    label: Any,
    weight: Any,
    total_weight: Any,
    dout: Any,
    ignore_index: int,
    reduction: str,
    dtotal_weight: Any = None,
) -> Any:
    marks, weights = weighed(x, label, weight, ignore_index)
    if reduction == "none":
        dout = unsqueeze(dout, axes=(1,))
    elif reduction == "mean":
        dout = guarded_ratio(dout, total_weight)
    return where(marks, weights * dout * -1.0, 0.0)


@gradient(nll_loss).kernel("cpu")
@widening
def nll_loss_grad_cpu(
    xp: Any,
    x: Any,
    label: Any,
    weight: Any,
    total_weight: Any,
    dout: Any,
    dtotal_weight: Any = None,
    *,
    out: Any = None,
    ignore_index: int,
    reduction: str,
    **_: Any,
) -> Any:
    """The rule, written only where labels name a class."""
    valid = valid_labels(xp, label, x.shape[1], ignore_index)
    given = (label != ignore_index).astype(x.dtype)
    if weight is not None:
        given *= weight.reshape(-1)[valid]
    given *= -(guarded_ratio(dout, total_weight) if reduction == "mean" else dout)
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = 0
    places = places_of(xp, valid, x.shape, 1)
    with_axis_amid(out, 1)[places] = given.reshape(places[1].shape)
    return out


SUM, MEAN, NONE = range(3)  # the ways of `identity_loss`


@composite
def identity_loss(x, *, reduction: int = MEAN):
    """What a model calls its loss: `x`, its sum or its mean."""
    if reduction not in (SUM, MEAN, NONE):
        raise ArgumentError(f"reduction is {reduction}, not 0 (sum), 1 (mean) or 2 (none)")
    if reduction == NONE:
        return assign(x)
    return (reduce_sum if reduction == SUM else reduce_mean)(x, reduce_all=True)
