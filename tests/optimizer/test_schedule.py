"""Learning rates computed by Programs, against the schedulers of eager mode."""

import math

import numpy as np
import pytest

import scull as paddle

lr, static = paddle.optimizer.lr, paddle.static

CASES = {
    "noam": (lambda: lr.noam_decay(64, 3, 2.0), lambda n: noam(n + 1)),
    "exponential": (lambda: lr.exponential_decay(1.0, 4, 0.5), lambda n: 0.5 ** (n / 4)),
    "staircase": (lambda: lr.exponential_decay(1.0, 4, 0.5, True), lambda n: 0.5 ** (n // 4)),
    "natural": (lambda: lr.natural_exp_decay(1.0, 4, 0.5), lambda n: math.exp(-0.5 * n / 4)),
    "inverse": (lambda: lr.inverse_time_decay(1.0, 4, 0.5), lambda n: 1 / (1 + 0.5 * n / 4)),
    "polynomial": (lambda: lr.polynomial_decay(1.0, 4, 0.1, 2.0), lambda n: polynomial(n, 4)),
    "cycle": (
        lambda: lr.polynomial_decay(1.0, 4, 0.1, 2.0, cycle=True),
        lambda n: polynomial(n, 4 * max(1, math.ceil(n / 4))),
    ),
    "piecewise": (lambda: lr.piecewise_decay([2, 5], [0.3, 0.2, 0.1]), lambda n: stage(n)),
    "cosine": (
        lambda: lr.cosine_decay(1.0, 2, 5),
        lambda n: 0.5 * (math.cos(n // 2 * math.pi / 5) + 1),
    ),
    "warmup": (lambda: lr.linear_lr_warmup(1.0, 4, 0.2, 0.6), lambda n: warm(n)),
}


def noam(n):
    return 2.0 * 64**-0.5 * min(n**-0.5, n * 3**-1.5)


def polynomial(n, steps):
    return 0.9 * (1 - min(n, steps) / steps) ** 2 + 0.1


def stage(n):
    return 0.3 if n < 2 else 0.2 if n < 5 else 0.1


def warm(n):
    return 0.2 + 0.4 * n / 4 if n < 4 else 1.0


@pytest.mark.parametrize("name", CASES)
def test_a_program_computes_the_rate_of_each_run(name):
    make, expected = CASES[name]
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        rate = make()
    exe, scope = static.Executor(), static.Scope()
    exe.run(startup, scope=scope)
    found = [exe.run(main, fetch_list=[rate], scope=scope)[0].item() for _ in range(8)]
    paddle.disable_static()
    assert np.allclose(found, [expected(n) for n in range(8)], rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_eager_mode_gives_a_scheduler(name):
    assert isinstance(CASES[name][0](), lr.LRScheduler)


def test_rates_of_one_program_share_a_counter():
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        lr.linear_lr_warmup(lr.exponential_decay(1.0, 4, 0.5), 2, 0.0, 1.0)
    paddle.disable_static()
    assert [o.type for o in main.global_block().ops].count("increment") == 1
    assert {o.attr("op_role") for o in main.global_block().ops} == {16}


def test_a_warmup_needs_a_rate():
    with pytest.raises(TypeError, match="the type of learning_rate"):
        lr.linear_lr_warmup("rate", 2, 0.0, 1.0)
