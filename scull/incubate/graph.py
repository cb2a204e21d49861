"""Messages along the edges of a graph, by an older name."""

from typing import Any

from scull.geometric.message import send_u_recv


def graph_send_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    pool_type: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What nodes receive along edges: `scull.geometric.send_u_recv`.

    Args:
        x (Tensor): the rows of nodes.
        src_index (Tensor): int32 or int64 [edges]: where each edge begins.
        dst_index (Tensor): int32 or int64 [edges]: where it ends.
        pool_type (str): "sum", "mean", "max" or "min".
        out_size (int | Tensor, optional): how many nodes receive; as many as send when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of the dtype of `x`; zeros for a node that receives nothing.

    Raises:
        ArgumentError: `pool_type` is unknown.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1.0], [2.0]])
        >>> edges = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.incubate.graph_send_recv(x, *edges).tolist()
        [[0.0], [3.0]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size, name)
