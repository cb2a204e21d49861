"""Optimizers of users, which say themselves how to update."""

import numpy as np
import pytest

import scull as paddle
from tests.optimizer.test_optimizer import trained_eagerly, trained_statically

opt = paddle.optimizer


class Heavy(opt.Optimizer):
    """Momentum as users write it: p -= rate * (mu * velocity + g)."""

    def __init__(self, rate, mu=0.5, **options):
        super().__init__(rate, **options)
        self.mu = self.usual = mu

    def _create_accumulators(self, block, parameters):
        for p in parameters:
            self._add_accumulator("speed", p)
            self._add_accumulator("count", p, dtype="float32", fill_value=1.0, shape=[1])

    def _append_optimize_op(self, block, param_and_grad):
        if isinstance(param_and_grad, dict):
            param_and_grad = self._update_param_group(param_and_grad)
        p, g = param_and_grad
        speed, count = (self._get_accumulator(n, p) for n in ("speed", "count"))
        paddle.assign(self.mu * speed + g, speed)
        paddle.assign(count + 1.0, count)
        paddle.assign(p - self._create_param_lr(param_and_grad) * speed, p)

    def _update_param_group(self, parameters):
        self.mu = parameters.get("mu", self.usual)
        return parameters["params"]


class Twice(opt.SGD):
    """Steps of twice the length."""

    def _append_optimize_op(self, block, param_and_grad):
        p, g = param_and_grad
        return super()._append_optimize_op(block, (p, g * 2.0))


@pytest.mark.parametrize(
    ("own", "known"),
    [
        (
            lambda p: Heavy(0.1, parameters=p, weight_decay=0.1),
            lambda p: opt.Momentum(0.1, 0.5, parameters=p, weight_decay=0.1),
        ),
        (lambda p: Twice(0.05, parameters=p), lambda p: opt.SGD(0.1, parameters=p)),
    ],
)
@pytest.mark.parametrize("trained", [trained_eagerly, trained_statically])
def test_a_subclass_says_how_to_update(own, known, trained):
    found, expected = trained(own), trained(known)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    for name, value in found[1].items():
        np.testing.assert_allclose(value, expected[1][name], rtol=1e-5, atol=1e-6)


def test_states_of_a_subclass_have_its_names_values_and_shapes():
    with paddle.utils.unique_name.guard():
        layer = paddle.nn.Linear(2, 1)
        optimizer = Heavy(0.1, parameters=layer.parameters())
        layer(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
    states = optimizer.state_dict()
    assert sorted(states) == [f"linear_0.{p}_0_{s}_0" for p in "bw" for s in ("count", "speed")]
    assert states["linear_0.w_0_count_0"].tolist() == [2.0]
    assert states["linear_0.w_0_speed_0"].tolist() == [[1.0], [1.0]]


def test_a_subclass_is_told_the_settings_of_a_group_that_it_alone_knows():
    a, b = (paddle.create_parameter([1], "float32") for _ in range(2))
    optimizer = Heavy(1.0, parameters=[{"params": [a], "mu": 0.0}, {"params": [b]}])
    before = [p.item() for p in (a, b)]
    for _ in range(2):
        (a + b).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    moved = [x - p.item() for x, p in zip(before, (a, b), strict=True)]
    assert moved == pytest.approx([2.0, 2.5], rel=1e-5)  # 1 + 1, and 1 + 1.5


def test_what_does_not_say_how_to_update_is_refused():
    w = paddle.create_parameter([1], "float32")
    optimizer = opt.Optimizer(0.1, parameters=[w])
    w.sum().backward()
    with pytest.raises(NotImplementedError, match="override `_append_optimize_op`"):
        optimizer.step()


def test_operators_that_update_are_called_in_place():
    w, m = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.5, 0.0])
    rate, g = paddle.to_tensor(0.1), paddle.to_tensor([1.0, -1.0])
    paddle._C_ops.sgd_(w, rate, g, None, False)
    np.testing.assert_allclose(w, [0.9, 2.1], rtol=1e-6)
    paddle._C_ops.momentum_(w, g, m, rate, None, 0.5, False, "", 0.0, False, 1.0)
    np.testing.assert_allclose(m, [1.25, -1.0], rtol=1e-6)
    np.testing.assert_allclose(w, [0.775, 2.2], rtol=1e-6)
