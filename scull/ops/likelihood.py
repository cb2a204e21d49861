"""Losses of chances that are known already, and of scores by pairs."""

from typing import Any

from scull.core.eager import composite
from scull.core.op import BY_TYPE
from scull.errors import ShapeError
from scull.ops.compare import where
from scull.ops.cross_entropy import beside, check_label, is_label, valid_labels
from scull.ops.elementwise import maximum
from scull.ops.half import by_body, widening
from scull.ops.like import full_like, size_of, squeeze, unsqueeze
from scull.ops.loss import same_shape
from scull.ops.math import exp, log, relu, sigmoid
from scull.ops.reduce import reduce_sum
from scull.ops.slicing import slice

FLOOR = -1e20  # stands in for the logarithm of 0


def of_class(x: Any, label: Any, values: Any, ignore_index: int) -> Any:
    """`values` where the label is, and 0 elsewhere."""
    return where(is_label(label, x, axis=-1, ignore_index=ignore_index), values, 0.0)


def like_label(found: Any, x: Any, label: Any) -> Any:
    """A column of results without its axis of size 1 where labels have none."""
    return squeeze(found, axes=(-1,)) if len(label.shape) < len(x.shape) else found


@composite(outputs=("y",))
def cross_entropy(x, label, *, soft_label: bool = False, ignore_index: int = -100):
    """How many nats the chances `x` need to say `label`."""
    column = label if soft_label else beside(x, label, -1)
    check_label(x, column, -1, soft_label)
    logs = maximum(log(x), full_like(x, value=FLOOR))
    chosen = logs * label if soft_label else of_class(x, column, logs, ignore_index)
    return like_label(reduce_sum(chosen, axis=(-1,), keepdim=True) * -1.0, x, label)


@cross_entropy.kernel
@widening
def cross_entropy_kernel(
    xp: Any, x: Any, label: Any, *, out: Any = None, soft_label: bool, ignore_index: int
) -> Any:
    column = label if soft_label or label.ndim == x.ndim else label[..., None]
    check_label(x, column, -1, soft_label)
    if soft_label:
        logs = xp.maximum(xp.log(x), FLOOR)
        logs *= label
        return xp.negative(xp.add.reduce(logs, axis=-1, keepdims=True), out=out)
    matched, ignored = matching(xp, x, column, ignore_index)
    found = -xp.maximum(xp.log(matched), FLOOR)
    found[ignored] = 0
    return in_place_of(found.reshape(label.shape), out)


def matching(xp: Any, x: Any, column: Any, ignore_index: int) -> tuple[Any, Any]:
    """The chances of the labels, and which of these are ignored."""
    valid = valid_labels(xp, column, x.shape[-1], ignore_index)
    return xp.take_along_axis(x, valid, -1), column == ignore_index


def in_place_of(found: Any, out: Any) -> Any:
    """`found`, in `out` if there is one."""
    if out is None:
        return found
    out[...] = found
    return out


@cross_entropy.grad("x")
def cross_entropy_grad(x: Any, label: Any, dy: Any, soft_label: bool, ignore_index: int) -> Any:
    if soft_label:
        return dy / x * label * -1.0
    column, dy = beside(x, label, -1), beside(x, dy, -1)
    return of_class(x, column, dy / x * -1.0, ignore_index)


@composite(
    outputs=("y", "x_shape", "match_x"), slots={"x_shape": "XShape"}, hidden=("x_shape", "match_x")
)
def cross_entropy2(x, label, *, ignore_index: int = -100):
    """How many nats the chances `x` need to say `label`; the shape of `x`; the labels' chances."""
    column = beside(x, label, -1)
    y = cross_entropy(x, label, ignore_index=ignore_index)
    matched = reduce_sum(of_class(x, column, x, ignore_index), axis=(-1,), keepdim=True)
    record = slice(unsqueeze(x, axes=(-1,)), axes=(-1,), starts=(0,), ends=(0,))
    return y, record, matched


@cross_entropy2.kernel
@widening
def cross_entropy2_kernel(
    xp: Any, x: Any, label: Any, *, out: Any = None, ignore_index: int
) -> Any:
    y = cross_entropy_kernel(
        xp, x, label, out=out and out[0], soft_label=False, ignore_index=ignore_index
    )
    column = label[..., None] if label.ndim < x.ndim else label
    matched, ignored = matching(xp, x, column, ignore_index)
    matched[ignored] = 0
    return y, xp.empty((*x.shape, 0), x.dtype), in_place_of(matched, out and out[2])


@cross_entropy2.grad("x")
def cross_entropy2_grad(
    label: Any, x_shape: Any, match_x: Any, dy: Any, ignore_index: int, dmatch_x: Any = None
) -> Any:
    """Of the hidden chances too: the gradient of this rule by itself may ask for it."""
    like = reduce_sum(x_shape, axis=(-1,))
    share = beside(like, dy, -1) / match_x * -1.0
    if dmatch_x is not None:
        share = share + dmatch_x
    return of_class(like, beside(like, label, -1), share, ignore_index)


irregular = cross_entropy2.op.gradient
irregular.type = "cross_entropy_grad2"
BY_TYPE[irregular.type] = BY_TYPE.pop("cross_entropy2_grad")


@composite(outputs=("y",))
def bpr_loss(x, label):
    """How many nats it needs to say that a label's score is above another's, on average."""
    if len(label.shape) != len(x.shape):
        raise ShapeError(f"label has {len(label.shape)} axes and x {len(x.shape)}")
    marks = is_label(label, x, axis=-1)
    ahead = x - reduce_sum(where(marks, x, 0.0), axis=(-1,), keepdim=True)
    nats = where(marks, 0.0, relu(ahead) + log(1.0 + exp(-maximum(ahead, -ahead))))
    total = reduce_sum(nats, axis=(-1,), keepdim=True)
    return total / (size_of(x, axis=(len(x.shape) - 1,)) - 1.0)


by_body(bpr_loss)


@bpr_loss.grad("x")
def bpr_loss_grad(x: Any, label: Any, dy: Any) -> Any:
    marks = is_label(label, x, axis=-1)
    ahead = x - reduce_sum(where(marks, x, 0.0), axis=(-1,), keepdim=True)
    share = dy / (size_of(x, axis=(len(x.shape) - 1,)) - 1.0)
    others = where(marks, 0.0, sigmoid(ahead) * share)
    return where(marks, reduce_sum(others, axis=(-1,), keepdim=True) * -1.0, others)


def column(x: Any, name: str) -> None:
    """Refuse what is no matrix of one column."""
    if len(x.shape) != 2 or x.shape[1] not in (1, -1):
        raise ShapeError(f"{name} is of shape {list(map(int, x.shape))}, not one number a row")


@composite(outputs=("loss",))
def log_loss(predicted, labels, *, epsilon: float):
    """How many nats the chance `predicted` needs to say `labels`, each at least `epsilon`."""
    column(predicted, "predicted")
    same_shape(predicted, labels, "predicted", "labels")
    yes, no = log(predicted + epsilon), log(1.0 - predicted + epsilon)
    return (labels - 1.0) * no - labels * yes


by_body(log_loss)


@log_loss.grad("predicted")
def log_loss_grad(predicted: Any, labels: Any, dloss: Any, epsilon: float) -> Any:
    yes, no = predicted + epsilon, 1.0 - predicted + epsilon
    return dloss * ((1.0 - labels) / no - labels / yes)
