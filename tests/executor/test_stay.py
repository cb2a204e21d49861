"""The peak of a run on a device, and of one that waits for others, is what it takes or a bound."""

import numpy as np
import pytest

import scull as paddle
from scull.core.memory import owner
from scull.core.op import meta_of
from scull.errors import ResourceError
from scull.executor import launch
from scull.executor.binding import filled, peak_of_run
from scull.executor.crew import run_ordered
from scull.executor.instruction import flat
from scull.executor.stay import peak_in_any_order, peak_on_device
from scull.executor.work import HostWork
from scull.flags import flags
from scull.runtime.sim import Sim
from tests.executor.corpus.program import NAMES, program
from tests.executor.corpus.runner import order_of, patched, schedule_of
from tests.executor.corpus.trial import Trial
from tests.executor.corpus.world import WORLD, served

SEEDS = 3


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main, startup),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield main
    paddle.disable_static()


@pytest.fixture
def executor():
    """An executor on a new device, of which nobody has used anything."""
    found = paddle.static.Executor(paddle.CustomPlace("sim", 0))
    found.device = Sim(seed=0)
    return found


def on_new_device(trial, seed):
    """The peak that is told of a run on a device, and what its allocator says of the run."""
    trial.begin()
    trial.bound.device, trial.bound.ran, trial.bound.launches = Sim(seed=seed), False, {}
    frame = list(filled(trial.bound, {n: v.copy() for n, v in trial.case.feeds.items()}))
    peak, waits = peak_on_device(trial.bound, frame), trial.bound.waits

    def ordered(schedule, work, order):
        mixed = waits and work.whole in trial.bound.launches.values()
        run_ordered(schedule, work, order_of(schedule, seed) if mixed else order)

    trial.bound.waits = False  # one thread, in an order picked here
    try:
        with patched(launch, "run_ordered", ordered):
            launch.run_device(trial.bound, frame, True)
    finally:
        trial.bound.waits = waits
    return peak, trial.bound.device.allocator.statistics().peak


def test_over_the_corpus_no_run_on_a_device_takes_more_than_was_told():
    known = waiting = 0
    for name in NAMES:
        trial = Trial(program(name))
        for seed in range(SEEDS if trial.bound.waits else 1):
            peak, found = on_new_device(trial, seed)
            if peak.size is not None:
                known += 1
                waiting += trial.bound.waits
                assert peak.size >= found, name
    assert known > 20
    assert waiting > 5


class Counted(HostWork):
    """Work that counts the bytes of its frame after each step."""

    def __init__(self, plan, schedule, frame):
        super().__init__(plan, schedule, frame)
        self.outside = {id(v): v for v in map(owner, flat(frame))}
        self.peak = 0

    def perform(self, i):
        before = list(flat(self.frame))
        super().perform(i)
        found = {id(v): v for v in map(owner, (*before, *flat(self.frame)))}
        live = sum(v.nbytes for key, v in found.items() if key not in self.outside)
        self.peak = max(self.peak, live)


def test_over_the_corpus_no_order_on_the_host_takes_more_than_was_told():
    known = 0
    for name in NAMES:
        trial = Trial(program(name))
        schedule = schedule_of(trial)
        for seed in range(SEEDS):
            trial.begin()
            frame = list(trial.frame())
            given = {
                trial.plan.variables[slot]: meta_of(v)
                for slot, v in enumerate(frame)
                if isinstance(v, np.ndarray)
            }
            peak = peak_in_any_order(trial.plan, given, ())
            work = Counted(trial.plan, schedule, frame)
            run_ordered(schedule, work, order_of(schedule, seed))
            if peak.size is not None:
                known += 1
                assert peak.size >= work.peak, name
    assert known > 60


def square():
    return paddle.static.data("x", [64, 64]), {"x": np.ones((64, 64), "float32")}


def test_what_is_fed_and_fetched_counts_in_the_sizes_of_buffers(main, executor):
    x, feed = square()
    total = paddle.sum(paddle.matmul(paddle.matmul(x, x), x))
    whole = 64 * 64 * 4
    executor.max_memory = 3 * whole - 1  # what is fed, and two products
    with pytest.raises(ResourceError, match=f"takes {3 * whole} bytes, the limit is"):
        executor.run(main, feed=feed, fetch_list=[total])
    assert executor.device.allocator.statistics().allocations == 0
    executor.max_memory = 3 * whole
    assert executor.run(main, feed=feed, fetch_list=[total])[0] == 64.0**4
    assert executor.device.allocator.statistics().peak == 3 * whole
    assert executor.run(main, feed=feed, fetch_list=[total])[0] == 64.0**4


def test_what_comes_to_the_host_counts_beside_what_it_is_a_copy_of(main, executor):
    x, feed = square()
    y = paddle.exp(x)
    executor.max_memory = 3 * 64 * 64 * 4 - 1
    with pytest.raises(ResourceError, match=f"takes {2 * 64 * 64 * 4 + 64 * 64 * 4} bytes"):
        executor.run(main, feed=feed, fetch_list=[x * 1.0, y])


def test_a_small_result_takes_what_its_buffer_does(main, executor):
    x = paddle.static.data("x", [1])
    y = paddle.exp(paddle.tanh(x))
    feed = {"x": np.ones(1, "float32")}
    executor.max_memory = 2 * 64 - 1
    with pytest.raises(ResourceError, match="takes 128 bytes"):
        executor.run(main, feed=feed, fetch_list=[y])
    executor.max_memory = 2 * 64
    executor.run(main, feed=feed, fetch_list=[y])


def test_parameters_that_are_there_count_no_more(main, executor):
    x, feed = square()
    loss = paddle.mean(paddle.nn.Linear(64, 64)(x))
    paddle.optimizer.SGD(0.1).minimize(loss)
    exe, scope = paddle.static.Executor(), paddle.static.global_scope()
    exe.run(paddle.static.default_startup_program())
    before = {p.name: scope.find_var(p.name).value.copy() for p in main.all_parameters()}
    executor.max_memory = 10**6
    bound = bound_of(executor, main, feed, loss)
    first = peak_of_run(bound, filled(bound, feed)).size
    executor.max_memory = first - 1
    with pytest.raises(ResourceError, match=f"takes {first} bytes"):
        executor.run(main, feed=feed, fetch_list=[loss])
    assert executor.device.allocator.statistics().allocations == 0
    assert all(np.array_equal(scope.find_var(n).value, v) for n, v in before.items())
    executor.max_memory = first
    executor.run(main, feed=feed, fetch_list=[loss])
    again = peak_of_run(bound, filled(bound, feed)).size
    assert again < first - 64 * 64 * 4
    executor.max_memory = again
    executor.run(main, feed=feed, fetch_list=[loss])


def bound_of(executor, main, feed, *outs):
    """The bound plan that runs of this use, without running it."""
    limit, executor.max_memory = executor.max_memory, 1
    with pytest.raises(ResourceError):
        executor.run(main, feed=feed, fetch_list=list(outs))
    executor.max_memory = limit
    *_, bound = main.plans.values()
    return bound


def test_what_only_a_run_tells_is_refused_on_a_device(main, executor):
    x, feed = square()
    executor.max_memory = 10**9
    with pytest.raises(ResourceError, match=r"unbounded.*`where_index` at .*test_stay.py:"):
        executor.run(main, feed=feed, fetch_list=[paddle.nonzero(x)])


def told_and_taken(main, executor, feed, *outs):
    """The bound of a run on a device, and the bytes it takes there; one byte less is refused."""
    bound = bound_of(executor, main, feed, *outs)
    told = peak_of_run(bound, filled(bound, feed))
    executor.max_memory = told.size - 1
    with pytest.raises(ResourceError, match=f"takes at most {told.size} bytes, the limit is"):
        executor.run(main, feed=feed, fetch_list=list(outs))
    assert executor.device.allocator.statistics().allocations == 0
    executor.max_memory = told.size
    executor.run(main, feed=feed, fetch_list=list(outs))
    taken = executor.device.allocator.statistics().peak
    assert taken <= told.size
    return told.size, taken


def test_a_branch_on_a_device_has_a_bound(main, executor):
    x, feed = square()
    y = paddle.static.nn.cond(x[0, 0] > 0.0, lambda: x * 2.0, lambda: x * 3.0)
    told, taken = told_and_taken(main, executor, feed, y)
    assert taken > 2 * 64 * 64 * 4 and told < 2 * taken


def repeated(times, x):
    """A loop of so many rounds; twice what it makes of `x`."""
    i, most = paddle.full([1], 0, "int64"), paddle.full([1], times, "int64")
    start = [i, x * 1.0]
    _, y = paddle.static.nn.while_loop(
        lambda i, y: i < most, lambda i, y: [i + 1, paddle.tanh(y) * 2.0], start
    )
    return y


@pytest.mark.parametrize("times", [3, 30])
def test_a_loop_on_a_device_takes_no_more_for_more_rounds(times, main, executor):
    x, feed = square()
    told, taken = told_and_taken(main, executor, feed, repeated(times, x))
    assert taken <= told < 4 * 64 * 64 * 4 + 10 * 64


@pytest.mark.parametrize("times", [3, 6])
def test_what_a_loop_keeps_for_its_gradient_counts_on_a_device(times, main, executor):
    x, feed = square()
    x.stop_gradient = False
    loss = paddle.sum(repeated(times, x))
    (dx,) = paddle.static.gradients([loss], [x])
    told, taken = told_and_taken(main, executor, feed, loss, dx)
    assert told < 2 * taken and taken > times * 64 * 64 * 4


def test_a_loop_on_a_device_that_keeps_what_nobody_counts_is_refused(main, executor):
    x, feed = square()
    x.stop_gradient = False
    y = paddle.static.nn.while_loop(
        lambda y: paddle.sum(y) < 1e6, lambda y: [paddle.exp(y)], [x * 1.0]
    )[0]
    (dx,) = paddle.static.gradients([y], [x])
    executor.max_memory = 10**9
    with pytest.raises(ResourceError, match=r"`while` at .*keeps \d+ bytes a round for its grad"):
        executor.run(main, feed=feed, fetch_list=[dx])
    executor.max_memory = 0
    executor.run(main, feed=feed, fetch_list=[dx])


@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
def test_of_what_waits_for_others_every_order_is_bounded(main, executor, on_device):
    x, feed = square()
    WORLD.begin()
    ends = [paddle.sum(paddle.matmul(served(paddle.tanh(x)), x)) for _ in range(4)]
    exe = executor if on_device else paddle.static.Executor()
    whole = 64 * 64 * 4
    in_order = exe.plan(main, ["x"], ends).peak_bytes
    assert in_order < 3 * whole
    exe.max_memory = 4 * whole  # in the plan's order it would do
    with pytest.raises(ResourceError, match="takes at most"):
        exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    exe.max_memory = peak_of_run(bound, filled(bound, feed)).size
    found = exe.run(main, feed=feed, fetch_list=ends)
    assert np.allclose(found, found[0])
    assert executor.device.allocator.statistics().peak <= exe.max_memory


def test_in_a_chain_every_order_is_that_of_the_plan(main):
    x, _ = square()
    y = x
    for _ in range(5):
        y = paddle.matmul(y, x)
    plan = paddle.static.Executor().plan(main, ["x"], [y])
    assert peak_in_any_order(plan, {}, ()).size == plan.peak_bytes == 2 * 64 * 64 * 4


def test_with_several_streams_too(main, executor):
    x, feed = square()
    ends = [paddle.sum(paddle.matmul(x * float(i), x)) for i in range(4)]
    with flags(DEVICE_STREAMS=3):
        executor.max_memory = 10**6
        bound = bound_of(executor, main, feed, *ends)
        size = peak_of_run(bound, filled(bound, feed)).size
        executor.max_memory = size
        for _ in range(3):
            executor.run(main, feed=feed, fetch_list=ends)
        assert executor.device.allocator.statistics().peak <= size
