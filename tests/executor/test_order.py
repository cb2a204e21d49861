"""Updates right after their gradients: the same bits, and no gradient waits for its turn."""

import numpy as np

import scull as paddle
from scull.executor.access import touched
from scull.executor.binding import Bound, filled
from scull.executor.dependency import graph_of
from scull.executor.order import early_updates, is_update
from scull.executor.plan import make_plan
from scull.executor.run import run
from scull.flags import flags

WIDTH, LAYERS = 64, 5
FEED = {"x": np.random.default_rng(0).random((4, WIDTH), np.float32)}


def perceptron(clip=None):
    """A training step of layers as wide as their batch is small, and its start."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 7
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main, startup),
    ):
        hidden = paddle.static.data("x", [4, WIDTH])
        for _ in range(LAYERS):
            hidden = paddle.tanh(paddle.nn.Linear(WIDTH, WIDTH)(hidden))
        loss = paddle.mean(hidden * hidden)
        paddle.optimizer.Momentum(0.1, 0.9, grad_clip=clip).minimize(loss)
    return main, startup, loss


def plan_of(main, loss, early):
    return make_plan(main.global_block(), ("x",), (loss.name,), early=early)


def operators_of(plan):
    return tuple(step.operator for step in plan.instructions)


def test_updates_run_early_and_the_peak_falls_by_most_of_the_gradients():
    main, _, loss = perceptron()
    late, early = (plan_of(main, loss, when) for when in (False, True))
    kinds = [sorted(o.type for o in operators_of(plan)) for plan in (late, early)]
    assert kinds[0] == kinds[1]
    matrix = WIDTH * WIDTH * 4
    assert late.peak_bytes > LAYERS * matrix
    assert early.peak_bytes < 2 * matrix
    assert "order  updates right after what they wait for" in str(early)
    assert "order" not in str(late).split("edges")[0]


def test_every_dependency_is_kept():
    main, _, loss = perceptron()
    operators = operators_of(plan_of(main, loss, early=False))
    graph = graph_of(touched(operators, set()))
    place = {o: i for i, o in enumerate(early_updates(operators, touched(operators, set())))}
    assert len(place) == len(operators)
    for edge in graph.conflicts:
        assert place[operators[edge.before]] < place[operators[edge.after]]
    last = max(place[o] for o in operators if not is_update(o))
    waiting = [o for o in operators if is_update(o) and place[o] > last]
    assert [o.type for o in waiting] == ["momentum"]  # of what the last gradient is for


def test_updates_that_need_all_gradients_wait_for_them():
    main, _, loss = perceptron(paddle.nn.ClipGradByGlobalNorm(1.0))
    late, early = (plan_of(main, loss, when) for when in (False, True))
    assert early.peak_bytes <= late.peak_bytes
    first = next(i for i, o in enumerate(operators_of(early)) if is_update(o))
    assert all(o.type != "tanh_grad" for o in operators_of(early)[first:])


def trained(early):
    """The losses and parameters of a few steps."""
    main, startup, loss = perceptron()
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    executor.run(startup, scope=scope)
    with flags(EARLY_UPDATES=early):
        losses = [
            executor.run(main, feed=FEED, fetch_list=[loss], scope=scope)[0] for _ in range(4)
        ]
    parameters = [np.array(scope.find_var(p.name).value) for p in main.all_parameters()]
    return [*losses, *parameters]


def test_training_gives_the_same_bits():
    for a, b in zip(trained(False), trained(True), strict=True):
        assert np.array_equal(a, b)


def test_a_fetched_parameter_and_a_fetched_gradient_are_what_they_are_in_program_order():
    found = []
    for early in (False, True):
        main, startup, _ = perceptron()
        scope = paddle.static.Scope()
        paddle.static.Executor().run(startup, scope=scope)
        names = [p.name for p in main.all_parameters()]
        fetches = (*names, *(f"{n}@GRAD" for n in names))
        plan = make_plan(main.global_block(), ("x",), fetches, early=early)
        bound = Bound(plan, scope)
        frame = filled(bound, FEED)
        run(plan, bound.steps, frame)
        found.append([np.array(frame[slot]) for slot, _ in plan.fetches])
    for a, b in zip(*found, strict=True):
        assert np.array_equal(a, b)


def test_a_sequential_plan_keeps_the_order_of_the_program():
    main, _, loss = perceptron()
    plan = make_plan(main.global_block(), ("x",), (loss.name,), sequential=True, early=True)
    assert not plan.early
    assert [o.type for o in operators_of(plan)][-2 * LAYERS :] == ["momentum"] * 2 * LAYERS
