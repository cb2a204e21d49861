"""A device that is simulated: slow asynchronous streams, real events, memory that notices races.

There are no threads. What is launched waits in the queue of its stream and runs when the host waits
for it, or at a seeded moment of some call of the host, in any order that streams and events allow:
a wait that is missing shows. Time is virtual.

Besides, every access is compared with those before it by vector clocks. A work whose accesses are
not ordered is refused when it is launched, whatever the seed and whatever has run by then. The
threads of the host count as one: what one of them waited for, all know.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from scull.core.place import Place
from scull.errors import DeviceFault, RunError
from scull.flags import changes, flag
from scull.runtime.allocator import CachingAllocator
from scull.runtime.device import Event
from scull.runtime.sim_memory import Accesses, Clock, SimSource, joined, refuse_copy, said
from scull.runtime.turn import Turn

LONGEST = 100.0  # of a work, in virtual microseconds
EAGERNESS = (0.0, 0.02, 0.2, 0.7)  # how likely a call of the host lets something run, by seed


class Span(NamedTuple):
    """One work on the timeline, in virtual microseconds."""

    stream: str
    label: str
    start: float
    end: float


class Work:
    """Something to run, in the queue of a stream."""

    __slots__ = ("call", "duration", "label", "launched", "number")

    def __init__(
        self,
        call: Callable[[], None],
        label: str | None,
        number: int,
        launched: float,
        duration: float,
    ) -> None:
        self.call, self.label, self.number = call, label, number
        self.launched, self.duration = launched, duration

    def ready(self) -> bool:
        """Whether it may run when its turn comes."""
        return True

    def run(self, stream: "SimStream") -> None:
        """Run it, unless the stream failed."""
        device = stream.device
        stream.finished = self.number
        if stream.error is not None:
            return
        start = max(stream.time, self.launched)
        stream.time = start + self.duration
        try:
            self.call()
        except BaseException as error:  # the host's turn comes when it waits
            stream.fail(error)
        if device.timeline is not None and self.label is not None:
            device.timeline.append(Span(stream.name, self.label, start, stream.time))


class Mark:
    """A record of an event: what is ordered before it, and when it was reached."""

    __slots__ = ("clock", "error", "reached", "stream", "time")

    def __init__(self, stream: "SimStream", clock: Clock) -> None:
        self.stream, self.clock = stream, clock
        self.reached, self.time = False, 0.0
        self.error: BaseException | None = None

    def ready(self) -> bool:
        """Whether it may be reached when its turn comes."""
        return True

    def run(self, stream: "SimStream") -> None:
        """Reach it."""
        self.reached, self.time, self.error = True, stream.time, stream.error


class Wait:
    """A wait of a stream for a mark."""

    __slots__ = ("mark",)

    def __init__(self, mark: Mark) -> None:
        self.mark = mark

    def ready(self) -> bool:
        """Whether the mark is reached."""
        return self.mark.reached

    def run(self, stream: "SimStream") -> None:
        """Go on; what waits for something that failed fails with it."""
        stream.time = max(stream.time, self.mark.time)
        if self.mark.error is not None and stream.error is None:
            stream.fail(self.mark.error)


class SimEvent:
    """An event of a simulated device."""

    __slots__ = ("device", "mark", "number")

    def __init__(self, device: "Sim", number: int) -> None:
        self.device, self.number = device, number
        self.mark: Mark | None = None

    def done(self) -> bool:
        """Whether the mark is reached; asking lets time pass."""
        device = self.device
        with device.lock:
            mark = self.recorded("the host asks for")
            device.tick()
            if not mark.reached and device.random() < 0.5:
                device.progress()
            if mark.reached:
                device.heard(mark.clock, mark.time)
            return mark.reached

    def synchronize(self) -> None:
        """Let the host wait until the mark is reached; raise the error of a work before it."""
        device = self.device
        with device.lock:
            mark = self.recorded("the host waits for")
            device.tick()
            device.finish([mark.stream], lambda: mark.reached)
            device.heard(mark.clock, mark.time)
            if mark.error is not None:
                raise mark.error

    def recorded(self, who: str) -> Mark:
        """Its mark; a fault where there is none."""
        if self.mark is None:
            raise DeviceFault(f"{who} {self!r}, which nothing recorded: that would never end")
        return self.mark

    def __repr__(self) -> str:
        return f"event {self.number}"


class SimStream:
    """A stream of a simulated device."""

    def __init__(self, device: "Sim", name: str, index: int) -> None:
        self.device, self.name, self.index = device, name, index
        self.queue: deque[Work | Mark | Wait] = deque()
        self.launched = self.finished = 0  # numbers of works
        self.clock: Clock = {}  # what is ordered before what is launched next
        self.seen: Clock | None = None  # what the host knew when it last launched
        self.time, self.slowness = 0.0, device.random()
        self.error: BaseException | None = None

    def launch(
        self,
        work: Callable[[], None],
        reads: Sequence[Any] = (),
        writes: Sequence[Any] = (),
        label: str = "",
    ) -> None:
        """Put `work` at the end of the queue; a fault when an access of it is not ordered."""
        device = self.device
        with device.lock:
            device.tick()
            if self.seen is not device.known:
                self.hear()
            clock, index = self.clock, self.index
            for buffer in reads:
                for access in self.may_touch(buffer, "reads", label):
                    if access.fresh:
                        buffer.refuse(device, f"{said(label)} on {self!r} reads")
                    if clock.get(access.writer, 0) < access.written:
                        raise self.early(label, "reads", buffer, access.writer, access.wrote)
            for buffer in writes:
                for access in self.may_touch(buffer, "writes", label):
                    if clock.get(access.writer, 0) < access.written:
                        raise self.early(label, "writes", buffer, access.writer, access.wrote)
                    for reader, (n, read) in access.readers.items():
                        if clock.get(reader, 0) < n:
                            raise self.early(label, "writes", buffer, reader, read)
            number = self.enqueue(work, label)
            for buffer in reads:
                for access in buffer.accesses:
                    access.readers[index] = (number, label)
            for buffer in writes:
                for access in buffer.accesses:
                    access.writer, access.written, access.wrote = index, number, label
                    access.readers.clear()
                    if access.fresh:
                        access.fresh = False
                        buffer.filled()

    def may_touch(self, buffer: Any, how: str, label: str) -> list[Accesses]:
        """The accesses to `buffer` up to now; a fault where it is not live here."""
        if not buffer.live or buffer.device is not self.device:
            buffer.refuse(self.device, f"{said(label)} on {self!r} {how}")
        found: list[Accesses] = buffer.accesses
        return found

    def enqueue(self, call: Callable[[], None], label: str | None) -> int:
        """Put something to run at the end of the queue, and number it; no timeline shows None."""
        device = self.device
        work = Work(call, label, 0, device.now, 1.0 + LONGEST * device.random() ** 4)
        number = work.number = self.launched = self.clock[self.index] = self.launched + 1
        self.queue.append(work)
        return number

    def early(self, label: str, how: str, buffer: Any, other: int, before: str) -> DeviceFault:
        """The fault that a work is not ordered after another."""
        return DeviceFault(
            f"{said(label)} on {self!r} {how} {buffer!r} and is not ordered after "
            f"{said(before)} on {self.device.streams[other]!r}"
        )

    def record(self, event: Event) -> None:
        """Put the mark of `event` at the end of the queue."""
        device = self.device
        with device.lock:
            device.tick()
            mark = device.own(event).mark = Mark(self, dict(self.clock))
            self.queue.append(mark)

    def wait(self, event: Event) -> None:
        """Let what is launched here from now on wait for the mark of `event`."""
        device = self.device
        with device.lock:
            device.tick()
            mark = device.own(event).recorded(f"{self!r} waits for")
            joined(self.clock, mark.clock)
            self.queue.append(Wait(mark))

    def synchronize(self) -> None:
        """Let the host wait for all that was launched; raise the error of a work."""
        device = self.device
        with device.lock:
            device.tick()
            device.finish([self], lambda: not self.queue)
            device.heard(self.clock, self.time)
            if self.error is not None:
                error, self.error = self.error, None
                device.failed.remove(self)
                raise error

    def hear(self) -> None:
        """What the host knows is ordered before what it launches."""
        known = self.device.known
        if self.seen is not known:
            joined(self.clock, known)
            self.seen = known  # not before: a finalizer may free memory at any line

    def fail(self, error: BaseException) -> None:
        """Drop what follows until somebody is told of `error`."""
        self.error = error
        self.device.failed.append(self)

    def __repr__(self) -> str:
        return f"stream `{self.name}`"


class Sim:
    """A simulated device.

    `seed` picks when works run; when None, the flag SIM_SEED does, whenever that changes. `limit`
    is how many bytes it has; 0: any. `timeline` is None, or a list to which every work that has run
    is added.
    """

    runs = True

    def __init__(self, place: Place | None = None, seed: int | None = None, limit: int = 0) -> None:
        self.place = Place("sim", 0) if place is None else place
        self.lock, self.turn = threading.RLock(), Turn()
        self.fixed, self.changes = seed is not None, changes[0]
        self.streams: list[SimStream] = []
        self.names: dict[str, SimStream] = {}
        self.events = 0
        self.known: Clock = {}  # what the host knows is done
        self.now = 0.0  # the host's time
        self.running = self.closed = False
        self.failed: list[SimStream] = []  # the first one first
        self.timeline: list[Span] | None = None
        self.source = SimSource(self)
        self.allocator = CachingAllocator(self.source, limit, self.lock)
        self.reseed(flag("SIM_SEED") if seed is None else seed)

    def reseed(self, seed: int) -> None:
        """Begin the random choices anew."""
        with self.lock:
            self.seed, self.random = seed, Random(seed).random
            self.eagerness = EAGERNESS[int(self.random() * len(EAGERNESS))]
            for stream in self.streams:
                stream.slowness = self.random()

    def stream(self, name: str) -> SimStream:
        """The stream of this name."""
        with self.lock:
            if name not in self.names:
                self.names[name] = SimStream(self, name, len(self.streams))
                self.streams.append(self.names[name])
            return self.names[name]

    def event(self) -> SimEvent:
        """A new event."""
        self.events += 1
        return SimEvent(self, self.events)

    def copy_in(self, source: ndarray, target: Any, stream: Any, label: str = "") -> None:
        """Copy an array of the host into one of a buffer, on `stream`."""
        buffer = self.source.buffer_of(target)
        refuse_copy(source, target)
        stream.launch(lambda: np.copyto(target, source), (), (buffer,), label or "copy in")

    def copy_out(self, source: Any, target: ndarray, stream: Any, label: str = "") -> None:
        """Copy an array of a buffer into one of the host, on `stream`."""
        buffer = self.source.buffer_of(source)
        refuse_copy(source, target)
        stream.launch(lambda: np.copyto(target, source), (buffer,), (), label or "copy out")

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Let the host wait for all that was launched, whatever came of it."""
        with self.lock:
            self.tick()
            self.finish(self.streams, lambda: not any(s.queue for s in self.streams))
            for stream in self.streams:
                self.heard(stream.clock, stream.time)
            yield

    def synchronize(self) -> None:
        """Wait for all streams; raise the first error of a work, and forget all."""
        with self.lock:
            self.tick()
            self.finish(self.streams, lambda: not any(s.queue for s in self.streams))
            for stream in self.streams:
                self.heard(stream.clock, stream.time)
            if self.failed:
                error = self.failed[0].error
                for stream in self.failed:
                    stream.error = None
                self.failed.clear()
                assert error is not None
                raise error

    def close(self) -> None:
        """Wait, then give all memory back."""
        with self.lock:
            if not self.closed:
                try:
                    self.synchronize()
                finally:
                    self.allocator.close()
                    self.closed = True

    def tick(self) -> None:
        """Let some time pass on the host, and perhaps something run."""
        self.refuse_closed()
        if changes[0] != self.changes:
            self.changes = changes[0]
            if not self.fixed and flag("SIM_SEED") != self.seed:
                self.reseed(flag("SIM_SEED"))
        self.now += 1.0
        if self.random() < self.eagerness:
            self.progress()

    def progress(self) -> None:
        """Run a few works, or none where a work is running."""
        for _ in range(0 if self.running else 1 + int(self.random() * 4)):
            ready = [s for s in self.streams if s.queue and s.queue[0].ready()]
            if not ready:
                return
            self.step(ready)

    def step(self, ready: list[SimStream]) -> None:
        """Let one of the streams that are ready do what comes next; slow ones seldom."""
        stream = ready[0]
        if len(ready) > 1:
            random = self.random
            stream = min(ready, key=lambda s: random() * s.slowness)
        self.running = True  # from here on no finalizer lets anything run
        try:
            if stream.queue and stream.queue[0].ready():  # else one did meanwhile
                stream.queue.popleft().run(stream)
        finally:
            self.running = False

    def finish(self, wanted: Iterable[SimStream], done: Callable[[], bool]) -> None:
        """Run until `done`: by the seed all streams, or only what `wanted` ones need."""
        if self.running:
            raise RunError("a work may not wait for the device it runs on")
        streams = self.streams if self.random() < 0.5 else list(wanted)
        while not done():
            ready = []
            for stream in streams:
                if stream.queue:
                    head = stream.queue[0]
                    if head.ready():
                        ready.append(stream)
                    elif isinstance(head, Wait) and head.mark.stream not in streams:
                        streams.append(head.mark.stream)
            if ready:  # else a finalizer let run what was waited for
                self.step(ready)

    def heard(self, clock: Clock, time: float) -> None:
        """The host knows that what is ordered before `clock` is done."""
        self.now = max(self.now, time)
        if any(self.known.get(i, 0) < n for i, n in clock.items()):
            self.known = joined(dict(self.known), dict(clock))

    def refuse_closed(self) -> None:
        """Refuse what comes after `close`."""
        if self.closed:
            raise RunError(f"the device {self.place.name} is closed")

    def own(self, event: Event) -> SimEvent:
        """An event of this device; a fault when it is another's."""
        if not isinstance(event, SimEvent) or event.device is not self:
            raise DeviceFault(f"{event!r} is no event of {self.place.name}")
        return event
