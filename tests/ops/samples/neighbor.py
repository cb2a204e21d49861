"""Samples of edges drawn from graphs, and of nodes numbered anew."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

ROW = [10, 11, 12, 13, 14, 15, 16]  # edges 0 to 2 enter node 0, none node 1, the others node 2
COLPTR = [0, 3, 3, 7]
WEIGHTS = array([1, 0, 2, 0.5, 3, 1, 1], "float32")
FEW = {"sample_size": 2, "return_eids": False}


def graph(kind: str = "int64", column: bool = False) -> tuple[Any, Any]:
    """The graph as lists, or as columns."""
    lists = array(ROW, kind), array(COLPTR, kind)
    return tuple(v[:, None] for v in lists) if column else lists


def edges_of(node: int) -> range:
    return range(COLPTR[node], COLPTR[node + 1])


def drawn(nodes: Any, size: int, first: int = 0, told: bool = True) -> Any:
    """Whether each node has as many of its edges as it should, in order, and none twice."""

    def holds(found: Any) -> bool:
        out, count, numbers = found
        asked = nodes.reshape(-1).tolist()
        expected = [min(len(edges_of(n)), size if size >= 0 else len(ROW)) for n in asked]
        parts = np.split(out - 10, np.cumsum(count)[:-1]) if asked else []
        return (
            count.tolist() == expected
            and (numbers.tolist() == (out - 10 + first).tolist() if told else not numbers.size)
            and all(set(p.tolist()) <= set(edges_of(n)) for p, n in zip(parts, asked, strict=True))
            and all((np.diff(p) > 0).all() for p in parts)
        )

    return holds


@samples("sample_neighbors")
def sample_neighbors_samples():
    for size in (-1, 0, 2, 9):
        for kind in ("int64", "int32"):
            nodes, eids = array([2, 0, 1, 2], kind), np.arange(50, 57, dtype=kind)
            how = {"sample_size": size, "return_eids": True, "grad": False}
            yield call(*graph(kind), nodes, eids, holds=drawn(nodes, size, 50), **how)
    nodes, none = array([[2], [0]], "int64"), i64(0)
    yield call(*graph(column=True), nodes, holds=drawn(nodes, 2, told=False), **FEW, grad=False)
    yield call(*graph(), none, holds=drawn(none, 2, told=False), **FEW, grad=False)
    nodes = nodes[:, 0]
    buffer = {"flag_perm_buffer": True, **FEW}
    found = drawn(nodes, 2, told=False)
    yield call(*graph(), nodes, None, i64(7), holds=found, **buffer, grad=False)
    yield from wrong(sample=lambda *lists, **how: (*lists, how))


def wrong(sample: Any) -> Any:
    """What both ways to draw refuse, as calls with lists that `sample` puts in order."""

    def refused(error: Any, law: str, *lists: Any, by_value: bool = False, **how: Any) -> Any:
        *lists, how = sample(*lists, **FEW | how)
        return fails(error, law, *lists, by_value=by_value, **how)

    row, colptr = graph()
    nodes = array([2, 0], "int64")
    small = nodes.astype("int32")
    yield refused(DtypeError, "row is float32, neither", f32(7), colptr, nodes)
    yield refused(DtypeError, "colptr is int32, not int64", row, colptr.astype("int32"), nodes)
    yield refused(DtypeError, "the list of nodes is int32, not int64", row, colptr, small)
    yield refused(DtypeError, "eids is int32, not int64", row, colptr, nodes, small)
    yield refused(ShapeError, "row is int64[7, 2], not a list", i64(7, 2), colptr, nodes)
    yield refused(ShapeError, "there are 7 edges and 2 eids", row, colptr, nodes, nodes)
    yield refused(ShapeError, "colptr is empty", row, i64(0), nodes)
    yield refused(ArgumentError, "there are none", row, colptr, nodes, return_eids=True)
    yield refused(ArgumentError, "a sample of -2", row, colptr, nodes, sample_size=-2)
    for node in (-1, 3):
        law = f"index {node} is outside [0, 3)"
        yield refused(RangeError, law, row, colptr, array([0, node], "int64"), by_value=True)
    for values, law in (
        ([0, 3, 2, 7], "it is 3 and then 2 at node 1"),
        ([-1, 3, 3, 7], "it is -1 and then 3 at node 0"),
        ([0, 3, 3, 8], "0 to at most 7, the number of edges: it is 3 and then 8 at node 2"),
    ):
        every = array([0, 1, 2], "int64")
        yield refused(RangeError, law, row, array(values, "int64"), every, by_value=True)


def weighted(nodes: Any, size: int) -> Any:
    """As `drawn`; besides an edge of weight 0 is drawn where there is no other."""
    law = drawn(nodes, size)
    return lambda found: law(found) and (size != 2 or 1 not in found[2])


@samples("weighted_sample_neighbors")
def weighted_sample_neighbors_samples():
    eids = np.arange(7)
    for size in (-1, 0, 2, 9):
        nodes = array([2, 0, 1, 2], "int64")
        how = {"sample_size": size, "return_eids": True, "grad": False}
        yield call(*graph(), WEIGHTS, nodes, eids, holds=weighted(nodes, size), **how)
    nodes, column = array([[0], [2]], "int32"), WEIGHTS[:, None]
    found = drawn(nodes, 2, told=False)
    yield call(*graph("int32", True), column, nodes, holds=found, **FEW, grad=False)
    yield from wrong(sample=lambda row, colptr, *rest, **how: (row, colptr, WEIGHTS, *rest, how))
    row, colptr = graph()
    nodes = nodes[:, 0].astype("int64")
    yield fails(DtypeError, "edge_weight is float64", row, colptr, f64(7), nodes, **FEW)
    yield fails(ShapeError, "7 edges and 6 weights", row, colptr, WEIGHTS[:6], nodes, **FEW)
    for weight in ("-1.0", "nan", "inf"):
        weights = np.where(np.arange(7) == 4, np.float32(weight), WEIGHTS)
        law = f"a weight is {weight}, not a number from 0 on"
        yield fails(ArgumentError, law, row, colptr, weights, nodes, by_value=True, **FEW)


def numbered(x: Any, neighbors: Any, count: Any, *tables: Any) -> Any:
    """The nodes numbered one after the other."""
    x, neighbors, count = (v.reshape(-1).tolist() for v in (x, neighbors, count))
    place = {n: i for i, n in enumerate(x)}
    nodes = list(x)
    for n in neighbors:
        if n not in place:
            place[n] = len(nodes)
            nodes.append(n)
    targets = [place[x[i % len(x)]] for i, many in enumerate(count) for _ in range(many)]
    sources = [place[n] for n in neighbors]
    return tuple(np.array(v, "int64") for v in (sources, targets, nodes))


@samples("reindex_graph", reference=numbered)
def reindex_graph_samples():
    for kind in ("int64", "int32"):
        x, neighbors = array([0, -5, 2], kind), array([8, 9, 0, 4, 7, 2, 7], kind)
        yield call(x, neighbors, array([2, 5, 0], "int32"), grad=False)
        yield call(x[:, None], neighbors[:, None], array([[2], [3], [2]], "int32"), grad=False)
        yield call(x, neighbors, array([2, 1, 0, 1, 0, 3], "int32"), grad=False)
    table = array([-1] * 9, "int32")
    yield call(x, neighbors, array([2, 5, 0], "int32"), table, table, grad=False)
    twice = array([3, 1, 3], "int64")
    yield call(twice, array([3, 4], "int64"), array([1, 1, 0], "int32"), grad=False)
    counts, none = array([0, 0, 0], "int32"), array([], "int64")
    yield call(twice, none, counts, grad=False)
    yield call(none, none, counts[:0], grad=False)
    yield fails(DtypeError, "neighbors is int64, not int32", array([1], "int32"), none, counts)
    yield fails(DtypeError, "count is int64, not int32", twice, none, i64(3))
    yield fails(DtypeError, "x is float32, neither", f32(3), none, counts)
    law = "count has 2 numbers, which are not some for each of 3 nodes"
    yield fails(ShapeError, law, twice, none, counts[:2])
    yield fails(ShapeError, "some for each of 0 nodes", none, none, counts)
    law = "the counts sum up to 0, and there are 2 neighbors"
    yield fails(ShapeError, law, twice, twice[:2], counts, by_value=True)
    below = array([3, -1, 0], "int32")
    yield fails(ArgumentError, "a count is -1, below 0", twice, twice[:2], below, by_value=True)


NEAR = array([1, 2, 0, 3, 3, 0, 1], "int64")  # a node has at least one edge
NEAR_COLPTR = array([0, 2, 4, 5, 7], "int64")


def hops(x: Any, sizes: Any, told: bool) -> Any:
    """Whether edges are such of the graph, enough of them, and the nodes those that they have."""

    def holds(found: Any) -> bool:
        src, dst, nodes, own, numbers = found
        ends = np.repeat(np.arange(4), np.diff(NEAR_COLPTR))
        edges = set(zip(NEAR.tolist(), ends.tolist(), strict=True))
        shown = list(zip(nodes[src[:, 0]].tolist(), nodes[dst[:, 0]].tolist(), strict=True))
        first = np.minimum(np.diff(NEAR_COLPTR)[x.reshape(-1)], sizes[0]).sum()
        return (
            set(shown) <= edges
            and (len(shown) == first if len(sizes) == 1 else len(shown) >= first)
            and own.shape == x.shape
            and (nodes[own] == x).all()
            and (nodes[: x.size] == x.reshape(-1)).all()
            and (NEAR[numbers].tolist() == nodes[src[:, 0]].tolist() if told else not numbers.size)
        )

    return holds


@samples("graph_khop_sampler")
def graph_khop_sampler_samples():
    x, eids = array([3, 0], "int64"), np.arange(7)
    for sizes in ((1,), (2, 1), (9, 9, 9)):
        how = {"sample_sizes": sizes, "grad": False}
        yield call(NEAR, NEAR_COLPTR, x, holds=hops(x, sizes, False), **how)
        found = hops(x[:, None], sizes, True)
        yield call(NEAR, NEAR_COLPTR, x[:, None], eids, return_eids=True, holds=found, **how)
    graph = NEAR, NEAR_COLPTR
    yield fails(ArgumentError, "sample_sizes is empty", *graph, x, sample_sizes=())
    yield fails(ArgumentError, "a sample of -2", *graph, x, sample_sizes=(1, -2))
    law = "return_eids asks for eids, and there are none"
    yield fails(ArgumentError, law, *graph, x, sample_sizes=(1,), return_eids=True)
    wild = array([9], "int64")
    yield fails(RangeError, "outside [0, 4)", *graph, wild, sample_sizes=(1,), by_value=True)
    law = "index 14 is outside [0, 3)"
    drawn_ends = array([10, 14], "int64"), array([0, 2, 2, 2], "int64"), array([0], "int64")
    yield fails(RangeError, law, *drawn_ends, sample_sizes=(2, 1), by_value=True)
