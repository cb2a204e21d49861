"""Graphs in compressed columns: neighbours drawn, and nodes numbered anew.

The edges that enter node `n` are those from `colptr[n]` to `colptr[n + 1]`; `row` says where each
begins.
"""

from typing import Any

import numpy as np

from scull.core import random
from scull.core.attribute import Ints
from scull.core.dtype import DType, float32, int32, int64
from scull.core.eager import primitive
from scull.core.memory import refuse_bytes
from scull.core.meta import UNKNOWN, Meta, agree
from scull.core.operand import meta_or_none
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.index import inside, one_axis

NO_GRADIENT = "edges are not differentiable"
NO_LOWERING = "how many edges there are depends on values"
ALL = -1  # the size of a sample of all there are
TINY = 1e-300  # weighs less than every float32 above 0, so that it waits longer
EACH = 48  # bytes for an edge among which some are drawn


def length(x: Meta, name: str, dtype: DType) -> int:
    """How long a list of one element type is."""
    if x.dtype is not dtype:
        raise DtypeError(f"{name} is {x.dtype.name}, not {dtype.name}")
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[1] not in (1, -1)):
        raise ShapeError(f"{name} is {x}, not a list of numbers")
    return x.shape[0]


def whole(x: Meta, name: str) -> DType:
    """The element type of nodes."""
    if x.dtype not in (int32, int64):
        raise DtypeError(f"{name} is {x.dtype.name}, neither int32 nor int64")
    return x.dtype


def graph(row: Meta, colptr: Meta, x: Meta, eids: Meta | None, return_eids: bool) -> Meta:
    """The meta of some edges of a graph, which is refused if it is none."""
    dtype = whole(row, "row")
    edges = length(row, "row", dtype)
    if length(colptr, "colptr", dtype) == 0:
        raise ShapeError("colptr is empty: it has one number more than there are nodes")
    length(x, "the list of nodes", dtype)
    if eids is not None:
        agree(edges, length(eids, "eids", dtype), "there are {} edges and {} eids")
    elif return_eids:
        raise ArgumentError("return_eids asks for eids, and there are none")
    return Meta((UNKNOWN,), dtype)


def countable(sample_size: int) -> None:
    """Refuse a size that no sample has."""
    if sample_size < ALL:
        raise ArgumentError(
            f"a sample of {sample_size}: its size is a number from 0 on, or -1 for all"
        )


def checked(rule: Any, operands: tuple[Any, ...], attrs: dict[str, Any]) -> list[Any]:
    """Operands as lists without axes of size 1, refused where the rule of types refuses them."""
    rule.op.infer(tuple(map(meta_or_none, operands)), attrs)
    return [None if v is None else one_axis(v) for v in operands]


def spans(colptr: Any, nodes: Any, edges: int) -> tuple[Any, Any]:
    """Where the edges of each node begin, and how many they are."""
    inside(nodes, colptr.size - 1)
    starts, ends = colptr[nodes].astype("int64"), colptr[nodes + 1].astype("int64")
    wrong = (starts < 0) | (ends < starts) | (ends > edges)
    if wrong.any():
        i = wrong.argmax()
        law = f"colptr does not rise from 0 to at most {edges}, the number of edges"
        raise RangeError(f"{law}: it is {starts[i]} and then {ends[i]} at node {nodes[i]}")
    return starts, ends - starts


def runs(starts: Any, counts: Any) -> Any:
    """The numbers from each start on, so many."""
    ends = counts.cumsum()
    return np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())


def drawn(
    source: Any, starts: Any, degrees: Any, size: int, weights: Any = None
) -> tuple[Any, Any]:
    """Places of edges drawn at each node, and how many there are: all of no more than `size`."""
    countable(size)
    counts = degrees if size == ALL else np.minimum(degrees, size)
    crowded = (degrees > counts) & (counts > 0)
    considered = int(np.where(crowded, degrees, counts).sum())
    refuse_bytes(considered * EACH, f"a sample from {considered} edges")
    places = runs(starts, counts)
    if crowded.any():
        some = first_ones(source, starts[crowded], degrees[crowded], size, weights)
        places[np.repeat(crowded, counts)] = some.reshape(-1)
    return places, counts


def first_ones(source: Any, starts: Any, degrees: Any, size: int, weights: Any) -> Any:
    """The `size` edges of each node whose random keys are the least, in the order of the graph."""
    edges = runs(starts, degrees)
    keys = source.random_raw(edges.size)
    if weights is not None:
        keys = waits(keys, weights[edges])
    bits = degrees.size.bit_length()  # of a key that go to the number of its node, in one sort
    node = np.repeat(np.arange(degrees.size, dtype="uint64"), degrees)
    keys = (keys >> np.uint64(bits)) | (node << np.uint64(64 - bits))
    order = keys.argsort(kind="stable")
    first = degrees.cumsum() - degrees
    return np.sort(edges[order[first[:, None] + np.arange(size)]], axis=1)


def waits(words: Any, weights: Any) -> Any:
    """How long each edge waits, as whole numbers: the next is of each by its share of the weights.

    Times of exponential clocks (Efraimidis and Spirakis, "Weighted random sampling with a
    reservoir", 2006); numbers from 0 on have the order of their bits.
    """
    usable = (weights >= 0) & (weights < np.inf)
    if not usable.all():
        raise ArgumentError(f"a weight is {weights[usable.argmin()]}, not a number from 0 on")
    unit = ((words >> np.uint64(12)) + 0.5) * 2.0**-52
    rates = np.maximum(weights.astype("float64"), TINY)
    return (-np.log(unit) / rates).view("uint64") << np.uint64(1)


def picked(row: Any, eids: Any, places: Any, counts: Any, return_eids: bool) -> Any:
    """What is told of drawn edges: where they begin, how many a node has, and their numbers."""
    numbers = eids[places] if return_eids else np.empty(0, row.dtype)
    return row[places], counts.astype("int32"), numbers


@primitive(
    type="graph_sample_neighbors",
    prefix="sample_neighbors",
    outputs=("out", "out_count", "out_eids"),
    slots={"colptr": "Col_Ptr", "perm_buffer": "Perm_Buffer"}
    | {"out_count": "Out_Count", "out_eids": "Out_Eids"},
    effects=("random",),
)
def sample_neighbors(
    row: Meta,
    colptr: Meta,
    x: Meta,
    eids: Meta = None,
    perm_buffer: Meta = None,
    *,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
) -> tuple[Meta, Meta, Meta]:
    """Up to `sample_size` edges that enter each node of `x`, each edge as likely as the others.

    With where they begin: how many there are at each node, and their numbers.
    """
    countable(sample_size)
    found = graph(row, colptr, x, eids, return_eids)
    return found, found.with_dtype(int32), found


@sample_neighbors.kernel
def sample_neighbors_kernel(
    xp: Any,
    row: Any,
    colptr: Any,
    x: Any,
    eids: Any = None,
    perm_buffer: Any = None,
    *,
    out: Any = None,
    draw: Any,
    **attrs: Any,
) -> Any:
    operands = (row, colptr, x, eids)
    row, colptr, nodes, eids = checked(sample_neighbors, operands, attrs)
    ways = spans(colptr, nodes, row.size)
    places, counts = drawn(random.philox(draw), *ways, attrs["sample_size"])
    return picked(row, eids, places, counts, attrs["return_eids"])


LISTS = ("row", "colptr", "edge_weight", "input_nodes", "eids")
FOUND = ("out_neighbors", "out_count", "out_eids")


@primitive(outputs=FOUND, slots={n: n for n in LISTS + FOUND}, effects=("random",))
def weighted_sample_neighbors(
    row: Meta,
    colptr: Meta,
    edge_weight: Meta,
    input_nodes: Meta,
    eids: Meta = None,
    *,
    sample_size: int,
    return_eids: bool,
) -> tuple[Meta, Meta, Meta]:
    """As `sample_neighbors`: each edge is the next with a chance in proportion to its weight."""
    countable(sample_size)
    found = graph(row, colptr, input_nodes, eids, return_eids)
    weights = length(edge_weight, "edge_weight", float32)
    edges = row.shape[0]
    if -1 not in (edges, weights) and edges > weights:
        raise ShapeError(f"there are {edges} edges and {weights} weights")
    return found, found.with_dtype(int32), found


@weighted_sample_neighbors.kernel
def weighted_sample_neighbors_kernel(
    xp: Any,
    row: Any,
    colptr: Any,
    edge_weight: Any,
    input_nodes: Any,
    eids: Any = None,
    *,
    out: Any = None,
    draw: Any,
    **attrs: Any,
) -> Any:
    operands = (row, colptr, edge_weight, input_nodes, eids)
    row, colptr, weights, nodes, eids = checked(weighted_sample_neighbors, operands, attrs)
    ways = spans(colptr, nodes, row.size)
    places, counts = drawn(random.philox(draw), *ways, attrs["sample_size"], weights)
    return picked(row, eids, places, counts, attrs["return_eids"])


def numbered(x: Any, neighbors: Any) -> tuple[Any, Any, Any]:
    """Places of `neighbors` and of `x` among all nodes: those of `x`, then others as they come.

    A node that `x` names several times is where it names it last.
    """
    values, first, inverse = np.unique(np.concatenate([x, neighbors]), True, True)
    fresh = (first >= x.size).nonzero()[0]
    fresh = fresh[first[fresh].argsort()]
    place = np.empty(values.size, x.dtype)
    place[fresh] = np.arange(x.size, x.size + fresh.size)
    place[inverse[: x.size]] = np.arange(x.size)
    nodes = np.concatenate([x, values[fresh]])
    return place[inverse[x.size :]], place[inverse[: x.size]], nodes


@primitive(
    type="graph_reindex",
    prefix="reindex_graph",
    outputs=("reindex_src", "reindex_dst", "out_nodes"),
    slots={"hashtable_value": "HashTable_Value", "hashtable_index": "HashTable_Index"}
    | {"reindex_src": "Reindex_Src", "reindex_dst": "Reindex_Dst", "out_nodes": "Out_Nodes"},
)
def reindex_graph(
    x: Meta,
    neighbors: Meta,
    count: Meta,
    hashtable_value: Meta = None,
    hashtable_index: Meta = None,
) -> tuple[Meta, Meta, Meta]:
    """The edges that enter the nodes `x`, with nodes numbered from 0 on, and these nodes.

    `neighbors` says where they begin, `count` how many enter each node, once or several times.
    """
    dtype = whole(x, "x")
    length(neighbors, "neighbors", dtype)
    counts, nodes = length(count, "count", int32), length(x, "x", dtype)
    if -1 not in (counts, nodes) and (counts % nodes if nodes else counts):
        raise ShapeError(
            f"count has {counts} numbers, which are not some for each of {nodes} nodes"
        )
    found = Meta((UNKNOWN,), dtype)
    return found, found, found


@reindex_graph.kernel
def reindex_graph_kernel(
    xp: Any, x: Any, neighbors: Any, count: Any, *tables: Any, out: Any = None
) -> Any:
    x, neighbors, count = checked(reindex_graph, (x, neighbors, count), {})
    if count.size and count.min() < 0:
        raise ArgumentError(f"a count is {count.min()}, below 0")
    if (total := count.sum(dtype="int64")) != neighbors.size:
        raise ShapeError(f"the counts sum up to {total}, and there are {neighbors.size} neighbors")
    sources, targets, nodes = numbered(x, neighbors)
    rounds = count.size // max(x.size, 1)
    return sources, np.repeat(np.tile(targets, rounds), count), nodes


@primitive(
    outputs=("out_src", "out_dst", "sample_index", "reindex_x", "out_eids"),
    slots={"colptr": "Col_Ptr", "out_src": "Out_Src", "out_dst": "Out_Dst"}
    | {"sample_index": "Sample_Index", "reindex_x": "Reindex_X", "out_eids": "Out_Eids"},
    hidden=("out_eids",),
    effects=("random",),
)
def graph_khop_sampler(
    row: Meta,
    colptr: Meta,
    x: Meta,
    eids: Meta = None,
    *,
    sample_sizes: Ints = (),
    return_eids: bool = False,
) -> tuple[Meta, Meta, Meta, Meta, Meta]:
    """Edges drawn at the nodes `x`, then at those where they begin, and so on, numbered anew.

    With both ends of them: the nodes, the places of `x` among these, and the edges' numbers.
    """
    if not sample_sizes:
        raise ArgumentError("sample_sizes is empty: it says how many edges a node gets in each hop")
    for size in sample_sizes:
        countable(size)
    found = graph(row, colptr, x, eids, return_eids)
    ends = found.with_shape((UNKNOWN, 1))
    return ends, ends, found, x, found


@graph_khop_sampler.kernel
def graph_khop_sampler_kernel(
    xp: Any,
    row: Any,
    colptr: Any,
    x: Any,
    eids: Any = None,
    *,
    out: Any = None,
    draw: Any,
    **attrs: Any,
) -> Any:
    row, colptr, nodes, eids = checked(graph_khop_sampler, (row, colptr, x, eids), attrs)
    source, hops = random.philox(draw), []
    for size in attrs["sample_sizes"]:
        places, counts = drawn(source, *spans(colptr, nodes, row.size), size)
        hops.append((nodes, places, counts))
        nodes = np.setdiff1d(row[places], nodes)
    asked, places, counts = map(np.concatenate, zip(*hops, strict=True))
    sources, targets, nodes = numbered(asked, row[places])
    numbers = eids[places] if attrs["return_eids"] else np.empty(0, row.dtype)
    own = targets[: x.shape[0]].reshape(x.shape)
    if out is not None and out[3] is not None:
        out[3][...] = own
        own = out[3]
    ends = np.repeat(targets, counts)
    return sources[:, None], ends[:, None], nodes, own, numbers


for operator in (sample_neighbors, weighted_sample_neighbors, reindex_graph, graph_khop_sampler):
    operator.no_grad(NO_GRADIENT)
    operator.no_lowering(NO_LOWERING)
