"""Runs that a timeline sees: each instruction is a span, and nothing else changes."""

import threading
from itertools import pairwise

import numpy as np
import pytest

import scull as paddle
from scull.core.place import Place
from scull.core.timeline import filling
from scull.flags import flags
from scull.profiler.tree import tree


class Case:
    """A Program with what a run of it takes."""

    def __init__(self, build, place=None):
        self.main, self.scope = paddle.static.Program(), paddle.static.Scope()
        startup = paddle.static.Program()
        startup.random_seed = self.main.random_seed = 7
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(self.main, startup):
            self.feed, self.fetches = build()
        self.executor = paddle.static.Executor(place)
        self.executor.run(startup, scope=self.scope)

    def run(self):
        return self.executor.run(
            self.main, feed=self.feed, fetch_list=self.fetches, scope=self.scope
        )


def training():
    x = paddle.static.data("x", [4, 3])
    loss = paddle.static.nn.fc(x, 2, activation="relu").mean()
    paddle.optimizer.Adam(0.1).minimize(loss)
    return {"x": np.ones([4, 3], np.float32)}, [loss]


def looping():
    x = paddle.static.data("x", [3])
    start = paddle.full([1], 0, "int64")
    _, out = paddle.static.nn.while_loop(
        lambda i, x: i < 3, lambda i, x: [i + 1, x * 2.0], [start, x]
    )
    return {"x": np.ones(3, np.float32)}, [out]


def splitting():
    x = paddle.static.data("x", [4, 2])
    first, second = paddle.split(x, 2)
    return {"x": np.ones([4, 2], np.float32)}, [first + second]


def branching():
    x = paddle.static.data("x", [300, 300])
    return {"x": np.ones([300, 300], np.float32)}, [
        paddle.add_n([paddle.matmul(x, x) * float(i) for i in range(4)])
    ]


def chain():
    x = paddle.static.data("x", [4, 8])
    y = paddle.exp(x)
    z = paddle.tanh(y * x) + y
    return {"x": np.ones([4, 8], np.float32)}, [paddle.sum(z * z, axis=1)]


def spans(timeline):
    found = [s for track in timeline.tracks for s in track.spans if s.category == "Operator"]
    return sorted(found, key=lambda s: s.start)


@pytest.mark.parametrize("build", [training, looping, splitting, branching])
@pytest.mark.parametrize("settings", [{}, {"HOST_THREADS": 2}, {"LEDGER": True}])
def test_results_are_the_same_bits(build, settings):
    with flags(**settings):
        plain, seen = Case(build), Case(build)
        for _ in range(3):
            expected = plain.run()
            with filling(details=True, memory=True) as timeline:
                found = seen.run()
            assert [v.tobytes() for v in found] == [v.tobytes() for v in expected]
            assert spans(timeline)
        assert [v.tobytes() for v in seen.run()] == [v.tobytes() for v in plain.run()]


def test_each_instruction_is_a_span_with_its_step_and_the_users_line():
    case = Case(training)
    with filling() as timeline:
        case.run()
    [bound] = timeline.kept
    steps = [s for s in bound.plan.steps if not s.is_shape]
    assert [s.name for s in spans(timeline)] == [s.operator.type for s in steps]
    numbers = [s.arguments["step"] for s in spans(timeline)]
    assert [bound.plan.steps[n].operator.type for n in numbers] == [s.operator.type for s in steps]
    assert all("test_recorded.py" in s.arguments["line"] for s in spans(timeline))


def test_what_a_timeline_lets_a_device_launch_goes_with_it():
    case = Case(looping, Place("sim"))
    case.run()
    [bound] = case.main.plans.values()
    [known] = bound.launches.values()
    inner = dict(known.inner)
    with filling() as timeline:
        case.run()
    [seen] = timeline.kept.values()
    assert known.inner == inner
    assert seen.launches is not bound.launches


def test_making_a_plan_is_a_span_and_a_kept_plan_makes_none():
    case = Case(training)
    for count in (1, 0):
        with filling() as timeline:
            case.run()
        names = [s.name for track in timeline.tracks for s in track.spans]
        assert names.count("make plan") == count


def test_the_plan_that_is_kept_is_not_timed():
    case = Case(training)
    case.run()
    [bound] = case.main.plans.values()
    calls = [step.call for step in bound.plan.steps]
    with filling() as timeline:
        case.run()
        case.run()
    assert [step.call for step in bound.plan.steps] == calls
    assert list(timeline.kept) == [bound] and list(case.main.plans.values()) == [bound]


def test_instructions_of_a_block_lie_within_its_operator():
    case = Case(looping)
    with filling() as timeline:
        case.run()
    [track] = timeline.tracks
    root = tree(track.spans, 1, 1)
    [loop] = [node for node in root.walk() if node.name == "while"]
    inner = [node.name for node in loop.children_node]
    assert inner.count("scale") == 6 and len(inner) % 3 == 0
    assert all(node.type.name == "OperatorInner" for node in loop.children_node)


def test_instructions_on_several_threads_are_on_the_tracks_of_these_threads():
    barrier = threading.Barrier(2, timeout=60)

    def meeting(call):
        def waiting(*operands):
            barrier.wait()
            return call(*operands)

        return waiting

    with flags(HOST_THREADS=2):
        case = Case(branching)
        case.run()
        [bound] = case.main.plans.values()
        products = [s for s in bound.plan.instructions if s.operator.type == "matmul_v2"]
        for step in products[:2]:
            object.__setattr__(step, "call", meeting(step.call))
        with filling() as timeline:
            case.run()
    threads = [track for track in timeline.tracks if track.rows]
    assert len(threads) == 2 and len(spans(timeline)) == len(bound.plan.instructions)


@pytest.mark.parametrize("settings", [{}, {"HOST_THREADS": 2}])
def test_an_instruction_that_fails_says_what_it_says_without_a_timeline(settings):
    def build():
        x = paddle.static.data("x", [-1, 3])
        y = paddle.static.data("y", [-1, 2])
        return {"x": np.ones([2, 3], "float32"), "y": np.ones([4, 2], "float32")}, [
            paddle.matmul(x, y)
        ]

    with flags(**settings):
        case = Case(build)
        with pytest.raises(ValueError) as plain:
            case.run()
        with filling() as timeline, pytest.raises(ValueError) as seen:
            case.run()
    assert str(seen.value) == str(plain.value)
    assert [s.name for s in spans(timeline)] == ["matmul_v2"]


def test_live_bytes_are_those_that_the_ledger_counts():
    case = Case(chain)
    case.run()
    with flags(LEDGER=True):
        case.run()
        history = case.executor.ledger.history
    with filling(memory=True) as timeline:
        case.run()
    found = spans(timeline)
    compared = 0
    for span, following in pairwise(found):
        before = [c.live for c in timeline.changes if c.moment < following.start]
        step = span.arguments["step"]
        if following.arguments["step"] == step + 1:
            assert before[-1] == history[step]
            compared += 1
    assert compared == len(history) - 1 > 3


def test_a_program_seen_by_two_timelines_fills_both():
    case = Case(training)
    case.run()
    with filling() as outer, filling() as inner:
        case.run()
    assert [s.name for s in spans(outer)] == [s.name for s in spans(inner)] != []


def test_a_region_of_machine_code_is_a_span_that_tells_its_operators():
    case = Case(training)
    twin = Case(training)
    with flags(COMPILE="eager"):
        for _ in range(2):
            expected = twin.run()
            with filling(memory=True) as timeline:
                found = case.run()
            assert [v.tobytes() for v in found] == [v.tobytes() for v in expected]
        [region] = spans(timeline)
    assert region.name == "region"
    assert region.arguments["operators"]["adam"] == 2
    assert region.arguments["operators"].keys() >= {"relu", "relu_grad", "elementwise_add"}


def test_what_stays_an_instruction_is_a_span_between_regions():
    def build():
        x = paddle.static.data("x", [6])
        values = paddle.unique(x * 2.0 + 1.0)
        return {"x": np.ones(6, np.float32)}, [values, paddle.tanh(x * 3.0) - 1.0]

    case = Case(build)
    with flags(COMPILE="eager"), filling() as timeline:
        case.run()
    names = [s.name for s in spans(timeline)]
    assert "unique" in names
    assert "region" in names
    for span in spans(timeline):
        assert (span.name == "region") is ("operators" in span.arguments)


def test_instructions_on_a_device_are_spans_on_the_threads_that_do_the_work():
    place = Place("sim")
    plain, seen = Case(training, place), Case(training, place)
    for _ in range(3):
        expected = plain.run()
        with filling(memory=True) as timeline:
            found = seen.run()
        assert [v.tobytes() for v in found] == [v.tobytes() for v in expected]
        [bound] = timeline.kept
        names = sorted(s.operator.type for s in bound.plan.instructions)
        assert sorted(s.name for s in spans(timeline)) == names
