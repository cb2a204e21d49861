"""What trains through branches and loops, and what does not: the numbers of PaddlePaddle 2.6.2."""

import numpy as np
import pytest

import scull as paddle
from scull.ir.verify import verify

static, nn = paddle.static, paddle.static.nn
X = np.array([0.5, -1.0, 2.0], "float32")
THIRD = X / 3


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def number(value):
    return paddle.full([1], value, "int64")


def data():
    x = static.data("x", [3], "float32")
    x.stop_gradient = False
    return x


def parameter(value, name):
    constant = paddle.nn.initializer.Constant(value)
    return static.create_parameter([3], "float32", name=name, default_initializer=constant)


def run(fetches, *, times=1):
    """What the last of several runs gives, after the parameters got their values."""
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        exe.run(static.default_startup_program())
        for _ in range(times):
            found = exe.run(feed={"x": X}, fetch_list=fetches)
    return found


def test_a_branch_without_gradients_gives_its_values_alone():
    x, w = data(), parameter(1.0, "w")
    x.stop_gradient = True
    chosen = nn.cond(paddle.sum(x) > 0, lambda: x * 2, lambda: x)
    ((_, dw),) = static.append_backward(paddle.mean(chosen * w))
    assert np.allclose(run([dw])[0], 2 * THIRD)


def test_a_branch_that_writes_around_it_hands_its_gradient_on():
    x, w = data(), parameter(1.0, "w")
    out = paddle.zeros([3])
    out.stop_gradient = False
    nn.cond(paddle.sum(x) > 0, lambda: paddle.assign(x * w, out) and None, None)
    ((_, dw),) = static.append_backward(paddle.mean(out))
    assert np.allclose(run([dw])[0], THIRD)


def test_what_a_loop_carries_may_be_read_around_it_too():
    x = data()
    start = x * 1.0
    kept = start * 1.0
    body = lambda i, s: [i + 1, s * kept]  # noqa: E731
    _, s = nn.while_loop(lambda i, s: i < 2, body, [number(0), start])
    (dx,) = static.gradients([paddle.sum(s)], [x])
    assert np.allclose(run([dx])[0], 3 * X * X)


def test_a_loop_without_rounds_gives_zeros_for_what_only_its_body_reads():
    x, w = data(), parameter(1.0, "w")
    body = lambda i, s: [i + 1, s * w]  # noqa: E731
    _, s = nn.while_loop(lambda i, s: i < 0, body, [number(0), x * 1.0])
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(s))
    assert np.array_equal(run([w], times=2)[0], np.ones(3))


def test_no_gradient_passes_what_stops_it_within_a_loop():
    x, w = data(), parameter(1.0, "w")

    def body(i, s):
        stopped = s * w
        stopped.stop_gradient = True
        return [i + 1, stopped + s * w]

    _, s = nn.while_loop(lambda i, s: i < 2, body, [number(0), x * 1.0])
    ((_, dw),) = static.append_backward(paddle.mean(s))
    assert np.allclose(run([dw])[0], [0.5, -1.0, 2.0])


def test_integers_that_a_loop_carries_are_constants_to_its_gradient():
    x, w = data(), parameter(1.0, "w")
    _, k, s = nn.while_loop(
        lambda i, k, s: i < 3,
        lambda i, k, s: [i + 1, k * 2, s * w * paddle.cast(k, "float32")],
        [number(0), number(1), x * 1.0],
    )
    ((_, dw),) = static.append_backward(paddle.mean(s))
    found, gradient = run([k, dw])
    assert found.tolist() == [8]
    assert np.allclose(gradient, 8 * X)


CLIPS = {
    "none": (None, [1.98333, 2.03333, 1.93333]),
    "ClipGradByGlobalNorm": (0.1, [1.99782, 2.00436, 1.99127]),
    "ClipGradByNorm": (0.1, [1.99782, 2.00436, 1.99127]),
    "ClipGradByValue": (0.1, [1.99, 2.01, 1.99]),
}


@pytest.mark.parametrize("clip", CLIPS)
def test_the_branch_that_runs_trains_and_the_other_gets_zeros(clip):
    limit, expected = CLIPS[clip]
    x, a, b, unread = data(), parameter(1.0, "a"), parameter(2.0, "b"), parameter(3.0, "u")
    loss = paddle.mean(nn.cond(paddle.sum(x) < 0, lambda: x * a, lambda: x * b))
    made = None if limit is None else getattr(paddle.nn, clip)(limit)
    _, pairs = paddle.optimizer.SGD(0.1, grad_clip=made).minimize(loss)
    assert [p.name for p, _ in pairs] == ["a", "b"]
    found = run([a, b, unread])
    assert np.allclose(found[0], 1.0)
    assert np.allclose(found[1], expected, atol=1e-5)
    assert np.allclose(found[2], 3.0)


def test_a_parameter_of_the_branch_that_does_not_run_still_decays():
    x, a, b = data(), parameter(1.0, "a"), parameter(2.0, "b")
    loss = paddle.mean(nn.cond(paddle.sum(x) < 0, lambda: x * a, lambda: x * b))
    decay = paddle.regularizer.L2Decay(0.1)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    rule = paddle.optimizer.Momentum(0.1, 0.9, weight_decay=decay, grad_clip=clip)
    rule.minimize(loss)
    found = run([a, b], times=2)
    assert np.allclose(found[0], 0.9711, atol=1e-5)
    assert np.allclose(found[1], [1.89403, 2.03853, 1.74953], atol=1e-5)


def test_a_parameter_that_no_branch_reads_has_no_gradient():
    x, a, b = data(), parameter(1.0, "a"), parameter(2.0, "b")
    loss = paddle.mean(nn.cond(paddle.sum(x) < 0, lambda: x * a, lambda: x * x))
    da, db, dx = static.gradients([loss], [a, b, x])
    assert db is None
    found = run([da, dx])
    assert np.array_equal(found[0], np.zeros(3))
    assert np.allclose(found[1], 2 * THIRD)


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
