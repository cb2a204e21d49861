"""A GradScaler within a recorded step is operators of one Program, and does what it does eager."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import RunError, UnsupportedError

CLIP = paddle.nn.ClipGradByGlobalNorm(0.5)
OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, parameters=p),
    "momentum": lambda p: paddle.optimizer.Momentum(
        0.1, parameters=p, weight_decay=0.01, grad_clip=CLIP
    ),
    "adamw": lambda p: paddle.optimizer.AdamW(0.1, parameters=p),
}


def trained(optimizer, how, *, clears=True, cast=False, unscales=False):
    """What is left after seven steps, two of which overflow; and the function."""
    paddle.seed(3)
    net = paddle.nn.Linear(4, 2)
    update = OPTIMIZERS[optimizer](net.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=2)

    def step(x):
        with paddle.amp.auto_cast(enable=cast, dtype="bfloat16"):
            loss = net(x).square().mean()
        scaler.scale(loss).backward()
        if unscales:
            scaler.unscale_(update)
        scaler.step(update)
        scaler.update()
        if clears:
            update.clear_grad()
        return loss

    function = step if how == "eager" else paddle.jit.to_static(step, full_graph=how == "whole")
    states = []
    for i in range(7):
        x = np.random.RandomState(i).rand(3, 4).astype("float32")
        x[0, 0] = np.inf if i in (2, 5) else x[0, 0]
        loss = function(paddle.to_tensor(x))
        parameters = [p.numpy().copy() for p in net.parameters()]
        states.append([scaler.state_dict(), loss.numpy(), *parameters])
    return states, function


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("how", ["whole", "pieces"])
def test_steps_leave_what_they_leave_in_eager_mode(optimizer, how):
    options = {"unscales": optimizer == "adamw", "cast": optimizer == "sgd"}
    expected, _ = trained(optimizer, "eager", **options)
    found, function = trained(optimizer, how, **options)
    for before, after in zip(expected, found, strict=True):
        assert before[0] == after[0]
        for a, b in zip(before[1:], after[1:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5 if options["cast"] else 1e-6)
    scales = [state[0]["scale"].item() for state in found]
    assert scales == [8.0, 16.0, 8.0, 8.0, 16.0, 8.0, 8.0]
    if how == "whole":
        types = [o.type for o in function.main_program.global_block().ops]
        assert types.count("check_finite_and_unscale") == types.count("update_loss_scaling") == 1
        check = next(o for o in function.main_program.global_block().ops if "check" in o.type)
        assert check.input("X") == check.output("Out") and len(check.input("X")) == 2


def test_a_scaler_serves_recorded_and_eager_steps_by_turns():
    net = paddle.nn.Linear(2, 1)
    update = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, incr_every_n_steps=3)

    def step(x):
        scaled = scaler.scale(net(x).sum())
        scaled.backward()
        scaler.minimize(update, scaled)
        update.clear_grad()

    static, scales = paddle.jit.to_static(step, full_graph=True), []
    for i in range(6):
        (static if i % 2 else step)(paddle.ones([1, 2]))
        scales.append(scaler.get_init_loss_scaling())
    assert scales == [4.0, 4.0, 8.0, 8.0, 8.0, 16.0]
    scaler.set_init_loss_scaling(2.0)
    static(paddle.full([1, 2], float("inf")))
    assert scaler.get_init_loss_scaling() == 1.0


def test_steps_out_of_order_are_refused_at_their_line():
    net = paddle.nn.Linear(2, 1)
    update = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def recorded(rest):
        scaler = paddle.amp.GradScaler()

        def step(x):
            scaler.scale(net(x).sum()).backward()
            rest(scaler)

        return paddle.jit.to_static(step, full_graph=True)

    def twice(scaler):
        scaler.step(update)
        scaler.step(update)

    def late(scaler):
        scaler.step(update)
        scaler.unscale_(update)

    def again(scaler):
        scaler.unscale_(update)
        scaler.unscale_(update)

    for rest, said in ((twice, r"step\(\) has already"), (late, "after step"), (again, "already")):
        with pytest.raises(RunError, match=said):
            recorded(rest)(paddle.ones([1, 2]))
    scaler = paddle.amp.GradScaler()
    outside = paddle.jit.to_static(lambda x: scaler.step(update), full_graph=True)
    with pytest.raises(UnsupportedError, match="no gradient reached a parameter") as caught:
        outside(paddle.ones([1, 2]))
    assert caught.traceback[-1].name == "<lambda>"
