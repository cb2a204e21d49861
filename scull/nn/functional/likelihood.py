"""Losses that are likelihoods, and others of several tensors."""

import math
from typing import Any

from scull.core.dtype import float32
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.classification import softmax_with_cross_entropy
from scull.nn.functional.lookup import one_hot
from scull.nn.functional.loss import binary_cross_entropy_with_logits
from scull.nn.functional.reduction import check_reduction, combined
from scull.ops.compare import equal, greater_than, where
from scull.ops.create import assign, cast
from scull.ops.elementwise import maximum, multiply
from scull.ops.like import squeeze
from scull.ops.linear import matmul
from scull.ops.math import exp, log, sigmoid, square
from scull.ops.move import reshape, transpose
from scull.ops.reduce import reduce_mean, reduce_sum
from scull.tensor.elementwise import pow
from scull.tensor.size import needs_tensor, number


def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How many nats a normal distribution around `input` needs to say `label`.

    Args:
        input (Tensor): the mean.
        label (Tensor): of the shape of `input`.
        variance (Tensor): of the shape of `input`, or of size 1 or none at the last axis.
        full (bool): also the part that does not depend on the input.
        epsilon (float): the least variance.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each element.

    Examples:
        >>> import scull as paddle
        >>> x, one = paddle.to_tensor([1.0]), paddle.ones([1])
        >>> paddle.nn.functional.gaussian_nll_loss(x, paddle.to_tensor([3.0]), one).item()
        2.0
    """
    needs_tensor(input, "gaussian_nll_loss", "input")
    needs_tensor(variance, "gaussian_nll_loss", "variance")
    check_reduction(reduction, "gaussian_nll_loss")
    own, other = list(input.shape), list(variance.shape)
    if other == own[:-1] and other != own:
        variance = reshape(variance, shape=(*other, 1))
    elif other != own and other != own[:-1] + [1]:
        raise ShapeError("variance is of incorrect shape")
    if isinstance(variance, Tensor) and (variance.array < 0).any():
        raise ArgumentError("variance has negative entry/entries")
    given = assign(variance)
    given.stop_gradient = True  # it is not learnt
    variance = maximum(given, number(epsilon, "epsilon"))
    out = (log(variance) + square(input - label) / variance) * 0.5
    return combined(out + 0.5 * math.log(2 * math.pi) if full else out, reduction)


def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How many nats a Poisson distribution of rate `input` needs to say `label`.

    Args:
        input (Tensor): rates, or their logarithms.
        label (Tensor): counts of any number type, of the same shape.
        log_input (bool): whether `input` is the logarithm of the rate.
        full (bool): also an approximation of the part that does not depend on it.
        epsilon (float): added to the rate before its logarithm.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each element.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([2])
        >>> paddle.nn.functional.poisson_nll_loss(x, paddle.ones([2])).item()
        1.0
    """
    needs_tensor(input, "poisson_nll_loss", "input")
    needs_tensor(label, "poisson_nll_loss", "label")
    check_reduction(reduction, "poisson_nll_loss")
    epsilon = number(epsilon, "epsilon")
    if epsilon <= 0:
        raise ArgumentError(f"The value of `epsilon` should be positive, but received {epsilon}")
    label = cast(label, out_dtype=input.dtype, in_dtype=label.dtype)
    if log_input:
        out = exp(input) - label * input
    else:
        out = input - label * log(input + epsilon)
    if full:
        stirling = label * log(label) - label + log(label * (2 * math.pi)) * 0.5
        out = out + where(greater_than(label, 1.0), stirling, 0.0)
    return combined(out, reduction)


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """How little the chances of classes overlap with the classes there are.

    Args:
        input (Tensor): chances; the classes are the last axis.
        label (Tensor): the numbers of classes, of size 1 at the last axis.
        epsilon (float): added to what is divided by.
        name (str, optional): not used.

    Returns:
        Tensor: 0-D.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0]])
        >>> round(paddle.nn.functional.dice_loss(x, y).item(), 3)
        0.0
    """
    needs_tensor(input, "dice_loss", "input")
    needs_tensor(label, "dice_loss", "label")
    if len(input.shape) < 2 or len(input.shape) != len(label.shape) or label.shape[-1] != 1:
        raise ShapeError(
            f"input is of shape {list(input.shape)} and label of {list(label.shape)}: the last "
            "axis of label is to have size 1"
        )
    likely = one_hot(squeeze(label, axes=(-1,)), input.shape[-1])
    axes = tuple(range(1, len(input.shape)))
    shared = reduce_sum(input * likely, axis=axes)
    both = reduce_sum(input, axis=axes) + reduce_sum(likely, axis=axes)
    return reduce_mean(1.0 - shared * 2.0 / (both + epsilon), axis=(), reduce_all=True)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """How many nats the products of anchors and others need to say which have the same label.

    Args:
        anchor (Tensor): a vector a row.
        positive (Tensor): a vector a row, of the label of that anchor.
        labels (Tensor): the label of each row.
        l2_reg (float): how much the squares of the vectors count.

    Returns:
        Tensor: 0-D.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([2, 3])
        >>> round(paddle.nn.functional.npair_loss(x, x, paddle.to_tensor([0.0, 1.0])).item(), 4)
        0.6931
    """
    column = reshape(labels, shape=(-1, 1))
    same = equal(column, transpose(column, perm=(1, 0)))
    same = cast(same, out_dtype=float32, in_dtype=same.dtype)
    same = same / reduce_sum(same, axis=(1,), keepdim=True)
    squares = [
        reduce_mean(reduce_sum(square(x), axis=(1,)), axis=(), reduce_all=True)
        for x in (anchor, positive)
    ]
    products = matmul(anchor, positive, transpose_y=True)
    nats = softmax_with_cross_entropy(products, same, soft_label=True)
    shares = reduce_sum(multiply(same, nats), axis=(0,))
    mean = reduce_mean(shares, axis=(), reduce_all=True)
    return (squares[0] + squares[1]) * (0.25 * number(l2_reg, "l2_reg")) + mean


def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """Binary cross entropy that looks away from what is certain already.

    Args:
        logit (Tensor): of floating-point numbers.
        label (Tensor): 0 or 1 for each.
        normalizer (Tensor, optional): one number; losses are divided by it.
        alpha (float): the weight of 1; that of 0 is ``1 - alpha``.
        gamma (float): how far it looks away.
        reduction (str): "sum", "mean" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" of the shape of `logit`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([1]), paddle.ones([1])
        >>> round(paddle.nn.functional.sigmoid_focal_loss(x, y).item(), 4)
        0.0433
    """
    check_reduction(reduction, "sigmoid_focal_loss")
    nats = binary_cross_entropy_with_logits(logit, label, reduction="none")
    chance = sigmoid(logit)
    sure = chance * label + (1.0 - chance) * (1.0 - label)
    share = label * alpha + (1.0 - label) * (1.0 - alpha)
    out = share * nats * pow(1.0 - sure, gamma)
    return combined(out if normalizer is None else out / normalizer, reduction)
