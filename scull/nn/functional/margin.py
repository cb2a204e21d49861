"""Losses of margins: how far scores and distances are from being far enough apart."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.nn.functional.distance import pairwise_distance
from scull.nn.functional.reduction import check_reduction, combined
from scull.ops import center
from scull.ops.activation import softplus
from scull.ops.arithmetic import pow as power
from scull.ops.compare import equal, where
from scull.ops.create import cast
from scull.ops.elementwise import add, divide, minimum, multiply, subtract
from scull.ops.index import gather
from scull.ops.math import relu, sqrt, square
from scull.ops.move import reshape
from scull.ops.pick import index_sample
from scull.ops.reduce import reduce_mean, reduce_sum
from scull.ops.shrink import logsigmoid
from scull.tensor.size import integer, needs_tensor, number

LEAST = 1e-11  # added to the square of a length


def margin_ranking_loss(
    input: Any,
    other: Any,
    label: Any,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How far `input` is from being larger than `other` where `label` is 1, smaller where it is -1.

    Args:
        input (Tensor): numbers.
        other (Tensor): numbers of the same shape.
        label (Tensor): 1 or -1 for each.
        margin (float): how much larger it is to be.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each element.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 1.0])
        >>> paddle.nn.functional.margin_ranking_loss(x, y, paddle.ones([2])).item()
        1.0
    """
    check_reduction(reduction, "MarginRankingLoss")
    out = multiply(subtract(other, input), label)
    if margin != 0.0:
        out = add(out, margin)
    return combined(relu(out), reduction)


def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """`input` where `label` is 1, and how far it is below `margin` where it is -1.

    Args:
        input (Tensor): distances.
        label (Tensor): 1 or -1 for each.
        margin (float): how far apart what differs is to be.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each element.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([2.0, 0.5]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.functional.hinge_embedding_loss(x, y, reduction="none").tolist()
        [2.0, 0.5]
    """
    check_reduction(reduction, "hinge_embedding_loss")
    alike = where(equal(label, 1.0), input, 0.0)
    apart = where(equal(label, -1.0), relu(margin - input), 0.0)
    return combined(add(alike, apart), reduction)


def soft_margin_loss(
    input: Any, label: Any, reduction: str = "mean", name: str | None = None
) -> Any:
    """``log(1 + e^(-label * input))`` for each element.

    Args:
        input (Tensor): numbers.
        label (Tensor): 1 or -1 for each.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each element.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.functional.soft_margin_loss(x, y).item()
        0.6931471824645996
    """
    needs_tensor(label, "soft_margin_loss", "label")
    check_reduction(reduction, "soft_margin_loss")
    if not label.dtype.is_float:
        label = cast(label, out_dtype=input.dtype, in_dtype=label.dtype)
    return combined(softplus(multiply(label * -1.0, input)), reduction)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    label: Any,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How far the cosine of two vectors is from 1 (`label` 1), or above `margin` (`label` -1).

    Args:
        input1 (Tensor): a vector, or one a row.
        input2 (Tensor): as many.
        label (Tensor): 1 or -1 for each row.
        margin (float): which cosine is small enough for what differs.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.functional.cosine_embedding_loss(x, y, paddle.to_tensor([1])).item()
        1.0
    """
    needs_tensor(input1, "cosine_embedding_loss", "input1")
    needs_tensor(input2, "cosine_embedding_loss", "input2")
    needs_tensor(label, "cosine_embedding_loss", "label")
    check_cosine(input1, input2, label, reduction)
    inner = reduce_sum(multiply(input1, input2), axis=(-1,))
    first = add(reduce_sum(square(input1), axis=(-1,)), LEAST)
    second = add(reduce_sum(square(input2), axis=(-1,)), LEAST)
    cosine = divide(inner, sqrt(multiply(first, second)))
    alike = where(equal(label, 1), 1.0 - cosine, 0.0)
    apart = where(equal(label, -1), relu(cosine - number(margin, "margin")), 0.0)
    return combined(add(alike, apart), reduction)


def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How far `negative` is from being farther from `input` than `positive` is.

    Args:
        input (Tensor): a vector a row.
        positive (Tensor): vectors alike to those.
        negative (Tensor): vectors unlike them.
        distance_function (optional): from two tensors to distances; the Euclidean one when None.
        margin (float): how much farther what differs is to be.
        swap (bool): also look at how far `negative` is from `positive`.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.0]]), paddle.to_tensor([[3.0]])
        >>> loss = paddle.nn.functional.triplet_margin_with_distance_loss(x, x, y, margin=5.0)
        >>> loss.round().item()
        2.0
    """
    needs_tensor(input, "triplet_margin_with_distance_loss", "input")
    needs_tensor(positive, "triplet_margin_with_distance_loss", "positive")
    needs_tensor(negative, "triplet_margin_with_distance_loss", "negative")
    check_reduction(reduction, "triplet_margin_with_distance_loss")
    margin = number(margin, "margin")
    if margin < 0:
        raise ArgumentError(f"The margin between positive and negative is {margin}, below 0")
    if not list(input.shape) == list(positive.shape) == list(negative.shape):
        raise ShapeError("input's shape must equal to positive's shape and negative's shape")
    distance = pairwise_distance if distance_function is None else distance_function
    if not callable(distance):
        raise ArgumentTypeError(f"`distance_function` is no function but {distance!r:.60}")
    close, far = distance(input, positive), distance(input, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    if any(isinstance(d, Tensor) and not (d.array > 0).all() for d in (close, far)):
        raise ArgumentError("`distance_function` says that a distance is not greater than 0")
    return combined(relu(close - far + margin), reduction)


def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How far `negative` is from being farther from `input` than `positive` is.

    Args:
        input (Tensor): a vector a row.
        positive (Tensor): vectors alike to those.
        negative (Tensor): vectors unlike them.
        margin (float): how much farther what differs is to be.
        p (float): the norm of the distance.
        epsilon (float): added to differences.
        swap (bool): also look at how far `negative` is from `positive`.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.0]]), paddle.to_tensor([[3.0]])
        >>> paddle.nn.functional.triplet_margin_loss(x, x, y, margin=5.0).round().item()
        2.0
    """
    needs_tensor(input, "triplet_margin_loss", "input")
    needs_tensor(positive, "triplet_margin_loss", "positive")
    needs_tensor(negative, "triplet_margin_loss", "negative")
    return triplet_margin_with_distance_loss(
        input,
        positive,
        negative,
        lambda x, y: pairwise_distance(x, y, p, epsilon),
        margin,
        swap,
        reduction,
    )


def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How near the scores of other classes come to that of the label, on average.

    Args:
        input (Tensor): scores, a row for each sample.
        label (Tensor): the number of a class for each row.
        p (int): the power of what is too near.
        margin (float): how much larger the score of the label is to be.
        weight (optional): a Tensor: the weight of each class.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[2.0, 1.5]])
        >>> paddle.nn.functional.multi_margin_loss(x, paddle.to_tensor([0])).item()
        0.25
    """
    needs_tensor(input, "multi_margin_loss", "input")
    needs_tensor(label, "multi_margin_loss", "label")
    check_reduction(reduction, "multi_margin_loss")
    if len(input.shape) != 2 or list(label.shape[:1]) != list(input.shape[:1]):
        raise ShapeError(
            f"The label's shape[0] should be equal to input's shape[0], but received input's "
            f"shape {list(input.shape)} and label's shape {list(label.shape)}"
        )
    label, p, margin = reshape(label, shape=(-1, 1)), number(p, "p"), number(margin, "margin")
    near = margin - index_sample(input, label) + input
    least = float(np.float_power(margin, p)) / input.shape[1]
    if weight is not None:
        shares = reshape(gather(weight, reshape(label, shape=(-1,))), shape=(-1, 1))
        near, least = near * shares, shares * least
    near = relu(near)
    out = reduce_mean(near if p == 1 else power(near, factor=p), axis=(1,)) - least
    return combined(out, reduction)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """How many nats the chances ``sigmoid(input)`` need to say which classes there are, on average.

    Args:
        input (Tensor): scores, a row for each sample.
        label (Tensor): 0 or 1 for each.
        weight (optional): a Tensor: the weight of each class.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([1, 2])
        >>> paddle.nn.functional.multi_label_soft_margin_loss(x, paddle.ones([1, 2])).item()
        0.6931471824645996
    """
    needs_tensor(input, "multi_label_soft_margin_loss", "input")
    needs_tensor(label, "multi_label_soft_margin_loss", "label")
    check_reduction(reduction, "multi_label_soft_margin_loss")
    if list(input.shape) != list(label.shape):
        raise ShapeError("The input and label should have same dimension, but received different")
    yes, no = logsigmoid(input), logsigmoid(input * -1.0)
    out = (label * yes + (1.0 - label) * no) * -1.0
    out = out if weight is None else multiply(out, weight)
    return combined(reduce_mean(out, axis=(-1,)), reduction)


def check_cosine(input1: Any, input2: Any, label: Any, reduction: str) -> None:
    """Refuse vectors and labels that do not go together."""
    check_reduction(reduction, "cosine_embedding_loss")
    if len(label.shape) != 1:
        raise ShapeError("1D target tensor expected, multi-target not supported")
    if list(input1.shape) != list(input2.shape):
        raise ShapeError("the shape of input tensor 1 should be equal to input tensor 2")
    if len(input1.shape) > 2:
        raise ShapeError("1D target tensor expects 1D or 2D input tensors")


def class_center_sample(label: Any, num_classes: int, num_samples: int, group: Any = None) -> Any:
    """The classes of a batch, filled up with others that are drawn, and where each label lies.

    Args:
        label (Tensor): the class of each sample: int32 or int64, with one axis.
        num_classes (int): how many classes there are.
        num_samples (int): how many are wanted; there are more where the batch is of more.
        group (optional): of no effect: one process has all classes.

    Returns:
        tuple: the labels as places among the classes taken, and these classes.

    Raises:
        ArgumentError: more classes are wanted than there are.
        ShapeError: `label` has not one axis.
        RangeError: a label is no class.

    Examples:
        >>> import scull as paddle
        >>> label = paddle.to_tensor([3, 1, 3])
        >>> places, classes = paddle.nn.functional.class_center_sample(label, 20, 6)
        >>> places.tolist(), classes.tolist()[:2], classes.shape
        ([1, 0, 1], [1, 3], [6])
    """
    needs_tensor(label, "class_center_sample", "label")
    sizes = {"num_classes": integer(num_classes, "num_classes")}
    sizes["num_samples"] = integer(num_samples, "num_samples")
    return center.class_center_sample(label, **sizes)
