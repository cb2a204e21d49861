"""Losses."""

import math
from typing import Any

from scull.core.meta import axis_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.embedding import one_hot
from scull.ops import affine, loss
from scull.ops import cross_entropy as entropy
from scull.ops.compare import not_equal, where
from scull.ops.create import scale
from scull.ops.cross_entropy import beside, cast_to, guarded_ratio, number_counted
from scull.ops.elementwise import add, divide, maximum, multiply, subtract
from scull.ops.index import gather_nd
from scull.ops.like import squeeze, unsqueeze
from scull.ops.linear import matmul
from scull.ops.math import log, square
from scull.ops.move import reshape, transpose
from scull.ops.reduce import reduce_mean, reduce_sum
from scull.tensor.function import abs as absolute

REDUCTIONS = ("sum", "mean", "none")


def check_reduction(reduction: str, where: str) -> None:
    """Refuse a reduction nobody knows."""
    if reduction not in REDUCTIONS:
        raise ArgumentError(
            f"The value of 'reduction' in {where} should be 'sum', 'mean' or 'none', "
            f"but received {reduction}, which is not allowed."
        )


def total(x: Any) -> Any:
    """The sum of all elements."""
    return reduce_sum(x, axis=())


def average(x: Any) -> Any:
    """The mean of all elements."""
    return reduce_mean(x, axis=(), reduce_all=True)


def combined(x: Any, reduction: str) -> Any:
    """The losses of all elements as `reduction` says."""
    if reduction == "mean":
        return average(x)
    return total(x) if reduction == "sum" else x


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
            there; with `soft_label` how likely each class is, in the shape of `input`.
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
    plain = use_softmax and weight is None and not (soft_label or label_smoothing)
    if plain and reduction == "mean" and 0 <= input.ndim - label.ndim <= 1:
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
    flat = len(input.shape) - 1 == len(label.shape)
    if not flat and len(input.shape) != len(label.shape):
        raise ShapeError(
            "Expected input_dims - 1 = label_dims or input_dims == label_dims "
            f"(got input_dims {len(input.shape)}, label_dims {len(label.shape)})"
        )
    label = beside(input, label, axis)
    if label_smoothing > 0:
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
    if label.dtype.is_integer:
        if axis_of(axis, len(input.shape)) != len(input.shape) - 1:
            raise ArgumentError("labels are smoothed along the last axis only")
        label = one_hot(squeeze(label, axes=(axis,)), input.shape[-1])
    return cast_to(label_smooth(label, epsilon=epsilon), input)


def class_weights(
    input: Any, label: Any, weight: Any, soft_label: bool, ignore_index: int, axis: int, out: Any
) -> Any:
    """The weight of every element of the loss `out`."""
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


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The square of ``input - label``.

    Args:
        input (Tensor): of floating-point numbers.
        label (Tensor): of the same shape.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.mse_loss(x, y).item()
        2.0
    """
    if reduction not in REDUCTIONS:
        raise ArgumentError(
            "'reduction' in 'mse_loss' should be 'sum', 'mean' or 'none', "
            f"but received {reduction}."
        )
    return combined(square(subtract(input, label)), reduction)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The distance of `input` from `label`.

    Args:
        input (Tensor): of floating-point numbers.
        label (Tensor): of the same shape.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.l1_loss(x, y).item()
        1.0
    """
    check_reduction(reduction, "L1Loss")
    return combined(absolute(subtract(input, label)), reduction)


def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Any:
    """Half the square of ``input - label`` up to `delta`, then on in a straight line.

    Args:
        input (Tensor): of floating-point numbers.
        label (Tensor): of the same shape.
        reduction (str): "mean", "sum" or "none".
        delta (float): where the straight line begins.
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([2.0, 4.0])
        >>> paddle.nn.functional.smooth_l1_loss(x, y, "none").tolist()
        [0.5, 3.5]
    """
    check_reduction(reduction, "smooth_l1_loss")
    _, out = loss.huber_loss(input, label, delta=delta)
    return combined(out, reduction)


def square_error_cost(input: Any, label: Any) -> Any:
    """The square of ``input - label``, element by element.

    Args:
        input (Tensor): of floating-point numbers.
        label (Tensor): of the same shape.

    Returns:
        Tensor: of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.square_error_cost(x, y).tolist()
        [0.0, 4.0]
    """
    return affine.square_error_cost(input, label)


def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """How many nats the chance ``sigmoid(logit)`` needs to say `label`.

    Args:
        logit (Tensor): of floating-point numbers.
        label (Tensor): chances, of the same shape.
        weight (Tensor, optional): the weight of each element.
        reduction (str): "mean", "sum" or "none".
        pos_weight (Tensor, optional): the weight of a label of 1 in each class.
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `logit`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([2]), paddle.to_tensor([0.0, 1.0])
        >>> round(paddle.nn.functional.binary_cross_entropy_with_logits(x, y).item(), 4)
        0.6931
    """
    check_reduction(reduction, "binary_cross_entropy_with_logits")
    if pos_weight is not None:
        pos_weight = add(multiply(label, subtract(pos_weight, 1.0)), 1.0)
    out = loss.sigmoid_cross_entropy_with_logits(logit, label, pos_weight)
    return combined(out if weight is None else multiply(out, weight), reduction)


def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """How many nats the chance `input` needs to say `label`, 100 at most.

    Args:
        input (Tensor): chances.
        label (Tensor): chances, of the same shape.
        weight (Tensor, optional): the weight of each element.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([0.0, 1.0])
        >>> round(paddle.nn.functional.binary_cross_entropy(x, y).item(), 4)
        0.6931
    """
    check_reduction(reduction, "binary_cross_entropy")
    yes, no = log(maximum(input, LEAST)), log(maximum(1.0 - input, LEAST))
    out = (label * yes + (1.0 - label) * no) * -1.0
    return combined(out if weight is None else multiply(out, weight), reduction)


LEAST = math.exp(-100)  # the chance that needs 100 nats


def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Of `input` the number of the class that `label` names, with the sign changed.

    Args:
        input (Tensor): logarithms of chances; the classes are axis 1.
        label (Tensor): the numbers of classes, in the shape of `input` without axis 1.
        weight (Tensor, optional): the weight of each class.
        ignore_index (int): a label that counts for nothing.
        reduction (str): "mean" (weighted), "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `label`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[-1.0, -2.0], [-3.0, -4.0]])
        >>> paddle.nn.functional.nll_loss(x, paddle.to_tensor([0, 1])).item()
        2.5
    """
    check_reduction(reduction, "nll_loss")
    if len(input.shape) < 2 or len(label.shape) != len(input.shape) - 1:
        raise ShapeError(f"input has {len(input.shape)} axes and label {len(label.shape)}")
    marks = entropy.is_label(unsqueeze(label, axes=(1,)), input, axis=1, ignore_index=ignore_index)
    weights = cast_to(marks, input)
    if weight is not None:
        row = reshape(weight, shape=[1, -1] + [1] * (len(input.shape) - 2))
        weights = multiply(weights, row)
    chosen = where(marks, multiply(input, weights), 0.0)
    if reduction == "none":
        return reduce_sum(chosen, axis=(1,)) * -1.0
    summed = total(chosen) * -1.0
    return summed if reduction == "sum" else divide(summed, total(weights))


def kl_div(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """How much longer it is to say `label` with chances whose logarithms are `input`.

    Args:
        input (Tensor): logarithms of chances.
        label (Tensor): chances, of the same shape.
        reduction (str): "mean", "batchmean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([2]), paddle.ones([2])
        >>> paddle.nn.functional.kl_div(x, y).item()
        0.0
    """
    if reduction != "batchmean":
        check_reduction(reduction, "kl_div")
    out = where(label > 0.0, label * (log(maximum(label, TINY)) - input), 0.0)
    if reduction == "batchmean":
        return total(out) / float(input.shape[0])
    return combined(out, reduction)


TINY = 1.1754944e-38  # the least normal float32


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """How many nats the chance `input` needs to say `label`, element by element.

    Args:
        input (Tensor): chances, of shape ``[batch, 1]``.
        label (Tensor): 0 or 1, of the same shape.
        epsilon (float): added to the chances.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape of `input`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.5]]), paddle.to_tensor([[1.0]])
        >>> round(paddle.nn.functional.log_loss(x, y).item(), 3)
        0.693
    """
    yes, no = log(input + epsilon), log(1.0 - input + epsilon)
    return (label * yes + (1.0 - label) * no) * -1.0


def label_smooth(
    label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None
) -> Any:
    """Likelihoods of classes, a part of each spread over all of them.

    Args:
        label (Tensor): likelihoods along the last axis.
        prior_dist (Tensor, optional): how the part is spread; evenly when None.
        epsilon (float): how large the part is.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `label`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.label_smooth(paddle.to_tensor([0.0, 1.0]), epsilon=0.5).tolist()
        [0.25, 0.75]
    """
    if not 0 < epsilon <= 1:
        raise ArgumentError("The value of epsilon must be between 0 and 1.")
    if prior_dist is not None:
        return label * (1 - epsilon) + prior_dist * epsilon
    return scale(label, scale=1 - epsilon, bias=epsilon / label.shape[-1])
