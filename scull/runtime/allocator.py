"""A caching allocator in the order of streams: freed blocks stay with the stream they served."""

import threading
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

from scull.errors import ArgumentError, DeviceFault, ResourceError, RunError
from scull.runtime.device import Event, Statistics, Stream

TINY = 64  # bytes up to which any cached block serves
SLACK = 8  # a larger one may be larger than asked by this part of it


class Block:
    """Memory reserved from the device: one buffer at a time lies in it."""

    __slots__ = ("capacity", "home", "memory", "users")

    def __init__(self, capacity: int, memory: Any, home: Stream) -> None:
        self.capacity, self.memory, self.home = capacity, memory, home
        self.users = 0  # streams that are not done with it since it was freed


class Piece:
    """A buffer: the use of a block from `allocate` to `free`."""

    __slots__ = ("block", "live", "number", "size", "source", "users")

    def __init__(self, source: "Source", block: Block, size: int, number: int) -> None:
        self.source, self.block, self.size, self.number = source, block, size, number
        self.users: dict[Stream, None] = {}  # other streams than its home
        self.live = True

    @property
    def stream(self) -> Stream:
        """Its home."""
        return self.block.home

    def array(self, shape: Any, dtype: Any, offset: int = 0) -> Any:
        """Its memory from byte `offset` on, as an array."""
        return self.source.array(self, shape, dtype, offset)

    @property
    def buffer(self) -> "Piece":
        """Itself, as the part that it is of itself."""
        return self

    def part(self, key: Any) -> Any:
        """A part of it: itself, where nobody looks at parts."""
        return self

    def __repr__(self) -> str:
        return f"buffer {self.number} of {self.size} bytes"


class Source(Protocol):
    """What an allocator asks of its device."""

    def reserve(self, size: int) -> Any:
        """`size` bytes of the device; a MemoryError when there are not so many."""

    def release(self, memory: Any) -> None:
        """Give back what `reserve` gave; nothing uses it any more."""

    def event(self) -> Event:
        """A new event."""

    def reached(self, event: Event) -> bool:
        """Whether an event is done, asked by the allocator and not by the program."""

    def reach(self, event: Event) -> None:
        """Let the host wait until an event is done, whatever came of the works before it."""

    def buffer(self, block: Block, size: int, number: int) -> Piece:
        """A buffer in `block`, which it was just taken for."""

    def array(self, piece: Any, shape: Any, dtype: Any, offset: int) -> Any:
        """The memory of a buffer as an array."""

    def freed(self, piece: Any, events: Sequence[Event]) -> None:
        """`piece` is freed; those of its users that are known are done with it at `events`."""

    def returned(self, block: Block) -> None:
        """`block` waits for its next buffer: no stream but its home may still use it."""


class CachingAllocator:
    """Blocks by their home stream; those that other streams used come back by event.

    A buffer takes the smallest cached block of its stream that is hardly larger than it, else new
    memory. Where there is none left the host waits for the blocks whose events are not done, and
    at last gives the device back what is cached.
    """

    def __init__(self, source: Source, limit: int = 0, lock: Any = None) -> None:
        self.source, self.limit = source, limit
        self.lock = threading.RLock() if lock is None else lock
        self.busy = self.closed = False
        self.freed: deque[Piece] = deque()
        self.pools: dict[Stream, list[Block]] = {}  # by capacity
        self.pending: dict[Stream, deque[tuple[Event, Block]]] = {}  # by user, in its order
        self.live = self.peak = self.taken = self.reserved = 0
        self.allocations = self.reuses = self.waits = 0

    def allocate(self, size: int, stream: Stream) -> Piece:
        """A buffer of `size` bytes, of any content, for works launched on `stream` from now on."""
        if size < 0:
            raise ArgumentError(f"a buffer has at least 0 bytes, not {size}")
        with self.lock:
            if self.closed:
                raise RunError("the device is closed: it has no memory")
            if self.busy:
                raise RunError("a work may not allocate memory on the device it runs on")
            self.settle()
            self.busy = True
            try:
                block = self.block(size, stream)
            finally:
                self.busy = False
            found = self.source.buffer(block, size, self.allocations + 1)
            self.allocations += 1
            self.taken += block.capacity
            self.live += size
            self.peak = max(self.peak, self.live)
            return found

    def uses(self, buffer: Any, stream: Stream) -> None:
        """Say that works launched on `stream` use `buffer`, which is at home on another one."""
        refuse_freed(buffer, "used")
        if stream is not buffer.block.home:
            buffer.users[stream] = None

    def free(self, buffer: Any) -> None:
        """Take `buffer` back: at home its memory is there at once, else when its users are done.

        It never waits, so that what collects garbage may call it, at any moment.
        """
        refuse_freed(buffer, "freed")
        buffer.live = False
        self.freed.append(buffer)
        if self.lock.acquire(blocking=False):
            try:
                self.settle()
            finally:
                self.lock.release()

    def statistics(self) -> Statistics:
        """What it holds and has done."""
        with self.lock:
            self.settle()
            return self.counted()

    def reset_peak(self) -> None:
        """Count the most bytes at once from now on."""
        with self.lock:
            self.settle()
            self.peak = self.live

    def give_back(self) -> None:
        """Give the device all that is cached, once nothing uses it."""
        with self.lock:
            self.settle()
            self.busy = True
            try:
                self.empty()
            finally:
                self.busy = False

    def close(self) -> None:
        """Give the device all that is cached, and later what is freed."""
        with self.lock:
            self.give_back()
            self.closed = True

    def settle(self) -> None:
        """Take back what was freed, unless that goes on already."""
        if self.busy:
            return
        self.busy = True
        try:
            while self.freed:
                self.take_back(self.freed.popleft())
        finally:
            self.busy = False

    def take_back(self, buffer: Piece) -> None:
        """Cache the block of a buffer, or let it wait for events of other streams."""
        block, marks = buffer.block, []
        self.live -= buffer.size
        self.taken -= block.capacity
        if self.closed:
            self.release(block)
            return
        for stream in buffer.users:
            event = self.source.event()
            stream.record(event)
            marks.append(event)
            self.pending.setdefault(stream, deque()).append((event, block))
        block.users = len(marks)
        self.source.freed(buffer, marks)
        if not marks:
            self.keep(block)

    def block(self, size: int, stream: Stream) -> Block:
        """A block for `size` bytes: cached, new, waited for, or new after giving back."""
        if self.limit and self.taken + size > self.limit:
            raise self.short(size)
        self.collect()
        block = self.cached(size, stream) or self.new(size, stream)
        if block is None:
            self.wait()
            block = self.cached(size, stream)
        if block is None:
            self.empty()
            block = self.new(size, stream)
        if block is None:
            raise self.short(size)
        return block

    def cached(self, size: int, stream: Stream) -> Block | None:
        """The smallest cached block of `stream` that is hardly larger than `size`."""
        blocks = self.pools.get(stream, [])
        at = bisect_left(blocks, size, key=capacity)
        if at == len(blocks) or blocks[at].capacity > max(size + size // SLACK, TINY):
            return None
        self.reuses += 1
        return blocks.pop(at)

    def new(self, size: int, stream: Stream) -> Block | None:
        """A block of the device; None when memory is short."""
        if self.limit and self.reserved + size > self.limit:
            return None
        try:
            memory = self.source.reserve(size)
        except MemoryError:
            return None
        self.reserved += size
        return Block(size, memory, stream)

    def keep(self, block: Block) -> None:
        """Cache a block that only its home uses."""
        insort(self.pools.setdefault(block.home, []), block, key=capacity)
        self.source.returned(block)

    def collect(self) -> None:
        """Cache the freed blocks whose users are done."""
        for waiting in self.pending.values():
            while waiting and self.source.reached(waiting[0][0]):
                _, block = waiting.popleft()
                block.users -= 1
                if not block.users:
                    self.keep(block)

    def wait(self) -> None:
        """Let the host wait for the users of every freed block."""
        for waiting in self.pending.values():
            if waiting:
                self.waits += 1
                self.source.reach(waiting[-1][0])
        self.collect()

    def empty(self) -> None:
        """Give back what is cached, once its home is done with it."""
        self.wait()
        for stream, blocks in self.pools.items():
            if blocks:
                event = self.source.event()
                stream.record(event)
                self.source.reach(event)
            while blocks:
                self.release(blocks.pop())

    def release(self, block: Block) -> None:
        """Give a block back to the device."""
        self.reserved -= block.capacity
        self.source.release(block.memory)

    def counted(self) -> Statistics:
        """What it holds and has done, as counted up to now."""
        return Statistics(
            self.live,
            self.peak,
            self.reserved - self.taken,
            self.reserved,
            self.limit,
            self.allocations,
            self.reuses,
            self.waits,
        )

    def short(self, size: int) -> ResourceError:
        """The error that there is no memory."""
        return ResourceError(f"a buffer of {size} bytes finds no memory: {self.counted()}")


def capacity(block: Block) -> int:
    """The bytes of a block."""
    return block.capacity


def refuse_freed(buffer: Any, what: str) -> None:
    """Refuse a buffer that was freed."""
    if not buffer.live:
        raise DeviceFault(f"{buffer!r} is {what} after it was freed")
