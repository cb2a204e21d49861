"""Primitives of dataflow while they run: frames, rounds that overlap, dead tokens, errors."""

import re
import tracemalloc

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    DtypeError,
    RunError,
    ShapeError,
    SlotError,
    UnsupportedError,
)
from scull.executor.flow import Run
from scull.executor.partition import graph_of
from scull.executor.plan import make_plan
from scull.flags import flags
from scull.passes.dataflow import lowered
from scull.static.nn.control_flow import While

FEED = {"x": np.array([0.5, 0.75], "float32")}


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def started(program, feed=FEED, seed=-1, *, fine=True):
    """A run of a flat Program before its first operator; `fine`: they run one by one."""
    operators = tuple(program.global_block().ops)
    results = [v for o in operators for v in o.results()]
    graph = graph_of(operators, results, fine=fine)
    return Run(graph, {v: feed[v.name] for v in graph.outside}, None, seed)


def seen(run):
    """What runs, operator by operator, each with its rounds of the frames around it."""
    while run.ready:
        operators, place = run.step()
        yield from ((o, place) for o in operators)


def counted(most, body, *carried):
    i, limit = paddle.full([1], 0, "int64"), paddle.full([1], most, "int64")
    found = paddle.static.nn.while_loop(
        lambda i, *_: i < limit, lambda i, *v: [i + 1, *body(i, *v)], [i, *carried]
    )
    return found[1:]


def vector():
    return paddle.static.data("x", [2])


def chain(most=6):
    """A loop with a short chain, that counts, and one that is long."""

    def body(i, y):
        for _ in range(20):
            y = paddle.sin(y)
        return [paddle.tanh(y)]

    return counted(most, body, vector() * 1.0)


def test_a_round_begins_while_the_ones_before_go_on(main):
    chain()
    order = [(o.type, place[0][1]) for o, place in seen(started(lowered(main))) if place]
    assert order.index(("less_than", 3)) < order.index(("tanh", 1)) < order.index(("tanh", 2))


def test_operators_that_run_together_are_one_region(main):
    chain()
    run, regions = started(lowered(main), fine=False), []
    while run.ready:
        operators, place = run.step()
        kinds = [o.type for o in operators]
        regions += [kinds] if place and {"tanh", "less_than"} & set(kinds) else []
    assert len(regions) == 2 * 6 and ["sin"] * 20 + ["tanh", "next_iteration"] in regions
    assert ["scale", "less_than", "next_iteration", "next_iteration"] in regions


def test_rounds_of_a_loop_begin_while_the_loops_within_those_before_go_on(main):
    counted(3, lambda i, y: counted(9, lambda j, z: [paddle.tanh(z)], y), vector() * 1.0)
    run, together = started(lowered(main), fine=False), 0
    for o, place in seen(run):
        if o.type == "tanh" and place[0][1] == 0:
            (outer,) = run.root.rounds[0].frames.values()
            together = max(together, len(outer.rounds))
    assert together > 1


@pytest.mark.parametrize("most", [1, 2, 4])
def test_no_more_rounds_go_on_at_once_than_are_allowed(main, most):
    chain()
    run, together = started(lowered(main, parallel_iterations=most)), 0
    for _ in seen(run):
        for frame in run.root.rounds[0].frames.values():
            together = max(together, len(frame.rounds))
    assert together == most


def test_with_one_round_at_a_time_rounds_follow_one_another(main):
    chain()
    run = started(lowered(main, parallel_iterations=1), seed=4)
    order = [place[0][1] for _, place in seen(run) if place]
    assert order == sorted(order) and order[-1] == 6


def test_a_seed_picks_an_order_and_not_the_values(main):
    (y,) = chain()
    flat, orders, found = lowered(main), set(), set()
    for seed in range(4):
        run = started(flat, seed=seed)
        orders.add(tuple((o.type, place) for o, place in seen(run)))
        found.add(next(v.tobytes() for k, v in run.values.items() if k.name == y.name))
    assert len(orders) == 4 and len(found) == 1


def test_a_frame_begins_at_the_first_value_that_enters(main):
    chain()
    run = started(lowered(main))
    next(o for o, _ in seen(run) if o.type == "enter")
    (frame,) = run.root.rounds[0].frames.values()
    assert frame.entered == 1 < frame.plan.enters


def test_what_a_run_holds_does_not_grow_with_rounds(main):
    chain(300)
    run, most = started(lowered(main)), 0
    for _ in seen(run):
        for frame in run.root.rounds[0].frames.values():
            most = max(most, len(frame.rounds) + len(frame.deferred) + len(run.ready))
    assert most < 30 and not run.root.rounds[0].frames


def test_dead_values_enter_a_frame_and_leave_it_dead(main):
    x = vector()
    y = paddle.static.nn.cond(paddle.sum(x) > 9.0, lambda: chain_of(x), lambda: x)
    run = started(lowered(main))
    kinds = [o.type for o, place in seen(run) if place]
    assert "next_iteration" not in kinds and kinds.count("tanh") == 0
    assert [v.tolist() for k, v in run.values.items() if k.name == y.name] == [[0.5, 0.75]]


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("limit", [0.0, 9.0])
def test_loops_within_loops_of_a_branch_that_does_not_run_are_dead(main, limit, fine):
    x = vector()

    def nested(depth, y):
        if not depth:
            return [paddle.tanh(y)]
        return counted(2, lambda i, z: nested(depth - 1, z), y)

    def inner(i, y):
        runs = paddle.sum(y) > limit
        return [paddle.static.nn.cond(runs, lambda: nested(3, y)[0], lambda: paddle.exp(y) / 9)]

    (y,) = counted(3, inner, x * 1.0)
    (expected,) = paddle.static.Executor().run(main, feed=FEED, fetch_list=[y])
    run = started(lowered(main), fine=fine)
    kinds = [o.type for o, _ in seen(run)]
    assert (kinds.count("tanh"), kinds.count("exp")) == ((0, 3) if limit else (24, 0))
    (found,) = [v for k, v in run.values.items() if k.name == y.name]
    assert found.tobytes() == expected.tobytes() and not run.root.rounds[0].frames


def chain_of(x):
    return counted(3, lambda i, y: [paddle.tanh(y)], x * 1.0)[0]


def test_a_running_frame_prints_as_a_table_with_the_frames_within(main, golden):
    counted(3, lambda i, y: counted(2, lambda j, z: [paddle.tanh(z)], y), vector() * 1.0)
    run = started(lowered(main))
    next(None for o, place in seen(run) if len(place) == 2 and o.type == "tanh")
    assert str(run) == golden


def test_an_error_names_the_operator_the_line_and_the_round(main):
    table = paddle.static.data("table", [3, 2])
    counted(5, lambda i, y: [paddle.gather(table, i) + y], paddle.zeros([1, 2]))
    feed = {"table": np.zeros((3, 2), "float32")}
    with pytest.raises(IndexError) as error:
        paddle.static.Executor().run(lowered(main), feed=feed, fetch_list=[])
    assert re.search(
        r"in gather\n.*test_dataflow.py:\d+\n  in round 3 of `while_0`", str(error.value), re.S
    )


def test_a_condition_of_two_elements_is_refused(main):
    x = paddle.static.data("x", [-1])
    paddle.static.nn.cond(x > 0.0, lambda: x, lambda: -x)
    with pytest.raises(ArgumentError, match=r"the condition is bool\[2\]"):
        paddle.static.Executor().run(lowered(main), feed=FEED, fetch_list=[])


def primitive(block, type, ins, *names, **attrs):
    """The results of a primitive that a block gets by hand."""
    dtypes = {"index": "int32"}
    outs = [
        block.create_var(name=n, shape=[-1], dtype=dtypes.get(n.split("_")[0], "float32"))
        for n in names
    ]
    slots = {"switch": ("False", "True"), "merge": ("Out", "Index")}.get(type, ("Out",))
    block.append_op(type, ins, dict(zip(slots, outs, strict=True)), attrs)
    return outs


def test_a_program_of_primitives_written_by_hand_runs(main):
    x, block = vector(), main.global_block()
    pred = paddle.sum(x) > 1.0
    no, yes = primitive(block, "switch", {"Data": x, "Pred": pred}, "no", "yes")
    out, index = primitive(block, "merge", {"X": [paddle.tanh(no), yes * 2.0]}, "out", "index_0")
    found = paddle.static.Executor().run(main, feed=FEED, fetch_list=[out, index])
    assert found[0].tolist() == [1.0, 1.5] and found[1].tolist() == 1


def test_a_value_nobody_computes_is_none(main):
    x, block = vector(), main.global_block()
    no, yes = primitive(block, "switch", {"Data": x, "Pred": paddle.sum(x) > 1.0}, "no", "yes")
    found = paddle.static.Executor().run(main, feed=FEED, fetch_list=[no, yes])
    assert found[0] is None and found[1].tolist() == [0.5, 0.75]


def test_blocks_beside_primitives_are_refused(main):
    x = vector()
    primitive(main.global_block(), "switch", {"Data": x, "Pred": paddle.sum(x) > 1.0}, "a", "b")
    paddle.static.nn.cond(paddle.sum(x) > 1.0, lambda: x, lambda: -x)
    with pytest.raises(UnsupportedError, match="has a block and stands beside primitives"):
        paddle.static.Executor().run(main, feed=FEED, fetch_list=[x])


def test_mistakes_with_primitives_are_refused_when_they_are_written(main):
    x, block = vector(), main.global_block()
    with pytest.raises(DtypeError, match="pred is float32, not bool"):
        primitive(block, "switch", {"Data": x, "Pred": x}, "a", "b")
    with pytest.raises(ShapeError, match="has not one element"):
        primitive(block, "loop_cond", {"Pred": x > 1.0}, "c")
    with pytest.raises(ArgumentError, match="at least 1 is needed"):
        primitive(block, "enter", {"Data": x}, "d", frame_name="f", parallel_iterations=0)
    with pytest.raises(ArgumentError, match="a frame needs a name"):
        primitive(block, "enter", {"Data": x}, "e", frame_name="")
    with pytest.raises(SlotError, match="needs its input `X`"):
        primitive(block, "merge", {"X": []}, "f", "index_1")


def test_a_loop_that_waits_in_vain_is_refused(main):
    """A value that one round does not hand on, while another goes on."""
    x, i, limit = vector(), paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    holds, y = paddle.less_than(i, limit), x * 1.0
    with While(holds).block():
        paddle.assign(paddle.tanh(y), y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, limit), holds)
    flat = lowered(main)
    block = flat.global_block()
    tanh = next(o for o in block.ops if o.type == "tanh")
    (x,) = tanh.inputs
    tanh.inputs = (x.op.outputs[0],)  # the side on which the loop ends
    with pytest.raises(RunError, match="waits for a value in vain"):
        paddle.static.Executor().run(flat, feed=FEED, fetch_list=[])


def test_the_plan_of_dataflow_is_one_instruction_without_a_bound(main):
    (y,) = chain()
    plan = make_plan(lowered(main).global_block(), ("x",), (y.name,))
    assert [step.operator.type for step in plan.steps] == ["dataflow"]
    assert str(plan.peak).startswith("unbounded because of `dataflow` at ")


def test_the_plan_of_dataflow_shows_its_frames_within_one_another(main, golden):
    (y,) = counted(3, lambda i, y: counted(2, lambda j, z: [paddle.tanh(z)], y), vector() * 1.0)
    plan = make_plan(lowered(main).global_block(), ("x",), (y.name,))
    assert re.sub(r"at \S+:\d+", "at the line", str(plan)) == golden


def test_effects_outside_loops_keep_their_order(main, capfd):
    x = vector()
    paddle.static.Print(x, message="first", summarize=1)
    y = paddle.static.nn.cond(paddle.sum(x) > 1.0, lambda: x * 2.0, lambda: x)
    paddle.static.Print(y, message="second", summarize=1)
    paddle.static.Print(x, message="third", summarize=1)
    flat = lowered(main)
    for seed in range(4):
        with flags(SCHEDULE_SEED=seed):
            paddle.static.Executor().run(flat, feed=FEED, fetch_list=[])
        shown = "".join(capfd.readouterr())
        assert re.findall("first|second|third", shown) == ["first", "second", "third"]


def test_a_primitive_may_have_a_place_for_one_result_alone(main):
    x, block = vector(), main.global_block()
    kinds = {"shape": [-1], "dtype": "float32"}
    yes, out = block.create_var(name="yes", **kinds), block.create_var(name="out", **kinds)
    block.append_op("switch", {"Data": x, "Pred": paddle.sum(x) > 1.0}, {"True": yes})
    block.append_op("merge", {"X": [yes]}, {"Out": out})
    assert paddle.static.Executor().run(main, feed=FEED, fetch_list=[out])[0].tolist() == [
        0.5,
        0.75,
    ]


def held_at_most(most, *, backward):
    """The bytes at most while a loop of so many rounds runs, with its gradient or without."""
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [16, 16])
        x.stop_gradient = False
        names = [counted(most, lambda i, y: [paddle.tanh(y) * x], x * 1.0)[0].name]
        if backward:
            y = program.global_block().var(names[0])
            paddle.static.append_backward(paddle.sum(y), parameter_list=["x"])
            names = ["x@GRAD"]
    flat, exe = lowered(program), paddle.static.Executor()
    feed = {"x": np.ones((16, 16), "float32")}
    exe.run(flat, feed=feed, fetch_list=names)
    tracemalloc.start()
    exe.run(flat, feed=feed, fetch_list=names)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_the_plan_says_what_a_round_keeps_for_the_gradient(main):
    x = paddle.static.data("x", [16, 16])
    x.stop_gradient = False
    (y,) = counted(3, lambda i, y: [paddle.tanh(y) * x], x * 1.0)
    paddle.static.append_backward(paddle.sum(y), parameter_list=["x"])
    plan = make_plan(lowered(main).global_block(), ("x",), ("x@GRAD",))
    assert str(plan.peak).endswith(", which keeps 1024 bytes a round of `while_0`")


def test_a_loop_holds_no_more_for_going_round_more_often():
    few, many = held_at_most(100, backward=False), held_at_most(10_000, backward=False)
    assert many - few < 4096


def test_a_gradient_keeps_what_it_reads_of_each_round_and_little_else():
    few, many = held_at_most(200, backward=True), held_at_most(1200, backward=True)
    kept = 16 * 16 * 4  # what tanh gave
    assert kept <= (many - few) / 1000 < kept * 1.25
