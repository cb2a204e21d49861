"""The nodes of a part of a graph numbered from 0 on."""

from typing import Any

from scull.geometric.neighbor import need_tensors
from scull.ops import neighbor
from scull.tensor.join import concat, listed
from scull.tensor.size import called, is_static


def reindex_graph(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> Any:
    """Edges between nodes that are numbered from 0 on: those of `x`, then others as they come.

    Args:
        x (Tensor): int32 or int64 [n] or [n, 1]: the nodes that edges enter, each once. One that
            stands there several times has the number of its last place.
        neighbors (Tensor): of the dtype of `x`, [edges] or [edges, 1]: where the edges begin,
            those of the first node first.
        count (Tensor): int32 [n] or [n, 1]: how many enter each node. It may be several times as
            long, where edges of several kinds follow one another.
        value_buffer (Tensor, optional): of no effect.
        index_buffer (Tensor, optional): of no effect.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the numbers of the nodes where edges begin, those where they end, and the nodes.

    Raises:
        ArgumentError: a count is below 0.
        DtypeError: `neighbors` are not of the dtype of `x`, or counts not int32.
        ShapeError: a tensor is no list, there are not some counts for each node, or not as many
            neighbours as they sum up to.

    Examples:
        >>> import scull as paddle
        >>> x, neighbors = paddle.to_tensor([0, 5, 2]), paddle.to_tensor([8, 9, 0, 4, 8])
        >>> count = paddle.to_tensor([2, 3, 0], "int32")
        >>> src, dst, nodes = paddle.geometric.reindex_graph(x, neighbors, count)
        >>> src.tolist(), dst.tolist(), nodes.tolist()
        ([3, 4, 0, 5, 3], [0, 0, 1, 1, 1], [0, 5, 2, 8, 9, 4])
    """
    need_tensors("reindex_graph", x=x, neighbors=neighbors, count=count)
    both = value_buffer is not None and index_buffer is not None
    tables = (value_buffer, index_buffer) if both else (None, None)
    return neighbor.reindex_graph(x, neighbors, count, *tables, name=name)


def reindex_heter_graph(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> Any:
    """As `reindex_graph`, of edges of several kinds.

    Args:
        x (Tensor): int32 or int64 [n]: the nodes that edges enter, each once.
        neighbors (list[Tensor]): of each kind, of the dtype of `x`: where its edges begin.
        count (list[Tensor]): of each kind, int32 [n]: how many enter each node.
        value_buffer (Tensor, optional): of no effect.
        index_buffer (Tensor, optional): of no effect.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the numbers of the nodes where edges begin, those where they end, and the nodes.

    Raises:
        ArgumentError: a count is below 0, or there is no kind.
        DtypeError: `neighbors` are not of the dtype of `x`, or counts not int32.
        ShapeError: a tensor is no list, there are not some counts for each node, or not as many
            neighbours as they sum up to.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([0, 5])
        >>> neighbors = [paddle.to_tensor([8, 5]), paddle.to_tensor([0, 9, 8])]
        >>> count = [paddle.to_tensor([2, 0], "int32"), paddle.to_tensor([1, 2], "int32")]
        >>> src, dst, nodes = paddle.geometric.reindex_heter_graph(x, neighbors, count)
        >>> src.tolist(), dst.tolist(), nodes.tolist()
        ([2, 1, 0, 3, 2], [0, 0, 0, 1, 1], [0, 5, 8, 9])
    """
    name = called(name, "reindex_heter_graph")
    parts = listed(neighbors, "reindex_heter_graph"), listed(count, "reindex_heter_graph")
    for _ in range(2 if is_static() else 1):  # Programs of Paddle have this twice
        parts = tuple([[concat(part)] for part in parts])
    (neighbors,), (count,) = parts
    return reindex_graph(x, neighbors, count, value_buffer, index_buffer, name)
