"""Rows of a tensor combined by segments, which lie behind one another."""

from typing import Any

from scull.ops import segment
from scull.tensor.size import called, needs_tensor


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows of each segment.

    Args:
        data (Tensor): the rows.
        segment_ids (Tensor): int32 or int64 [rows], rising from 0 on: the segment of each.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a row a segment, of the dtype of `data`; zeros where a segment has none.

    Raises:
        RangeError: `segment_ids` do not rise.
        ShapeError: there is no row, or not one number a row.

    Examples:
        >>> import scull as paddle
        >>> rows, ids = paddle.to_tensor([[1.0], [3.0], [4.0]]), paddle.to_tensor([0, 0, 1])
        >>> paddle.geometric.segment_sum(rows, ids).tolist()
        [[4.0], [4.0]]
    """
    return pooled(data, segment_ids, "sum", name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The means of the rows of each segment.

    Args:
        data (Tensor): the rows.
        segment_ids (Tensor): int32 or int64 [rows], rising from 0 on: the segment of each.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a row a segment, of the dtype of `data`; zeros where a segment has none.

    Raises:
        RangeError: `segment_ids` do not rise.
        ShapeError: there is no row, or not one number a row.

    Examples:
        >>> import scull as paddle
        >>> rows, ids = paddle.to_tensor([[1.0], [3.0], [4.0]]), paddle.to_tensor([0, 0, 1])
        >>> paddle.geometric.segment_mean(rows, ids).tolist()
        [[2.0], [4.0]]
    """
    return pooled(data, segment_ids, "mean", name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest elements of the rows of each segment.

    Args:
        data (Tensor): the rows.
        segment_ids (Tensor): int32 or int64 [rows], rising from 0 on: the segment of each.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a row a segment, of the dtype of `data`; zeros where a segment has none.

    Raises:
        RangeError: `segment_ids` do not rise.
        ShapeError: there is no row, or not one number a row.

    Examples:
        >>> import scull as paddle
        >>> rows, ids = paddle.to_tensor([[1.0], [3.0], [4.0]]), paddle.to_tensor([0, 0, 1])
        >>> paddle.geometric.segment_min(rows, ids).tolist()
        [[1.0], [4.0]]
    """
    return pooled(data, segment_ids, "min", name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The greatest elements of the rows of each segment.

    Args:
        data (Tensor): the rows.
        segment_ids (Tensor): int32 or int64 [rows], rising from 0 on: the segment of each.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a row a segment, of the dtype of `data`; zeros where a segment has none.

    Raises:
        RangeError: `segment_ids` do not rise.
        ShapeError: there is no row, or not one number a row.

    Examples:
        >>> import scull as paddle
        >>> rows, ids = paddle.to_tensor([[1.0], [3.0], [4.0]]), paddle.to_tensor([0, 0, 1])
        >>> paddle.geometric.segment_max(rows, ids).tolist()
        [[3.0], [4.0]]
    """
    return pooled(data, segment_ids, "max", name)


def pooled(data: Any, segment_ids: Any, word: str, name: str | None) -> Any:
    """The rows of each segment made one."""
    for value, parameter in ((data, "data"), (segment_ids, "segment_ids")):
        needs_tensor(value, f"segment_{word}", parameter)
    name = called(name, f"segment_{word}")
    return segment.segment_pool(data, segment_ids, pooltype=word.upper(), name=name)[0]
