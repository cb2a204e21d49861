"""A device that runs nothing and holds nothing: what is launched is dropped, bytes are counted."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy import ndarray

from scull.core.place import Place
from scull.errors import RunError
from scull.runtime.allocator import Block, CachingAllocator, Piece
from scull.runtime.device import Buffer, Event, Part, Stream
from scull.runtime.turn import Turn


class NullEvent:
    """An event: it is done."""

    def done(self) -> bool:
        """True."""
        return True

    def synchronize(self) -> None:
        """Return at once."""


class NullStream:
    """A stream that drops what is launched."""

    def __init__(self, device: "Null", name: str) -> None:
        self.device, self.name = device, name

    def launch(
        self,
        work: Callable[[], None],
        reads: Sequence[Buffer | Part] = (),
        writes: Sequence[Buffer | Part] = (),
        label: str = "",
    ) -> None:
        """Drop `work`."""
        self.device.refuse_closed()

    def record(self, event: Event) -> None:
        """Do nothing."""

    def wait(self, event: Event) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Return at once."""


class NullSource:
    """Where the allocator of such a device gets memory from: there is none."""

    def reserve(self, size: int) -> None:
        """Nothing."""

    def release(self, memory: None) -> None:
        """Nothing to give back."""

    def event(self) -> NullEvent:
        """A new event."""
        return NullEvent()

    def reached(self, event: Event) -> bool:
        """Everything is done."""
        return True

    def reach(self, event: Event) -> None:
        """Return at once."""

    def buffer(self, block: Block, size: int, number: int) -> Piece:
        """A buffer without memory."""
        return Piece(self, block, size, number)

    def array(self, piece: Piece, shape: Any, dtype: Any, offset: int) -> ndarray:
        """Zeros of the shape and type, which take no memory and cannot be written."""
        return np.broadcast_to(np.zeros((), dtype), shape)

    def freed(self, piece: Piece, events: Sequence[Event]) -> None:
        """Nothing to check."""

    def returned(self, block: Block) -> None:
        """Nothing to do."""


class Null:
    """A device that runs nothing."""

    runs = False

    def __init__(self, place: Place | None = None, limit: int = 0) -> None:
        self.place = Place("null", 0) if place is None else place
        self.allocator = CachingAllocator(NullSource(), limit)
        self.turn = Turn()
        self.streams: dict[str, NullStream] = {}
        self.closed = False

    def stream(self, name: str) -> NullStream:
        """The stream of this name."""
        return self.streams.setdefault(name, NullStream(self, name))

    def event(self) -> NullEvent:
        """A new event."""
        return NullEvent()

    def copy_in(self, source: ndarray, target: Any, stream: Stream, label: str = "") -> None:
        """Copy nothing."""
        self.refuse_closed()

    def copy_out(self, source: Any, target: ndarray, stream: Stream, label: str = "") -> None:
        """Copy nothing: `target` stays as it is."""
        self.refuse_closed()

    def settled(self) -> AbstractContextManager[Any]:
        """Nothing to wait for."""
        return nullcontext()

    def synchronize(self) -> None:
        """Return at once."""

    def close(self) -> None:
        """Refuse later works."""
        self.allocator.close()
        self.closed = True

    def refuse_closed(self) -> None:
        """Refuse what comes after `close`."""
        if self.closed:
            raise RunError(f"the device {self.place.name} is closed")
