"""Where several shapes are fed by turns, what was found for each is found once."""

import numpy as np

import scull as paddle
from scull.executor import launch
from scull.executor.binding import MOST_SHAPES, remembered
from scull.executor.plan import Plan


def counted(monkeypatch, owner, name):
    """The calls of a function, which still does what it did."""
    calls, made = [], getattr(owner, name)

    def calling(*args, **options):
        calls.append(args)
        return made(*args, **options)

    monkeypatch.setattr(owner, name, calling)
    return calls


def fed(rows):
    return {"x": np.ones((rows, 3), "float32")}


def test_the_peak_of_each_of_several_shapes_is_found_once(main, monkeypatch):
    y = paddle.tanh(paddle.static.data("x", [None, 3]))
    executor, calls = paddle.static.Executor(), counted(monkeypatch, Plan, "peak_for")
    executor.max_memory = 10**6
    for rows in [1, 2, 3] * 4:
        assert executor.run(main, feed=fed(rows), fetch_list=[y])[0].shape == (rows, 3)
    assert len(calls) == 3


def test_what_is_launched_for_each_of_several_shapes_is_found_once(main, monkeypatch):
    y = paddle.tanh(paddle.static.data("x", [None, 3]))
    executor = paddle.static.Executor(paddle.CustomPlace("sim", 0))
    calls = counted(monkeypatch, launch, "launches_of")
    for rows in [1, 2, 3] * 4:
        assert executor.run(main, feed=fed(rows), fetch_list=[y])[0].shape == (rows, 3)
    assert len(calls) == 3


def test_of_more_shapes_than_are_kept_those_fed_last_stay(main):
    y = paddle.tanh(paddle.static.data("x", [None, 3]))
    for place in (paddle.CPUPlace(), paddle.CustomPlace("sim", 0)):
        executor = paddle.static.Executor(place)
        executor.max_memory = 10**6
        for rows in range(1, 3 * MOST_SHAPES):
            executor.run(main, feed=fed(rows), fetch_list=[y])
    host, device = main.plans.values()
    assert len(host.peaks) == len(device.launches) == MOST_SHAPES
    assert [len(whole.peaks) for whole in device.launches.values()] == [1] * MOST_SHAPES


def test_what_is_asked_for_again_stays_longest():
    known, made = {}, []

    def ask(key):
        return remembered(known, key, lambda: made.append(key) or [key])

    for key in range(MOST_SHAPES):
        ask(key)
    ask(0)
    ask("new")
    assert ask(0) == [0]
    ask(1)
    assert made == [*range(MOST_SHAPES), "new", 1]
