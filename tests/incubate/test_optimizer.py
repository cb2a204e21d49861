"""Slow copies, averages and rates of layers; the numbers are those of PaddlePaddle 2.6.2."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError


def layer():
    made = paddle.nn.Linear(2, 1)
    made.weight.set_value(np.array([[1.0], [2.0]], "float32"))
    made.bias.set_value(np.array([0.5], "float32"))
    return made


def differentiated(network, i):
    x = paddle.to_tensor(np.array([[1.0, i]], "float32"))
    (network(x) ** 2).mean().backward()


SLOW = {
    (2, 0.5): [[0.7, 2.0], [0.41, 1.71], [-0.338, 0.214], [0.0894, 1.1222], [-0.7441, -2.2119]],
    (1, 0.5): [[0.7, 2.0], [0.41, 1.71], [0.036, 0.962], [-0.2098, 0.2246], [-0.2077, 0.2331]],
    (3, 0.25): [[0.7, 2.0], [0.12, 1.42], [0.426, 1.597], [-0.6026, -1.4888], [0.9295, 4.6395]],
}


@pytest.mark.parametrize(("k", "alpha"), SLOW)
def test_slow_copies_follow_every_k_steps(k, alpha):
    network = layer()
    inner = paddle.optimizer.SGD(0.1, parameters=network.parameters())
    optimizer, found = paddle.incubate.LookAhead(inner, alpha=alpha, k=k), []
    for i in range(5):
        differentiated(network, i)
        optimizer.step()
        optimizer.clear_grad()
        found.append(network.weight.numpy().ravel())
    assert np.allclose(found, SLOW[k, alpha], atol=1e-4)
    assert f"{network.weight.name}_slow_0" in optimizer.state_dict()


def trained(after):
    """What the one weight of a Program is after each of six runs, and what `after` sees."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [1, 2])
        start = paddle.nn.initializer.Assign(np.array([[1.0], [2.0]], "float32"))
        attr = paddle.ParamAttr(name="w", initializer=start)
        loss = (paddle.static.nn.fc(x, 1, weight_attr=attr, bias_attr=False) ** 2).mean()
        made = after(loss)
    exe, scope, found = paddle.static.Executor(), paddle.static.Scope(), []
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        for i in range(6):
            exe.run(main, feed={"x": np.array([[1.0, i * 0.1]], "float32")})
            if isinstance(made, paddle.incubate.ModelAverage):
                with made.apply(exe):
                    found.append(np.array(scope.var("w").value).ravel())
            else:
                found.append(np.array(scope.var("w").value).ravel())
    paddle.disable_static()
    return found


def test_slow_copies_follow_in_a_program_too():
    def after(loss):
        paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1), alpha=0.5, k=2).minimize(loss)

    expected = [[0.8, 2.0], [0.7, 1.99], [0.4804, 1.9461], [0.4838, 1.9361], [0.2321, 1.8355]]
    assert np.allclose(trained(after)[:5], expected, atol=1e-4)


AVERAGES = {
    (0.5, 2, 4): [[0.97, 2.0], [0.9356, 1.9656], [0.8897, 1.8853], [0.7352, 1.5365]],
    (1.0, 10, 10): [[0.97, 2.0], [0.9356, 1.9656], [0.8897, 1.8853], [0.8354, 1.7511]],
}


@pytest.mark.parametrize("windows", AVERAGES)
def test_averages_take_the_place_of_parameters_for_a_while(windows):
    network = layer()
    optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
    average = paddle.incubate.ModelAverage(windows[0], network.parameters(), *windows[1:])
    for i, expected in enumerate(AVERAGES[windows]):
        differentiated(network, i)
        optimizer.step()
        average.step()
        optimizer.clear_grad()
        before = network.weight.numpy()
        with average.apply():
            assert np.allclose(network.weight.numpy().ravel(), expected, atol=1e-4)
        assert np.array_equal(network.weight.numpy(), before)
    with average.apply(need_restore=False):
        pass
    assert not np.array_equal(network.weight.numpy(), before)
    assert np.array_equal(average._get_accumulator("restore", network.weight).numpy(), before)
    average.restore()
    assert np.array_equal(network.weight.numpy(), before)


def test_averages_are_recorded_behind_the_updates():
    def after(loss):
        paddle.optimizer.SGD(0.1).minimize(loss)
        return paddle.incubate.ModelAverage(0.5, min_average_window=2, max_average_window=4)

    expected = [[0.8, 2.0], [0.7, 1.99], [0.6003, 1.9734], [0.3025, 1.9107], [0.206, 1.8753]]
    assert np.allclose(trained(after)[:5], expected, atol=1e-4)


def test_rates_of_layers_follow_the_norms():
    network = layer()
    how = {"lars_coeff": 0.5, "lars_weight_decay": 0.1, "parameter_list": network.parameters()}
    optimizer = paddle.incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, **how)
    differentiated(network, 1)
    weight, grad = network.weight.numpy(), network.weight.grad.numpy()
    own, pull = np.linalg.norm(weight), np.linalg.norm(grad)
    step = 0.1 * 0.5 * own / (pull + 0.1 * own) * (grad + 0.1 * weight)
    optimizer.step()
    assert np.allclose(network.weight.numpy(), weight - step)


def test_rates_of_layers_work_in_a_program():
    def after(loss):
        paddle.incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, 0.5, 0.1).minimize(loss)

    x, weight = np.array([[1.0, 0.0]]), np.array([[1.0], [2.0]])
    grad = 2 * (x @ weight) * x.T
    own, pull = np.linalg.norm(weight), np.linalg.norm(grad)
    step = 0.1 * 0.5 * own / (pull + 0.1 * own) * (grad + 0.1 * weight)
    assert np.allclose(trained(after)[0], (weight - step).ravel(), atol=1e-6)


def test_wrong_settings_are_refused():
    inner = paddle.optimizer.SGD(0.1, parameters=layer().parameters())
    with pytest.raises(ArgumentError, match="alpha should be"):
        paddle.incubate.LookAhead(inner, alpha=1.5)
    with pytest.raises(ArgumentError, match="k should be a positive integer"):
        paddle.incubate.LookAhead(inner, k=0)
    with pytest.raises(ArgumentTypeError, match="inner optimizer"):
        paddle.incubate.LookAhead(None)
