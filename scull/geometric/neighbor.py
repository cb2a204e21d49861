"""Neighbours drawn from a graph in compressed columns."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import neighbor
from scull.tensor.size import integer, needs_tensor


def given_eids(eids: Any, return_eids: bool, parameter: str = "eids") -> Any:
    """The numbers of edges, if they are asked for."""
    if return_eids and eids is None:
        raise ArgumentError(f"`{parameter}` should not be None if `return_eids` is True")
    return eids if return_eids else None


def need_tensors(function: str, **tensors: Any) -> None:
    """Refuse what is no tensor among parameters."""
    for parameter, value in tensors.items():
        needs_tensor(value, function, parameter)


def sample_neighbors(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    perm_buffer: Any = None,
    name: str | None = None,
) -> Any:
    """Neighbours of nodes: of each up to `sample_size`, none twice, each as likely as the others.

    The neighbours of node `n` are `row[colptr[n]:colptr[n + 1]]`. What is drawn of them stands in
    their order.

    Args:
        row (Tensor): int32 or int64 [edges] or [edges, 1]: where each edge begins.
        colptr (Tensor): of the dtype of `row`, [nodes + 1] or [nodes + 1, 1]: where the edges that
            enter each node begin in `row`.
        input_nodes (Tensor): of the dtype of `row`, [n] or [n, 1]: the nodes.
        sample_size (int): how many neighbours a node gets at most; -1 for all.
        eids (Tensor, optional): of the dtype of `row`, [edges] or [edges, 1]: the edges' numbers.
        return_eids (bool): whether to return the numbers of the edges drawn.
        perm_buffer (Tensor, optional): of no effect.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the neighbours; int32 [n]: how many each node has of them; and, if `return_eids`,
        the numbers of the edges to them.

    Raises:
        ArgumentError: numbers of edges are asked for and not given, or `sample_size` is below -1.
        DtypeError: tensors are not of one dtype.
        ShapeError: a tensor is no list, or `eids` is not as long as `row`.
        RangeError: a node is none of the graph, or `colptr` does not rise where it is read.

    Examples:
        >>> import scull as paddle
        >>> row, colptr = paddle.to_tensor([3, 7, 0, 9, 1]), paddle.to_tensor([0, 2, 4, 5])
        >>> nodes = paddle.to_tensor([2, 0])
        >>> neighbors, count = paddle.geometric.sample_neighbors(row, colptr, nodes)
        >>> neighbors.tolist(), count.tolist()
        ([1, 3, 7], [1, 2])
        >>> paddle.geometric.sample_neighbors(row, colptr, nodes, 1)[1].tolist()
        [1, 1]
    """
    eids = given_eids(eids, return_eids)
    need_tensors("sample_neighbors", row=row, colptr=colptr, input_nodes=input_nodes)
    how = {"sample_size": integer(sample_size, "sample_size"), "return_eids": bool(return_eids)}
    how |= {"flag_perm_buffer": perm_buffer is not None, "name": name}
    found = neighbor.sample_neighbors(row, colptr, input_nodes, eids, perm_buffer, **how)
    return found if return_eids else found[:2]


def weighted_sample_neighbors(
    row: Any,
    colptr: Any,
    edge_weight: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbours of nodes: of each up to `sample_size`, none twice, drawn by the edges' weights.

    They are drawn one after the other, each from those left with a chance in proportion to its
    weight; those of weight 0 when there is no other, each as likely. What is drawn stands in the
    order of `row`.

    Args:
        row (Tensor): int32 or int64 [edges] or [edges, 1]: where each edge begins.
        colptr (Tensor): of the dtype of `row`, [nodes + 1] or [nodes + 1, 1]: where the edges that
            enter each node begin in `row`.
        edge_weight (Tensor): float32 [edges] or [edges, 1]: from 0 on.
        input_nodes (Tensor): of the dtype of `row`, [n] or [n, 1]: the nodes.
        sample_size (int): how many neighbours a node gets at most; -1 for all.
        eids (Tensor, optional): of the dtype of `row`, [edges] or [edges, 1]: the edges' numbers.
        return_eids (bool): whether to return the numbers of the edges drawn.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple: the neighbours; int32 [n]: how many each node has of them; and, if `return_eids`,
        the numbers of the edges to them.

    Raises:
        ArgumentError: numbers of edges are asked for and not given, `sample_size` is below -1, or
            a weight among which is drawn is no number from 0 on.
        DtypeError: tensors are not of one dtype, or the weights not float32.
        ShapeError: a tensor is no list, or `eids` or `edge_weight` is not as long as `row`.
        RangeError: a node is none of the graph, or `colptr` does not rise where it is read.

    Examples:
        >>> import scull as paddle
        >>> row, colptr = paddle.to_tensor([3, 7, 0, 9, 1]), paddle.to_tensor([0, 2, 5])
        >>> weights = paddle.to_tensor([1.0, 0.0, 2.0, 0.0, 0.5])
        >>> nodes = paddle.to_tensor([0, 1])
        >>> sample = paddle.geometric.weighted_sample_neighbors
        >>> neighbors, count = sample(row, colptr, weights, nodes, 1)
        >>> neighbors.tolist()[0], count.tolist()
        (3, [1, 1])
    """
    eids = given_eids(eids, return_eids)
    graph = {"row": row, "colptr": colptr, "edge_weight": edge_weight, "input_nodes": input_nodes}
    need_tensors("weighted_sample_neighbors", **graph)
    how = {"sample_size": integer(sample_size, "sample_size"), "return_eids": bool(return_eids)}
    found = neighbor.weighted_sample_neighbors(*graph.values(), eids, **how, name=name)
    return found if return_eids else found[:2]
