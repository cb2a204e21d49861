"""Results that are the same in every run are made once, and nobody can change them."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.core.timeline import OPERATOR, filling
from scull.errors import ScullError
from scull.executor.schedule import host_schedule
from scull.executor.work import HostWork
from scull.flags import flags


@pytest.fixture
def program():
    main = static.Program()
    with static.program_guard(main), paddle.utils.unique_name.guard():
        yield main


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def names(plan):
    """What stands in a frame before a run."""
    return {plan.names[plan.steps[i].put] for i in plan.constants}


def test_a_small_constant_that_is_only_read_is_made_once(program):
    x = static.data("x", [3])
    bound = paddle.full([3], 2.0)
    truth = x < bound
    exe = static.Executor()
    plan = exe.plan(program, ["x"], [truth])
    assert names(plan) == {bound.name}
    assert len(plan.loop) == len(plan.steps) - 1
    for value in ([1.0, 2.0, 3.0], [0.0, 5.0, 1.0]):
        fed = np.array(value, "float32")
        assert exe.run(program, {"x": fed}, [truth])[0].tolist() == (fed < 2).tolist()
    (kept,) = plan.constants.values()
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1.0


def test_what_is_made_of_one_constant_is_one(program):
    x = static.data("x", [3])
    base = paddle.full([3], 2.0)
    bound = paddle.exp(base)
    plan = static.Executor().plan(program, ["x"], [x < bound])
    assert names(plan) == {base.name, bound.name} and len(plan.loop) == 1


def test_a_table_that_stands_in_the_program_is_made_once_however_large(program):
    x = static.data("x", [3, 5000])
    table = np.arange(15000, dtype="float32").reshape(3, 5000)
    total = x + paddle.assign(table)
    exe = static.Executor()
    plan = exe.plan(program, ["x"], [total])
    assert len(plan.constants) == 1 and len(plan.loop) == 1
    fed = np.ones([3, 5000], "float32")
    np.testing.assert_array_equal(exe.run(program, {"x": fed}, [total])[0], table + 1)


def test_what_others_may_write_over_or_hold_is_made_in_every_run(program):
    x = static.data("x", [3])
    fetched, large = paddle.full([3], 2.0), paddle.full([5000], 1.0)
    viewed, written = paddle.full([3, 1], 3.0), paddle.full([1], 4.0)
    view = viewed.reshape([3])
    written = paddle.increment(written)
    results = [x < fetched, fetched, x < view, view, x < written, x.sum() < large]
    exe = static.Executor()
    assert not names(exe.plan(program, ["x"], results))
    fed = np.ones(3, "float32")
    first = exe.run(program, {"x": fed}, results)
    first[1][:] = first[3][:] = -1.0
    second = exe.run(program, {"x": fed}, results)
    assert second[1].tolist() == [2.0, 2.0, 2.0] and second[3].tolist() == [3.0, 3.0, 3.0]
    assert second[4].tolist() == [True] * 3


def test_what_a_view_writes_over_is_made_in_every_run(program):
    x = static.data("x", [1])
    seen, written = paddle.full([1, 1], 3.0), paddle.full([1, 1], 4.0)
    total = x + seen.reshape([1])
    counted = paddle.increment(written.reshape([1]))
    exe = static.Executor()
    assert names(exe.plan(program, ["x"], [total, counted])) == {seen.name}
    for _ in range(2):
        found = exe.run(program, {"x": np.ones(1, "float32")}, [total, counted])
        assert [v.tolist() for v in found] == [[4.0], [5.0]]


def test_what_is_computed_of_constants_alone_is_one(program):
    x = static.data("x", [2, 6])
    places = paddle.arange(6, dtype="float32")
    total = x + places * 2.0 + paddle.linspace(0.0, 1.0, 6)
    rows = x + paddle.arange(12, dtype="float32").reshape([2, 6])
    exe, fed = static.Executor(), np.ones([2, 6], "float32")
    plan = exe.plan(program, ["x"], [total, rows])
    left = {plan.steps[i].operator.type for i in set(range(len(plan.steps))) - set(plan.constants)}
    assert "range" not in left and "linspace" not in left
    with flags(COMPILE="off"):
        found = exe.run(program, {"x": fed}, [total, rows])
    np.testing.assert_allclose(found[0], fed + np.arange(6) * 2 + np.linspace(0, 1, 6), rtol=1e-6)
    np.testing.assert_array_equal(found[1], fed + np.arange(12).reshape(2, 6))


def test_positions_of_a_sequence_leave_its_program_one_function(program):
    x = static.data("x", [4, 6])
    table = static.create_parameter([6, 3], "float32")
    places = paddle.arange(6, dtype="int64").unsqueeze(0)
    made = paddle.tanh(paddle.matmul(x, paddle.nn.functional.embedding(places, table)[0]))
    exe, scope = static.Executor(), static.Scope()
    scope.var(table.name).value = np.ones([6, 3], "float32")
    with flags(COMPILE="eager"), static.scope_guard(scope):
        exe.run(program, {"x": np.ones([4, 6], "float32")}, [made])
        (bound,) = program.plans.values()
        (rows,) = bound.tier.variants.values()
    assert [type(row[0]).__name__ for row in rows] == ["Call"]


@pytest.mark.parametrize("count", [100_000_000, 1 << 60])
def test_a_small_result_that_would_be_large_is_left_to_the_run(program, count):
    x = static.data("x", [3])
    places = paddle.arange(0, 3, 1, dtype="int64")
    total = x + paddle.cast(places, "float32")
    (end,) = [o for o in program.global_block().ops if o.attrs.get("value") == 3]
    end._set_attr("value", float(count))
    end._set_attr("str_value", str(count))
    exe = static.Executor()
    names_of = names(exe.plan(program, ["x"], [total]))
    assert places.name not in names_of and total.name not in names_of


def test_a_constant_of_a_loop_is_there_in_every_round(program):
    x = static.data("x", [1])
    i = paddle.zeros([1], "int64")
    count, total = static.nn.while_loop(
        lambda i, s: i < paddle.full([1], 5, "int64"), lambda i, s: [i + 1, s * 2.0], [i, x + 0.0]
    )
    exe = static.Executor()
    plan = exe.plan(program, ["x"], [count, total])
    (loop,) = [step for step in plan.steps if step.nested is not None]
    assert names(loop.nested)
    for value in (1.0, 3.0):
        found = exe.run(program, {"x": np.array([value], "float32")}, [count, total])
        assert [v.item() for v in found] == [5, value * 32]


def test_a_timeline_sees_constants_too(program):
    x = static.data("x", [2])
    truth = x < paddle.full([2], 1.0)
    exe, fed = static.Executor(), {"x": np.zeros(2, "float32")}
    exe.run(program, fed, [truth])
    with filling() as timeline:
        assert exe.run(program, fed, [truth])[0].all()
    spans = [span for track in timeline.tracks for span in track.spans]
    seen = [span.name for span in spans if span.category == OPERATOR]
    assert seen == ["fill_constant", "less_than"]


def test_a_thread_of_several_takes_a_constant_as_it_is(program):
    x = static.data("x", [3])
    truth = x < paddle.full([3], 2.0)
    plan = static.Executor().plan(program, ["x"], [truth])
    (number,), (value,) = plan.known, plan.constants.values()
    frame = plan.blank.copy()
    HostWork(plan, host_schedule(plan), frame, known=plan.known).perform(number)
    assert frame[plan.instructions[number].put] is value
    with flags(HOST_THREADS=2):
        for _ in range(2):
            (found,) = static.Executor().run(program, {"x": np.arange(3.0, dtype="f4")}, [truth])
            assert found.tolist() == [True, True, False]


def test_a_constant_of_another_size_than_it_is_said_to_be_is_left_to_the_run(program):
    made = paddle.full([2], 1.0) > paddle.zeros([2])
    made.block.ops[0].attrs["shape"] = [1 << 50]  # as a file may say it
    exe = static.Executor()
    plan = exe.plan(program, [], [made])
    assert names(plan) == {made.block.ops[1].results()[0].name}
    with pytest.raises(ScullError, match="more than there are"):
        exe.run(program, fetch_list=[made])


def test_a_gradient_of_nothing_is_left_to_the_run(program):
    block = program.global_block()
    nothing = block.create_var(name="x@GRAD", shape=[3, 4], dtype="float32")
    block.append_op(
        type="moving_average_abs_max_scale_grad",
        inputs={"Out@GRAD": []},  # as a file may say it
        outputs={"X@GRAD": nothing},
        attrs={"moving_rate": 0.9, "is_test": True},
    )
    found = paddle.tanh(nothing)
    with pytest.raises(ScullError, match="`x@GRAD`"):
        static.Executor().run(program, fetch_list=[found])
