"""Cross entropy of labels: the number of a class, or how likely each class is."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from scull import lang
from scull.core.dtype import bool_, float32, int64
from scull.core.eager import composite, gradient, primitive
from scull.core.meta import Meta, agree, axis_of
from scull.core.op import meta_of
from scull.core.tensor import Value
from scull.errors import DtypeError, RangeError, ShapeError, UnsupportedError
from scull.lang.dtype import HALF, element
from scull.ops.compare import equal, not_equal, where
from scull.ops.create import cast
from scull.ops.half import is_half, placed, widening
from scull.ops.like import size_of, unsqueeze
from scull.ops.math import exp, log
from scull.ops.reduce import reduce_max, reduce_mean, reduce_sum
from scull.ops.softmax import shifted_down


def check_label(logits: Any, label: Any, axis: int, soft_label: bool) -> None:
    """Refuse labels that do not go with `logits`.

    What a Program declares as numbers may be fed classes: it is told when it is computed.
    """
    place = axis_of(axis, len(logits.shape))
    if len(label.shape) != len(logits.shape):
        raise ShapeError(f"label has {len(label.shape)} axes and logits {len(logits.shape)}")
    for i, (n, m) in enumerate(zip(label.shape, logits.shape, strict=True)):
        hard = i == place and not soft_label
        agree(n, 1 if hard else m, f"label has {{}} elements along axis {i}, {{}} are needed")
    dtype = meta_of(label).dtype
    declared = isinstance(label, Meta | Value)
    if dtype.is_integer is soft_label and (soft_label or not declared):
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
    if element(label.dtype).kind != "integer":
        raise UnsupportedError(f"labels that are {label.dtype} are no classes")
    own, place = lang.cast(lang.at(label, index), "int64"), index[axis_of(axis, len(index))]
    counts = lang.not_equal(own, ignore_index)
    return counts & lang.equal(lang.within(lang.select(counts, own, 0), place.size), place)


def places_of(xp: Any, label: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """Where the elements that labels name lie in an array of `shape`, with `axis` in the middle."""
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    return xp.arange(before)[:, None], label.reshape(before, after), xp.arange(after)


def with_axis_amid(x: Any, axis: int) -> Any:
    """`x` with the axes before `axis` made one, and those after it."""
    return x.reshape(math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))


def valid_labels(xp: Any, label: Any, size: int, ignore_index: int) -> Any:
    """`label` with 0 in place of what is to be ignored; raises for what is outside [0, size)."""
    if label.dtype.kind not in "iu":
        raise DtypeError(f"label is {label.dtype}, not of integers")
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


# The mean over labels.


@composite(inline=True, outputs=("softmax", "out"), prefix="")
def mean_cross_entropy(
    logits, label, *, ignore_index: int = -100, axis: int = -1, counted: bool = True
):
    """The softmax of `logits`, and how many nats it needs to say a label, on average.

    Labels equal to `ignore_index` are left out of the mean if `counted`.
    """
    label = beside(logits, label, axis)
    softmax, out = softmax_with_cross_entropy(logits, label, ignore_index=ignore_index, axis=axis)
    if not counted:
        return softmax, reduce_mean(out, axis=(), reduce_all=True)
    wide = float32 if meta_of(out).dtype.name in HALF else None
    total = reduce_sum(out, axis=(), out_dtype=wide)
    mean = guarded_ratio(total, number_counted(label, ignore_index, total))
    return softmax, mean if wide is None else cast_to(mean, out)


def beside(logits: Any, label: Any, axis: int) -> Any:
    """`label` with an axis of size 1 where the classes of `logits` are."""
    return unsqueeze(label, axes=(axis,)) if len(label.shape) < len(logits.shape) else label


def number_counted(label: Any, ignore_index: int, like: Any) -> Any:
    """How many labels are not `ignore_index`, in the element type of `like`."""
    return reduce_sum(cast_to(not_equal(label, ignore_index), like), axis=())


def cast_to(x: Any, other: Any) -> Any:
    """`x` in the element type of `other`."""
    return cast(x, out_dtype=meta_of(other).dtype, in_dtype=meta_of(x).dtype)


def guarded_ratio(a: Any, b: Any) -> Any:
    """`a / b`, and 0 for 0 / 0."""
    return a / (b + cast_to(equal(b, 0.0), b))


@lru_cache(64)
def rows_of(count: int) -> Any:
    """The numbers of rows."""
    return np.arange(count)


def is_plain(logits: Any, label: Any, axis: int, ignore_index: int) -> bool:
    """Whether there is a label a row, one of a class, and none can be ignored but by its sign."""
    return (
        logits.ndim == 2
        and axis in (-1, 1)
        and label.dtype.kind == "i"
        and label.shape in ((len(logits),), (len(logits), 1))
        and len(logits) > 0
        and ignore_index < 0
        and np.minimum.reduce(label, axis=None) >= 0
    )


@mean_cross_entropy.kernel
def mean_cross_entropy_kernel(
    xp: Any,
    logits: Any,
    label: Any,
    *,
    out: Any = None,
    ignore_index: int,
    axis: int,
    counted: bool,
) -> Any:
    softmax, mean = out or (None, None)
    if is_half(logits):  # each part rounds
        attrs = {"ignore_index": ignore_index, "axis": axis, "counted": counted}
        found = mean_cross_entropy.op.body(logits, label, **attrs)
        return placed(found[0], logits.dtype, softmax), placed(found[1], logits.dtype, mean)
    if is_plain(logits, label, axis, ignore_index):
        shifted = logits - xp.maximum.reduce(logits, axis=1, keepdims=True)
        softmax = xp.exp(shifted, softmax)
        totals = xp.add.reduce(softmax, axis=1, keepdims=True)
        softmax /= totals
        try:
            chosen = shifted[rows_of(len(logits)), label.reshape(-1)]
        except IndexError:
            valid_labels(xp, label, logits.shape[1], ignore_index)
            raise
        losses = xp.log(totals, totals).reshape(-1)
        losses -= chosen
        return softmax, xp.divide(xp.add.reduce(losses), logits.dtype.type(len(logits)), out=mean)
    column = xp.expand_dims(label, axis) if label.ndim < logits.ndim else label
    attrs = {**ENTROPY, "ignore_index": ignore_index, "axis": axis}
    softmax, losses = softmax_with_cross_entropy.op.cpu(
        logits, column, out=(softmax, None), **attrs
    )
    count = xp.count_nonzero(column != ignore_index) or 1 if counted else column.size
    total = xp.add.reduce(losses, axis=None)
    return softmax, xp.divide(total, logits.dtype.type(count), out=mean)


ENTROPY = dict(softmax_with_cross_entropy.op.attrs)


@mean_cross_entropy.grad("logits")
def mean_cross_entropy_grad(
    label: Any,
    softmax: Any,
    dout: Any,
    ignore_index: int,
    axis: int,
    counted: bool,
    dsoftmax: Any = None,
) -> Any:
    label = beside(softmax, label, axis)
    if counted:
        share = guarded_ratio(dout, number_counted(label, ignore_index, dout))
    else:
        share = dout / size_of(label, axis=tuple(range(len(label.shape))))
    return cross_entropy_grad(label, softmax, share, False, True, ignore_index, axis, dsoftmax)


@gradient(mean_cross_entropy).kernel("cpu")
def mean_cross_entropy_grad_cpu(
    xp: Any,
    label: Any,
    softmax: Any,
    dsoftmax: Any,
    dout: Any,
    *,
    out: Any = None,
    ignore_index: int,
    axis: int,
    counted: bool,
    **_: Any,
) -> Any:
    """The rule, in fewer steps for labels none of which is ignored."""
    if dsoftmax is not None or is_half(softmax):
        found = mean_cross_entropy_grad(label, softmax, dout, ignore_index, axis, counted, dsoftmax)
        return placed(found, softmax.dtype, out)
    if not is_plain(softmax, label, axis, ignore_index):
        column = xp.expand_dims(label, axis) if label.ndim < softmax.ndim else label
        count = xp.count_nonzero(column != ignore_index) or 1 if counted else column.size
        share = xp.broadcast_to(dout / dout.dtype.type(count), column.shape)
        attrs = {**ENTROPY, "ignore_index": ignore_index, "axis": axis}
        return cross_entropy_grad_cpu(xp, column, softmax, None, share, out=out, **attrs)
    share = dout / dout.dtype.type(len(softmax))
    dx = xp.multiply(softmax, share, out=out)
    dx[rows_of(len(softmax)), label.reshape(-1)] -= share
    return dx
