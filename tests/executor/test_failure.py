"""An error at any instruction stops a run, and the next is as if it had not been.

What a stopped run has written stays: an operator that finished has written over variables of the
scope where they lie, the one that failed has not, and nothing was put into the scope.
"""

import time

import numpy as np
import pytest

import scull as paddle
from scull.errors import ResourceError, RunError
from scull.executor import launch
from tests.executor.corpus.program import NAMES, program
from tests.executor.corpus.runner import (
    DEVICE,
    as_planned,
    by_counts,
    in_order,
    on_sim,
    on_threads,
    order_of,
    patched,
    schedule_of,
)
from tests.executor.corpus.trial import Trial
from tests.executor.scarcity import scarce

ERRORS = (RunError, KeyboardInterrupt)


def states(trial):
    """The bits of the scope before the first step of the plan, and after each."""
    trial.begin()
    frame = trial.frame()
    found = [trial.kept()]
    for step in trial.plan.steps:
        frame[step.put] = step.call(*step.get(frame))
        for slot in step.frees:
            frame[slot] = None
        found.append(trial.kept())
    return found


def histories(found):
    """By the name of each value all that it was in a run, in line."""
    return {pair[0]: [dict(state)[pair[0]] for state in found] for pair in found[0]}


def raising(error):
    """A kernel that fails."""

    def call(*operands):
        raise error

    return call


def late(kernel):
    """A kernel that takes its time."""

    def call(*operands):
        time.sleep(0.05)
        return kernel(*operands)

    return call


@pytest.mark.parametrize(
    ("name", "error"),
    [(name, RunError) for name in NAMES] + [(name, KeyboardInterrupt) for name in NAMES[::4]],
)
def test_an_error_at_an_instruction_leaves_what_was_done_before_it(name, error, monkeypatch):
    trial = Trial(program(name))
    expected, before = trial.run(as_planned), states(trial)
    order = tuple(range(len(trial.plan.instructions)))
    places = [n for n, step in enumerate(trial.plan.steps) if not step.is_shape]
    for step, place in zip(trial.plan.instructions, places, strict=True):
        with monkeypatch.context() as broken, pytest.raises(error, match="on purpose"):
            broken.setitem(vars(step), "call", raising(error("on purpose")))
            trial.run(in_order(order))
        assert trial.kept() == before[place]
    assert trial.run(as_planned) == expected


@pytest.mark.parametrize("name", NAMES)
def test_an_error_on_threads_leaves_the_work_of_whole_operators(name, monkeypatch):
    trial = Trial(program(name))
    expected, possible = trial.run(as_planned), histories(states(trial))
    for seed, step in enumerate(trial.plan.instructions):
        error = ERRORS[seed % 2]
        with monkeypatch.context() as broken, pytest.raises(error, match="on purpose"):
            broken.setitem(vars(step), "call", raising(error("on purpose")))
            trial.run((on_threads, by_counts)[seed // 2 % 2](trial, seed))
        assert all(value in possible[cell] for cell, value in trial.kept())
        if seed % 4 == 0:
            assert trial.run(on_threads(trial, seed)) == expected
    assert trial.run(as_planned) == expected


@pytest.mark.parametrize("name", NAMES)
def test_an_error_on_a_device_leaves_the_work_of_whole_operators(name, monkeypatch, nightly):
    trial = Trial(program(name))
    expected, possible = trial.run(as_planned), histories(states(trial))
    computing = [step for step in trial.plan.instructions if not step.operator.op.views]
    for seed, step in list(enumerate(computing))[:: 1 if nightly > 1 else 4]:
        error = ERRORS[seed // 4 % 2]
        with monkeypatch.context() as broken, pytest.raises(error, match="on purpose"):
            broken.setitem(vars(step), "call", raising(error("on purpose")))
            trial.run(on_sim(trial, seed))
        assert all(value in possible[cell] for cell, value in trial.kept())
        assert trial.run(on_sim(trial, seed)) == expected


@pytest.mark.parametrize("name", NAMES[::4] + ("mixed 10",))
def test_who_goes_on_after_an_error_on_a_device_hears_of_no_other(name, monkeypatch):
    trial = Trial(program(name))
    steps = [step for step in trial.plan.instructions if not step.operator.op.views]
    go_on_after_errors(trial, monkeypatch)
    for seed, step in enumerate(steps[: len(steps) // 2]):
        with monkeypatch.context() as broken, pytest.raises(RunError, match="on purpose"):
            broken.setitem(vars(step), "call", raising(RunError("on purpose")))
            trial.run(on_sim(trial, seed))


def go_on_after_errors(trial, monkeypatch):
    """Runs on the device go on after an error with all that does not wait for what failed."""

    def crew(schedule, work, threads):
        lost, errors = set(), []
        for i in order_of(schedule, threads):
            try:
                if i not in lost:
                    work.perform(i)
            except Exception as error:
                errors.append(error)
                lost.add(i)
            if i in lost:
                lost.update(j for j, _ in schedule.successors[i])
        assert all("on purpose" in str(error) for error in errors)
        if errors:
            raise errors[0]

    monkeypatch.setattr(launch, "run_crew", crew)
    trial.bound.waits = True


def test_what_an_interrupt_leaves_at_work_does_not_reach_into_the_next_run(monkeypatch):
    trial = Trial(program("mixed 2"))
    expected, steps = trial.run(as_planned), trial.plan.instructions
    for step in steps:
        if step.operator.type == "in_turn":
            monkeypatch.setitem(vars(step), "call", late(step.call))
    for seed, way in enumerate((on_sim, on_threads) * 2):
        with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
            broken.setitem(vars(steps[-1]), "call", raising(KeyboardInterrupt))
            trial.run(way(trial, seed))
        assert trial.run(way(trial, seed)) == expected


@pytest.mark.parametrize("name", NAMES[::4])
def test_a_device_without_memory_at_any_allocation_leaves_the_work_of_whole_operators(name):
    trial = Trial(program(name))
    expected, possible = trial.run(as_planned), histories(states(trial))
    allocate, count = DEVICE.allocator.allocate, [0]

    def scarcely(size, stream):
        count[0] -= 1
        if not count[0]:
            raise ResourceError("there is no more, on purpose")
        return allocate(size, stream)

    with patched(DEVICE.allocator, "allocate", scarcely):
        trial.run(on_sim(trial, 0))
        for failing in range(1, 1 - count[0], 3):
            count[0] = failing
            with pytest.raises(ResourceError, match="on purpose"):
                trial.run(on_sim(trial, failing))
            assert all(value in possible[cell] for cell, value in trial.kept())
    assert trial.run(on_sim(trial, 1)) == expected


def test_an_error_names_the_operator_its_operands_and_the_line(monkeypatch):
    trial = Trial(program("view"))
    step = trial.plan.instructions[3]
    monkeypatch.setitem(vars(step), "call", raising(RunError("on purpose")))
    for runner in (in_order(tuple(range(len(schedule_of(trial).counts)))), on_threads(trial, 0)):
        with pytest.raises(RunError, match="on purpose") as caught:
            trial.run(runner)
        note = str(caught.value)
        assert "in reshape" in note
        assert "x: float32[9]" in note
        assert "corpus/memory.py:" in note


@pytest.mark.parametrize("name", NAMES)
def test_without_memory_at_any_allocation_an_operator_fails_as_a_whole(name):
    trial = Trial(program(name))
    expected, before = trial.run(as_planned), states(trial)
    trial.begin()
    frame = trial.frame()
    with scarce() as supply:
        as_planned(trial, frame)
    assert supply.count >= len(trial.plan.instructions) // 3
    for failing in range(supply.count):
        trial.begin()
        frame = trial.frame()
        with pytest.raises(MemoryError) as caught, scarce(failing):
            as_planned(trial, frame)
        notes = getattr(caught.value, "__notes__", ())
        assert isinstance(caught.value, ResourceError) or "in py_func" in "".join(notes)
        assert trial.kept() in before, str(caught.value)
    assert trial.run(as_planned) == expected


def test_without_memory_in_a_feed_or_a_fetch_the_error_is_typed_and_the_next_run_right():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [1])
        main.global_block().append_op("increment", {"X": [x]}, {"Out": [x]}, {"step": 1.0})
        y = paddle.reshape(x, [1, 1])
    executor, feed = paddle.static.Executor(), {"x": np.zeros(1, "float32")}
    (expected,) = executor.run(main, feed=feed, fetch_list=[y])
    with scarce() as supply:
        executor.run(main, feed=feed, fetch_list=[y])
    for failing in range(supply.count):
        with pytest.raises(ResourceError), scarce(failing):
            executor.run(main, feed=feed, fetch_list=[y])
    assert np.array_equal(executor.run(main, feed=feed, fetch_list=[y])[0], expected)
