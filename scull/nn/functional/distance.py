"""Distances of vectors."""

from typing import Any

from scull.ops.elementwise import add, subtract
from scull.tensor.linalg import norm


def pairwise_distance(
    x: Any,
    y: Any,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """The p-norm of the difference of two vectors, row by row.

    Args:
        x (Tensor): a vector, or one a row.
        y (Tensor): as many.
        p (float): which norm.
        epsilon (float): added to the difference.
        keepdim (bool): whether the last axis stays, with size 1.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a distance a row.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.nn.functional.pairwise_distance(x, y).round().tolist()
        [5.0]
    """
    gap = subtract(x, y)
    return norm(add(gap, epsilon) if epsilon != 0.0 else gap, p, -1, keepdim, name)
