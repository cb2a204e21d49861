"""The interface of a device: streams of work, events between them, memory on them.

Whatever computes implements these protocols: `sim` and `null` do, a GPU will. The host
launches works and goes on; what it may rely on is written at each method.
"""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from numpy import ndarray

from scull.core.place import Place
from scull.deferred import load
from scull.errors import ArgumentError
from scull.runtime.turn import Turn

MAKERS = {  # a backend is one entry: where what makes its device, given a place, stands
    "null": ("scull.runtime.null", "Null"),
    "sim": ("scull.runtime.sim", "Sim"),
}


class Event(Protocol):
    """A mark in a stream: it is done when everything launched there before it is.

    To record an event again moves its mark; who waited for the old one goes on waiting for that. To
    ask or wait for an event that nothing recorded yet is a DeviceFault: the wait would be lost.
    """

    def done(self) -> bool:
        """Whether the mark is reached; never waits."""

    def synchronize(self) -> None:
        """Let the host wait until the mark is reached; raise the error of a work before it, if any.

        That error stays where it is, for whoever waits for the stream.
        """


class Stream(Protocol):
    """A queue of works: each starts when the one before it is done, and several streams overlap."""

    @property
    def name(self) -> str:
        """The name the device knows it by."""

    def launch(
        self,
        work: Callable[[], None],
        reads: Sequence["Buffer | Part"] = (),
        writes: Sequence["Buffer | Part"] = (),
        label: str = "",
    ) -> None:
        """Put `work` at the end of the queue and return at once.

        `reads` and `writes` are the buffers, or parts of them, whose elements it touches; `label`
        is its name in messages and timelines. A device need not look at them. `sim` raises a
        DeviceFault, and launches nothing, when an access is not ordered after those it must follow.

        An error in `work` is kept: what follows in this stream, and what waits for that, is dropped
        until `synchronize` raises it.
        """

    def record(self, event: Event) -> None:
        """Put the mark of `event` at the end of the queue."""

    def wait(self, event: Event) -> None:
        """Let what is launched here from now on wait for the mark of `event`; the host does not."""

    def synchronize(self) -> None:
        """Let the host wait for all that was launched; raise the error of a work, and forget it."""


class Buffer(Protocol):
    """Memory that an allocator handed out."""

    @property
    def size(self) -> int:
        """Its bytes, as asked for."""

    @property
    def stream(self) -> Stream:
        """Its home: the stream it was allocated for."""

    def array(self, shape: Any, dtype: Any, offset: int = 0) -> Any:
        """Its memory from byte `offset` on, as the kind of array that the device's kernels take.

        For works alone: the host must not look at the elements.
        """

    def part(self, key: Any) -> "Part":
        """A part of it, by any name: works that touch different parts need no order."""


class Part(Protocol):
    """Some of the bytes of a buffer, which no other part of it has."""

    @property
    def buffer(self) -> Buffer:
        """The buffer."""


@dataclass(frozen=True)
class Statistics:
    """What an allocator holds and has done."""

    live: int  # bytes of the buffers in use, as asked for
    peak: int  # the most of them at once
    cached: int  # bytes of the device that are kept for buffers to come
    reserved: int  # bytes of the device in all: of blocks in use and of cached ones
    limit: int  # how many these may be; 0: any
    allocations: int
    reuses: int  # allocations that took a cached block
    waits: int  # how often the host waited for a freed block

    def __str__(self) -> str:
        limit = f" of {self.limit}" if self.limit else ""
        return (
            f"{self.live} bytes live (at most {self.peak}), {self.cached} cached, "
            f"{self.reserved}{limit} reserved; {self.allocations} allocations, "
            f"{self.reuses} of cached blocks, {self.waits} waits"
        )


class Allocator(Protocol):
    """The memory of a device, handed out in the order of streams. Any thread may call it."""

    limit: int  # bytes it may reserve; 0: any

    def allocate(self, size: int, stream: Stream) -> Buffer:
        """A buffer of `size` bytes, of any content, for works launched on `stream` from now on.

        Another stream must wait for an event recorded on `stream` after this call. Where memory is
        short the host waits for freed blocks. A ResourceError leaves everything as it was.
        """

    def uses(self, buffer: Buffer, stream: Stream) -> None:
        """Say that works launched on `stream` use `buffer`, which is at home on another one."""

    def free(self, buffer: Buffer) -> None:
        """Take `buffer` back; works that use it may still run, none may be launched.

        Its memory is used again on its home stream: at once if no other stream used it, else when
        all that those streams launched up to now is done.
        """

    def give_back(self) -> None:
        """Wait for what was freed and give the device all that is cached."""

    def statistics(self) -> Statistics:
        """What it holds and has done."""

    def reset_peak(self) -> None:
        """Count the most bytes at once from now on."""


class Device(Protocol):
    """One device of this process."""

    turn: Turn  # a lock: an error in a stream ends all runs that are there

    runs: bool  # whether what is launched is done: else results are as many zeros

    @property
    def place(self) -> Place:
        """The place it is."""

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""

    @property
    def allocator(self) -> Allocator:
        """Its memory."""

    def stream(self, name: str) -> Stream:
        """The stream of this name; it is made when first asked for."""

    def event(self) -> Event:
        """A new event."""

    def copy_in(self, source: ndarray, target: Any, stream: Stream, label: str = "") -> None:
        """Copy an array of the host into one of a buffer, on `stream`: nobody may change it yet."""

    def copy_out(self, source: Any, target: ndarray, stream: Stream, label: str = "") -> None:
        """Copy an array of a buffer into one of the host, on `stream`: it is filled when done."""

    def settled(self) -> AbstractContextManager[Any]:
        """Let the host wait for all that was launched, whatever came of it.

        Within the block no other thread launches anything: values may be read, whoever made them.
        """

    def synchronize(self) -> None:
        """Wait for all streams; raise the first error of a work, and forget all."""

    def close(self) -> None:
        """Wait, then give all memory back; later calls are refused."""


_devices: dict[tuple[int, str, int], Device] = {}
_lock = threading.Lock()


def device_of(place: Place) -> Device:
    """The device of a place: one a process, and another once that is closed."""
    key = (os.getpid(), place.kind, place.number)
    with _lock:
        found = _devices.get(key)
        if found is None or found.closed:
            found = _devices[key] = maker(place.kind)(place)
        return found


def maker(kind: str) -> Callable[[Place], Device]:
    """What makes the devices of a kind."""
    if kind not in MAKERS:
        known = ", ".join(f"`{name}`" for name in sorted(MAKERS))
        raise ArgumentError(f"`{kind}` is no kind of device: there are {known}")
    made: Callable[[Place], Device] = load(*MAKERS[kind])
    return made
