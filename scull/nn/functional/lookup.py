"""Rows of tables by number."""

from typing import Any

from scull.core.meta import at_least
from scull.core.session import default_dtype
from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.ops import index
from scull.tensor.size import integer, needs_tensor


def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of `weight` whose numbers are in `x`.

    Args:
        x (Tensor): int32 or int64, of any shape.
        weight (Tensor): the table, of shape ``[rows, columns]``.
        padding_idx (int, optional): the number that gives a row of zeros and no gradient.
        sparse (bool): whether the gradient of `weight` holds the rows of `x` only.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `x` and one axis more.

    Examples:
        >>> import scull as paddle
        >>> table = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1, 0]), table).tolist()
        [[3.0, 4.0], [1.0, 2.0]]
    """
    place = -1
    if padding_idx is not None:
        needs_tensor(weight, "embedding", "weight")
        at_least(1, weight.meta)
        rows = weight.shape[0]
        if not -rows <= integer(padding_idx, "padding_idx") < rows:
            raise ArgumentError(f"padding_idx must be within [-{rows}, {rows})")
        place = padding_idx % rows
    return index.embedding(
        x, weight, padding_idx=place, is_sparse=sparse, remote_prefetch=sparse, **named(name)
    )


def one_hot(x: Any, num_classes: Any, name: str | None = None) -> Any:
    """Rows of zeros with a 1 at the place that `x` numbers.

    Args:
        x (Tensor): int32 or int64, of any shape.
        num_classes (int | Tensor): how long the rows are.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the default element type, the shape of `x` and one axis more.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([1, 0]), 3).tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if isinstance(num_classes, int):
        return index.one_hot_v2(x, depth=num_classes, dtype=default_dtype(), **named(name))
    return index.one_hot_v2(x, num_classes, dtype=default_dtype(), **named(name))
