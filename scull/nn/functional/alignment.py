"""Losses over all alignments of labels with a longer sequence."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.reduction import average, check_reduction, combined, total
from scull.ops import alignment as ops
from scull.ops.create import cast
from scull.ops.elementwise import divide
from scull.ops.hierarchy import hierarchical_sigmoid
from scull.ops.like import squeeze
from scull.tensor.size import integer, needs_tensor


def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
) -> Any:
    """How many nats the chances of each step need to say the labels: connectionist temporal
    classification.

    A step says a class or a blank; a class said at several steps in line counts once. Softmax is
    applied here. What cannot be said in so few steps costs 0.

    Args:
        log_probs (Tensor): float32 or float64 scores, of shape ``[steps, batch, classes]``.
        labels (Tensor): int32, of shape ``[batch, longest]``.
        input_lengths (Tensor): int64: how many steps each row has.
        label_lengths (Tensor): int64: how many labels each row has.
        blank (int): the class that says nothing.
        reduction (str): "mean" of the losses over the lengths of the labels, "sum" or "none".
        norm_by_times (bool): whether the gradient is divided by the number of steps.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> scores, one = paddle.zeros([2, 1, 2]), paddle.ones([1], "int64")
        >>> labels = paddle.ones([1, 1], "int32")
        >>> loss = paddle.nn.functional.ctc_loss(scores, labels, 2 * one, one)
        >>> round(loss.item(), 4)
        0.2877
    """
    check_reduction(reduction, "ctc_loss")
    if input_lengths is None or label_lengths is None:
        raise ArgumentError("input_lengths and label_lengths must not be None")
    needs_tensor(log_probs, "ctc_loss", "log_probs")
    attrs = {"blank": blank, "norm_by_times": norm_by_times}
    loss, _ = ops.warpctc(log_probs, labels, input_lengths, label_lengths, **attrs)
    loss = squeeze(loss, axes=(-1,))
    if reduction != "mean":
        return combined(loss, reduction)
    lengths = cast(label_lengths, in_dtype=label_lengths.dtype, out_dtype=loss.dtype)
    return average(divide(loss, lengths))


def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How many nats a transducer needs to say the labels.

    At each step it says labels, one after the other, and then a blank, with which the next step
    begins.

    Args:
        input (Tensor): logarithms of chances, float32 or float64, of shape
            ``[batch, steps, longest + 1, classes]``; no softmax is applied here.
        label (Tensor): int32, of shape ``[batch, longest]``.
        input_lengths (Tensor): int32: how many steps each row has.
        label_lengths (Tensor): int32: how many labels each row has.
        blank (int): the class that ends a step.
        fastemit_lambda (float): how much more the gradients of labels count than those of blanks.
        reduction (str): "mean" over the rows, "sum" or "none".
        name (str, optional): not used.

    Returns:
        Tensor: 0-D; with "none" a number for each row.

    Examples:
        >>> import scull as paddle
        >>> scores = paddle.full([1, 1, 2, 2], -0.5)
        >>> label, one = paddle.ones([1, 1], "int32"), paddle.ones([1], "int32")
        >>> paddle.nn.functional.rnnt_loss(scores, label, one, one).item()
        1.0
    """
    check_reduction(reduction, "rnnt_loss")
    needs_tensor(input, "rnnt_loss", "input")
    lengths = (input_lengths, label_lengths)
    attrs = {"blank": blank, "fastemit_lambda": fastemit_lambda}
    loss, _ = ops.warprnnt(input, label, *lengths, **attrs)
    if reduction == "mean":
        return total(loss) / float(input.shape[0])
    return combined(loss, reduction)


def hsigmoid_loss(
    input: Any,
    label: Any,
    num_classes: int,
    weight: Any,
    bias: Any = None,
    path_table: Any = None,
    path_code: Any = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """How many nats the nodes of a binary tree need to lead to each label.

    The classes are the leaves of the tree, each node says yes or no; so a label costs a number of
    products that grows with the logarithm of the number of classes only. The places a path is
    shorter than the longest one cost ``log(2)`` each.

    Args:
        input (Tensor): float32 or float64, of shape ``[batch, features]``.
        label (Tensor): int64, of shape ``[batch, 1]``.
        num_classes (int): how many there are; from 2 on.
        weight (Tensor): a row for each node, ``num_classes - 1`` in the default tree.
        bias (Tensor, optional): a number for each node, as a column.
        path_table (Tensor, optional): int64: the nodes on the way to each label, -1 behind the end.
        path_code (Tensor, optional): int64: the answer at each of them, 1 or 0.
        is_sparse (bool): whether the gradient of the weight holds only the rows that were used.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[batch, 1]``.

    Examples:
        >>> import scull as paddle
        >>> x, label = paddle.ones([1, 3]), paddle.to_tensor([[2]])
        >>> loss = paddle.nn.functional.hsigmoid_loss(x, label, 4, paddle.zeros([3, 3]))
        >>> round(loss.item(), 4)
        1.3863
    """
    if integer(num_classes, "num_classes") < 2:
        raise ArgumentError(f"Expected num_classes >= 2 (got {num_classes})")
    needs_tensor(input, "hsigmoid_loss", "input")
    attrs = {"num_classes": num_classes, "is_sparse": is_sparse} | named(name)
    return hierarchical_sigmoid(input, weight, label, path_table, path_code, bias, **attrs)[0]
