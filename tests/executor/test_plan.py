"""Plans: steps, lifetimes, dependencies, printed."""

import re

import numpy as np
import pytest

import scull as paddle
from scull.executor import memory
from scull.executor import plan as planning
from scull.executor.plan import make_plan
from scull.flags import flags


@pytest.fixture
def programs():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main, startup
    paddle.disable_static()


def regression():
    x = paddle.static.data("x", [None, 4])
    y = paddle.static.data("y", [None, 1])
    loss = paddle.nn.functional.mse_loss(paddle.nn.Linear(4, 1)(x), y)
    paddle.optimizer.Momentum(0.1).minimize(loss)
    return loss


def test_the_plan_of_a_regression_reads_as_its_golden_text(programs, golden):
    loss = regression()
    plan = make_plan(programs[0].global_block(), ("x", "y"), (loss.name,))
    assert re.sub(r"\S*test_plan.py:\d+", "the line", str(plan)) == golden


def test_a_plan_is_kept_with_its_program_until_the_program_changes(programs):
    main, startup = programs
    loss = regression()
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    feed = {"x": np.ones((2, 4), "float32"), "y": np.ones((2, 1), "float32")}
    exe.run(startup, scope=scope)
    exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
    kept = dict(main.plans)
    exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert main.plans == kept
    assert len(kept) == 1
    main.global_block().create_var("new", shape=[1])
    exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert len(main.plans) == 1
    assert main.plans != kept


def test_an_operand_is_dropped_after_the_last_step_that_reads_it(programs):
    x = paddle.static.data("x", [2, 2])
    a = paddle.exp(x)
    b = paddle.tanh(a)
    c = a + b
    plan = make_plan(programs[0].global_block(), ("x",), (c.name,))
    dropped = {plan.names[s]: i for i, step in enumerate(plan.steps) for s in step.frees}
    assert dropped == {"x": 0, a.name: 2, b.name: 2}


def test_a_value_read_only_for_its_shape_gives_up_its_memory(programs):
    x = paddle.static.data("x", [64, 64])
    x.stop_gradient = False
    hidden = paddle.exp(x)
    total = paddle.sum(hidden + 1.0)
    (dx,) = paddle.static.gradients(total, x)
    plan = make_plan(programs[0].global_block(), ("x",), (dx.name,))
    assert any(step.is_shape for step in plan.steps)
    exe = paddle.static.Executor()
    value = np.random.default_rng(0).random((64, 64), dtype="float32")
    (found,) = exe.run(programs[0], feed={"x": value}, fetch_list=[dx])
    np.testing.assert_allclose(found, np.exp(value), rtol=1e-6)


def test_any_legal_order_gives_the_same_bits_with_freed_memory_poisoned(programs):
    main, startup = programs
    loss = regression()
    feed = {"x": np.ones((2, 4), "float32"), "y": np.zeros((2, 1), "float32")}

    def losses(seed, poison):
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        paddle.seed(0)
        exe.run(startup, scope=scope)
        with flags(SCHEDULE_SEED=seed, POISON=poison):
            return [exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(3)]

    wanted = losses(-1, False)
    for seed in range(40):
        assert losses(seed, True) == wanted


def test_some_schedule_differs_from_program_order(programs):
    loss = regression()
    block = programs[0].global_block()

    def order(seed):
        plan = make_plan(block, ("x", "y"), (loss.name,), seed=seed)
        return [step.operator.source or step.operator for step in plan.instructions]

    assert order(-1) == list(block.ops)
    assert any(order(seed) != order(-1) for seed in range(20))


def test_an_update_waits_for_every_reader_of_its_parameter(programs):
    loss = regression()
    plan = make_plan(programs[0].global_block(), ("x", "y"), (loss.name,))
    operators = [step.operator for step in plan.instructions]
    updates = [i for i, o in enumerate(operators) if o.type == "momentum"]
    assert len(updates) == 2
    for i in updates:
        (param,) = operators[i].input("Param")
        readers = [j for j, o in enumerate(operators[:i]) if param in o.input_arg_names]
        assert readers
        assert all(plan.graph.precedes(j, i) for j in readers)


def test_a_view_read_after_its_base_is_overwritten_keeps_the_old_value(programs):
    main, _ = programs
    block = main.global_block()
    w = block.create_var("w", shape=[2, 2], dtype="float32", persistable=True)
    turned = paddle.transpose(w, [1, 0])
    one = paddle.full([1], 1.0)
    g = paddle.full([2, 2], 1.0)
    block.append_op(
        "sgd", {"Param": [w], "Grad": [g], "LearningRate": [one]}, {"ParamOut": [w]}, {}
    )
    later = paddle.assign(turned)
    scope = paddle.static.Scope()
    scope.var("w").value = np.arange(4, dtype="float32").reshape(2, 2)
    found = paddle.static.Executor().run(main, fetch_list=[later, w], scope=scope)
    assert found[0].tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert found[1].tolist() == [[-1.0, 0.0], [1.0, 2.0]]


def test_what_an_operator_overwrites_and_another_replaces_is_stored(programs):
    x = paddle.static.create_global_var([2], 4.0, "float32", persistable=True, name="x")
    rate = paddle.full([1], 1.0)
    block = programs[0].global_block()
    inputs = {"Param": x, "Grad": paddle.ones([2]), "LearningRate": rate}
    block.append_op("sgd", inputs, {"ParamOut": x})
    paddle.assign(x * 10.0, output=x)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(programs[1], scope=scope)
    exe.run(programs[0], scope=scope)
    assert scope.var("x").value.tolist() == [30.0, 30.0]


def test_a_list_is_overwritten_in_place(programs):
    x = paddle.static.create_global_var([2], 4.0, "float32", persistable=True, name="x")
    block = programs[0].global_block()
    found = block.create_var("found", shape=[1], dtype="bool")
    inputs = {"X": [x], "Scale": paddle.full([1], 2.0)}
    block.append_op("check_finite_and_unscale", inputs, {"Out": [x], "FoundInfinite": found})
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(programs[1], scope=scope)
    memory = scope.var("x").value
    exe.run(programs[0], scope=scope)
    assert memory.tolist() == [2.0, 2.0]


def test_parts_of_a_buffer_see_what_is_written_to_it(programs):
    x, y = paddle.full([2], 4.0), paddle.full([1], 6.0)
    block = programs[0].global_block()
    parts = [block.create_var(n, shape=[1], dtype="float32") for n in ("a", "b")]
    whole = block.create_var("whole", shape=[3], dtype="float32")
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    outputs = {"Output": parts, "FusedOutput": whole}
    block.append_op("coalesce_tensor", {"Input": [x, y]}, outputs, attrs)
    inputs = {"Param": whole, "Grad": paddle.ones([3]), "LearningRate": paddle.full([1], 1.0)}
    block.append_op("sgd", inputs, {"ParamOut": whole})
    found = paddle.static.Executor().run(programs[0], fetch_list=parts)
    assert [v.tolist() for v in found] == [[3.0, 3.0], [5.0]]


def test_a_program_that_runs_builds_no_graph_and_no_lifetimes_until_asked(programs, monkeypatch):
    made = []
    for module, name in ((planning, "graph_of"), (planning, "lifetimes"), (memory, "peak_of")):
        whole = getattr(module, name)

        def counting(*given, name=name, whole=whole):
            made.append(name)
            return whole(*given)

        monkeypatch.setattr(module, name, counting)
    loss = regression()
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    feed = {"x": np.ones((2, 4), "float32"), "y": np.ones((2, 1), "float32")}
    exe.run(programs[1], scope=scope)
    with flags(HOST_THREADS=1):
        for _ in range(3):
            exe.run(programs[0], feed=feed, fetch_list=[loss], scope=scope)
    assert made == []
    (bound,) = programs[0].plans.values()
    assert "edges" in str(bound.plan)
    assert str(bound.plan) == str(bound.plan)
    assert sorted(made) == ["graph_of", "lifetimes", "peak_of"]


def test_without_collection_every_value_stays_until_the_run_ends(programs):
    x = paddle.static.data("x", [4])
    out = paddle.exp(paddle.tanh(x))
    exe, program = paddle.static.Executor(), programs[0]
    before = paddle.get_flags(["FLAGS_eager_delete_tensor_gb"])
    try:
        plans = []
        for size in (0.0, -1.0):
            paddle.set_flags({"FLAGS_eager_delete_tensor_gb": size})
            (found,) = exe.run(program, feed={"x": np.ones(4, "float32")}, fetch_list=[out])
            assert np.array_equal(found, np.exp(np.tanh(np.ones(4, np.float32))))
            plans.append(list(program.plans.values())[-1].plan)
    finally:
        paddle.set_flags(before)
    collecting, keeping = plans
    assert any(step.frees for step in collecting.steps)
    assert not any(step.frees for step in keeping.steps)
    assert not keeping.lifetimes


def test_the_plan_an_executor_tells_is_the_one_it_runs(programs):
    main, startup = programs
    loss, exe = regression(), paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.ones((3, 4), "float32"), "y": np.ones((3, 1), "float32")}
    for reuses in (True, False):
        paddle.set_flags({"FLAGS_new_executor_use_inplace": reuses})
        exe.run(main, feed=feed, fetch_list=[loss])
        run = list(main.plans.values())[-1].plan
        assert str(exe.plan(main, feed, [loss])) == str(run)
    paddle.set_flags({"FLAGS_new_executor_use_inplace": True})


@pytest.mark.parametrize("name", ["compiled", "with updates asked for", "with its own fetches"])
def test_the_plan_an_executor_tells_is_the_one_it_runs_whatever_is_given(programs, name):
    main, startup = programs
    loss, exe = regression(), paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.ones((3, 4), "float32"), "y": np.ones((3, 1), "float32")}
    given, fetches = main, [loss]
    if name == "compiled":
        strategy = paddle.static.BuildStrategy()
        strategy.sequential_run, strategy.enable_inplace = True, False
        given = paddle.static.CompiledProgram(main, build_strategy=strategy)
    elif name == "with updates asked for":
        fetches = [loss, next(o for o in main.global_block().ops if o.type == "momentum")]
    else:
        fetches = None
        block = main.global_block()
        block.append_op("fetch", {"X": loss}, {"Out": block.create_var("fetch")}, {"col": 0})
    told = str(exe.plan(given, feed, fetches))
    exe.run(given, feed=feed, fetch_list=fetches)
    assert told == str(list(main.plans.values())[-1].plan)
    if name == "compiled":
        assert "in order" in told
