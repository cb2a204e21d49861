"""Branches and loops lowered to primitives of dataflow: the form, and that values stay the same."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import UnsupportedError
from scull.flags import flags
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.static.nn.control_flow import ConditionalBlock, While


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def text(program):
    """The operators of the only block, one a line."""
    (block,) = program.blocks
    lines = []
    for o in block.ops:
        attrs = [f"{n}={v}" for n, v in o.attrs.items() if o.type == "enter"]
        outs, ins = ([v.name for v in side] for side in (o.results(), o.operands()))
        lines.append(f"{', '.join(outs)} = {o.type}({', '.join([*ins, *attrs])})")
    return "\n".join(lines)


def values(program, feed, names, **settings):
    with flags(**settings):
        return paddle.static.Executor().run(program, feed=feed, fetch_list=names)


def check_same(main, feed, *results):
    """The lowered Program is legal and gives the same bits, in several orders."""
    names = [v.name for v in results]
    expected = values(main, feed, names)
    flat = lowered(main)
    verify(flat)
    for seed in (-1, 0, 1, 2):
        for a, b in zip(expected, values(flat, feed, names, SCHEDULE_SEED=seed), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return flat


def vector(name="x"):
    return paddle.static.data(name, [2])


FEED = {"x": np.array([0.5, 0.75], "float32")}


def counted(most, body, *carried):
    """What `carried` become after so many rounds of `body`."""
    i, limit = paddle.full([1], 0, "int64"), paddle.full([1], most, "int64")
    found = paddle.static.nn.while_loop(
        lambda i, *_: i < limit, lambda i, *v: [i + 1, *body(i, *v)], [i, *carried]
    )
    return found[1:]


def test_a_branch_reads_as_switches_and_a_merge(main, golden):
    x = vector()
    y = paddle.static.nn.cond(paddle.sum(x) > 1.0, lambda: x * 2.0, lambda: x + 1.0)
    assert text(check_same(main, FEED, y)) == golden


def test_a_loop_reads_as_a_frame(main, golden):
    (y,) = counted(3, lambda i, y: [y * 2.0], vector() * 1.0)
    assert text(check_same(main, FEED, y)) == golden


def test_a_branch_in_a_loop_reads_as_switches_in_a_frame(main, golden):
    x = vector()

    def body(i, y):
        return [paddle.static.nn.cond(paddle.sum(y) > 2.0, lambda: y * 2.0, lambda: y + x)]

    (y,) = counted(4, body, x * 1.0)
    assert text(check_same(main, FEED, y)) == golden


def test_a_loop_in_a_loop_is_a_frame_in_a_frame(main):
    x = vector()
    (y,) = counted(3, lambda i, y: counted(2, lambda j, z: [z + x], y * 0.5), x * 1.0)
    flat = check_same(main, FEED, y)
    names = {o.attrs["frame_name"] for o in flat.global_block().ops if o.type == "enter"}
    assert names == {"while_0", "while_1"}


@pytest.mark.parametrize("limit", [0.0, 10.0])
def test_a_loop_in_a_branch_runs_when_the_branch_does(main, limit):
    x = vector()
    y = paddle.static.nn.cond(
        paddle.sum(x) > limit, lambda: counted(3, lambda i, z: [z * x], x * 1.0)[0], lambda: -x
    )
    check_same(main, FEED, y)


def test_a_loop_without_rounds_hands_on_what_it_got(main):
    x = vector()
    (y,) = counted(0, lambda i, y: [y * 2.0], x * 1.0)
    check_same(main, FEED, y)


def test_a_branch_that_writes_around_it_keeps_the_value_where_it_does_not_run(main):
    x = vector()
    y, z = x * 1.0, x + 3.0
    for limit, target in ((0.0, y), (10.0, z)):
        with ConditionalBlock([paddle.sum(x) > limit], is_scalar_condition=True).block():
            paddle.assign(x * 5.0, target)
    check_same(main, FEED, y, z)


def test_several_cases_fill_one_variable(main):
    x = vector()
    pairs = [(paddle.sum(x) > 5.0, lambda: x), (paddle.sum(x) > 1.0, lambda: x * 3.0)]
    check_same(main, FEED, paddle.static.nn.case(pairs, lambda: x - 1.0))


def test_a_number_chooses_among_functions(main):
    x = vector()
    index = paddle.cast(paddle.sum(x), "int64")
    functions = [lambda: x, lambda: x * 3.0, lambda: x * 4.0]
    check_same(main, FEED, paddle.static.nn.switch_case(index, functions))


def test_a_counter_increased_in_place_gets_a_value_a_round(main):
    x = vector()
    i, limit, y = paddle.full([1], 0, "int64"), paddle.full([1], 4, "int64"), x * 1.0
    holds = paddle.less_than(i, limit)
    with While(holds).block():
        paddle.assign(y + x, y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, limit), holds)
    check_same(main, FEED, i, y, holds)


def test_what_outlives_the_run_gets_its_new_value(main):
    x = vector()
    total = paddle.static.create_global_var([2], 1.0, "float32", persistable=True, name="total")
    with ConditionalBlock([paddle.sum(x) > 1.0], is_scalar_condition=True).block():
        paddle.assign(total + x, total)
    flat, exe, found = lowered(main), paddle.static.Executor(), []
    verify(flat)
    for program in (main, flat):
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe.run(paddle.static.default_startup_program())
            for _ in range(3):
                exe.run(program, feed=FEED)
            found.append(np.array(paddle.static.global_scope().find_var("total").get_tensor()))
    assert found[0].tolist() == found[1].tolist() == [2.5, 3.25]


def test_updates_are_those_of_the_program(main):
    x = vector()
    layer = paddle.nn.Linear(2, 1)
    loss = paddle.mean(layer(x))
    paddle.optimizer.Adam(0.1).minimize(loss)
    y = paddle.static.nn.cond(loss > 0.0, lambda: loss * 2.0, lambda: loss * 3.0)
    flat, exe, found = lowered(main), paddle.static.Executor(), []
    for program in (main, flat):
        paddle.seed(3)
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe.run(paddle.static.default_startup_program())
            found.append([exe.run(program, feed=FEED, fetch_list=[y.name]) for _ in range(4)])
    assert [v.tobytes() for (v,) in found[0]] == [v.tobytes() for (v,) in found[1]]


def test_random_numbers_outside_blocks_are_those_of_the_program(main):
    x, a = vector(), paddle.rand([2])
    y = paddle.static.nn.cond(paddle.sum(x) > 1.0, lambda: x + a, lambda: x) + paddle.rand([2])
    found = []
    for seed, program in ((-1, main), (-1, lowered(main)), (1, lowered(main))):
        paddle.seed(5)
        found.append([values(program, FEED, [y.name], SCHEDULE_SEED=seed) for _ in range(2)])
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def seen_and_said(program, names, capfd, **settings):
    """The bits of two runs of a Program, and what they print."""
    paddle.seed(7)
    found = [values(program, FEED, names, **settings) for _ in range(2)]
    return [v.tobytes() for row in found for v in row], capfd.readouterr().out


def test_draws_and_prints_in_loops_and_branches_come_in_the_order_of_the_program(main, capfd):
    def shown(y, message):
        return paddle.static.Print(y, message=message, print_tensor_name=False)

    def inner(j, y):
        return [shown(y + paddle.rand([2]), "inner")]

    def body(i, y):
        (y,) = counted(2, inner, y)
        y = paddle.static.nn.cond(
            paddle.sum(y) > 4.0,
            lambda: shown(y * 0.5 + paddle.rand([2]), "yes"),
            lambda: y + paddle.randn([2]) + paddle.randperm(2).astype("float32"),
        )
        y = paddle.nn.functional.dropout(y, 0.5) + paddle.bernoulli(paddle.zeros([2]) + 0.5)
        return [shown(y, "outer")]

    first = paddle.rand([2])
    (y,) = counted(4, body, vector() + first)
    y = shown(y + paddle.rand([2]), "last")
    expected = seen_and_said(main, [y.name], capfd)
    assert all(expected[1].count(word) for word in ("inner", "yes", "outer", "last"))
    flat = lowered(main)
    verify(flat)
    for seed in (-1, 0, 1, 2):
        assert seen_and_said(flat, [y.name], capfd, SCHEDULE_SEED=seed) == expected


def test_an_assertion_in_a_loop_says_in_which_round_it_failed(main):
    def body(i, y):
        paddle.static.nn.control_flow.Assert(paddle.sum(y) < 4.0, [y])
        return [y * 2.0]

    (y,) = counted(6, body, vector() * 1.0)
    with pytest.raises(ValueError, match="in round 2 of `while_0`"):
        values(lowered(main), FEED, [y.name])


def test_python_functions_in_loops_are_called_round_by_round(main):
    called = []

    def noted(y):
        called.append(float(np.asarray(y)[0]))
        return np.asarray(y) * 2

    def body(i, y):
        out = main.current_block().create_var(name=f"out_{i.name}", shape=[2], dtype="float32")
        paddle.static.py_func(noted, y, out)
        return [out]

    (y,) = counted(4, body, vector() * 1.0)
    for seed in (-1, 0, 1):
        called.clear()
        values(lowered(main), FEED, [y.name], SCHEDULE_SEED=seed)
        assert called == [0.5, 1.0, 2.0, 4.0]


def test_gradients_of_loops_that_draw_are_those_of_the_program(main):
    x = differentiable()

    def body(i, y):
        return [paddle.nn.functional.dropout(y, 0.5) * x + paddle.rand([2])]

    (y,) = counted(5, body, x * 1.0)
    names = [y.name, gradients(main, y).name]
    flat, found = lowered(main), []
    for program, seed in ((main, -1), (flat, -1), (flat, 0), (flat, 1)):
        paddle.seed(3)
        found.append([v.tobytes() for v in values(program, FEED, names, SCHEDULE_SEED=seed)])
    assert found == [found[0]] * 4


def test_a_value_of_one_branch_alone_does_not_begin_a_loop(main):
    x = vector()
    y = main.global_block().create_var(shape=[2], dtype="float32")
    with ConditionalBlock([paddle.sum(x) > 1.0], is_scalar_condition=True).block():
        paddle.assign(x, y)
    counted(2, lambda i, z: [z * 2.0], y)
    with pytest.raises(UnsupportedError, match="only one branch gives it a value"):
        lowered(main)


def gradients(main, y):
    paddle.static.append_backward(paddle.sum(y), parameter_list=["x"])
    return main.global_block().var("x@GRAD")


def differentiable():
    x = vector()
    x.stop_gradient = False
    return x


@pytest.mark.parametrize("limit", [0.0, 5.0])
def test_the_gradient_of_a_branch_is_a_branch_of_primitives(main, limit):
    x = differentiable()
    y = paddle.static.nn.cond(
        paddle.sum(x) > limit, lambda: paddle.tanh(x) * x, lambda: paddle.exp(x) + 1.0
    )
    y = y * x
    dx = gradients(main, y)
    flat = check_same(main, FEED, y, dx)
    assert flat.num_blocks == 1


@pytest.mark.parametrize("outer", [0.0, 5.0])
@pytest.mark.parametrize("inner", [0.0, 5.0])
def test_gradients_go_through_branches_in_branches(main, outer, inner):
    x = differentiable()

    def branch():
        z = paddle.tanh(x)
        found = paddle.static.nn.cond(paddle.sum(z) > inner, lambda: z * x, lambda: paddle.exp(z))
        return found * z

    y = paddle.static.nn.cond(paddle.sum(x) > outer, branch, lambda: x * 3.0)
    check_same(main, FEED, y, gradients(main, y))


@pytest.mark.parametrize("limit", [0.0, 5.0])
def test_gradients_go_past_a_branch_that_leaves_a_value_alone(main, limit):
    x = differentiable()
    y = x * 1.0
    with ConditionalBlock([paddle.sum(x) > limit], is_scalar_condition=True).block():
        paddle.assign(paddle.tanh(y) * x, y)
    check_same(main, FEED, y, gradients(main, y))


def test_the_gradient_of_a_loop_is_a_loop_of_primitives(main):
    x = differentiable()
    (y,) = counted(3, lambda i, y: [paddle.tanh(y) * x], x * 1.0)
    flat = check_same(main, FEED, y, gradients(main, y))
    frames = {o.attrs["frame_name"] for o in flat.global_block().ops if o.type == "enter"}
    assert flat.num_blocks == 1 and frames == {"while_0", "while_1"}


def test_the_gradient_of_a_loop_without_rounds_hands_on_what_it_got(main):
    x = differentiable()
    (y,) = counted(0, lambda i, y: [paddle.tanh(y) * x], x * 1.0)
    check_same(main, FEED, y, gradients(main, y))


def test_gradients_go_through_a_branch_in_a_loop_in_a_loop(main):
    x = differentiable()

    def inner(j, z):
        return [paddle.static.nn.cond(j < 1, lambda: paddle.tanh(z), lambda: paddle.exp(z) * x)]

    (y,) = counted(2, lambda i, y: counted(3, inner, y * x), x * 1.0)
    check_same(main, FEED, y, gradients(main, y))


@pytest.mark.parametrize("limit", [0.0, 5.0])
def test_gradients_go_through_a_loop_in_a_branch(main, limit):
    x = differentiable()
    y = paddle.static.nn.cond(
        paddle.sum(x) > limit,
        lambda: counted(3, lambda i, z: [paddle.tanh(z) * x], x * 1.0)[0],
        lambda: -x,
    )
    check_same(main, FEED, y, gradients(main, y))


def test_the_source_stays_as_it_was(main):
    counted(3, lambda i, y: [y * 2.0], vector() * 1.0)
    before, version = str(main), main.version
    lowered(main)
    assert (str(main), main.version) == (before, version)
