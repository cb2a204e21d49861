"""Products with a bias, and an activation of them."""

from typing import Any

from scull.ops.fused import activated
from scull.tensor.elementwise import add
from scull.tensor.linalg import matmul


def fused_matmul_bias(
    x: Any,
    y: Any,
    bias: Any = None,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Any:
    """The product of `x` and `y`, and a bias.

    Args:
        x (Tensor): of floating-point numbers.
        y (Tensor): of as many rows as `x` has columns.
        bias (Tensor, optional): added to each row of the product.
        transpose_x (bool): whether the last two axes of `x` are swapped before.
        transpose_y (bool): whether those of `y` are.
        name (str, optional): not used.

    Returns:
        Tensor: the product.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_matmul_bias
        >>> x = paddle.ones([1, 2])
        >>> fused_matmul_bias(x, paddle.ones([2, 2]), paddle.to_tensor([1.0, 2.0])).tolist()
        [[3.0, 4.0]]
    """
    product = matmul(x, y, transpose_x, transpose_y)
    return product if bias is None else add(product, bias)


def fused_linear(
    x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: str | None = None
) -> Any:
    """``x @ weight + bias`` over the last axis of `x`.

    Args:
        x (Tensor): of floating-point numbers.
        weight (Tensor): a matrix.
        bias (Tensor, optional): a number for each column of it.
        transpose_weight (bool): whether `weight` is transposed before.
        name (str, optional): not used.

    Returns:
        Tensor: the product.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_linear
        >>> fused_linear(paddle.ones([1, 2]), paddle.ones([3, 2]), transpose_weight=True).tolist()
        [[2.0, 2.0, 2.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight, name)


def fused_linear_activation(
    x: Any,
    y: Any,
    bias: Any,
    trans_x: bool = False,
    trans_y: bool = False,
    activation: str | None = None,
) -> Any:
    """An activation of ``x @ y + bias``.

    Args:
        x (Tensor): of floating-point numbers.
        y (Tensor): of as many rows as `x` has columns.
        bias (Tensor): added to each row of the product.
        trans_x (bool): whether the last two axes of `x` are swapped before.
        trans_y (bool): whether those of `y` are.
        activation (str, optional): "relu", "gelu" or "none".

    Returns:
        Tensor: the activation.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_linear_activation
        >>> x, y, bias = paddle.ones([1, 2]), paddle.ones([2, 2]), paddle.to_tensor([-3.0, 0.0])
        >>> fused_linear_activation(x, y, bias, activation="relu").tolist()
        [[0.0, 2.0]]
    """
    return activated(fused_matmul_bias(x, y, bias, trans_x, trans_y), activation or "none")
