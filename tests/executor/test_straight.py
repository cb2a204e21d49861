"""Runs that are one function go from what is fed to what is fetched without a frame."""

import gc
import importlib.util
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core.timeline import filling
from scull.errors import FeedError, RangeError
from scull.executor import straight
from scull.flags import flags
from scull.runtime import cell
from tests.executor.test_compiled import fed, perceptron, program_of

LETTING_GO = {cell.let_go.__code__}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with flags(COMPILE="eager"):
        yield
    paddle.disable_static()


class Built:
    """A Program that started in a scope of its own."""

    def __init__(self, build):
        self.main, startup, self.out = program_of(build)
        self.exe, self.scope = paddle.static.Executor(), paddle.static.Scope()
        with flags(COMPILE="off"):
            self.exe.run(startup, scope=self.scope)

    def run(self, feed, fetch=None, **more):
        fetch = [self.out] if fetch is None else fetch
        return self.exe.run(self.main, feed=feed, fetch_list=fetch, scope=self.scope, **more)

    @property
    def ways(self):
        """The short ways of what was run last."""
        return [b.straight for b in self.main.plans.values() if b.straight is not None]

    def without(self, feed):
        """A run that does not know of a short way."""
        for bound in self.main.plans.values():
            bound.straight = None
        return self.run(feed)

    def values(self):
        """What the scope holds."""
        return {p.name: np.array(self.scope.find_var(p.name).get_tensor()) for p in self.parameters}

    @property
    def parameters(self):
        return [v for v in self.main.list_vars() if v.persistable]


def test_a_step_of_training_has_the_same_bits_on_the_short_way():
    short, long = Built(perceptron), Built(perceptron)
    for step in range(5):
        feed = fed(8, seed=step)
        assert short.run(feed)[0].tobytes() == long.without(feed)[0].tobytes()
        assert len(short.ways) == 1
    for name, value in short.values().items():
        assert value.tobytes() == long.values()[name].tobytes(), name


def test_sizes_that_change_go_their_own_ways():
    short, long = Built(perceptron), Built(perceptron)
    for rows in (4, 4, 6, 4, 6, 6, 5):
        feed = fed(rows, seed=rows)
        assert short.run(feed)[0].tobytes() == long.without(feed)[0].tobytes()
    (bound,) = [b for b in short.main.plans.values() if b.tier is not None]
    assert len(bound.tier.ways) == 3


def test_what_is_fed_is_neither_written_nor_given_out():
    net, feed = Built(perceptron), fed(8)
    before = {name: value.copy() for name, value in feed.items()}
    first = net.run(feed)[0]
    kept = first.copy()
    second = net.run(feed)[0]
    assert first.tobytes() == kept.tobytes() != second.tobytes()
    assert all(np.array_equal(feed[name], value) for name, value in before.items())


def test_lists_other_dtypes_and_strides_are_fed_as_ever():
    net, same, feed = Built(perceptron), Built(perceptron), fed(8)
    net.run(feed), same.run(feed)
    wide = np.zeros((8, 24), "float32")
    wide[:, ::2] = feed["x"]
    tensor = paddle.base.LoDTensor()
    tensor.set(feed["x"], paddle.CPUPlace())
    for x in (feed["x"].tolist(), wide[:, ::2], tensor):
        given = {"x": x, "y": feed["y"]}
        assert net.run(given)[0].tobytes() == same.without(feed)[0].tobytes()
    with pytest.raises(FeedError, match="the fed value is float64"):
        net.run({"x": feed["x"].astype("float64"), "y": feed["y"]})
    with pytest.raises(FeedError, match=r"has shape \[8, 11\]"):
        net.run({"x": feed["x"][:, :11], "y": feed["y"]})


def test_an_index_out_of_range_is_said_and_changes_nothing():
    net, feed = Built(perceptron), fed(8)
    net.run(feed), net.run(feed)
    assert net.ways
    before = net.values()
    with pytest.raises(RangeError, match="in softmax_with_cross_entropy"):
        net.run({"x": feed["x"], "y": feed["y"] + 5})
    for name, value in net.values().items():
        assert value.tobytes() == before[name].tobytes(), name
    net.run(feed)


def test_values_replaced_in_the_scope_are_seen():
    net, same, feed = Built(perceptron), Built(perceptron), fed(8)
    net.run(feed), same.run(feed)
    for each in (net, same):
        for v in each.parameters:
            if v.name.endswith("w_0"):
                value = np.full(v.shape, 0.5, "float32")
                each.scope.find_var(v.name).get_tensor().set(value, paddle.CPUPlace())
    assert net.run(feed)[0].tobytes() == same.without(feed)[0].tobytes()


def replaced(net, value):
    """Another array of this value in the place of every weight."""
    for v in net.parameters:
        if v.name.endswith("w_0"):
            array = np.full(v.shape, value, "float32")
            net.scope.find_var(v.name).get_tensor().set(array, paddle.CPUPlace())


def test_values_replaced_between_runs_that_need_not_look_are_seen():
    net, same, feed = Built(perceptron), Built(perceptron), fed(8)
    for value in (None, 0.5, None, None, 0.25, 0.125, None):
        for each in (net, same) if value else ():
            replaced(each, value)
        for _ in range(3):
            assert net.run(feed)[0].tobytes() == same.without(feed)[0].tobytes()
    assert net.ways[0].held is not None


def test_a_value_that_was_replaced_is_let_go_before_the_next_run():
    net, feed = Built(perceptron), fed(8)
    for _ in range(4):
        net.run(feed)
    before = [weakref.ref(net.scope.find_var(v.name).value) for v in net.parameters]
    assert len(before) > 4 and all(x() is not None for x in before)
    for v in net.parameters:
        net.scope.find_var(v.name).set_value(np.zeros(v.shape, v.dtype.array))
    assert [x() for x in before] == [None] * len(before)


def interrupted(number, act):
    """Do something with Ctrl-C at an instruction of cells or short runs; whether it came."""
    files, before, left = {cell.__file__, straight.__file__}, sys.gettrace(), [number]

    def trace(frame, event, argument):
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        left[0] -= event == "opcode"
        if left[0] < 0:
            sys.settrace(before)
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def product():
    x = paddle.static.data("x", [2, 8])
    return paddle.matmul(x, paddle.static.create_parameter([8, 8], "float32", name="w"))


def test_wherever_a_run_or_a_new_value_is_interrupted_later_runs_see_what_the_scope_has():
    net, feed, number = Built(product), {"x": np.ones((2, 8), "float32")}, 0
    held = net.scope.find_var("w")

    def replaced_by(value):
        held.set_value(np.full((8, 8), value, "float32"))
        assert net.run(feed)[0][0, 0] == 8 * value

    for value in (1, 2, 3):
        replaced_by(value)
    while interrupted(number, lambda: replaced_by(4)):
        assert net.run(feed)[0][0, 0] == 8 * held.value[0, 0]
        for value in (5, 6):
            replaced_by(value)
            assert net.run(feed)[0][0, 0] == 8 * value
        number += 1
    assert number > 100
    way = net.ways[0]
    assert way.held is not None and way.call.free[-1].mark is way.held[0]


def test_a_run_sees_a_new_value_while_another_thread_is_about_to_tell_of_its_own():
    net, feed = Built(product), {"x": np.ones((2, 8), "float32")}
    held, other = net.scope.find_var("w"), cell.Cell("other", 0)
    told, tell = threading.Event(), threading.Event()

    def waiting(frame, event, argument):
        if "holding" in frame.f_locals:
            told.set()
            assert tell.wait(10)
        return waiting

    def set_other():
        sys.settrace(lambda frame, *_: waiting if frame.f_code in LETTING_GO else None)
        other.value = 1

    for value in (1, 2, 3):
        held.set_value(np.full((8, 8), value, "float32"))
        net.run(feed)
    thread = threading.Thread(target=set_other)
    thread.start()
    assert told.wait(10)
    held.set_value(np.full((8, 8), 5, "float32"))
    try:
        assert net.run(feed)[0][0, 0] == 40
    finally:
        tell.set()
        thread.join()


def test_programs_that_are_gone_are_forgotten():
    net, feed = Built(product), {"x": np.ones((2, 8), "float32")}
    for _ in range(20):
        main = net.main.clone()
        for _ in range(3):
            net.exe.run(main, feed=feed, fetch_list=[net.out], scope=net.scope)
    del main
    gc.collect()
    assert len(cell.HOLDING) <= 1


def test_a_rate_that_stays_lets_nothing_go():
    def scheduled():
        x = paddle.static.data("x", [4, 6])
        loss = paddle.mean(paddle.nn.Linear(6, 1)(x))
        paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.5, step_size=9)).minimize(loss)
        return loss

    net, feed = Built(scheduled), {"x": np.ones((4, 6), "float32")}
    for _ in range(3):
        net.run(feed)
    before = net.ways[0].held
    net.run(feed)
    assert before is not None and net.ways[0].held is before


def test_a_program_that_is_gone_keeps_no_values():
    net, feed = Built(perceptron), fed(8)
    for _ in range(4):
        net.run(feed)
    before = [weakref.ref(net.scope.find_var(v.name).value) for v in net.parameters]
    del net
    gc.collect()
    assert [x() for x in before] == [None] * len(before)


def test_a_rate_that_a_schedule_changes_is_seen():
    def scheduled():
        x = paddle.static.data("x", [4, 6])
        loss = paddle.mean(paddle.nn.Linear(6, 1)(x))
        rate = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.5)
        paddle.optimizer.SGD(rate).minimize(loss)
        rates.append(rate)
        return loss

    rates = []
    net, same = Built(scheduled), Built(scheduled)
    for step in range(7):
        feed = {"x": np.full([4, 6], step / 7, "float32")}
        assert net.run(feed)[0].tobytes() == same.without(feed)[0].tobytes()
        for rate in rates:
            rate.step()
    assert net.ways


def test_values_replaced_while_runs_go_on_are_the_old_or_the_new_ones():
    def layer():
        x = paddle.static.data("x", [16, 64])
        return paddle.nn.Linear(64, 64, bias_attr=False)(x)

    net, feed = Built(layer), {"x": np.ones([16, 64], "float32")}
    replaced(net, 1.0)
    net.run(feed)

    def runs(_):
        return [net.run(feed)[0] for _ in range(100)]

    with ThreadPoolExecutor(3) as pool:
        going = [pool.submit(runs, n) for n in range(3)]
        for n in range(200):
            replaced(net, float(1 + n % 2))
        found = [x for each in going for x in each.result()]
    assert all(np.all(x == 64) or np.all(x == 128) for x in found)
    replaced(net, 3.0)
    assert np.all(net.run(feed)[0] == 192) and np.all(net.run(feed)[0] == 192)


def test_other_forms_of_results_take_the_long_way():
    net, feed = Built(perceptron), fed(8)
    net.run(feed)
    (tensor,) = net.run(feed, return_numpy=False)
    assert np.asarray(tensor).shape == ()
    weight = next(v for v in net.parameters if v.name.endswith("w_0"))
    _, value = net.run(feed, [net.out, weight])
    assert np.array_equal(value, net.values()[weight.name])
    assert not [b for b in net.main.plans.values() if b.straight and len(b.fetches) == 2]
    kept = value.copy()
    net.run(feed)
    assert np.array_equal(value, kept)


def test_a_fetch_that_is_asked_twice_is_there_twice():
    net, feed = Built(perceptron), fed(8)
    once = Built(perceptron)
    for _ in range(2):
        first, second = net.run(feed, [net.out, net.out])
        assert first.tobytes() == second.tobytes() == once.run(feed)[0].tobytes()


def test_a_limit_of_memory_is_kept_on_no_short_way():
    net, feed = Built(perceptron), fed(8)
    net.run(feed), net.run(feed)
    net.exe.max_memory = 1
    with pytest.raises(paddle.errors.ResourceError):
        net.run(feed)


def test_draws_take_the_long_way():
    def dropped():
        x = paddle.static.data("x", [4, 6])
        paddle.static.default_main_program().random_seed = 0  # else every run draws the same
        return F.dropout(paddle.nn.Linear(6, 6)(x), 0.5)

    net, feed = Built(dropped), {"x": np.ones([4, 6], "float32")}
    first, second = net.run(feed)[0], net.run(feed)[0]
    assert not net.ways and not np.array_equal(first, second)


def test_threads_that_predict_at_once_have_results_of_their_own():
    def layer():
        x = paddle.static.data("x", [16, 32])
        return F.tanh(paddle.nn.Linear(32, 32)(x))

    net = Built(layer)
    feeds = [{"x": np.full([16, 32], n / 8, "float32")} for n in range(8)]
    wanted = [net.without(feed)[0] for feed in feeds]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            for found, right in zip(pool.map(net.run, feeds), wanted, strict=True):
                assert np.array_equal(found[0], right)
    assert net.ways


def test_a_timeline_sees_the_regions_of_runs_that_were_short():
    net, same, feed = Built(perceptron), Built(perceptron), fed(8)
    for _ in range(2):
        net.run(feed), same.run(feed)
    assert net.ways
    with filling() as timeline:
        found = net.run(feed)[0]
    names = [s.name for track in timeline.tracks for s in track.spans]
    assert names == ["region"]
    assert found.tobytes() == same.without(feed)[0].tobytes()
    assert net.run(feed)[0].tobytes() == same.without(feed)[0].tobytes()
