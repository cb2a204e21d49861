"""Losses."""

import math
from typing import Any

from scull import lang
from scull.core.dtype import bool_, int64
from scull.core.eager import composite, gradient, primitive
from scull.core.meta import Meta, agree, axis_of
from scull.core.op import meta_of
from scull.errors import DtypeError, RangeError, ShapeError
from scull.ops.compare import not_equal, where
from scull.ops.create import cast
from scull.ops.elementwise import maximum
from scull.ops.half import is_half, widening
from scull.ops.math import exp, log, relu, sigmoid
from scull.ops.reduce import reduce_max, reduce_sum
from scull.ops.softmax import shifted_down

# Labels: the number of a class, or how likely each class is.


def check_label(logits: Any, label: Any, axis: int, soft_label: bool) -> None:
    """Refuse labels that do not go with `logits`."""
    place = axis_of(axis, len(logits.shape))
    if len(label.shape) != len(logits.shape):
        raise ShapeError(f"label has {len(label.shape)} axes and logits {len(logits.shape)}")
    for i, (n, m) in enumerate(zip(label.shape, logits.shape, strict=True)):
        hard = i == place and not soft_label
        agree(n, 1 if hard else m, f"label has {{}} elements along axis {i}, {{}} are needed")
    dtype = meta_of(label).dtype
    if dtype.is_integer is soft_label:
        needed = "floating-point numbers" if soft_label else "integers"
        raise DtypeError(f"label is {dtype.name}, not of {needed}")


@primitive
def is_label(label: Meta, like_meta: Meta, *, axis: int = -1, ignore_index: int = -100) -> Meta:
    """Whether the place of an element along `axis` is its label, and not `ignore_index`."""
    check_label(like_meta, label, axis, False)
    return Meta(like_meta.shape, bool_)


@is_label.kernel
def is_label_kernel(
    xp: Any, label: Any, like: Any, *, out: Any = None, axis: int, ignore_index: int
) -> Any:
    check_label(like, label, axis, False)
    axis = axis_of(axis, like.ndim)
    size = like.shape[axis]
    places = xp.arange(size).reshape([size if i == axis else 1 for i in range(like.ndim)])
    found = xp.equal(places, label, out=out)
    if 0 <= ignore_index < size:
        found &= label != ignore_index
    return found


is_label.no_grad("it compares integers")


@is_label.lower
def is_label_at(index: Any, label: Any, like: Any, axis: int, ignore_index: int) -> Any:
    own = lang.cast(lang.at(label, index), "int64")
    here = lang.equal(own, index[axis_of(axis, len(index))])
    return here & lang.not_equal(own, ignore_index)


def places_of(xp: Any, label: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """Where the elements that labels name lie in an array of `shape`, with `axis` in the middle."""
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    return xp.arange(before)[:, None], label.reshape(before, after), xp.arange(after)


def with_axis_amid(x: Any, axis: int) -> Any:
    """`x` with the axes before `axis` made one, and those after it."""
    return x.reshape(math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))


def valid_labels(xp: Any, label: Any, size: int, ignore_index: int) -> Any:
    """`label` with 0 in place of what is to be ignored; raises for what is outside [0, size)."""
    wrong = label.view(f"u{label.dtype.itemsize}") >= size
    if not xp.count_nonzero(wrong):
        return label
    named = label[wrong & (label != ignore_index)]
    if named.size:
        law = f"label {named[0]} is outside [0, {size}) and not ignore_index, {ignore_index}"
        raise RangeError(law)
    return xp.where(wrong, 0, label)


@composite(outputs=("softmax", "loss"))
def softmax_with_cross_entropy(
    logits,
    label,
    *,
    soft_label: bool = False,
    use_softmax: bool = True,
    numeric_stable_mode: bool = True,
    ignore_index: int = -100,
    axis: int = -1,
):
    """The softmax of `logits`, and how many nats it needs to say `label`."""
    check_label(logits, label, axis, soft_label)
    if use_softmax:
        shifted = logits - reduce_max(logits, axis=(axis,), keepdim=True)
        logs = shifted - log(reduce_sum(exp(shifted), axis=(axis,), keepdim=True))
        softmax = exp(logs)
    else:
        softmax, logs = logits * 1.0, log(logits)
    if soft_label:
        chosen = logs * label
    else:
        chosen = where(is_label(label, logits, axis=axis, ignore_index=ignore_index), logs, 0.0)
    return softmax, -reduce_sum(chosen, axis=(axis,), keepdim=True)


@softmax_with_cross_entropy.kernel
@widening
def cross_entropy_kernel(
    xp: Any,
    logits: Any,
    label: Any,
    *,
    out: Any = None,
    soft_label: bool,
    use_softmax: bool,
    ignore_index: int,
    axis: int,
    **_: Any,
) -> Any:
    softmax, loss = out or (None, None)
    axis = axis_of(axis, logits.ndim)
    column = (*logits.shape[:axis], 1, *logits.shape[axis + 1 :])
    if soft_label or label.shape != column or label.dtype.kind != "i":
        check_label(logits, label, axis, soft_label)
    if use_softmax:
        _, logs = shifted_down(xp, logits, axis, None)
        softmax = xp.exp(logs, out=softmax)
        total = xp.add.reduce(softmax, axis=axis, keepdims=True)
        softmax /= total
        total = xp.log(total, out=total)
    else:
        softmax = xp.multiply(logits, 1, out=softmax)
        logs, total = xp.log(logits), 0
    if soft_label:
        logs -= total
        logs *= label
        return softmax, xp.negative(xp.add.reduce(logs, axis=axis, keepdims=True), out=loss)
    size = logits.shape[axis]
    valid = valid_labels(xp, label, size, ignore_index)
    chosen = with_axis_amid(logs, axis)[places_of(xp, valid, logits.shape, axis)]
    loss = xp.subtract(total, chosen.reshape(label.shape), out=loss)
    if valid is not label or 0 <= ignore_index < size:
        loss[label == ignore_index] = 0
    return softmax, loss


@softmax_with_cross_entropy.grad("logits")
def cross_entropy_grad(
    label: Any,
    softmax: Any,
    dloss: Any,
    soft_label: bool,
    use_softmax: bool,
    ignore_index: int,
    axis: int,
    dsoftmax: Any = None,
) -> Any:
    """Of the softmax too, since the rule itself names it. Soft labels are taken to add up to 1."""
    marks = None if soft_label else is_label(label, softmax, axis=axis, ignore_index=ignore_index)
    if not use_softmax:
        inverse = dloss / softmax * -1.0
        dx = inverse * label if soft_label else where(marks, inverse, 0.0)
        return dx if dsoftmax is None else dx + dsoftmax
    if soft_label:
        dx = (softmax - label) * dloss
    else:
        counts = not_equal(cast(label, out_dtype=int64), ignore_index)
        dx = where(marks, softmax - 1.0, softmax) * where(counts, dloss, 0.0)
    if dsoftmax is not None:
        dx = dx + softmax * (dsoftmax - reduce_sum(dsoftmax * softmax, axis=(axis,), keepdim=True))
    return dx


@gradient(softmax_with_cross_entropy).kernel("cpu")
def cross_entropy_grad_cpu(
    xp: Any,
    label: Any,
    softmax: Any,
    dsoftmax: Any,
    dloss: Any,
    *,
    out: Any = None,
    soft_label: bool,
    use_softmax: bool,
    ignore_index: int,
    axis: int,
    **_: Any,
) -> Any:
    """The rule, in fewer steps for numbers of classes."""
    if soft_label or not use_softmax or dsoftmax is not None or is_half(softmax):
        found = cross_entropy_grad(
            label, softmax, dloss, soft_label, use_softmax, ignore_index, axis, dsoftmax
        )
        return placed(found, softmax.dtype, out)
    axis, ignored = axis_of(axis, softmax.ndim), label == ignore_index
    if xp.count_nonzero(ignored):
        label, dloss = xp.where(ignored, 0, label), xp.where(ignored, dloss.dtype.type(0), dloss)
    out = xp.empty(softmax.shape, softmax.dtype) if out is None else out
    dx = with_axis_amid(xp.multiply(softmax, dloss, out=out), axis)
    places = places_of(xp, label, softmax.shape, axis)
    dx[places] -= dloss.reshape(places[1].shape)
    return out


def placed(found: Any, dtype: Any, out: Any) -> Any:
    """`found` as elements of `dtype`, in `out` where that is given."""
    if out is None:
        return found if found.dtype == dtype else found.astype(dtype)
    out[...] = found
    return out


# Losses of each element by itself.


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
