"""Any order that respects the graph gives the same bits, and every edge of it is needed."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scull.executor import plan as planning
from scull.executor.dependency import legal_order, linked
from tests.executor.random_program import KINDS, actions, build


@given(choices=actions, seeds=st.lists(st.integers(0, 2**31), min_size=4, max_size=4))
@settings(max_examples=60)
def test_any_legal_order_gives_the_same_bits_while_freed_memory_is_poisoned(choices, seeds):
    example = build(choices)
    expected = example.run(example.plan(), poison=False)
    for seed in seeds:
        found = example.run(example.plan(seed))
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@given(choices=actions)
@settings(max_examples=60)
def test_views_and_overwritten_memory_give_what_copies_would_give(choices):
    example = build(choices)
    leaves = example.leaves()
    found = example.run(example.plan())
    for v, value in zip(leaves, found, strict=False):
        assert not v.persistable or np.array_equal(value, found[-1])
        if v not in example.drawn:
            np.testing.assert_allclose(value, example.values[v], rtol=1e-5, err_msg=v.name)


def inverted(graph, edge):
    """An order that respects all edges but one, in which the one that should wait comes first."""
    count = len(graph.counts)
    rest = linked([e for e in graph.edges if e is not edge], count)
    first = [i for i in range(count) if rest.precedes(i, edge.after)]
    first.append(edge.after)
    return (*first, *(i for i in range(count) if i not in set(first)))


def differs(example, order, expected, monkeypatch):
    """Whether a run in an illegal order fails or gives something else."""
    with monkeypatch.context() as patched:
        patched.setattr(planning, "legal_order", lambda graph, seed: order)
        try:
            found = example.run(example.plan(seed=0))
        except Exception:
            return True
    return not all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_a_graph_without_any_one_of_its_edges_is_noticed(monkeypatch):
    chance = random.Random(0)
    noticed = []
    for _ in range(80):
        picks = range(chance.randrange(2, 15))
        example = build([(chance.choice(KINDS), *chance.choices(range(41), k=2)) for _ in picks])
        plan = example.plan()
        expected = example.run(plan)
        for edge in plan.graph.edges:
            order = inverted(plan.graph, edge)
            noticed.append(differs(example, order, expected, monkeypatch))
    assert len(noticed) > 300
    assert sum(noticed) / len(noticed) >= 0.95


@given(choices=actions)
@settings(max_examples=60)
def test_what_follows_is_left_out_and_nothing_else(choices):
    graph = build(choices).plan().graph
    assert linked(graph.edges, len(graph.counts)).before == graph.before
    for edge in graph.edges:
        rest = linked([e for e in graph.edges if e is not edge], len(graph.counts))
        assert not rest.precedes(edge.before, edge.after)


@given(choices=actions, seed=st.integers(0, 2**31))
@settings(max_examples=60)
def test_in_any_order_a_value_goes_at_the_last_of_its_last_users(choices, seed):
    example = build(choices)
    plan = example.plan()
    order = legal_order(plan.graph, seed)
    scheduled = [step.operator for step in example.plan(seed).instructions]
    operators = [plan.instructions[i].operator for i in order]
    assert [o.source or o for o in operators] == [o.source or o for o in scheduled]
    for life in plan.lifetimes:
        assert set(life.last) <= set(life.users)
        ends = max((order.index(i) for i in life.users), default=-1)
        assert ends == max((order.index(i) for i in life.last), default=-1)
        for other in life.last:
            assert not any(plan.graph.precedes(other, i) for i in life.users)


@given(choices=actions, seed=st.integers(0, 2**31))
@settings(max_examples=60)
def test_the_sequential_map_drops_a_value_where_counting_its_last_users_would(choices, seed):
    plan = build(choices).plan(seed)
    dropped = [(slot, i) for i, step in enumerate(plan.instructions) for slot in step.frees]
    counted = [(life.slot, max(life.last, default=-1)) for life in plan.lifetimes]
    looked = {life.slot for life in plan.lifetimes if life.keeps_shape}
    assert sorted(d for d in dropped if d[0] not in looked) == sorted(
        c for c in counted if c[0] not in looked
    )
    assert looked <= {slot for slot, _ in dropped} | plan.kept
