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


def test_a_strategy_is_final_once_its_program_ran_and_a_copy_is_not(compiled):
    program, y = compiled
    strategy = program._build_strategy
    static.Executor().run(program, feed=FEED, fetch_list=[y])
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
