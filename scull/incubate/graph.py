"""Functions of graphs by older names, and neighbours of neighbours."""

from typing import Any

from scull.errors import ArgumentError
from scull.geometric.message import send_u_recv
from scull.geometric.neighbor import given_eids, need_tensors, sample_neighbors
from scull.geometric.reindex import reindex_graph
from scull.ops import neighbor
from scull.tensor.size import called, integer, is_static, several


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


def graph_reindex(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> Any:
    """Edges between nodes that are numbered from 0 on: `scull.geometric.reindex_graph`.

    Args:
        x (Tensor): int32 or int64 [n]: the nodes that edges enter, each once.
        neighbors (Tensor): of the dtype of `x`, [edges]: where the edges begin.
        count (Tensor): int32 [n], or several times as long: how many enter each node.
        value_buffer (Tensor, optional): of no effect.
        index_buffer (Tensor, optional): of no effect.
        flag_buffer_hashtable (bool): whether both buffers are given.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the numbers of the nodes where edges begin, those where they end, and the nodes.

    Raises:
        ArgumentError: a buffer is missing that `flag_buffer_hashtable` asks for.

    Examples:
        >>> import scull as paddle
        >>> x, neighbors = paddle.to_tensor([0, 5]), paddle.to_tensor([8, 9, 0])
        >>> count = paddle.to_tensor([2, 1], "int32")
        >>> src, dst, nodes = paddle.incubate.graph_reindex(x, neighbors, count)
        >>> src.tolist(), dst.tolist(), nodes.tolist()
        ([2, 3, 0], [0, 0, 1], [0, 5, 8, 9])
    """
    if flag_buffer_hashtable and (value_buffer is None or index_buffer is None):
        law = "`value_buffer` and `index_buffer` should not be None"
        raise ArgumentError(f"{law} if `flag_buffer_hashtable` is True")
    tables = (value_buffer, index_buffer) if flag_buffer_hashtable else (None, None)
    return reindex_graph(x, neighbors, count, *tables, called(name, "graph_reindex"))


def graph_sample_neighbors(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    eids: Any = None,
    perm_buffer: Any = None,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbours of nodes, drawn: `scull.geometric.sample_neighbors`.

    Args:
        row (Tensor): int32 or int64 [edges]: where each edge begins.
        colptr (Tensor): of the dtype of `row`, [nodes + 1]: where the edges that enter each node
            begin in `row`.
        input_nodes (Tensor): of the dtype of `row`, [n]: the nodes.
        eids (Tensor, optional): of the dtype of `row`, [edges]: the edges' numbers.
        perm_buffer (Tensor, optional): of no effect.
        sample_size (int): how many neighbours a node gets at most; -1 for all.
        return_eids (bool): whether to return the numbers of the edges drawn.
        flag_perm_buffer (bool): whether `perm_buffer` is given.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the neighbours; int32 [n]: how many each node has of them; and, if `return_eids`,
        the numbers of the edges to them.

    Raises:
        ArgumentError: what a flag asks for is missing.

    Examples:
        >>> import scull as paddle
        >>> row, colptr = paddle.to_tensor([3, 7, 0]), paddle.to_tensor([0, 2, 3])
        >>> nodes = paddle.to_tensor([1, 0])
        >>> neighbors, count = paddle.incubate.graph_sample_neighbors(row, colptr, nodes)
        >>> neighbors.tolist(), count.tolist()
        ([0, 3, 7], [1, 2])
    """
    if flag_perm_buffer and perm_buffer is None:
        raise ArgumentError("`perm_buffer` should not be None if `flag_perm_buffer` is True")
    buffer = perm_buffer if flag_perm_buffer else None
    name = called(name, "graph_sample_neighbors")
    graph = (row, colptr, input_nodes)
    return sample_neighbors(*graph, sample_size, eids, return_eids, buffer, name)


def graph_khop_sampler(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_sizes: Any,
    sorted_eids: Any = None,
    return_eids: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbours of nodes, then neighbours of these, and so on, drawn and numbered from 0 on.

    Each hop draws at the nodes that the hop before found, in rising order, those apart where it
    drew itself. As in Paddle a node that hops come back to stands among the nodes again.

    Args:
        row (Tensor): int32 or int64 [edges]: where each edge begins.
        colptr (Tensor): of the dtype of `row`, [nodes + 1]: where the edges that enter each node
            begin in `row`.
        input_nodes (Tensor): of the dtype of `row`, [n] or [n, 1]: the nodes.
        sample_sizes (list[int]): of each hop how many neighbours a node gets at most; -1 for all.
        sorted_eids (Tensor, optional): of the dtype of `row`, [edges]: the edges' numbers.
        return_eids (bool): whether to return the numbers of the edges drawn.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: [edges, 1]: the numbers of the nodes where the edges drawn begin; [edges, 1]: those
        where they end; the nodes; those among them that are `input_nodes`, by their numbers; and,
        if `return_eids`, the numbers of the edges.

    Raises:
        ArgumentError: numbers of edges are asked for and not given, there is no hop, or a size is
            below -1.
        RangeError: a node is none of the graph, or `colptr` does not rise where it is read.

    Examples:
        >>> import scull as paddle
        >>> row, colptr = paddle.to_tensor([3, 2, 1, 0]), paddle.to_tensor([0, 2, 2, 4, 4])
        >>> nodes = paddle.to_tensor([0])
        >>> sample = paddle.incubate.graph_khop_sampler
        >>> src, dst, index, own = sample(row, colptr, nodes, [-1, -1])
        >>> index.tolist(), own.tolist()
        ([0, 2, 3, 1], [0])
        >>> src.flatten().tolist(), dst.flatten().tolist()
        ([2, 1, 3, 0], [0, 0, 1, 1])
    """
    given = given_eids(sorted_eids, return_eids, "sorted_eids")
    need_tensors("graph_khop_sampler", row=row, colptr=colptr, input_nodes=input_nodes)
    eids = sorted_eids if is_static() else given  # a Program shows them though nobody asks
    sizes = tuple([integer(n, "sample_sizes") for n in several(sample_sizes, "sample_sizes")])
    how = {"sample_sizes": sizes, "return_eids": bool(return_eids), "name": name}
    found = neighbor.graph_khop_sampler(row, colptr, input_nodes, eids, **how)
    return found if return_eids else found[:4]
