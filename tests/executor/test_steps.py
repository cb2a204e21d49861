"""The steps of planning one by one: what each finds for a small Program, as it prints."""

import pytest

import scull as paddle
from scull.core.place import Place
from scull.errors import FeedError, FetchError, UnknownOpError
from scull.executor.access import touched, touches_text
from scull.executor.dependency import graph_of
from scull.executor.lifetime import last_uses, lifetimes
from scull.executor.plan import make_plan
from scull.executor.prepare import prepare
from scull.executor.transfer import tasks_of


def update(block, param, grad):
    inputs = {"Param": [param], "Grad": [grad], "LearningRate": [paddle.full([1], 1.0)]}
    block.append_op("sgd", inputs, {"ParamOut": [param]}, {})


def small(main):
    """A value, a view of it, an update of the view, a sum of both."""
    x = paddle.static.data("x", [2, 2])
    made = paddle.tanh(x)
    flat = paddle.reshape(made, [4])
    update(main.global_block(), flat, paddle.ones([4]))
    return paddle.sum(flat) + paddle.sum(made)


def test_preparing_keeps_what_runs_between_what_is_fed_and_what_is_fetched(main):
    out = small(main)
    prepared = prepare(main.global_block(), ("x",), (out.name,))
    first, *rows, last = str(prepared).split("\n")
    assert (first, last) == ("feed  x", f"fetch  {out.name}")
    assert rows[0] == "   0  tanh_0.tmp_0 = tanh(x)"
    assert len(rows) == len(prepared.operators) == len(main.global_block().ops)


def test_preparing_refuses_what_is_not_fed_not_there_or_not_declared(main):
    out = small(main)
    block = main.global_block()
    with pytest.raises(FeedError, match="`x`"):
        prepare(block, (), (out.name,))
    with pytest.raises(FetchError, match="`nothing`"):
        prepare(block, ("x",), ("nothing",))
    text = (
        main.desc.serialize_to_string().replace(b"tanh\x00", b"tanh\x00").replace(b"tanh", b"xanh")
    )
    strange = paddle.static.Program.parse_from_string(text)
    with pytest.raises(UnknownOpError, match="`xanh`"):
        prepare(strange.global_block(), ("x",), (strange.global_block().ops[-1].results()[0].name,))


def test_touching_a_view_is_touching_what_it_is_a_view_of(main):
    out = small(main)
    operators = prepare(main.global_block(), ("x",), (out.name,)).operators
    found = touched(operators, set())
    texts = {o.type: touches_text(t) for o, t in zip(operators, found, strict=True)}
    assert texts["tanh"] == "reads x; writes tanh_0.tmp_0"
    assert texts["reshape2"] == "reads tanh_0.tmp_0; writes reshape2_0.tmp_1"
    assert texts["sgd"].endswith("writes reshape2_0.tmp_0")
    (update,) = (t for o, t in zip(operators, found, strict=True) if o.type == "sgd")
    (written,) = (t for t in update if t.writes)
    assert written.what == (operators[0].results()[0], 0)


def test_the_dependencies_of_an_update_of_a_view(main):
    out = small(main)
    operators = prepare(main.global_block(), ("x",), (out.name,)).operators
    graph = graph_of(touched(operators, set()))
    place = {o.type: i for i, o in enumerate(operators)}
    kinds = {(e.before, e.after): e.why for e in graph.conflicts}
    assert kinds[place["tanh"], place["sgd"]] == "RAW reshape2_0.tmp_0, WAW reshape2_0.tmp_0"
    text = str(graph)
    assert text.startswith(f"edges: {len(graph.edges)} of {len(graph.conflicts)}")
    assert text.endswith("counts: " + " ".join(map(str, graph.counts)))


def test_the_dependencies_of_nothing_are_none():
    assert str(graph_of(())) == "edges: 0 of 0, the others follow\ncounts: none"


def test_a_value_lives_from_its_maker_to_the_last_that_no_other_follows(main):
    x = paddle.static.data("x", [2, 2])
    made = paddle.tanh(x)
    out = paddle.exp(made) + paddle.sin(made)
    plan = make_plan(main.global_block(), ("x",), (out.name,), reuses=False)
    life = {plan.names[v.slot]: str(v) for v in lifetimes(plan.instructions, plan.graph, plan.kept)}
    assert life[made.name] == "0 1 2 -> 1 2"
    assert life["x"] == "0 -> 0"
    frees = last_uses(plan.instructions, plan.kept)
    assert [[plan.names[s] for s in found] for found in frees][2] == [made.name]


def test_the_tasks_of_a_device_are_instructions_and_copies(main):
    x = paddle.static.data("x", [2, 2])
    out = paddle.exp(x)
    laid = tasks_of(make_plan(main.global_block(), ("x",), (out.name,)), Place("sim"))
    assert str(laid).split("\n") == [
        "   0  copy-in   x@sim:0 = memcpy_h2d(x@host)",
        "   1  compute   exp_0.tmp_0 = exp(x)",
        "   2  copy-out  exp_0.tmp_0@host = memcpy_d2h(exp_0.tmp_0@sim:0)",
    ]
