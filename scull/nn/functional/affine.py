"""The affine transformation."""

from typing import Any

from scull.nn.functional.naming import named
from scull.ops import affine
from scull.ops.bilinear import bilinear_tensor_product
from scull.tensor.matrix import diag_embed  # noqa: F401  found here, as in Paddle
from scull.tensor.size import needs_tensor


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x @ weight + bias`` over the last axis of `x`.

    Args:
        x (Tensor): of shape ``[..., in]``.
        weight (Tensor): of shape ``[in, out]``, or ``[in]``: then the result has an axis fewer.
        bias (Tensor, optional): of shape ``[out]``.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[..., out]``.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 2]), paddle.ones([2, 3])
        >>> paddle.nn.functional.linear(x, w, paddle.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    if name is None:
        return affine.linear(x, weight, bias)
    return affine.linear(x, weight, bias, **named(name))


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x1 @ weight[i] @ x2`` row by row for each number i of the result, and the bias.

    Args:
        x1 (Tensor): of shape ``[batch, in1]``.
        x2 (Tensor): of shape ``[batch, in2]``.
        weight (Tensor): of shape ``[out, in1, in2]``.
        bias (Tensor, optional): of shape ``[1, out]``.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[batch, out]``.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0]])
        >>> paddle.nn.functional.bilinear(x, y, paddle.ones([2, 2, 1])).tolist()
        [[9.0, 9.0]]
    """
    needs_tensor(x1, "bilinear", "x1")
    return bilinear_tensor_product(x1, x2, weight, bias, **named(name))
