"""Gradients of branches, loops and lists: those of eager mode, and those that small steps show."""

import numpy as np
import pytest

import scull as paddle
from scull.executor.plan import make_plan
from scull.files.program import bytes_of, program_of
from scull.ir.verify import verify
from scull.static.nn.control_flow import While
from tests.static.flow import Flow

nn, arrays = paddle.static.nn, paddle.tensor
CHANCE = np.random.default_rng(0)
X, W = CHANCE.standard_normal(3), CHANCE.standard_normal(3)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def number(value):
    return paddle.full([1], value, "int64")


def program(build):
    """A Program of the loss of `build` and its gradients by `x` and `w`, and their names."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = [paddle.static.data(n, [3], "float64") for n in ("x", "w")]
        for v in given:
            v.stop_gradient = False
        loss = build(*given)
        paddle.static.append_backward(loss, parameter_list=["x", "w"])
    verify(main)
    return main, [loss.name, "x@GRAD", "w@GRAD"]


def run(main, names, x=X, w=W):
    return paddle.static.Executor().run(main, feed={"x": x, "w": w}, fetch_list=names)


def numeric(main, loss):
    """The gradients that small steps show."""
    found = []
    for name, value in (("x", X), ("w", W)):
        steps = np.zeros(3)
        for i in range(3):
            by = np.eye(3)[i] * 1e-6
            ends = [run(main, [loss], **{name: value + s * by})[0] for s in (1, -1)]
            steps[i] = (ends[0] - ends[1]) / 2e-6
        found.append(steps)
    return found


def branch(x, w):
    return paddle.sum(nn.cond(paddle.sum(x) < 0.0, lambda: x * w * x, lambda: paddle.tanh(x) + w))


def other_branch(x, w):
    return paddle.sum(nn.cond(paddle.sum(x) > 0.0, lambda: x * w * x, lambda: paddle.tanh(x) + w))


def one_result_without_a_gradient(x, w):
    a, b = nn.cond(paddle.sum(x) > 0.0, lambda: (x * w, x), lambda: (w, x * x))
    b.stop_gradient = True
    return paddle.sum(a * b)


def loop(x, w):
    _, s = nn.while_loop(
        lambda i, s: i < 4, lambda i, s: [i + 1, paddle.tanh(s * w) + s], [number(0), x * 1.0]
    )
    return paddle.sum(s * s)


def no_round(x, w):
    _, s = nn.while_loop(
        lambda i, s: i < 4, lambda i, s: [i + 1, paddle.tanh(s * w)], [number(9), x * 1.0]
    )
    return paddle.sum(s * s * w)


def overwritten_unread(x, w):
    start = [number(0), x * 1.0, x * 2.0]
    _, _, t = nn.while_loop(lambda i, s, t: i < 3, lambda i, s, t: [i + 1, w * s, s * s], start)
    return paddle.sum(t)


def carried_unused_after(x, w):
    start = [number(0), x * 0.0, x * 1.0]
    _, s, _ = nn.while_loop(
        lambda i, s, h: i < 3, lambda i, s, h: [i + 1, s + h * h, paddle.tanh(h * w)], start
    )
    return paddle.sum(s)


def branch_in_loop_in_branch(x, w):
    def body(i, s):
        return [i + 1, nn.cond(paddle.sum(s) > 0.0, lambda: paddle.sin(s * w), lambda: s - w * w)]

    def looped():
        return nn.while_loop(lambda i, s: i < 3, body, [number(0), x * 1.0])[1]

    return paddle.sum(nn.cond(paddle.sum(x) < 10.0, looped, lambda: x))


def loop_in_loop(x, w):
    def inner(i, s):
        body = lambda j, t: [j + 1, t * w + x]  # noqa: E731
        return nn.while_loop(lambda j, t: j < i, body, [number(0), s * 1.0])[1]

    body = lambda i, s: [i + 1, inner(i, s)]  # noqa: E731
    return paddle.sum(nn.while_loop(lambda i, s: i < 4, body, [number(0), x * 1.0])[1])


def list_that_a_loop_fills(x, w):
    i, array = number(0), arrays.create_array("float64")
    array = arrays.array_write(x, i, array)

    def body(i, array):
        last = arrays.array_read(array, i)
        array = arrays.array_write(paddle.tanh(last * w) + last * x, i + 1, array)
        return [i + 1, array]

    i, array = nn.while_loop(lambda i, _: i < 3, body, [i, array])
    last = arrays.array_read(array, i) * arrays.array_read(array, number(1))
    return paddle.sum(last) + paddle.sum(paddle.stack(array, axis=0) * 0.5)


def list_read_in_a_loop(x, w):
    array = arrays.create_array("float64", [x * float(k + 1) * w for k in range(3)])

    def body(i, s):
        first = arrays.array_read(array, number(0))
        return [i + 1, s * arrays.array_read(array, i) + first]

    _, s = nn.while_loop(lambda i, s: i < 3, body, [number(0), x * 1.0])
    return paddle.sum(s * arrays.array_read(array, number(2)))


def list_written_at_one_place(x, w):
    array = arrays.create_array("float64", [x * w])

    def body(i, array):
        value = arrays.array_read(array, number(0)) * w + x
        return [i + 1, arrays.array_write(value, number(0), array)]

    _, array = nn.while_loop(lambda i, _: i < 3, body, [number(0), array])
    return paddle.sum(arrays.array_read(array, number(0)))


def list_read_in_a_branch(x, w):
    array = arrays.create_array("float64", [x * w])
    read = lambda: arrays.array_read(array, number(0)) * x  # noqa: E731
    y = nn.cond(paddle.sum(x) > -100.0, read, lambda: w)
    return paddle.sum(y * arrays.array_read(array, number(0)))


def counter_increased_in_place(x, w):
    i, limit, s = number(0), number(3), x * 1.0
    array = arrays.array_write(x * w, i)
    holds = paddle.less_than(i, limit)
    with While(holds).block():
        last = arrays.array_read(array, i)
        paddle.increment(i)
        arrays.array_write(paddle.tanh(last) * x, i, array)
        paddle.assign(s * last, s)
        paddle.assign(s + s * s, s)
        paddle.assign(paddle.less_than(i, limit), holds)
    return paddle.sum(s * arrays.array_read(array, i))


BUILDERS = (
    branch,
    other_branch,
    loop,
    no_round,
    overwritten_unread,
    carried_unused_after,
    branch_in_loop_in_branch,
    loop_in_loop,
    list_that_a_loop_fills,
    list_read_in_a_loop,
    list_written_at_one_place,
    list_read_in_a_branch,
    counter_increased_in_place,
)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_gradients_are_what_small_steps_show(build):
    main, names = program(build)
    _, *found = run(main, names)
    for a, b in zip(found, numeric(main, names[0]), strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7)
    for same in (main.clone(), program_of(bytes_of(main))):
        again = run(same, names)[1:]
        assert all(np.array_equal(a, b) for a, b in zip(again, found, strict=True))


def test_a_result_that_needs_no_gradient_leaves_the_other_its_own():
    main, names = program(one_result_without_a_gradient)
    _, dx, dw = run(main, names)
    assert np.allclose(dx, W * X if X.sum() > 0 else 0)
    assert np.allclose(dw, X * X)


def test_a_loop_says_what_each_round_keeps_for_its_gradient():
    main, names = program(loop)
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names), reuses=False)
    assert "every run keeps 48 bytes for its gradient: tanh_0.tmp_0, tmp_0" in str(plan)
    assert plan.peak_bytes is None
    assert str(plan.peak).startswith("unbounded because of `while` at ")


def test_nothing_is_kept_where_no_gradient_is_asked_for():
    main, names = program(loop)
    plan = make_plan(main._prune(names[:1]).global_block(), ("x", "w"), (names[0],))
    assert "keeps" not in str(plan)


def test_a_branch_with_its_gradient_has_a_bound():
    main, names = program(branch)
    plan = make_plan(main.global_block(), ("x", "w"), tuple(names))
    assert plan.peak_bytes is not None


def test_parameters_learn_through_a_loop_and_a_branch():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        paddle.seed(0)
        x = paddle.static.data("x", [4, 3])
        hidden = paddle.static.nn.fc(x, 3)
        layer = paddle.nn.Linear(3, 3)

        def body(i, h):
            return [
                i + 1,
                nn.cond(paddle.mean(h) > 0.0, lambda: paddle.tanh(layer(h)), lambda: h * 0.5),
            ]

        _, h = nn.while_loop(lambda i, h: i < 3, body, [number(0), hidden])
        loss = paddle.mean((h - 0.25) ** 2)
        paddle.optimizer.SGD(0.5).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    feed = {"x": np.random.default_rng(1).random((4, 3), "float32")}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(30)]
    assert losses[-1] < losses[0] / 5


def test_gradients_by_chosen_variables_pass_blocks():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [3], "float64")
        x.stop_gradient = False
        y = nn.cond(paddle.sum(x) > 100.0, lambda: x, lambda: x * x * x)
        (dx,) = paddle.static.gradients([y], [x])
    found = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[dx])[0]
    assert np.allclose(found, 3 * X * X)


def test_many_rounds_keep_one_row_each():
    flow = Flow(3)
    main, names = flow.program()
    exe = paddle.static.Executor()
    first = exe.run(main, feed=flow.feed, fetch_list=names)
    for _ in range(20):
        again = exe.run(main, feed=flow.feed, fetch_list=names)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def trained_in_branches(optimizer, loss_of):
    """Losses of runs whose branches train by turns, and of the same in eager mode."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x, which = paddle.static.data("x", [4, 3]), paddle.static.data("which", [1])
        paddle.seed(0)
        layer = paddle.nn.Linear(3, 1)

        def training(number):
            def branch():
                loss = loss_of(layer, x, number)
                optimizer().minimize(loss)
                return loss

            return branch

        loss = nn.cond(which < 1.0, training(1.0), training(2.0))
        verify(main)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    data = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(4, 3)
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        start = [scope.find_var(p.name).value.copy() for p in main.all_parameters()]
        turns = (0.0, 2.0, 0.0, 2.0)
        feeds = [{"x": data, "which": np.full(1, v, "float32")} for v in turns]
        found = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for feed in feeds]
    paddle.disable_static()
    layer = paddle.nn.Linear(3, 1)
    for p, value in zip(layer.parameters(), start, strict=True):
        p.set_value(value)
    rules = [optimizer(parameters=layer.parameters()) for _ in range(2)]
    expected = []
    for v in turns:
        loss = loss_of(layer, paddle.to_tensor(data), 1.0 if v < 1.0 else 2.0)
        loss.backward()
        rule = rules[int(v >= 1.0)]
        rule.step()
        rule.clear_grad()
        expected.append(float(loss))
    return found, expected


@pytest.mark.parametrize("rule", ["SGD", "Adam", "Momentum"])
def test_branches_train_a_shared_layer(rule):
    def optimizer(**given):
        return getattr(paddle.optimizer, rule)(0.1, **given)

    def loss_of(layer, x, number):
        return paddle.mean((layer(x) - number) ** 2)

    found, expected = trained_in_branches(optimizer, loss_of)
    assert np.allclose(found, expected, rtol=1e-5)
    assert len(set(found)) == 4
