"""Strategies check what is set, and a CompiledProgram runs as they say."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentError, ArgumentTypeError, RunError, SettingError
from scull.static import door


@pytest.fixture
def compiled():
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main, static.Program()):
        y = static.data("x", [2]) * 2.0
        for _ in range(3):
            y = y + 1.0
    yield static.CompiledProgram(main, static.BuildStrategy()), y
    paddle.disable_static()


FEED = {"x": np.ones(2, "float32")}


def plan_of(compiled):
    (bound,) = compiled._program.plans.values()
    return bound


@pytest.mark.parametrize("kind", [static.BuildStrategy, static.ExecutionStrategy])
def test_every_setting_takes_its_own_default_and_refuses_another_type(kind):
    strategy = kind()
    for name, default in kind.settings.items():
        setattr(strategy, name, getattr(strategy, name))
        assert getattr(strategy, name) == default
        with pytest.raises((ArgumentTypeError, ArgumentError), match=name):
            setattr(strategy, name, object())


def test_settings_of_one_strategy_are_not_those_of_another():
    one, other = static.BuildStrategy(), static.BuildStrategy()
    one.trainers_endpoints.append("a:1")
    assert other.trainers_endpoints == []


def test_an_unknown_setting_is_refused_and_the_nearest_named():
    with pytest.raises(SettingError, match="nearest is `memory_optimize`"):
        static.BuildStrategy().memory_optimise = True
    with pytest.raises(AttributeError, match="nearest is `num_threads`"):
        static.ExecutionStrategy().num_thread = 2


def test_counts_are_not_negative():
    strategy = static.ExecutionStrategy()
    with pytest.raises(TypeError, match="num_threads is a count"):
        strategy.num_threads = -1


def test_truths_take_numbers_and_none():
    strategy = static.BuildStrategy()
    for value in (1, 2.5, True, np.bool_(True)):
        strategy.fuse_bn_act_ops = value
        assert strategy.fuse_bn_act_ops is True
    strategy.fuse_bn_act_ops = None
    assert strategy.fuse_bn_act_ops is False


def test_choices_are_numbers_with_names():
    choice = static.BuildStrategy.ReduceStrategy.Reduce
    strategy = static.BuildStrategy()
    strategy.reduce_strategy = choice
    assert (str(choice), repr(choice), int(choice)) == (
        "ReduceStrategy.Reduce",
        "<ReduceStrategy.Reduce: 1>",
        1,
    )
    assert "\nreduce_: 1\n" in str(strategy)


def test_a_final_strategy_cannot_change_and_a_copy_can():
    strategy = static.BuildStrategy()
    strategy._finalize_strategy_and_create_passes()
    with pytest.raises(RunError, match="finalized"):
        strategy.fuse_bn_act_ops = True
    copy = strategy._copy()
    copy.fuse_bn_act_ops = True
    assert not strategy.fuse_bn_act_ops
    strategy._clear_finalized()
    strategy.fuse_bn_act_ops = True


def test_a_compiled_program_gives_what_the_program_gives(compiled):
    program, y = compiled
    exe = static.Executor()
    (expected,) = exe.run(program._program, feed=FEED, fetch_list=[y])
    (found,) = exe.run(program, feed=FEED, fetch_list=[y])
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["sequential_run", "enable_sequential_execution"])
def test_a_sequential_strategy_chains_the_plan(compiled, name):
    program, y = compiled
    setattr(program._build_strategy, name, True)
    static.Executor().run(program, feed=FEED, fetch_list=[y])
    assert plan_of(program).plan.sequential


def test_what_a_strategy_says_after_a_run_holds_for_the_next(compiled):
    program, y = compiled
    exe = static.Executor()
    for sequential in (False, True, False):
        program._build_strategy.sequential_run = sequential
        program._program.plans.clear()
        (found,) = exe.run(program, feed=FEED, fetch_list=[y])
        assert plan_of(program).plan.sequential is sequential
        assert found.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("inplace", "addto", "written"), [(True, False, 3), (False, True, 1), (False, False, 0)]
)
def test_a_strategy_says_which_results_take_the_memory_of_operands(inplace, addto, written):
    paddle.enable_static()
    main, strategy = static.Program(), static.BuildStrategy()
    with static.program_guard(main):
        x = static.data("x", [2])
        y = paddle.add_n([paddle.tanh(x) * 2.0, paddle.exp(x) + 1.0]) * 3.0
    strategy.enable_inplace, strategy.enable_addto = inplace, addto
    program, exe = static.CompiledProgram(main, strategy), static.Executor()
    expected = exe.run(main, feed=FEED, fetch_list=[y])
    main.plans.clear()
    assert np.array_equal(exe.run(program, feed=FEED, fetch_list=[y]), expected)
    steps = plan_of(program).plan.instructions
    assert sum(step.operator.over is not None for step in steps) == written
    paddle.disable_static()


@pytest.mark.parametrize("place", [paddle.CPUPlace(), paddle.CustomPlace("sim", 0)], ids=str)
def test_a_temporary_that_is_not_to_go_is_in_the_scope_for_a_later_program(place):
    paddle.enable_static()
    forward, later, scope = static.Program(), static.Program(), static.Scope()
    with static.program_guard(forward):
        hidden = static.data("x", [2]) * 2.0
        y = paddle.tanh(hidden) + 1.0
    with static.program_guard(later):
        again = later.global_block().create_var(hidden.name, shape=[2], dtype="float32")
        z = again + 1.0
    exe, program = static.Executor(place), static.CompiledProgram(forward)
    exe.run(program, feed=FEED, fetch_list=[y], scope=scope)
    assert scope.find_var(hidden.name) is None
    assert not program._graph.has("skip_gc_vars")
    program._graph.set("skip_gc_vars", {hidden.name})
    for value in (1.0, 3.0):
        feed = {"x": np.full(2, value, "float32")}
        exe.run(program, feed=feed, fetch_list=[y], scope=scope)
        assert np.array(scope.find_var(hidden.name).get_tensor()).tolist() == [2 * value] * 2
        (found,) = exe.run(later, fetch_list=[z], scope=scope)
        assert found.tolist() == [2 * value + 1] * 2
    paddle.disable_static()


def test_a_graph_takes_a_set_of_names_and_nothing_else(compiled):
    graph = compiled[0]._graph
    with pytest.raises(SettingError, match="`skip_gc_vars`, not `loss`"):
        graph.set("loss", set())
    for wrong in ("x", [1], {1}):
        with pytest.raises(ArgumentTypeError, match="set of names"):
            graph.set("skip_gc_vars", wrong)


def test_threads_of_an_execution_strategy_are_those_of_the_run(compiled):
    program, y = compiled
    program._exec_strategy = static.ExecutionStrategy()
    program._exec_strategy.num_threads = 3
    for _ in range(2):
        static.Executor().run(program, feed=FEED, fetch_list=[y])
    assert plan_of(program).threads == 3


def test_a_compiled_program_runs_in_one_scope_only(compiled):
    program, y = compiled
    exe = static.Executor()
    exe.run(program, feed=FEED, fetch_list=[y])
    with pytest.raises(ArgumentError, match="different scope"):
        exe.run(program, feed=FEED, fetch_list=[y], scope=static.Scope())


def test_a_compiled_program_takes_a_program_and_a_strategy(compiled):
    for wrong in (5, compiled[0]):
        with pytest.raises(TypeError, match="expected Graph or Program"):
            static.CompiledProgram(wrong)
    with pytest.raises(ArgumentTypeError, match="BuildStrategy"):
        static.CompiledProgram(compiled[0]._program, build_strategy=5)


def test_the_examples_run():
    results = doctest.testmod(door)
    assert results.attempted > 0
    assert results.failed == 0
