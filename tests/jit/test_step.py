"""Whole training steps as one Program: backward, updates and cleared gradients inside."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, UnsupportedError
from tests.jit.models import assert_equal, buffers, copied_state, gradients, small_net, started

CLIP = paddle.nn.ClipGradByGlobalNorm(0.1)
OPTIMIZERS = {
    "sgd": lambda rate, ps: paddle.optimizer.SGD(rate, parameters=ps),
    "momentum": lambda rate, ps: paddle.optimizer.Momentum(rate, parameters=ps, weight_decay=0.1),
    "adam": lambda rate, ps: paddle.optimizer.Adam(rate, parameters=ps),
    "adamw with clipping": lambda rate, ps: paddle.optimizer.AdamW(
        rate, parameters=ps, grad_clip=CLIP
    ),
    "groups": lambda rate, ps: paddle.optimizer.Adam(
        rate,
        parameters=[
            {"params": ps[:1], "learning_rate": 0.5},
            {"params": ps[1:], "grad_clip": CLIP},
        ],
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("inside", ["step", "backward", "minimize"])
def test_steps_are_those_of_eager_mode_bit_for_bit(name, inside):
    net = small_net()
    state, x = copied_state(net), paddle.rand([5, 3])

    def run(static):
        started(net, state)
        schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
        optimizer = OPTIMIZERS[name](schedule, net.parameters())

        def step(x):
            loss = (net(x) ** 2).mean()
            if inside == "minimize":
                if not static:
                    loss.backward()
                optimizer.minimize(loss)
                optimizer.clear_grad()
                return loss
            loss.backward()
            if inside == "step":
                optimizer.step()
                optimizer.clear_grad()
            return loss

        call = paddle.jit.to_static(step, full_graph=True) if static else step
        found = []
        for _ in range(5):
            found.append(call(x).numpy())
            if inside == "backward":
                found.extend(gradients(net))
                optimizer.step()
                optimizer.clear_grad()
            schedule.step()
        return [*found, *(p.numpy() for p in net.parameters()), *buffers(net)]

    assert_equal(run(True), run(False))


def test_gradients_that_stay_add_up_from_call_to_call():
    w = paddle.to_tensor([3.0], stop_gradient=False)

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        loss = (w * x).sum()
        loss.backward()
        return loss, w.grad * 1.0

    x = paddle.to_tensor([2.0])
    step(x)
    _, seen = step(x)
    assert seen.tolist() == [2.0]
    assert w.grad.tolist() == [4.0]


def test_a_penalty_on_a_gradient_trains():
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh())
    x = paddle.rand([5, 3])
    x.stop_gradient = False

    def penalty(x):
        (g,) = paddle.grad([(net(x) ** 3).sum()], [x], create_graph=True)
        return (g * g).sum()

    def run(call):
        net.clear_gradients()
        x.clear_grad()
        call(x).backward()
        return gradients(net, x)

    for found, expected in zip(run(paddle.jit.to_static(penalty)), run(penalty), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def stepping(net, optimizer):
    """A whole step."""

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def test_a_parameter_frozen_between_two_steps_stays_as_it_is():
    net, x = paddle.nn.Linear(3, 1), paddle.ones([2, 3])
    step = stepping(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    step(x)
    net.weight.stop_gradient = True
    before = net.weight.numpy()
    step(x)
    np.testing.assert_array_equal(net.weight.numpy(), before)
    net.weight.stop_gradient = False
    step(x)
    assert (net.weight.numpy() != before).any()


def test_a_gradient_from_before_a_step_is_not_dropped_silently():
    net, x = paddle.nn.Linear(3, 1), paddle.ones([2, 3])
    step = stepping(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    step(x)
    net(x).sum().backward()
    with pytest.raises(ArgumentError, match="has a gradient from before this step"):
        step(x)


@pytest.mark.filterwarnings("ignore:.*has a gradient from before this step")
def test_what_the_refusal_of_a_gradient_from_before_proposes_works():
    def run(made):
        paddle.seed(1)
        net, x = paddle.nn.Linear(3, 1), paddle.ones([2, 3])
        optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())

        def step(x):
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        function, losses = made(step), []
        for i in range(4):
            if i % 2:
                net(x * 2).sum().backward()
            losses.append(function(x).item())
        return losses

    eager = run(lambda step: step)
    assert eager == run(lambda step: paddle.jit.to_static(step, full_graph=False))
    with pytest.raises(ArgumentError, match="pass full_graph=False, so that it runs in pieces"):
        run(lambda step: paddle.jit.to_static(step, full_graph=True))


def test_a_gradient_cleared_at_the_start_is_that_of_this_step_alone():
    w = paddle.to_tensor([3.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        optimizer.clear_grad()
        loss = (w * x).sum()
        loss.backward()
        return loss

    (w * 5.0).sum().backward()
    step(paddle.to_tensor([2.0]))
    step(paddle.to_tensor([2.0]))
    assert w.grad.tolist() == [2.0]


def test_an_update_by_gradients_from_elsewhere_runs_in_pieces():
    w = paddle.to_tensor([3.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.5, parameters=[w])

    def update(x):
        optimizer.step()
        return x * 1.0

    (w * 4.0).sum().backward()
    with pytest.warns(UserWarning, match="no gradient reached a parameter"):
        paddle.jit.to_static(update, full_graph=False)(paddle.ones([1]))
    assert w.item() == 1.0


def whole_step(optimizer, static, schedule=None, behind=True):
    """Losses and parameters of some steps; the schedule goes on within, perhaps `behind` it."""
    net = small_net()
    rate = schedule() if schedule else 0.05
    optimizer = optimizer(rate, parameters=net.parameters())

    def go_on(loss):
        if isinstance(rate, paddle.optimizer.lr.ReduceOnPlateau):
            rate.step(loss)
        elif schedule:
            rate.step()

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        if not behind:
            go_on(loss)
        optimizer.step()
        optimizer.clear_grad()
        if behind:
            go_on(loss)
        return loss

    call = paddle.jit.to_static(step, full_graph=static == "whole") if static else step
    x = paddle.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))
    losses = [call(x).numpy() for _ in range(4)]
    return [*losses, optimizer.get_lr(), *(p.numpy() for p in net.parameters())]


@pytest.mark.parametrize("name", ["Adadelta", "Adagrad", "Adamax", "Lamb", "RMSProp"])
def test_each_optimizer_steps_within(name):
    optimizer = getattr(paddle.optimizer, name)
    states = []
    for static in (None, "whole"):
        paddle.seed(1)
        states.append(whole_step(optimizer, static))
    assert_equal(*states)


SCHEDULES = {
    "exponential": lambda: paddle.optimizer.lr.ExponentialDecay(0.1, 0.5),
    "warm-up": lambda: paddle.optimizer.lr.LinearWarmup(0.1, 3, 0.01, 0.1),
    "plateau": lambda: paddle.optimizer.lr.ReduceOnPlateau(0.1, patience=0, threshold=0.5),
    "restarts": lambda: paddle.optimizer.lr.CosineAnnealingWarmRestarts(0.1, 2),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_in_every_call(name):
    states = []
    for static in (None, "whole", "pieces"):
        paddle.seed(1)
        states.append(whole_step(paddle.optimizer.Adam, static, SCHEDULES[name]))
    assert_equal(*states[:2])
    assert_equal(states[0], states[2])


def test_a_schedule_that_goes_on_before_its_update_runs_in_pieces():
    given = (paddle.optimizer.SGD, SCHEDULES["exponential"], False)
    paddle.seed(1)
    eager = whole_step(given[0], None, *given[1:])
    paddle.seed(1)
    with pytest.warns(UserWarning, match="goes on before the update"):
        pieces = whole_step(given[0], "pieces", *given[1:])
    assert_equal(eager, pieces)
    with pytest.raises(UnsupportedError, match="call its `step` behind"):
        whole_step(given[0], "whole", *given[1:])


def test_a_schedule_in_a_branch_runs_in_pieces():
    net = paddle.nn.Linear(3, 1)
    schedule = SCHEDULES["exponential"]()

    @paddle.jit.to_static(full_graph=False)
    def step(x):
        if net(x).sum() > 0.0:
            schedule.step()
        return x

    with pytest.warns(UserWarning, match="decides whether a schedule"):
        step(paddle.ones([2, 3]) * net.weight.sum())


def test_a_gradient_within_is_saved_and_tested(tmp_path):
    net = paddle.nn.Linear(3, 1)

    def slope(x):
        x = x * 1.0
        x.stop_gradient = False
        return paddle.grad((net(x) ** 2).sum(), x)[0]

    x = paddle.ones([2, 3])
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    static = paddle.jit.to_static(slope, input_spec=spec, full_graph=True)
    static.eval()
    wanted = slope(x).numpy()
    np.testing.assert_allclose(static(x).numpy(), wanted, rtol=1e-6)
    paddle.jit.save(static, str(tmp_path / "model"))
    loaded = paddle.jit.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded(x).numpy(), wanted, rtol=1e-6)


def norm_clipped(parameters):
    return paddle.nn.utils.clip_grad_norm_(parameters, 0.05)


def value_clipped(parameters):
    return paddle.nn.utils.clip_grad_value_(parameters, 0.01)


def rescaled(parameters):
    total = paddle.sqrt(sum([(p.grad**2).sum() for p in parameters]))
    if total > 0.01:
        for p in parameters:
            p.grad.set_value(p.grad * (0.01 / total))
    return total


def replaced(parameters):
    for p in parameters:
        p.grad = p.grad * 0.5


@pytest.mark.parametrize("change", [norm_clipped, value_clipped, rescaled, replaced])
def test_gradients_are_changed_between_backward_and_update(change):
    net = paddle.nn.Linear(3, 2)
    state, x = copied_state(net), paddle.rand([4, 3])

    def run(static):
        started(net, state)
        optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())

        def step(x):
            (net(x) ** 2).mean().backward()
            said = change(net.parameters())
            optimizer.step()
            optimizer.clear_grad()
            return x if said is None else said

        call = paddle.jit.to_static(step, full_graph=True) if static else step
        return [*(call(x).numpy() for _ in range(3)), *(p.numpy() for p in net.parameters())]

    for a, b in zip(run(True), run(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("norm_type", [0, 1, float("inf")])
def test_each_norm_of_gradients_is_that_of_eager_mode(norm_type):
    net = paddle.nn.Linear(3, 2)

    def step(x):
        (net(x) ** 2).mean().backward()
        total = paddle.nn.utils.clip_grad_norm_(net.parameters(), 0.05, norm_type)
        found = [p.grad * 1.0 for p in net.parameters()]
        net.clear_gradients()
        return [total, *found]

    x = paddle.rand([4, 3])
    static = paddle.jit.to_static(step, full_graph=True)
    for a, b in zip(static(x), step(x), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_steps_that_only_sometimes_update_add_up_gradients_as_in_eager_mode():
    def weights(static):
        layer = paddle.nn.Linear(3, 1, weight_attr=paddle.nn.initializer.Constant(0.1))
        optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())

        def step(x, update):
            loss = layer(x).mean()
            loss.backward()
            if update:
                optimizer.step()
                optimizer.clear_grad()
            return loss

        step = paddle.jit.to_static(step, full_graph=False) if static else step
        for number in range(6):
            step(paddle.ones([2, 3]) * (number + 1), number % 2 == 1)
        return layer.weight.numpy()

    with pytest.warns(UserWarning, match="has a gradient from before"):
        found = weights(True)
    np.testing.assert_array_equal(found, weights(False))
