"""Optimizers of Programs that keep less, and that update less often."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.incubate.optimizer import (
    GradientMergeOptimizer,
    RecomputeOptimizer,
    gradient_merge,
    recompute,
)

START = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield
    paddle.disable_static()


def network(dropout=0.0, tail=3):
    """The values between layers, and the loss."""
    x = paddle.static.data("x", [5, 3])
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(START))
    values = [paddle.static.nn.fc(x, 4, weight_attr=attr)]
    if dropout:
        values.append(paddle.nn.functional.dropout(values[-1], dropout))
    for _ in range(tail):
        values.append(paddle.tanh(values[-1]))
    return values, paddle.mean(values[-1] * values[-1])


def losses(loss, runs=7):
    exe, random = paddle.static.Executor(), np.random.default_rng(1)
    paddle.seed(3)
    exe.run(paddle.static.default_startup_program())
    batches = (random.standard_normal((5, 3)).astype("float32") for _ in range(runs))
    return [round(exe.run(feed={"x": x}, fetch_list=[loss])[0].item(), 5) for x in batches]


def adam():
    return paddle.optimizer.Adam(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))


def types():
    return [o.type for o in paddle.static.default_main_program().global_block().ops]


@pytest.mark.parametrize("module", [gradient_merge, recompute])
def test_the_examples_print_what_they_say(module):
    paddle.disable_static()
    results = doctest.testmod(module)
    paddle.enable_static()
    assert results.attempted and not results.failed


# ---- computed again ----

PLAIN = [0.13757, 0.15841, 0.22067, 0.18715, 0.19077, 0.17229, 0.18698]  # of PaddlePaddle 2.6.2


@pytest.mark.parametrize("kept", [[], [1], [1, 3], [3, 1], [0, 1], ["0", "3"]])
def test_values_that_are_computed_again_give_the_same_steps(kept):
    values, loss = network()
    named = [values[int(i)].name if isinstance(i, str) else values[i] for i in kept]
    optimizer = RecomputeOptimizer(adam())
    optimizer._set_checkpoints(named)
    optimizer.minimize(loss)
    assert losses(loss) == PLAIN


def test_only_what_lies_between_checkpoints_is_computed_again():
    values, loss = network(tail=4)
    pairs = paddle.static.append_backward(loss, checkpoints=[values[1], values[4]])
    assert len(pairs) == 2 and types().count("tanh") == 4 + 2
    again = [o for o in paddle.static.default_main_program().global_block().ops if o.role == 1]
    made = [o.results()[0].name for o in again if o.type == "tanh"]
    assert made == [values[i].name + ".subprog_0" for i in (2, 3)]
    read = {v.name for o in again for v in o.operands()}
    assert not {values[i].name for i in (2, 3)} & read


def test_a_dropout_drops_the_same_a_second_time():
    values, loss = network(dropout=0.5)
    optimizer = RecomputeOptimizer(paddle.optimizer.SGD(0.1))
    optimizer._set_checkpoints([values[3]])
    optimizer.minimize(loss)
    assert types().count("dropout") == 2 and types().count("seed") == 1
    dropped = values[1].name
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"x": np.ones((5, 3), "float32")}
    for _ in range(3):
        first, second = exe.run(feed=feed, fetch_list=[dropped, dropped + ".subprog_0"])
        assert first.tolist() == second.tolist() and 0 in first


def test_what_draws_or_changes_its_operands_is_kept():
    x = paddle.static.data("x", [5, 3])
    hidden = paddle.static.nn.batch_norm(paddle.static.nn.fc(x, 4))
    noisy = paddle.tanh(hidden + paddle.uniform([5, 4]))
    last = paddle.tanh(noisy)
    paddle.static.append_backward(paddle.mean(last), checkpoints=[last])
    found = types()
    assert [found.count(t) for t in ("uniform_random", "batch_norm", "tanh")] == [1, 1, 3]


def test_less_is_live_at_once():
    def peak(checkpoints):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            values = [paddle.static.nn.fc(paddle.static.data("x", [1000, 4]), 50)]
            for _ in range(12):
                values.append(paddle.tanh(paddle.scale(values[-1], 1.1)))
            loss = paddle.mean(values[-1])
            kept = values[3::3] if checkpoints else None
            paddle.static.append_backward(loss, checkpoints=kept)
            return paddle.static.Executor().plan(feed=["x"], fetch_list=[loss]).peak_bytes

    assert peak(True) < 0.7 * peak(False)


def test_mistakes_of_checkpoints_are_refused():
    _, loss = network()
    optimizer = RecomputeOptimizer(adam())
    with pytest.raises(ArgumentError, match="call _set_checkpoints first"):
        optimizer.minimize(loss)
    with pytest.raises(ArgumentTypeError, match="checkpoints is a list, not str"):
        optimizer._set_checkpoints("x")
    with pytest.raises(ArgumentTypeError, match="holds variables or names"):
        optimizer._set_checkpoints([3])
    with pytest.raises(UnsupportedError, match="not supported by Recompute"):
        optimizer.load({})
    with pytest.raises(ArgumentError, match="no variable `nobody` to be a checkpoint"):
        paddle.static.append_backward(loss, checkpoints=["nobody"])
    paddle.disable_static()
    with pytest.raises(UnsupportedError, match="In dygraph"):
        RecomputeOptimizer(None)
    paddle.enable_static()


# ---- merged ----


@pytest.mark.parametrize(
    ("steps", "mean", "expected"),  # of PaddlePaddle 2.6.2
    [
        (3, True, [0.13757, 0.16343, 0.25943, 0.20257, 0.20041, 0.23243, 0.21507]),
        (2, False, [0.13757, 0.16343, 0.24159, 0.20322, 0.19692, 0.21822, 0.20575]),
        (1, True, PLAIN),
    ],
)
def test_gradients_of_several_runs_make_one_update(steps, mean, expected):
    _, loss = network()
    GradientMergeOptimizer(adam(), k_steps=steps, avg=mean).minimize(loss)
    assert losses(loss) == expected


def test_the_update_stands_in_a_block_of_its_own():
    _, loss = network(tail=1)
    GradientMergeOptimizer(paddle.optimizer.SGD(0.1), k_steps=4).minimize(loss)
    expected = ["increment", "elementwise_mod", "equal", *["elementwise_add"] * 2]
    assert types()[-6:] == [*expected, "conditional_block"]
    inner = paddle.static.default_main_program().block(1).ops
    assert [o.type for o in inner] == [t for t in ("scale", "sgd", "fill_constant") for _ in "wb"]


def test_mistakes_of_merging_are_refused():
    for arguments, law in (((None,), "can not be None"), ((adam(), 0), "positive integer")):
        with pytest.raises(ArgumentError, match=law):
            GradientMergeOptimizer(*arguments)
    paddle.disable_static()
    with pytest.raises(UnsupportedError, match="In dygraph"):
        GradientMergeOptimizer(None)
    paddle.enable_static()
