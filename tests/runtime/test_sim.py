"""The simulated device: when works run, what is refused, how errors come back."""

import gc
import sys
import threading
import weakref
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from scull.core.place import Place
from scull.errors import ArgumentError, DeviceFault, DtypeError, RunError, ShapeError
from scull.flags import flags
from scull.runtime import sim
from scull.runtime.device import Allocator, Buffer, Device, Event, Stream
from scull.runtime.sim import EAGERNESS, LONGEST, Sim
from tests.runtime.simulated import filled

SEEDS = range(20)
RUN = (sim.__file__, "run")  # of what stands in a queue


def members(protocol):
    """What a protocol asks for."""
    return {name for name in vars(protocol) if not name.startswith("_")}


def test_it_has_what_the_interface_asks_for():
    device = Sim(seed=0)
    stream = device.stream("a")
    buffer = device.allocator.allocate(8, stream)
    parts = [(Device, device), (Stream, stream), (Event, device.event()), (Buffer, buffer)]
    for protocol, made in [*parts, (Allocator, device.allocator)]:
        assert members(protocol) and [n for n in members(protocol) if not hasattr(made, n)] == []


def test_the_same_name_is_the_same_stream():
    device = Sim(seed=0)
    assert device.stream("a") is device.stream("a") is not device.stream("b")
    assert device.stream("a").name == "a"


def test_what_is_launched_runs_when_the_host_waits_and_in_the_order_of_its_stream():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        stream = device.stream("a")
        for i in range(20):
            stream.launch(partial(ran.append, i))
        stream.synchronize()
        assert ran == list(range(20))


def test_by_some_seeds_nothing_runs_before_the_host_waits_by_others_something_does():
    early = set()
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        for i in range(20):
            device.stream("a").launch(partial(ran.append, i))
        early.add(len(ran))
    assert 0 in early and len(early) > 2


def test_streams_overlap_in_every_order():
    orders = set()
    for seed in range(200):
        device, ran = Sim(seed=seed), []
        for name in "abc":
            device.stream(name).launch(partial(ran.append, name))
        device.synchronize()
        orders.add("".join(ran))
    assert len(orders) == 6


def test_waiting_for_one_stream_need_not_run_another():
    left = set()
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        device.stream("a").launch(partial(ran.append, "a"))
        device.stream("b").launch(partial(ran.append, "b"))
        device.stream("b").synchronize()
        assert "b" in ran
        left.add("a" in ran)
    assert left == {True, False}


def test_a_wait_holds_a_stream_until_the_event_and_the_host_goes_on():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        a.launch(partial(ran.append, "before"))
        a.record(event)
        b.wait(event)
        b.launch(partial(ran.append, "after"))
        b.synchronize()
        assert ran == ["before", "after"] and event.done()


def test_a_wait_is_for_the_mark_of_its_moment():
    device = Sim(seed=1)
    a, b, event = device.stream("a"), device.stream("b"), device.event()
    assert device.eagerness == 0
    a.record(event)
    b.wait(event)
    a.launch(lambda: None, label="later")
    a.record(event)
    first = b.queue[0].mark
    assert first is not event.mark and first.clock != event.mark.clock


def test_asking_for_an_event_again_and_again_ends():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        a, event = device.stream("a"), device.event()
        a.launch(partial(ran.append, 1))
        a.record(event)
        polls = 0
        while not event.done():
            polls += 1
            assert polls < 200
        event.synchronize()
        assert ran == [1]


def test_the_seed_alone_decides():
    def timeline(seed):
        device = Sim(seed=seed)
        device.timeline = []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        for i in range(10):
            a.launch(lambda: None, label=f"a{i}")
            b.launch(lambda: None, label=f"b{i}")
            if i == 5:
                a.record(event)
                b.wait(event)
        device.synchronize()
        return device.timeline

    assert timeline(3) == timeline(3) != timeline(4)


def test_a_timeline_keeps_the_order_of_streams_events_and_the_host():
    for seed in SEEDS:
        device = Sim(seed=seed)
        device.timeline = []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        for i in range(5):
            a.launch(lambda: None, label=f"a{i}")
        a.record(event)
        b.wait(event)
        b.launch(lambda: None, label="b")
        b.synchronize()
        a.launch(lambda: None, label="last")
        device.synchronize()
        spans = {span.label: span for span in device.timeline}
        assert len(spans) == 7
        assert spans["b"].start >= spans["a4"].end and spans["last"].start >= spans["b"].end
        for one, next_one in pairwise(["a0", "a1", "a2", "a3", "a4"]):
            assert spans[one].end <= spans[next_one].start
        assert all(1 <= s.end - s.start <= 1 + LONGEST for s in spans.values())


def test_the_flag_is_the_seed_where_none_is_given():
    device, fixed = Sim(), Sim(seed=5)
    with flags(SIM_SEED=7):
        for each in (device, fixed):
            each.stream("a").launch(lambda: None)
        assert (device.seed, fixed.seed) == (7, 5)
    device.synchronize()
    assert device.seed == 0


def test_every_eagerness_is_some_seeds():
    assert {Sim(seed=seed).eagerness for seed in range(40)} == set(EAGERNESS)


def test_events_and_buffers_of_another_device_are_refused():
    one, other = Sim(seed=0), Sim(Place("sim", 1), seed=0)
    buffer, _ = filled(other, other.stream("a"), 1)
    with pytest.raises(DeviceFault, match="of another device"):
        one.stream("a").launch(lambda: None, (buffer,), (), "read")
    with pytest.raises(DeviceFault, match="event 1 is no event of sim:0"):
        one.stream("a").wait(other.event())


def test_waiting_for_what_nothing_recorded_is_a_fault_that_names_it():
    device = Sim(seed=0)
    for who, wait in [
        ("stream `a` waits for", device.stream("a").wait),
        ("the host waits for", lambda event: event.synchronize()),
        ("the host asks for", lambda event: event.done()),
    ]:
        event = device.event()
        with pytest.raises(DeviceFault, match=f"{who} {event!r}, which nothing recorded"):
            wait(event)
    device.synchronize()


def test_streams_that_wait_for_each_other_in_turn_come_to_an_end():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        streams = [device.stream(name) for name in "abcd"]
        for i in range(40):
            event = device.event()
            streams[i % 4].launch(partial(ran.append, i))
            streams[i % 4].record(event)
            streams[(i + 1) % 4].wait(event)
        streams[39 % 4].synchronize()
        assert ran == list(range(40))


def test_the_error_of_a_work_comes_when_the_host_waits_and_what_follows_is_dropped():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        a.launch(partial(ran.append, "first"))
        a.launch(lambda: 1 / 0, label="divide")
        a.launch(partial(ran.append, "dropped"))
        b.launch(partial(ran.append, "other"))
        b.synchronize()
        with pytest.raises(ZeroDivisionError):
            a.synchronize()
        assert sorted(ran) == ["first", "other"]
        a.launch(partial(ran.append, "again"))
        a.record(event)
        event.synchronize()
        a.synchronize()
        device.synchronize()
        assert ran[-1] == "again"


def test_what_waits_for_a_work_that_failed_is_dropped_with_its_error():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        a.launch(lambda: 1 / 0)
        a.record(event)
        b.wait(event)
        b.launch(partial(ran.append, "dropped"))
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                event.synchronize()
        with pytest.raises(ZeroDivisionError):
            b.synchronize()
        with pytest.raises(ZeroDivisionError):
            a.synchronize()
        device.synchronize()
        assert ran == []


def test_the_device_raises_the_first_error_and_forgets_the_others():
    for seed in SEEDS:
        device = Sim(seed=seed)
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        a.launch(lambda: 1 / 0)
        a.record(event)
        b.launch(lambda: None)
        b.wait(event)
        b.launch(lambda: [][0])
        with pytest.raises(ZeroDivisionError):
            device.synchronize()
        device.synchronize()
        a.synchronize()
        b.synchronize()


def test_an_interrupt_within_a_work_is_kept_like_an_error():
    device = Sim(seed=0)

    def interrupted():
        raise KeyboardInterrupt

    device.stream("a").launch(interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.synchronize()
    device.synchronize()


def test_a_work_may_launch_free_and_record_but_neither_wait_nor_allocate():
    for seed in SEEDS:
        device, ran = Sim(seed=seed), []
        a, b, event = device.stream("a"), device.stream("b"), device.event()
        buffer, _ = filled(device, a, 1)
        a.synchronize()

        def work(device=device, ran=ran, b=b, event=event, buffer=buffer):
            b.launch(lambda: ran.append("launched"))
            b.record(event)
            device.allocator.free(buffer)
            ran.append("worked")

        a.launch(work)
        a.launch(device.synchronize)
        with pytest.raises(RunError, match="a work may not wait for the device it runs on"):
            device.synchronize()
        event.synchronize()
        assert ran == ["worked", "launched"] and device.allocator.statistics().live == 0


def test_memory_that_works_hold_goes_when_they_have_run():
    class Lease:
        def __init__(self, allocator, buffer):
            self.free = lambda: allocator.free(buffer)

        def __del__(self):
            self.free()

    for seed in SEEDS:
        device = Sim(seed=seed)
        a = device.stream("a")
        for _ in range(30):
            buffer, _ = filled(device, a, 1)
            lease = Lease(device.allocator, buffer)
            a.launch(lambda lease=lease: lease)
        del lease
        device.synchronize()
        assert device.allocator.statistics().live == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_finalizer_at_any_line_lets_nothing_overtake_what_runs(seed):
    device, order = Sim(seed=seed), []
    stream = device.stream("a")
    for n in range(3):
        stream.launch(partial(order.append, n))

    def finalizer(frame, event, _):
        if event == "call" and (frame.f_code.co_filename, frame.f_code.co_name) == RUN:
            device.progress()

    sys.setprofile(finalizer)
    try:
        stream.synchronize()
    finally:
        sys.setprofile(None)
    assert order == [0, 1, 2]


def test_copies_run_on_their_stream_and_see_what_is_there_then():
    for seed in SEEDS:
        device = Sim(seed=seed)
        a = device.stream("a")
        source, target = np.arange(4.0), np.zeros(4)
        buffer = device.allocator.allocate(32, a)
        array = buffer.array((2, 2), "float64")
        device.copy_in(source.reshape(2, 2), array, a)
        a.launch(lambda array=array: np.add(array, 1, out=array), (buffer,), (buffer,), "add")
        device.copy_out(array.ravel(), target, a)
        a.synchronize()
        assert target.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_copy_is_an_access_like_others():
    device = Sim(seed=0)
    a, b = device.stream("a"), device.stream("b")
    _, array = filled(device, a, 1)
    with pytest.raises(DeviceFault, match=r"`copy out` on stream `b` reads .* `fill 1` on stream"):
        device.copy_out(array[1:], np.zeros(3), b)
    with pytest.raises(DeviceFault, match=r"`memcpy_h2d` on stream `b` writes .* `fill 1` on"):
        device.copy_in(np.zeros(3), array[1:], b, "memcpy_h2d")


def test_a_copy_takes_arrays_that_agree_and_lie_on_the_device():
    device = Sim(seed=0)
    a = device.stream("a")
    buffer, array = filled(device, a, 1)
    with pytest.raises(ShapeError, match=r"from shape \(3,\) to shape \(4,\)"):
        device.copy_in(np.zeros(3), array, a)
    with pytest.raises(DtypeError, match="from float64 to float32"):
        device.copy_out(array, np.zeros(4, "float32"), a)
    with pytest.raises(ArgumentError, match="lies in no live buffer of sim:0"):
        device.copy_in(np.zeros(4), np.zeros(4), a)
    device.allocator.free(buffer)
    with pytest.raises(ArgumentError, match="lies in no live buffer of sim:0"):
        device.copy_out(array, np.zeros(4), a)


def test_a_closed_device_has_run_everything_and_refuses_more():
    device, ran = Sim(seed=1), []
    a = device.stream("a")
    a.launch(lambda: ran.append(1))
    kept, _ = filled(device, a, 1)
    buffer, _ = filled(device, a, 1)
    device.allocator.free(buffer)
    device.close()
    device.close()
    assert ran == [1] and device.allocator.statistics().reserved == 32
    for use in (
        lambda: a.launch(lambda: None),
        a.synchronize,
        device.synchronize,
        lambda: device.allocator.allocate(8, a),
    ):
        with pytest.raises(RunError, match="is closed"):
            use()
    device.allocator.free(kept)
    assert device.allocator.statistics().reserved == 0


def test_closing_raises_the_error_of_a_work_and_closes():
    device = Sim(seed=1)
    device.stream("a").launch(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        device.close()
    assert device.closed and device.allocator.closed


def test_what_has_run_is_forgotten():
    device = Sim(seed=0)

    class Thing:
        pass

    thing = Thing()
    seen = weakref.ref(thing)
    device.stream("a").launch(lambda thing=thing: None)
    del thing
    device.synchronize()
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("seed", range(4))
def test_several_threads_may_use_it(seed):
    device, failed = Sim(seed=seed), []
    counts = np.zeros(4, int)

    def use(k):
        try:
            mine, other = device.stream(f"a{k}"), device.stream("shared")
            for i in range(100):
                buffer, array = filled(device, mine, i)
                event = device.event()
                mine.record(event)
                other.wait(event)
                device.allocator.uses(buffer, other)

                def count(array=array, i=i):
                    counts[k] += int((array == i).all())

                other.launch(count, (buffer,), (), "count")
                device.allocator.free(buffer)
                if i % 10 == 0:
                    mine.synchronize()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    device.synchronize()
    assert failed == [] and counts.tolist() == [100] * 4
    assert device.allocator.statistics().live == 0
