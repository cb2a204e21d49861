"""Cross entropy of labels."""

from typing import Any

from scull.core.meta import at_least, axis_of, floating
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.lookup import one_hot
from scull.nn.functional.reduction import average, check_reduction, total
from scull.ops import cross_entropy as entropy
from scull.ops import ranking
from scull.ops.compare import not_equal
from scull.ops.cross_entropy import beside, cast_to, guarded_ratio, number_counted
from scull.ops.elementwise import multiply
from scull.ops.index import gather_nd
from scull.ops.like import squeeze, unsqueeze
from scull.ops.linear import matmul
from scull.ops.loss import label_smooth
from scull.ops.move import reshape, transpose
from scull.tensor.size import integer, is_one_of, needs_tensor, number


def both_tensors(scores: Any, label: Any, function: str, name: str) -> None:
    """Refuse scores, called `name`, and labels that are no tensors."""
    needs_tensor(scores, function, name)
    needs_tensor(label, function, "label")


def lacks_axis(label: Any, scores: Any) -> bool:
    """Whether labels have an axis fewer than scores; if not they must have as many."""
    flat = len(scores.shape) - 1 == len(label.shape)
    if not flat and len(scores.shape) != len(label.shape):
        raise ShapeError(
            "Expected input_dims - 1 = label_dims or input_dims == label_dims "
            f"(got input_dims {len(scores.shape)}, label_dims {len(label.shape)})"
        )
    return flat


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """How many nats the softmax of `input` needs to say `label`.

    Args:
        input (Tensor): of floating-point numbers; scores of the classes along `axis`.
        label (Tensor): the numbers of classes, in the shape of `input` without `axis` or of size 1
            there; with `soft_label`, or where they are smoothed, also how likely each class is,
            in the shape of `input`.
        weight (Tensor, optional): the weight of each class.
        ignore_index (int): a label that counts for nothing.
        reduction (str): "mean" (weighted, over labels that count), "sum" or "none".
        soft_label (bool): whether `label` says how likely each class is.
        axis (int): the axis of the classes.
        use_softmax (bool): False when `input` is a softmax already.
        label_smoothing (float): how much of each label is spread over all classes.
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `label`.

    Examples:
        >>> import scull as paddle
        >>> scores, labels = paddle.zeros([2, 4]), paddle.to_tensor([0, 3])
        >>> round(paddle.nn.functional.cross_entropy(scores, labels).item(), 4)
        1.3863
    """
    both_tensors(input, label, "cross_entropy", "input")
    ignore_index = integer(ignore_index, "ignore_index")
    if not (soft_label or label_smoothing) and label.dtype.is_float:
        label = label.astype("int64")
    plain = use_softmax and weight is None and not (soft_label or label_smoothing)
    if plain and is_one_of(reduction, ("mean",)) and 0 <= input.ndim - label.ndim <= 1:
        counted = ignore_index >= 0 or isinstance(label, Tensor)
        return entropy.mean_cross_entropy(
            input, label, ignore_index=ignore_index, axis=axis, counted=counted
        )[1]
    check_reduction(reduction, "softmax_cross_entropy")
    if soft_label and ignore_index > 0:
        raise ArgumentError(
            "When soft_label == True, the value of 'ignore_index' in softmax_cross_entropy "
            f"should be '-100', but received {ignore_index}, which is not allowed."
        )
    flat = lacks_axis(label, input)
    floating(input.meta)
    label = beside(input, label, axis)
    if number(label_smoothing, "label_smoothing") > 0:
        label, soft_label = smoothed(input, label, label_smoothing, axis), True
    _, out = entropy.softmax_with_cross_entropy(
        input,
        label,
        soft_label=soft_label,
        use_softmax=use_softmax,
        ignore_index=ignore_index,
        axis=axis,
    )
    weights = None
    if weight is not None:
        weights = class_weights(input, label, weight, soft_label, ignore_index, axis, out)
        out = multiply(cast_to(out, weights) if soft_label else out, weights)
    if reduction == "sum":
        return total(out)
    if reduction == "mean":
        return mean_of_counted(out, label, weights, ignore_index, soft_label)
    return squeeze(out, axes=(axis,)) if flat else out


def smoothed(input: Any, label: Any, epsilon: float, axis: int) -> Any:
    """Labels as likelihoods of all classes, a part of each spread evenly."""
    if epsilon > 1:
        raise ArgumentError(f"label_smoothing is {epsilon}, above 1")
    if label.dtype.is_integer:
        if axis_of(axis, len(input.shape)) != len(input.shape) - 1:
            raise ArgumentError("labels are smoothed along the last axis only")
        label = one_hot(squeeze(label, axes=(axis,)), input.shape[-1])
    return cast_to(label_smooth(label, epsilon=epsilon), input)


def class_weights(
    input: Any, label: Any, weight: Any, soft_label: bool, ignore_index: int, axis: int, out: Any
) -> Any:
    """The weight of every element of the loss `out`."""
    needs_tensor(weight, "cross_entropy", "weight")
    at_least(1, weight.meta)
    if input.shape[axis] != weight.shape[-1]:
        raise ShapeError(
            f"input's class_dimension({input.shape[axis]}) must equal to weight's "
            f"class_dimension({weight.shape[-1]}) when weight is provided"
        )
    if soft_label:
        found = matmul(cast_to(label, weight), weight, transpose_y=True)
        return reshape(found, shape=out.shape)
    valid = multiply(cast_to(not_equal(label, ignore_index), label), label)
    counts = squeeze(cast_to(not_equal(label, ignore_index), out), axes=(axis,))
    last = len(label.shape) - 1
    place = axis_of(axis, last + 1)
    if place != last:
        order = [i for i in range(last + 1) if i != place] + [place]
        valid = transpose(valid, perm=order)
    return reshape(multiply(gather_nd(weight, valid), counts), shape=label.shape)


def mean_of_counted(out: Any, label: Any, weights: Any, ignore_index: int, soft_label: bool) -> Any:
    """The sum of `out` over the sum of the weights of labels that count."""
    if weights is not None:
        return guarded_ratio(total(out), total(weights))
    if soft_label or not some_ignored(label, ignore_index):
        return average(out)
    summed = total(out)
    return guarded_ratio(summed, number_counted(label, ignore_index, summed))


def some_ignored(label: Any, ignore_index: int) -> bool:
    """Whether labels may be ignored: a Tensor shows it; in a Program only those from 0 on may."""
    if isinstance(label, Tensor):
        return bool((label.array == ignore_index).any())
    return ignore_index >= 0


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """How many nats the softmax of `logits` needs to say each label.

    Args:
        logits (Tensor): of floating-point numbers; scores of the classes along `axis`.
        label (Tensor): the numbers of classes, of size 1 along `axis`; with `soft_label` how likely
            each class is.
        soft_label (bool): whether `label` says how likely each class is.
        ignore_index (int): a label that counts for nothing.
        numeric_stable_mode (bool): not used: it is stable always.
        return_softmax (bool): also the softmax.
        axis (int): the axis of the classes.

    Returns:
        Tensor | tuple[Tensor, Tensor]: the losses, of size 1 along `axis`; and the softmax.

    Examples:
        >>> import scull as paddle
        >>> scores, labels = paddle.zeros([1, 1]), paddle.to_tensor([[0]])
        >>> paddle.nn.functional.softmax_with_cross_entropy(scores, labels).tolist()
        [[0.0]]
    """
    both_tensors(logits, label, "softmax_with_cross_entropy", "logits")
    if len(logits.shape) - 1 == len(label.shape):
        label = unsqueeze(label, axes=(axis,))
    softmax, out = entropy.softmax_with_cross_entropy(
        logits,
        label,
        soft_label=soft_label,
        ignore_index=ignore_index,
        numeric_stable_mode=numeric_stable_mode,
        axis=axis,
    )
    return (out, softmax) if return_softmax else out


def margin_cross_entropy(
    logits: Any,
    label: Any,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of cosines, where that of the label is made harder by margins.

    The cosine of its angle becomes ``cos(margin1 * angle + margin2) - margin3``; then all are
    multiplied by `scale`.

    Args:
        logits (Tensor): floats [batch, classes]: cosines, between -1 and 1.
        label (Tensor): int32 or int64 [batch] or [batch, 1].
        margin1 (float): what the angle is multiplied by.
        margin2 (float): what is added to the angle.
        margin3 (float): what is taken from the cosine.
        scale (float): what all cosines are multiplied by.
        group (Group, optional): None or False: one process holds all classes.
        return_softmax (bool): whether to return the softmax too.
        reduction (str, optional): "mean", "sum", or None or "none".

    Returns:
        Tensor | tuple[Tensor, Tensor]: the loss, 0-D or [batch, 1], and the softmax.

    Raises:
        ArgumentError: `reduction` is unknown, or `group` is one of processes.
        ShapeError: `logits` is no matrix, or `label` does not go with it.

    Examples:
        >>> import scull as paddle
        >>> cosines, labels = paddle.zeros([2, 4]), paddle.to_tensor([0, 3])
        >>> loss = paddle.nn.functional.margin_cross_entropy(cosines, labels, margin2=0.0)
        >>> round(loss.item(), 4)
        1.3863
    """
    both_tensors(logits, label, "margin_cross_entropy", "logits")
    if reduction is not None:
        check_reduction(reduction, "margin_cross_entropy")
    if group is not None and group is not False:
        raise ArgumentError("`group` names processes; one holds all classes here")
    margins = {"margin1": margin1, "margin2": margin2, "margin3": margin3, "scale": scale}
    softmax, loss = ranking.margin_cross_entropy(
        logits, label, return_softmax=return_softmax, **margins
    )
    found = {"mean": average, "sum": total}.get(reduction or "none", lambda x: x)(loss)
    return (found, softmax) if return_softmax else found
