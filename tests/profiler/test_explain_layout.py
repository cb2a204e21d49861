"""Graphs are drawn in layers: edges lead down, boxes stay apart."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scull.profiler.explain.layout import GAP, HEIGHT, LAYER, MOST, NEAR, drawn, tracks


def chain(size):
    return list(pairwise(range(size)))


@st.composite
def graphs(draw):
    """Widths of boxes, and edges from lower numbers to higher."""
    size = draw(st.integers(1, 40))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
        lambda p: p[0] != p[1]
    )
    edges = draw(st.lists(pairs, max_size=80))
    widths = draw(st.lists(st.floats(20, 200), min_size=size, max_size=size))
    return widths, sorted({tuple(sorted(pair)) for pair in edges})


@given(graphs())
def test_boxes_stay_apart_and_within_the_drawing_and_edges_lead_down(graph):
    widths, edges = graph
    found = drawn(widths, edges)
    rows: dict[float, list[tuple[float, float]]] = {}
    for (x, y), width in zip(found.boxes, widths, strict=True):
        rows.setdefault(y, []).append((x - width / 2, x + width / 2))
        assert x - width / 2 >= -0.01 and x + width / 2 <= found.width + 0.01
        assert y - HEIGHT / 2 > 0 and y + HEIGHT / 2 < found.height
    for row in rows.values():
        assert len(row) <= MOST
        for (_, right), (left, _) in pairwise(sorted(row)):
            assert left - right >= GAP - 0.01
    for (a, b), points in zip(edges, found.edges, strict=True):
        (x, y), (u, v) = found.boxes[a], found.boxes[b]
        assert points[0] == (x, y + HEIGHT / 2) and points[-1] == (u, v - HEIGHT / 2)
        assert y < v and all(p[1] <= q[1] for p, q in pairwise(points))
        assert all(0 <= p[0] <= found.width for p in points)


def test_a_chain_is_a_straight_line():
    found = drawn([60.0, 120.0, 80.0, 100.0], chain(4))
    assert len({round(x, 3) for x, _ in found.boxes}) == 1
    assert [y for _, y in found.boxes] == [LAYER / 2 + LAYER * n for n in range(4)]


def test_the_way_on_stays_straight_beside_ends():
    ends = [(0, 2), (0, 3), (1, 4), (1, 5)]  # of which nobody is waited for
    found = drawn([80.0] * 8, [(0, 1), (1, 6), (6, 7), *ends])
    straight = [found.boxes[i][0] for i in (0, 1, 6, 7)]
    assert max(straight) - min(straight) < 10


def test_two_ways_lie_on_both_sides_of_where_they_part_and_meet():
    found = drawn([80.0] * 4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    (top, _), (left, _), (right, _), (bottom, _) = found.boxes
    assert min(left, right) < top < max(left, right) and abs(top - bottom) < 0.01


def test_edges_of_a_ladder_do_not_cross():
    edges = [(0, 3), (1, 2), (2, 5), (3, 4)]
    found = drawn([50.0] * 6, edges)
    order = [[found.boxes[i][0] for i in row] for row in ((0, 1), (3, 2), (4, 5))]
    assert len({a < b for a, b in order}) == 1


def test_a_long_edge_goes_around_all_boxes():
    size = NEAR + 3
    found = drawn([100.0] * size, [*chain(size), (0, size - 1)])
    right = max(x for x, _ in found.boxes) + 50
    *short, long = found.edges
    assert all(len(points) == 2 for points in short)
    assert max(x for x, _ in long) > right and found.width > right


def test_what_waits_for_nobody_and_is_not_waited_for_comes_last():
    found = drawn([50.0] * 25, [(23, 24)])
    layers = [round((y - LAYER / 2) / LAYER) for _, y in found.boxes]
    assert layers[23:] == [0, 1] and sorted(layers[:23]) == [2] * 10 + [3] * 10 + [4] * 3


def test_nothing_is_drawn_of_nothing():
    found = drawn([], [])
    assert (found.boxes, found.edges, found.width, found.height) == ((), (), 0.0, 0.0)


def test_spans_on_one_track_do_not_meet_and_short_ones_lie_inside():
    spans = [(0, 20), (1, 9), (10, 19), (5, 30), (21, 30)]
    found = tracks(spans)
    assert found[1] == found[2] == 0 and found[4] == 0 and found[0] == 1 and found[3] == 2


def test_the_same_graph_is_drawn_the_same():
    edges = [(i, j) for j in range(1, 60) for i in {j // 2, j // 3} if i != j]
    widths = [40.0 + i for i in range(60)]
    assert drawn(widths, edges) == drawn(widths, edges)
