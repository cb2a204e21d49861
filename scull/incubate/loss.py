"""What a model calls its loss."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import loss as ops
from scull.tensor.size import needs_tensor

WAYS = {"sum": ops.SUM, "mean": ops.MEAN, "none": ops.NONE}


def identity_loss(x: Any, reduction: Any = "none") -> Any:
    """`x` marked as the loss: its sum, its mean, or itself.

    Args:
        x (Tensor): the losses.
        reduction (str | int): "sum" or 0, "mean" or 1, "none" or 2.

    Returns:
        Tensor: 0-D; with "none" of the shape of `x`.

    Raises:
        ArgumentError: `reduction` is none of these.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    needs_tensor(x, "identity_loss")
    if isinstance(reduction, str):
        if reduction.lower() not in WAYS:
            raise ArgumentError(f"reduction is {reduction!r}, not one of {', '.join(WAYS)}")
        reduction = WAYS[reduction.lower()]
    return ops.identity_loss(x, reduction=reduction)
