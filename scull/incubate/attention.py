"""Softmax of the scores of attention, of which some are left out."""

from typing import Any

from scull.ops import masked_softmax
from scull.tensor.size import needs_tensor


def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Any:
    """Softmax along the last axis of ``x + mask``.

    Args:
        x (Tensor): the scores, of shape ``[batch, heads, queries, keys]``.
        mask (Tensor): what is added to those of all heads, ``[batch, 1, queries, keys]``.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ShapeError: the shapes are not those.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([1, 1, 1, 2])
        >>> mask = paddle.to_tensor([[[[0.0, float("-inf")]]]])
        >>> paddle.incubate.softmax_mask_fuse(x, mask).tolist()
        [[[[1.0, 0.0]]]]
    """
    needs_tensor(x, "softmax_mask_fuse")
    needs_tensor(mask, "softmax_mask_fuse", "mask")
    return masked_softmax.softmax_mask_fuse(x, mask)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """Softmax along the last axis over the keys up to each query; those behind it get 0.

    Args:
        x (Tensor): the scores, of shape ``[batch, heads, places, places]``.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ShapeError: the shape is not that.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([1, 1, 2, 2])
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(x).tolist()
        [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    needs_tensor(x, "softmax_mask_fuse_upper_triangle")
    return masked_softmax.softmax_mask_fuse_upper_triangle(x)
