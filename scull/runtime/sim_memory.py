"""The memory of a simulated device: what is new or freed is poisoned, accesses are remembered."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from scull.core.memory import refuse_bytes
from scull.errors import ArgumentError, DeviceFault, DtypeError, ShapeError
from scull.runtime.allocator import Block, Piece

if TYPE_CHECKING:
    from scull.runtime.sim import Sim, SimEvent

ALIGNMENT = 64
POISON = 0xFF  # in every byte: NaN in every floating-point type, -1 in integers

Clock = dict[int, int]  # by stream: how many of its works are ordered before something


def joined(clock: Clock, other: Clock) -> Clock:
    """`clock`, with what is ordered before `other` besides."""
    for stream, number in other.items():
        if clock.get(stream, 0) < number:
            clock[stream] = number
    return clock


class Memory:
    """Bytes of the device, and when each stream last touched them for the buffer before."""

    __slots__ = ("data", "owner", "used")

    def __init__(self, size: int) -> None:
        self.owner = np.empty(size + ALIGNMENT, np.uint8)
        start = -self.owner.ctypes.data % ALIGNMENT
        self.data = self.owner[start : start + size]
        self.used: Clock = {}
        self.poison()

    def poison(self) -> None:
        """Fill it with what no computation takes for a value."""
        self.data.fill(POISON)


class Accesses:
    """Who touched a buffer, or a part of it: the last work that wrote it, and the reads since."""

    __slots__ = ("fresh", "readers", "writer", "written", "wrote")

    def __init__(self, writer: int, written: int, wrote: str, fresh: bool) -> None:
        self.writer, self.written, self.wrote = writer, written, wrote  # stream, number, label
        self.fresh = fresh  # nothing wrote it yet
        self.readers: dict[int, tuple[int, str]] = {}  # by stream: number and label

    def copy(self) -> "Accesses":
        """The same, to go on differently."""
        found = Accesses(self.writer, self.written, self.wrote, self.fresh)
        found.readers.update(self.readers)
        return found


class SimBuffer(Piece):
    """A buffer that knows who touched it and each part of it."""

    __slots__ = ("accesses", "device", "parts")

    def __init__(self, source: "SimSource", block: Block, size: int, number: int) -> None:
        super().__init__(source, block, size, number)
        home: Any = block.home
        self.device = source.device
        self.accesses = [Accesses(home.index, home.launched, "its allocation", size > 0)]
        self.parts: dict[Any, SimPart] = {}

    def part(self, key: Any) -> "SimPart":
        """A part by its name; what was done to the rest of the buffer was done to it, too."""
        if key not in self.parts:
            found = self.parts[key] = SimPart(self, self.accesses[0].copy())
            self.accesses.append(found.accesses[0])
        return self.parts[key]

    def filled(self) -> None:
        """Something wrote it for the first time."""

    def touched(self) -> dict[int, tuple[int, str, str]]:
        """By stream the last access that others must follow, and what it did."""
        found: dict[int, tuple[int, str, str]] = {}
        for access in self.accesses:
            if found.get(access.writer, (0,))[0] <= access.written:
                found[access.writer] = (access.written, access.wrote, "wrote")
            for stream, (number, label) in access.readers.items():
                if found.get(stream, (0,))[0] <= number:
                    found[stream] = (number, label, "read")
        return found

    def refuse(self, device: "Sim", what: str) -> None:
        """Raise why a work may not touch it."""
        if not self.live:
            raise DeviceFault(f"{what} {self!r} after it was freed")
        if self.device is not device:
            raise DeviceFault(f"{what} {self!r} of another device")
        raise DeviceFault(f"{what} {self!r}, which nothing wrote")


class SimPart:
    """A part of a buffer, as works name it."""

    __slots__ = ("accesses", "buffer")

    def __init__(self, buffer: SimBuffer, accesses: Accesses) -> None:
        self.buffer, self.accesses = buffer, [accesses]

    device = property(lambda self: self.buffer.device)
    live = property(lambda self: self.buffer.live)

    def filled(self) -> None:
        """Something wrote it for the first time: nobody can say that nothing wrote the buffer."""
        self.buffer.accesses[0].fresh = False

    def refuse(self, device: "Sim", what: str) -> None:
        """Raise why a work may not touch it."""
        self.buffer.refuse(device, what)

    def __repr__(self) -> str:
        return f"a part of {self.buffer!r}"


class SimSource:
    """Where the allocator of a simulated device gets memory from."""

    def __init__(self, device: "Sim") -> None:
        self.device = device
        self.buffers: dict[int, SimBuffer] = {}  # by the array that owns their memory

    def reserve(self, size: int) -> Memory:
        """Memory of the host."""
        self.device.refuse_closed()
        refuse_bytes(size, "a buffer")
        return Memory(size)

    def release(self, memory: Memory) -> None:
        """Forget `memory`."""
        memory.poison()

    def event(self) -> "SimEvent":
        """A new event."""
        return self.device.event()

    def reached(self, event: Any) -> bool:
        """Whether the mark of an event is reached. The host learns nothing: no race hides by it."""
        self.device.tick()
        return bool(event.mark.reached)

    def reach(self, event: Any) -> None:
        """Let the host wait for the mark of an event, and learn nothing."""
        self.device.finish([event.mark.stream], lambda: event.mark.reached)

    def buffer(self, block: Block, size: int, number: int) -> SimBuffer:
        """A buffer in `block`; a fault when another stream may still touch that."""
        home: Any = block.home
        for stream, n in block.memory.used.items():
            other = self.device.streams[stream]
            if other is not home and other.finished < n and home.clock.get(stream, 0) < n:
                raise DeviceFault(f"memory that {other!r} still uses is given to {home!r}")
        found = self.buffers[id(block.memory.owner)] = SimBuffer(self, block, size, number)
        return found

    def array(self, piece: SimBuffer, shape: Any, dtype: Any, offset: int) -> ndarray:
        """The memory of a buffer as an array."""
        if not piece.live:
            raise DeviceFault(f"{piece!r} is used after it was freed")
        kind = np.dtype(dtype)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        end = offset + kind.itemsize * math.prod(sizes)
        if offset < 0 or min(sizes, default=0) < 0 or end > piece.size:
            raise ArgumentError(f"{kind}{list(sizes)} from byte {offset} on is not in {piece!r}")
        return ndarray(sizes, kind, piece.block.memory.data, offset)

    def freed(self, piece: SimBuffer, events: Sequence[Any]) -> None:
        """A fault, kept by its home, while a stream uses it that neither home nor events await."""
        home: Any = piece.stream
        home.hear()
        clock = dict(home.clock)
        for event in events:
            joined(clock, event.mark.clock)
        used = {}
        for stream, (n, label, did) in piece.touched().items():
            if clock.get(stream, 0) >= n:
                used[stream] = n
                continue
            home.enqueue(
                raising(
                    f"{piece!r} is freed on {home!r}, which is not ordered after {said(label)} on "
                    f"{self.device.streams[stream]!r} that {did} it, and the allocator was not "
                    "told of that use"
                ),
                None,
            )
        piece.block.memory.used = used
        del self.buffers[id(piece.block.memory.owner)]

    def returned(self, block: Block) -> None:
        """Poison `block` when its turn in its home stream comes."""
        home: Any = block.home
        home.enqueue(block.memory.poison, None)

    def buffer_of(self, array: Any) -> SimBuffer:
        """The buffer an array lies in."""
        owner = array
        while isinstance(getattr(owner, "base", None), ndarray):
            owner = owner.base
        found = self.buffers.get(id(owner))
        if found is None:
            raise ArgumentError(f"an array lies in no live buffer of {self.device.place.name}")
        return found


def refuse_copy(source: Any, target: Any) -> None:
    """Refuse a copy between arrays that differ in shape or element type."""
    if source.shape != target.shape:
        raise ShapeError(f"a copy from shape {source.shape} to shape {target.shape}")
    if source.dtype != target.dtype:
        raise DtypeError(f"a copy from {source.dtype} to {target.dtype}")


def raising(message: str) -> Callable[[], None]:
    """A work that raises a fault: what frees cannot, for it may be what collects garbage."""

    def work() -> None:
        raise DeviceFault(message)

    return work


def said(label: str) -> str:
    """A work in a message."""
    return f"`{label}`" if label else "a work"
