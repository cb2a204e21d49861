"""Scaled losses."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, RunError


def network():
    made = paddle.nn.Linear(2, 1)
    return made, paddle.optimizer.SGD(0.1, parameters=made.parameters())


def loss(layer, value=1.0):
    return layer(paddle.to_tensor([[value, 1.0]])).sum()


def test_a_step_is_that_of_the_loss_that_is_not_scaled():
    layer, optimizer = network()
    before = layer.weight.numpy()
    scaler = paddle.amp.GradScaler(init_loss_scaling=64)
    scaler.scale(loss(layer, 3.0)).backward()
    assert layer.weight.grad.numpy().ravel().tolist() == [192.0, 64.0]
    scaler.step(optimizer)
    scaler.update()
    assert np.allclose((before - layer.weight.numpy()).ravel(), [0.3, 0.1])


def test_the_factor_grows_after_good_steps_and_shrinks_after_a_bad_one():
    layer, optimizer = network()
    scaler, found = paddle.amp.GradScaler(init_loss_scaling=64, incr_every_n_steps=2), []
    for value in (1.0, 1.0, np.inf, 1.0):
        before = layer.weight.numpy()
        scaler.scale(loss(layer, value)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        stepped = not np.array_equal(before, layer.weight.numpy())
        found.append((scaler.get_init_loss_scaling(), stepped))
    assert found == [(64, True), (128, True), (64, False), (64, True)]


def test_gradients_may_be_unscaled_before_the_step_but_once():
    layer, optimizer = network()
    scaler = paddle.amp.GradScaler(init_loss_scaling=64)
    scaler.scale(loss(layer)).backward()
    scaler.unscale_(optimizer)
    assert layer.weight.grad.numpy().ravel().tolist() == [1.0, 1.0]
    with pytest.raises(RunError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RunError, match="already been called"):
        scaler.step(optimizer)
    scaler.update()
    scaler.minimize(optimizer, scaler.scale(loss(layer)))


def test_a_scaler_that_is_off_passes_everything_through():
    layer, optimizer = network()
    scaler = paddle.amp.GradScaler(enable=False)
    scaled = loss(layer)
    assert scaler.scale(scaled) is scaled
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict() == {}
    assert not scaler.is_enable()


def test_a_saved_state_goes_on():
    scaler = paddle.amp.GradScaler(init_loss_scaling=64, incr_every_n_steps=7)
    other = paddle.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    with pytest.raises(RunError, match="empty"):
        other.load_state_dict({})


def test_ratios_on_the_wrong_side_of_one_are_refused():
    with pytest.raises(ArgumentError, match="must be > 1"):
        paddle.amp.GradScaler(incr_ratio=0.5)
    with pytest.raises(ArgumentError, match="must be < 1"):
        paddle.amp.GradScaler(decr_ratio=2.0)


def test_a_loss_in_half_precision_is_scaled_in_float32():
    scaled = paddle.amp.GradScaler().scale(paddle.to_tensor(np.float16(3.0)))
    assert (scaled.dtype, scaled.item()) == (paddle.float32, 3.0 * 2**16)


def test_a_new_optimizer_has_a_state_of_its_own():
    scaler = paddle.amp.GradScaler(init_loss_scaling=2)
    for _ in range(20):
        layer, optimizer = network()
        scaler.scale(loss(layer)).backward()
        scaler.step(optimizer)
        del layer, optimizer


@pytest.mark.parametrize("name", ["init_loss_scaling", "incr_every_n_steps"])
def test_a_setting_that_is_not_above_0_is_refused(name):
    with pytest.raises(ArgumentError, match=f"`{name}` is -1, not above 0"):
        paddle.amp.GradScaler(**{name: -1})


def test_the_older_scaler_leaves_out_what_overflows():
    layer, optimizer = network()
    scaler, found = paddle.amp.AmpScaler(init_loss_scaling=8.0), []
    for value in (1.0, np.inf, 1.0):
        before, scaled = layer.weight.numpy(), scaler.scale(loss(layer, value))
        scaled.backward()
        scaler.minimize(optimizer, scaled)
        optimizer.clear_grad()
        stepped = not np.array_equal(before, layer.weight.numpy())
        found.append((scaler.get_init_loss_scaling(), stepped))
    assert found == [(8.0, True), (4.0, False), (4.0, True)]


def test_a_scaler_is_the_older_one_with_steps_of_its_own():
    older = paddle.amp.AmpScaler()
    assert isinstance(paddle.amp.GradScaler(), paddle.amp.AmpScaler)
    assert older.get_init_loss_scaling() == 2.0**15 and older.get_incr_every_n_steps() == 1000
    assert not any(hasattr(older, name) for name in ("step", "unscale_", "update"))
