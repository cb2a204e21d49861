"""The affine transformation."""

from typing import Any

from scull.nn.functional.naming import named
from scull.ops import affine


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x @ weight + bias`` over the last axis of `x`.

    Args:
        x (Tensor): of shape ``[..., in]``.
        weight (Tensor): of shape ``[in, out]``.
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
