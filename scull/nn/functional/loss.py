"""Losses."""

from typing import Any

from scull.core.door import shown_by
from scull.core.dtype import float64
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.naming import named
from scull.nn.functional.ragged import edit_distance  # noqa: F401  found here, as in Paddle
from scull.nn.functional.reduction import REDUCTIONS, check_reduction, combined, total
from scull.ops import affine, likelihood, loss
from scull.ops.create import cast
from scull.ops.elementwise import add, multiply, subtract
from scull.ops.math import square
from scull.ops.move import reshape
from scull.tensor.attribute import shape as shape_of
from scull.tensor.function import abs as absolute
from scull.tensor.size import is_one_of, needs_tensor, number


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
    if not is_one_of(reduction, REDUCTIONS):
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
    out = loss.bce_loss(
        input, label, **named(name if weight is None and reduction == "none" else None)
    )
    return combined(out if weight is None else multiply(out, weight), reduction)


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
        label (Tensor): the numbers of classes, in the shape of `input` without axis 1; for a
            matrix also a column of them.
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
    needs_tensor(input, "nll_loss", "input")
    needs_tensor(label, "nll_loss", "label")
    check_reduction(reduction, "nll_loss")
    check_axes(input, label)
    if len(label.shape) == len(input.shape) == 2:
        label = reshape(label, shape=(-1,))
    flat = len(input.shape) not in (2, 4)
    if flat:
        shape, rows, classes = label.shape, input.shape[0], input.shape[1]
        input = reshape(input, shape=(rows, classes, 1, -1))
        label = reshape(label, shape=(rows, 1, -1))
    out, _ = loss.nll_loss(input, label, weight, ignore_index=ignore_index, reduction=reduction)
    return reshape(out, shape=shape) if flat and reduction == "none" else out


def check_axes(input: Any, label: Any) -> None:
    """Refuse an `input` without classes, and a `label` that does not go with it."""
    if len(input.shape) < 2:
        raise ShapeError(f"Expected 2 or more dimensions (got {len(input.shape)})")
    column = len(input.shape) == len(label.shape) == 2 and label.shape[1] == 1
    if len(label.shape) != len(input.shape) - 1 and not column:
        raise ShapeError(f"input has {len(input.shape)} axes and label {len(label.shape)}")
    if input.shape[1] < 1:
        raise ShapeError("Expected 1 or more classes (got num classes 0)")


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
    needs_tensor(input, "kl_div", "input")
    needs_tensor(label, "kl_div", "label")
    if not is_one_of(reduction, ("batchmean",)):
        check_reduction(reduction, "kl_div")
    if "float64" in (input.dtype.name, label.dtype.name) and input.dtype != label.dtype:
        input, label = cast(input, out_dtype=float64), cast(label, out_dtype=float64)
    out = loss.kldiv_loss(input, label, reduction="none")
    if reduction != "batchmean":
        return combined(out, reduction)
    if not len(input.shape):
        return total(out)
    rows = input.shape[0] if isinstance(input, Tensor) else shape_of(input)[0]
    return total(out) / rows


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """How many nats the chance `input` needs to say `label`, element by element.

    Args:
        input (Tensor): chances, of shape ``[batch, 1]``.
        label (Tensor): 0 or 1, of the same shape and dtype.
        epsilon (float): added to the chances.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `input`.

    Raises:
        ShapeError: `input` is no column, or `label` of another shape.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.5]]), paddle.to_tensor([[1.0]])
        >>> round(paddle.nn.functional.log_loss(x, y).item(), 3)
        0.693
    """
    needs_tensor(input, "log_loss", "input")
    needs_tensor(label, "log_loss", "label")
    return likelihood.log_loss(input, label, epsilon=epsilon, name=name)


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
    if not 0 < number(epsilon, "epsilon") <= 1:
        raise ArgumentError("The value of epsilon must be between 0 and 1.")
    return loss.label_smooth(label, prior_dist, epsilon=epsilon, **named(name))


__getattr__ = shown_by("scull.nn.functional")
