"""Loops of known length written out, branches on known values folded, and why others stay."""

import numpy as np
import pytest

import scull as paddle
from scull.executor.flow import Run
from scull.executor.partition import graph_of
from scull.flags import flags
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled
from scull.static.nn.control_flow import Switch, While

FEED = {"x": np.array([0.5, 0.75], "float32")}


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def kinds(program):
    """The types of the operators of all blocks."""
    return [o.type for b in program.blocks for o in b.ops]


def check_same(main, *results, **options):
    """The rewritten Program is legal and gives the same bits; it and the report."""
    found = unrolled(main, **options)
    verify(found.program)
    names, exe = [v.name for v in results], paddle.static.Executor()
    runs = [exe.run(p, feed=FEED, fetch_list=names) for p in (main, found.program)]
    assert [v.tobytes() for v in runs[0]] == [v.tobytes() for v in runs[1]]
    return found.program, "\n".join(map(str, found.report))


def number(value):
    return paddle.full([1], value, "int64")


def vector():
    return paddle.static.data("x", [2])


def counted(start, most, body, *carried, step=1):
    i, limit = number(start), number(most)
    found = paddle.static.nn.while_loop(
        lambda i, *_: i < limit, lambda i, *v: [i + step, *body(i, *v)], [i, *carried]
    )
    return found[1:]


@pytest.mark.parametrize(("start", "most", "step", "rounds"), [(0, 4, 1, 4), (3, 10, 3, 3)])
def test_a_counted_loop_is_written_out(main, start, most, step, rounds):
    (y,) = counted(start, most, lambda i, y: [paddle.tanh(y)], vector() * 1.0, step=step)
    program, report = check_same(main, y)
    assert program.num_blocks == 1 and kinds(program).count("tanh") == rounds
    assert report.startswith("`while` at ") and report.endswith(f"written out, {rounds} rounds")


def test_a_loop_without_rounds_goes(main):
    (y,) = counted(0, 0, lambda i, y: [paddle.tanh(y)], vector() * 1.0)
    program, report = check_same(main, y)
    assert "tanh" not in kinds(program) and "written out, 0 rounds" in report


def test_a_counter_increased_in_place_is_known(main):
    i, limit, y = number(0), number(3), vector() * 1.0
    holds = paddle.less_than(i, limit)
    with While(holds).block():
        paddle.assign(paddle.tanh(y), y)
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, limit), holds)
    program, _ = check_same(main, y, i)
    assert kinds(program).count("tanh") == 3


def test_loops_within_loops_are_written_out(main):
    x = vector()
    (y,) = counted(0, 3, lambda i, y: counted(0, 2, lambda j, z: [paddle.tanh(z)], y), x * 1.0)
    program, _ = check_same(main, y)
    assert program.num_blocks == 1 and kinds(program).count("tanh") == 6


def test_a_branch_on_the_counter_is_folded(main):
    x = vector()

    def body(i, y):
        return [paddle.static.nn.cond(i < 1, lambda: paddle.tanh(y), lambda: paddle.exp(y))]

    (y,) = counted(0, 3, body, x * 1.0)
    program, report = check_same(main, y)
    assert [k for k in kinds(program) if k in ("tanh", "exp")] == ["tanh", "exp", "exp"]
    for text in ("its block always runs", "its block never runs", "it always takes number 1"):
        assert text in report


def test_a_branch_on_a_value_stays_with_both_its_blocks(main):
    x = vector()

    def body(i, y):
        return [paddle.static.nn.cond(paddle.sum(y) > 1.0, lambda: y * x, lambda: paddle.exp(y))]

    (y,) = counted(0, 3, body, x * 1.0)
    program, report = check_same(main, y)
    assert program.num_blocks == 7 and kinds(program).count("conditional_block") == 6
    assert "`conditional_block`" in report and "known only when it runs" in report


def test_a_loop_on_a_value_stays_and_says_why(main):
    x = vector()

    def body(y):
        return counted(0, 2, lambda i, z: [paddle.abs(z)], y * 2.0)

    (y,) = paddle.static.nn.while_loop(lambda y: paddle.sum(y) < 9.0, body, [x * 1.0])
    program, report = check_same(main, y)
    assert program.num_blocks == 2 and kinds(program).count("abs") == 2  # the inner loop went
    assert "left alone: its condition is known only when it runs" in report


def test_a_bound_that_is_fed_leaves_a_loop_alone(main):
    limit = paddle.static.data("limit", [1], "int64")
    paddle.static.nn.while_loop(lambda i: i < limit, lambda i: [i + 1], [number(0)])
    assert "while" in kinds(unrolled(main).program)


def test_a_loop_that_stops_for_a_value_stays(main):
    x = vector()

    def body(i, holds, y):
        return [i + 1, paddle.sum(y) < 3.0, y * 2.0]

    truth = paddle.full([], True, "bool")
    found = paddle.static.nn.while_loop(
        lambda i, holds, y: holds, body, [number(0), truth, x * 1.0]
    )
    program, report = check_same(main, *found)
    assert "while" in kinds(program) and "known only when it runs after 1 rounds" in report


def test_a_loop_over_the_limit_stays_as_it_was(main):
    (y,) = counted(0, 100, lambda i, y: [paddle.tanh(y)], vector() * 1.0)
    program, report = check_same(main, y, limit=200)
    assert str(program) == str(main.clone())
    assert "left alone: it would become more than 200 operators" in report
    with flags(UNROLL_LIMIT=50):
        assert "more than 50 operators" in str(unrolled(main).report[0])
    assert "while" not in kinds(check_same(main, y)[0])


def test_a_loop_without_end_is_left_alone(main):
    holds = paddle.full([1], True, "bool")
    with While(holds).block():
        pass
    assert "it has more than 7 rounds" in str(unrolled(main, limit=7).report[0])


def test_the_limit_counts_what_loops_within_become(main):
    x = vector()
    (y,) = counted(0, 9, lambda i, y: counted(0, 9, lambda j, z: [paddle.tanh(z)], y), x * 1.0)
    program, report = check_same(main, y, limit=60)
    assert kinds(program).count("while") == 1 and kinds(program).count("tanh") == 9
    assert "left alone: it would become more than 60" in report and "9 rounds" in report


def test_what_a_loop_overwrites_is_not_known_behind_it(main):
    x, i = vector(), number(0)
    paddle.static.nn.while_loop(lambda i, y: paddle.sum(y) < 9.0, lambda i, y: [i + 1, y * 2.0],
                                [i, x * 1.0])  # fmt: skip
    y = paddle.static.nn.cond(i < 1, lambda: x, lambda: -x)
    program, _ = check_same(main, y)
    assert kinds(program).count("conditional_block") == 2


def test_random_numbers_come_in_the_same_order(main):
    (y,) = counted(0, 3, lambda i, y: [y + paddle.rand([2])], vector() * 1.0)
    y = y + paddle.rand([2])
    exe, found = paddle.static.Executor(), []
    for program in (main, unrolled(main).program):
        paddle.seed(4)
        found.append([exe.run(program, feed=FEED, fetch_list=[y.name]) for _ in range(2)])
    assert np.array_equal(*found)


def test_blocks_whose_gradient_is_asked_for_stay(main):
    x = vector()
    x.stop_gradient = False
    (y,) = counted(0, 3, lambda i, y: [y * x], x * 1.0)
    paddle.static.append_backward(paddle.sum(y), parameter_list=["x"])
    gradient = main.global_block().var("x@GRAD")
    program, report = check_same(main, y, gradient)
    assert "while_grad" in kinds(program) and "its gradient reads what a run of its block" in report


def test_a_loop_stays_that_takes_gradients_of_a_branch_within(main):
    def body(i, y):
        z = y * 1.0
        z.stop_gradient = False
        total = paddle.static.nn.cond(
            paddle.sum(z) < 5.0, lambda: paddle.sum(z * z * z), lambda: paddle.sum(z)
        )
        return [y - paddle.static.gradients([total], [z])[0] * 0.1]

    (y,) = counted(0, 2, body, vector() * 1.0)
    program, report = check_same(main, y)
    assert "conditional_block_grad" in kinds(program)
    assert "a gradient in it reads what a run of its block" in report


def test_the_gradient_of_a_branch_gives_back_what_its_block_never_writes(main):
    x = vector()
    x.stop_gradient = False
    y = paddle.assign(x * 3.0)
    with Switch() as switch, switch.case(paddle.sum(x) < 99.0):
        never = paddle.full([1], False, "bool")
        with Switch() as inner, inner.case(never):
            paddle.assign(x * y, y)
    loss = paddle.sum(y * y)
    program, _ = check_same(main, loss)
    found = []
    for p in (main, program):
        with paddle.static.program_guard(p):
            paddle.static.append_backward(p.global_block().var(loss.name), parameter_list=["x"])
        for form in (p, lowered(p)):
            found += paddle.static.Executor().run(form, feed=FEED, fetch_list=["x@GRAD"])
    assert all(v.tolist() == found[0].tolist() for v in found)
    assert found[0].tolist() == (18.0 * FEED["x"]).tolist()


def test_gradients_may_be_asked_for_afterwards(main):
    x = vector()
    x.stop_gradient = False
    (y,) = counted(0, 3, lambda i, y: [y * x], x * 1.0)
    loss = paddle.sum(y)
    program = unrolled(main).program
    found = []
    for p in (main, program):
        with paddle.static.program_guard(p):
            paddle.static.append_backward(p.global_block().var(loss.name), parameter_list=["x"])
        verify(p)
        found += paddle.static.Executor().run(p, feed=FEED, fetch_list=["x@GRAD"])
    assert found[0].tolist() == found[1].tolist() and "while_grad" not in kinds(program)


def test_the_source_stays_as_it_was(main):
    counted(0, 3, lambda i, y: [y * 2.0], vector() * 1.0)
    before, version = str(main), main.version
    unrolled(main)
    assert (str(main), main.version) == (before, version)


def test_the_chosen_side_of_a_branch_that_stays_is_queued_with_all_else(main):
    """Both sides are there; of the one that runs, operators come when they can, like others."""
    x = vector()

    def chosen():
        y = x
        for _ in range(4):
            y = paddle.tanh(y)
        return y

    results, z = [], x
    for limit in (1.0, 9.0):
        results.append(paddle.static.nn.cond(paddle.sum(x) > limit, chosen, lambda: paddle.exp(x)))
    for _ in range(9):
        z = paddle.sin(z)
    (y,) = counted(0, 2, lambda i, y: [y + x], x * 1.0)
    results += [z, y]
    program, _ = check_same(main, *results)
    flat = lowered(program)
    operators = tuple(flat.global_block().ops)
    names = {v.name for v in results}
    wanted = [v for o in operators for v in o.results() if v.name in names]
    graph = graph_of(operators, wanted, fine=True)
    run, order = Run(graph, {v: FEED[v.name] for v in graph.outside}, None, -1), []
    while run.ready:
        order += [o.type for o in run.step()[0] if o.type in ("tanh", "exp", "sin")]
    assert sorted(order) == ["exp"] + ["sin"] * 9 + ["tanh"] * 4
    first, last = order.index("tanh"), len(order) - order[::-1].index("tanh")
    assert "sin" in order[first:last] and "exp" in order[first:last]
