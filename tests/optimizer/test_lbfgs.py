"""L-BFGS: where it goes, what it remembers, what it refuses."""

import numpy as np
import pytest

import scull as paddle


def valley(parameter, optimizer):
    """A closure of Rosenbrock's function, lowest at (1, 1), that counts its calls."""

    def closure():
        closure.calls += 1
        optimizer.clear_grad()
        x, y = parameter[0], parameter[1]
        loss = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        loss.backward()
        return loss

    closure.calls = 0
    return closure


def start(**settings):
    parameter = paddle.create_parameter([2], "float64")
    parameter.set_value(np.array([-1.2, 1.0]))
    optimizer = paddle.optimizer.LBFGS(parameters=[parameter], **settings)
    return parameter, optimizer, valley(parameter, optimizer)


def test_a_search_along_the_line_finds_the_end_of_a_curved_valley():
    parameter, optimizer, closure = start(line_search_fn="strong_wolfe", history_size=10)
    values = [optimizer.step(closure).item() for _ in range(4)]
    np.testing.assert_allclose(parameter.numpy(), [1, 1], atol=1e-5)
    assert values == sorted(values, reverse=True)
    assert closure.calls < 80


def test_full_steps_along_a_bowl_end_where_it_is_flat():
    parameter = paddle.create_parameter([3], "float64", is_bias=True)
    optimizer = paddle.optimizer.LBFGS(parameters=[parameter])

    def closure():
        optimizer.clear_grad()
        loss = ((parameter - 3.0) ** 2 * paddle.to_tensor([1.0, 2.0, 5.0], "float64")).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 72.0
    np.testing.assert_allclose(parameter.numpy(), [3, 3, 3], rtol=1e-6)


def test_the_limit_of_evaluations_holds():
    _, optimizer, closure = start(max_iter=10, max_eval=3)
    optimizer.step(closure)
    assert closure.calls == 3
    assert optimizer.state_dict()["state"]["func_evals"] == 3


def test_what_it_remembers_can_be_taken_over():
    parameter, optimizer, closure = start(line_search_fn="strong_wolfe", max_iter=3)
    optimizer.step(closure)
    other, second, again = start(line_search_fn="strong_wolfe", max_iter=3)
    other.set_value(parameter.numpy())
    second.set_state_dict(optimizer.state_dict())
    for _ in range(3):
        optimizer.step(closure)
        second.step(again)
    np.testing.assert_array_equal(parameter.numpy(), other.numpy())


def test_mistakes_are_refused():
    _, optimizer, closure = start(line_search_fn="golden")
    with pytest.raises(ValueError, match="only 'strong_wolfe' is supported"):
        optimizer.step(closure)
    with pytest.raises(NotImplementedError, match=r"step\(closure\)"):
        optimizer.minimize(paddle.ones([1]))
