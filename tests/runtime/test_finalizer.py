"""Memory of a simulated device that is collected as garbage, at any moment of a call."""

import sys
from functools import partial
from itertools import count

from scull.runtime.sim import Sim
from tests.runtime.simulated import fetched, filled


def test_what_a_finalizer_lets_run_while_the_host_waits_runs_once():
    device, ran = Sim(seed=0), []
    device.eagerness = 0.0  # nothing runs before the host waits
    streams = [device.stream(name) for name in ("first", "second")]
    for number, stream in enumerate(streams * 3):
        stream.launch(partial(ran.append, number), reads=[], writes=[], label=str(number))
    drawn = device.random

    def collecting():
        """Memory may be freed at any time, which lets the device go on."""
        device.random = drawn
        for _ in range(20):
            device.progress()
        return drawn()

    device.finish(streams, lambda: device_waits(device, collecting, ran))
    assert sorted(ran) == list(range(6))


def device_waits(device, collecting, ran):
    """Whether all ran; the next that is drawn comes with a collection."""
    device.random = collecting
    return len(ran) == 6


def use_all(device):
    """Calls of the host on stream `a` during which memory that nobody holds may be collected."""
    a, other = device.stream("a"), device.stream("other")
    event = device.event()
    a.launch(lambda: None, (), (), "work")
    a.record(event)
    other.wait(event)
    device.allocator.free(device.allocator.allocate(8, a))
    event.synchronize()
    with device.settled():
        a.synchronize()
    device.synchronize()


def traced(device, at, free):
    """How many lines of this package `use_all` runs through; before line `at` `free` is called."""
    seen = count()

    def line(frame, event, argument):
        if event == "line" and next(seen) == at:
            free()
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: line if "scull" in frame.f_code.co_filename else None)
    try:
        use_all(device)
    finally:
        sys.settrace(before)
    return next(seen)


def test_what_a_finalizer_frees_at_any_line_the_host_has_waited_for():
    """One line later each time; the reads of another stream are done, and the host knows."""
    at, lines = 0, 1
    while at < lines:
        device = Sim(seed=at)
        a, reader = device.stream("a"), device.stream("reader")
        buffer, array = filled(device, a, 1)
        a.synchronize()
        assert fetched(device, array, reader) == [1] * 4
        lines = traced(device, at, partial(device.allocator.free, buffer))
        at += 1
    assert lines > 100
