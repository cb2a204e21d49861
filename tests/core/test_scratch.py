"""Scratch of kernels, and who is told of it."""

import threading

import numpy as np

import scull as paddle
from scull.core.scratch import scratch, watching
from scull.flags import flags


def test_scratch_is_told_when_taken_and_when_given_back():
    told = []
    with watching(told.append):
        array = scratch(np, (4, 8), np.float32)
        part = array[1:].T
        del array
        assert told == [128]
        del part
    assert told == [128, -128]


def test_nobody_is_told_outside_or_in_another_thread():
    told = []
    with watching(told.append):
        thread = threading.Thread(target=lambda: scratch(np, 8, np.float32))
        thread.start()
        thread.join()
    scratch(np, 8, np.float32)
    assert told == []


def test_what_is_watched_within_is_not_told_to_the_outer():
    outer, inner = [], []
    with watching(outer.append):
        with watching(inner.append):
            scratch(np, 2, np.float64)
        scratch(np, 1, np.float64)
    assert (outer, inner) == ([8, -8], [16, -16])


def test_a_ledger_counts_the_scratch_of_a_step_beside_its_results():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [8, 8, 16, 16])
        y = paddle.nn.Conv2D(8, 8, 3, padding=1, bias_attr=False)(x)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(startup, scope=scope)
    feed = {"x": np.ones((8, 8, 16, 16), "float32")}
    with flags(LEDGER=True):
        exe.run(main, feed=feed, fetch_list=[y], scope=scope)
    paddle.disable_static()
    result = 8 * 8 * 16 * 16 * 4
    assert exe.ledger.history == (result,)
    assert 1.5 * result < exe.ledger.peak < 4 * result  # padded images, columns, products
    assert exe.ledger.taken == 0
