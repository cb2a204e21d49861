"""The form in which branches and loops run, as a setting chooses it."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, RunError
from scull.executor.binding import planned
from scull.flags import flags
from scull.passes import lowered, unrolled
from scull.passes.form import FORMS, formed

FEED = {"x": np.array([0.5, 0.75], "float32")}
ALL = [*FORMS, "unrolled+primitives"]


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def vector():
    return paddle.static.data("x", [2])


def looped(most):
    """A loop of so many rounds, with a branch in it."""
    i, limit = paddle.full([1], 0, "int64"), paddle.full([1], most, "int64")

    def body(i, y):
        return [i + 1, paddle.static.nn.cond(paddle.sum(y) > 3.0, lambda: y / 4, lambda: y * 2.0)]

    return paddle.static.nn.while_loop(lambda i, y: i < limit, body, [i, vector() * 1.0])[1]


def run(program, y, **settings):
    with flags(**settings):
        return paddle.static.Executor().run(program, feed=FEED, fetch_list=[y.name])[0]


def test_a_setting_chooses_the_form_in_which_a_program_runs(main):
    y, kinds = looped(5), {}
    expected = run(main, y)
    for form in ALL:
        assert run(main, y, CONTROL_FLOW=form).tobytes() == expected.tobytes()
        with flags(CONTROL_FLOW=form):
            plan = planned(main, ("x",), (y.name,))
        kinds[form] = {step.operator.type for step in plan.steps} & {"while", "dataflow"}
    assert kinds == {
        "in-graph": {"while"},
        "primitives": {"dataflow"},
        "unrolled": set(),
        "unrolled+primitives": {"dataflow"},
    }


def test_a_form_nobody_knows_is_refused_with_those_there_are(main):
    y = looped(2)
    with pytest.raises(ArgumentError, match=r"CONTROL_FLOW is `magic`; .* in-graph, primit"):
        run(main, y, CONTROL_FLOW="magic")


def test_a_program_without_blocks_has_one_form(main):
    y = vector() * 2.0
    assert formed(main, "unrolled+primitives") is main
    assert run(main, y, CONTROL_FLOW="primitives").tolist() == [1.0, 1.5]


def test_updates_are_the_same_in_every_form(main):
    layer = paddle.nn.Linear(2, 2)
    x, i, limit = vector(), paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    x.stop_gradient = False
    y = paddle.static.nn.while_loop(
        lambda i, y: i < limit, lambda i, y: [i + 1, paddle.tanh(layer(y))], [i, x * 1.0]
    )[1]
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(y))
    exe, found = paddle.static.Executor(), []
    for form in ALL:
        paddle.seed(3)
        with paddle.static.scope_guard(paddle.static.Scope()), flags(CONTROL_FLOW=form):
            exe.run(paddle.static.default_startup_program())
            rows = [exe.run(main, feed=FEED, fetch_list=[y.name])[0] for _ in range(3)]
        found.append([row.tobytes() for row in rows])
    assert found == [found[0]] * len(ALL) and len(set(found[0])) == 3


@pytest.mark.parametrize("form", ALL)
def test_a_loop_that_does_not_end_is_stopped_in_every_form(main, form):
    y = paddle.static.nn.while_loop(
        lambda y: paddle.sum(y) < 1e9, lambda y: [y * 1.0], [vector() * 1.0]
    )[0]
    with pytest.raises(RunError, match="run more than MAX_ROUNDS=7") as error:
        run(main, y, CONTROL_FLOW=form, MAX_ROUNDS=7)
    assert "test_form.py:" in str(error.value)


@pytest.mark.parametrize("form", ALL)
def test_as_many_rounds_as_are_allowed_run_in_every_form(main, form):
    y = looped(5)
    expected = run(main, y)
    assert run(main, y, CONTROL_FLOW=form, MAX_ROUNDS=5).tobytes() == expected.tobytes()


def test_a_loop_that_python_drives_is_stopped_too(main):
    paddle.disable_static()
    y = paddle.to_tensor([0.5])
    with flags(MAX_ROUNDS=7), pytest.raises(RunError, match="run more than MAX_ROUNDS=7"):
        paddle.static.nn.while_loop(lambda y: paddle.sum(y) < 1e9, lambda y: [y * 1.0], [y])
    paddle.enable_static()


def test_a_form_may_be_kept_as_a_program(main):
    y = looped(4)
    found = {run(p, y).tobytes() for p in (main, lowered(main), unrolled(main).program)}
    assert len(found) == 1
