"""Graphs drawn from: samples keep their laws and chances, and numbers anew are the reference's."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RangeError

G, OLDER = paddle.geometric, paddle.incubate
MANY = 20_000  # draws of one distribution, each at a node of its own


def tensor(values, dtype="int64"):
    return paddle.to_tensor(np.array(values), dtype=dtype)


def star(edges):
    """A graph with one node that so many edges enter, and that node many times."""
    return tensor(range(edges)), tensor([0, edges]), tensor([0] * MANY)


def near(found, chances):
    """Whether so many of many draws are what chances say, up to five deviations."""
    chances = np.asarray(chances)
    deviation = np.sqrt(MANY * chances * (1 - chances))
    return (np.abs(found - MANY * chances) <= 5 * deviation + 1e-6).all()


def pairs_of(found, edges):
    """How often each pair of edges was drawn together."""
    both = np.zeros((edges, edges), int)
    np.add.at(both, tuple(found.numpy().reshape(-1, 2).T), 1)
    return both[np.triu_indices(edges, 1)]


def chances_of_pairs(weights):
    """The chance of each pair, drawn one after the other in proportion to their weights."""
    share = np.asarray(weights) / np.sum(weights)
    first, second = np.triu_indices(len(share), 1)
    return share[first] * share[second] * (1 / (1 - share[first]) + 1 / (1 - share[second]))


def test_every_pair_of_edges_is_as_likely():
    paddle.seed(11)
    found, count = G.sample_neighbors(*star(5), sample_size=2)
    assert (count.numpy() == 2).all()
    assert near(pairs_of(found, 5), np.full(10, 0.1))


@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_every_edge_is_as_likely(size):
    paddle.seed(12)
    found, _ = G.sample_neighbors(*star(9), sample_size=size)
    assert near(np.bincount(found.numpy(), minlength=9), np.full(9, size / 9))


WEIGHTS = [0.5, 3.0, 1.0, 0.0, 1.5, 1e-3]


def test_an_edge_is_drawn_in_proportion_to_its_weight():
    paddle.seed(13)
    row, colptr, nodes = star(6)
    weights = tensor(WEIGHTS, "float32")
    (found, _) = G.weighted_sample_neighbors(row, colptr, weights, nodes, 1)
    share = np.array(WEIGHTS) / sum(WEIGHTS)
    assert near(np.bincount(found.numpy(), minlength=6), share)


def test_weights_of_edges_that_there_are_not_are_passed_over():
    row, colptr, nodes = tensor(range(4)), tensor([0, 4]), tensor([0])
    weights = tensor([0, 1, 0, 2, 9, np.nan], "float32")
    found, count = G.weighted_sample_neighbors(row, colptr, weights, nodes, 2)
    assert (sorted(found.tolist()), count.tolist()) == ([1, 3], [2])


def test_the_next_edge_is_drawn_in_proportion_to_the_weights_that_are_left():
    paddle.seed(14)
    row, colptr, nodes = star(6)
    weights = tensor(WEIGHTS, "float32")
    (found, _) = G.weighted_sample_neighbors(row, colptr, weights, nodes, 2)
    assert near(pairs_of(found, 6), chances_of_pairs(WEIGHTS))


def test_edges_without_weight_come_when_there_are_no_others():
    row, colptr, weights = tensor(range(4)), tensor([0, 4]), tensor([0, 1, 0, 2], "float32")
    for size in (1, 2, 3):
        found, _ = G.weighted_sample_neighbors(row, colptr, weights, tensor([0]), size)
        assert len(found) == size and len({1, 3} & set(found.tolist())) == min(size, 2)


def test_edges_without_weight_are_as_likely_as_one_another():
    paddle.seed(15)
    row, colptr, nodes = star(4)
    weights = tensor([0, 1e-45, 0, 0], "float32")
    found, _ = G.weighted_sample_neighbors(row, colptr, weights, nodes, 2)
    assert near(pairs_of(found, 4), [1 / 3, 0, 0, 1 / 3, 1 / 3, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_a_large_graph_is_of_its_edges_none_twice(weighted):
    nodes, edges, size = 20_000, 1_000_000, 15
    source = np.random.default_rng(5)
    colptr = np.concatenate([[0], np.sort(source.integers(0, edges + 1, nodes - 1)), [edges]])
    row, asked = source.integers(0, nodes, edges), source.permutation(nodes)[:1024]
    rest = [tensor(source.random(edges), "float32")] if weighted else []
    sample = G.weighted_sample_neighbors if weighted else G.sample_neighbors
    lists = tensor(row), tensor(colptr), *rest, tensor(asked)
    found, count, eids = (
        v.numpy() for v in sample(*lists, size, eids=tensor(range(edges)), return_eids=True)
    )
    degrees = np.diff(colptr)[asked]
    assert (count == np.minimum(degrees, size)).all() and (degrees > size).any()
    assert (row[eids] == found).all()
    owner = np.repeat(asked, count)
    assert ((colptr[owner] <= eids) & (eids < colptr[owner + 1])).all()
    assert len(np.unique(eids)) == len(eids)


def test_a_seed_gives_the_same_sample_and_another_draw_another():
    row, colptr, nodes = tensor(range(1000)), tensor([0, 1000]), tensor([0])
    paddle.seed(3)
    first, second = (G.sample_neighbors(row, colptr, nodes, 20)[0].tolist() for _ in range(2))
    paddle.seed(3)
    assert first == G.sample_neighbors(row, colptr, nodes, 20)[0].tolist() != second


def test_a_node_asked_for_twice_has_two_samples():
    row, colptr = tensor(range(1000)), tensor([0, 1000])
    found, _ = G.sample_neighbors(row, colptr, tensor([0, 0]), 20)
    assert found.tolist()[:20] != found.tolist()[20:]


# What the reference gives: of nodes that are unique, repeated, below 0, and of two kinds of edges.
RENUMBERED = [
    ([0, 1, 2], [8, 9, 0, 4, 7, 6, 7], [2, 3, 2])
    + ([3, 4, 0, 5, 6, 7, 6], [0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 8, 9, 4, 7, 6]),
    ([0, 1, 0, 2], [8, 9, 0, 4, 7, 6, 7], [2, 3, 1, 1])
    + ([4, 5, 2, 6, 7, 8, 7], [2, 2, 1, 1, 1, 2, 3], [0, 1, 0, 2, 8, 9, 4, 7, 6]),
    ([-1, 1], [8, 9, 0, -4, -1, 6, 7], [2, 5])
    + ([2, 3, 4, 5, 0, 6, 7], [0, 0, 1, 1, 1, 1, 1], [-1, 1, 8, 9, 0, -4, 6, 7]),
    ([0, 1], [8, 9, 0, 4, 7, 6, 7], [2, 3, 1, 1])
    + ([2, 3, 0, 4, 5, 6, 5], [0, 0, 1, 1, 1, 0, 1], [0, 1, 8, 9, 4, 7, 6]),
    ([1, 2], [], [0, 0], [], [], [1, 2]),
]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("case", range(len(RENUMBERED)))
def test_nodes_are_numbered_as_by_the_reference(case, dtype):
    x, neighbors, count, *expected = RENUMBERED[case]
    found = G.reindex_graph(tensor(x, dtype), tensor(neighbors, dtype), tensor(count, "int32"))
    assert [v.tolist() for v in found] == expected
    assert {v.dtype for v in found} == {getattr(paddle, dtype)}
    older = OLDER.graph_reindex(tensor(x, dtype), tensor(neighbors, dtype), tensor(count, "int32"))
    assert [v.tolist() for v in older] == expected


def test_edges_of_two_kinds_are_numbered_together():
    neighbors = [tensor([8, 9, 0, 4, 7, 6, 7]), tensor([0, 2, 3, 5, 1])]
    count = [tensor([2, 3, 2], "int32"), tensor([1, 3, 1], "int32")]
    found = [v.tolist() for v in G.reindex_heter_graph(tensor([0, 1, 2]), neighbors, count)]
    assert found == [
        [3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1],
        [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2],
        [0, 1, 2, 8, 9, 4, 7, 6, 3, 5],
    ]


ROW, COLPTR = [2, 2, 3, 0, 4, 2, 4, 3], [0, 2, 3, 4, 5, 8]
# By nodes and hops: what the reference gives where it draws all; 0 is come back to.
HOPS = {
    ((0, 4, 3), 3): (
        [3, 3, 3, 1, 2, 1, 4, 3, 3],
        [4, 4, 1, 1, 1, 2, 3, 4, 4],
        [0, 4, 3, 2, 0],
        [4, 1, 2],
        [0, 1, 5, 6, 7, 4, 3, 0, 1],
    ),
}


@pytest.mark.parametrize(("nodes", "count"), HOPS)
@pytest.mark.parametrize("size", [-1, 3])
def test_neighbours_of_neighbours_are_those_of_the_reference(nodes, count, size):
    graph = tensor(ROW), tensor(COLPTR), tensor(nodes)
    found = OLDER.graph_khop_sampler(*graph, [size] * count, tensor(range(8)), True)
    assert [v.flatten().tolist() for v in found] == list(HOPS[nodes, count])
    assert [v.shape for v in found[:2]] == [[9, 1]] * 2


def recorded(call, feed):
    """What a Program of one call gives."""
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            data = {n: paddle.static.data(n, [-1], str(v.dtype)) for n, v in feed.items()}
            outs = call(**data)
            return paddle.static.Executor().run(feed=feed, fetch_list=list(outs))
    finally:
        paddle.disable_static()


LISTS = {
    "row": np.array(ROW),
    "colptr": np.array(COLPTR),
    "nodes": np.array([4, 0, 1]),
    "eids": np.arange(10, 18),
    "weights": np.arange(1, 9, dtype="float32"),
    "count": np.array([3, 3, 2], "int32"),
}
CALLS = {
    "all": lambda row, colptr, nodes, **_: G.sample_neighbors(row, colptr, nodes),
    "some": lambda row, colptr, nodes, eids, **_: G.sample_neighbors(
        row, colptr, nodes, 2, eids, True
    ),
    "by weight": lambda row, colptr, nodes, eids, weights, **_: G.weighted_sample_neighbors(
        row, colptr, weights, nodes, 2, eids, True
    ),
    "by an older name": lambda row, colptr, nodes, eids, **_: OLDER.graph_sample_neighbors(
        row, colptr, nodes, eids, eids, 2, True, True
    ),
    "anew": lambda nodes, row, count, **_: G.reindex_graph(nodes, row, count),
    "anew, of two kinds": lambda nodes, row, count, **_: G.reindex_heter_graph(
        nodes, [row, row], [count, count]
    ),
    "hops": lambda row, colptr, nodes, eids, **_: OLDER.graph_khop_sampler(
        row, colptr, nodes, [2, 1], eids, True
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_program_gives_what_eager_mode_gives(name):
    paddle.seed(9)
    expected = CALLS[name](**{n: paddle.to_tensor(v) for n, v in LISTS.items()})
    paddle.seed(9)
    found = recorded(CALLS[name], LISTS)
    assert [v.tolist() for v in found] == [v.tolist() for v in expected]
    assert [v.dtype.name for v in found] == [v.numpy().dtype.name for v in expected]


def test_a_program_refuses_what_it_is_fed():
    with pytest.raises(RangeError, match=r"index 7 is outside \[0, 5\)"):
        recorded(CALLS["all"], LISTS | {"nodes": np.array([7])})
    with pytest.raises(ValueError, match="there are 8 edges and 3 eids"):
        recorded(CALLS["some"], LISTS | {"eids": np.arange(3)})


GRAPH = tensor(ROW), tensor(COLPTR), tensor([4, 0, 1])
WRONG = {
    "numbers that are missing": (
        *(ArgumentError, "`eids` should not be None"),
        lambda: G.sample_neighbors(*GRAPH, return_eids=True),
    ),
    "numbers that are missing beside weights": (
        *(ArgumentError, "`eids` should not be None"),
        lambda: G.weighted_sample_neighbors(*GRAPH[:2], GRAPH[0], GRAPH[2], return_eids=True),
    ),
    "numbers that are missing in hops": (
        *(ArgumentError, "`sorted_eids` should not be None"),
        lambda: OLDER.graph_khop_sampler(*GRAPH, [1], return_eids=True),
    ),
    "a buffer that is missing": (
        *(ArgumentError, "`perm_buffer` should not be None"),
        lambda: OLDER.graph_sample_neighbors(*GRAPH, flag_perm_buffer=True),
    ),
    "a table that is missing": (
        *(ArgumentError, "`value_buffer` and `index_buffer` should not be None"),
        lambda: OLDER.graph_reindex(*GRAPH, GRAPH[0], flag_buffer_hashtable=True),
    ),
    "a list": (
        *(ArgumentTypeError, "argument `colptr` must be Tensor"),
        lambda: G.sample_neighbors(GRAPH[0], COLPTR, GRAPH[2]),
    ),
    "a size that is none": (
        *(ArgumentTypeError, "`sample_size` holds integers"),
        lambda: G.sample_neighbors(*GRAPH, sample_size="two"),
    ),
    "sizes that are no list": (
        *(ArgumentTypeError, "`sample_sizes` is a list or a tuple"),
        lambda: OLDER.graph_khop_sampler(*GRAPH, 2),
    ),
    "no kind of edges": (
        *(ArgumentError, "empty list"),
        lambda: G.reindex_heter_graph(GRAPH[2], [], []),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_refused_with_its_law(name):
    error, law, call = WRONG[name]
    with pytest.raises(error, match=law):
        call()
