"""Values in the memory of a device: leased while somebody holds them, read by copying them out."""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from scull.core.meta import Meta
from scull.core.tensor import Rows
from scull.runtime.device import Allocator, Buffer, Device, Part

ALIGNED = 64  # bytes at which the arrays of one value begin


class Lease:
    """A buffer that goes back when nobody holds it."""

    __slots__ = ("allocator", "buffer")

    def __init__(self, allocator: Allocator, buffer: Buffer) -> None:
        self.allocator, self.buffer = allocator, buffer

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not ending():  # else modules may be gone
            self.allocator.free(self.buffer)


class Cell:
    """A value that works make and read: there is one once it was put, or can be made of others."""

    __slots__ = ("make", "value")

    def __init__(self, make: Callable[[], Any] | None = None) -> None:
        self.make, self.value = make, None

    def put(self, value: Any) -> None:
        """The value is there from now on."""
        self.make, self.value = None, value

    def get(self) -> Any:
        """The value, for a work that runs after what puts it."""
        if self.make is not None:
            self.put(self.make())
        return self.value


class Held:
    """A value on a device: what is known of it, the memory it lies in, and itself once it is."""

    __slots__ = ("cell", "leases", "meta", "part")

    def __init__(
        self,
        meta: Any,
        leases: tuple[Lease, ...],
        cell: Cell | None = None,
        part: int | None = None,
    ) -> None:
        self.meta, self.leases, self.part = meta, leases, part
        self.cell = cell or Cell()  # works get this alone: what is launched needs no lease

    def touched(self) -> tuple[Buffer | Part, ...]:
        """The buffers it lies in, or of each the part."""
        buffers = tuple(lease.buffer for lease in self.leases)
        return buffers if self.part is None else tuple(b.part(self.part) for b in buffers)


class Resident:
    """A value that stays on a device between runs; NumPy gets a copy of it."""

    __slots__ = ("device", "held")

    def __init__(self, device: Device, held: Held) -> None:
        self.device, self.held = device, held

    @property
    def meta(self) -> Meta:
        """Its shape and element type."""
        found: Meta = self.held.meta
        return found

    shape = property(lambda self: self.held.meta.shape)
    dtype = property(lambda self: self.held.meta.dtype.array)

    size = property(lambda self: math.prod(self.shape))

    def item(self) -> Any:
        """Its one element."""
        return self.host().item()

    def copy(self) -> Any:
        """A copy of it, on the host."""
        return self.host()

    def host(self) -> Any:
        """A copy of it on the host, also while a run that writes over it is under way."""
        with self.device.settled():
            stream = self.device.stream("reading")
            found = taken_out(self.device, self.held, stream)
            stream.synchronize()
        return found

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        found = self.host()
        return np.asarray(found.dense() if isinstance(found, Rows) else found, dtype)


def taken_out(device: Device, held: Held, stream: Any) -> Any:
    """What the host gets of a value once `stream` is done."""

    def out(array: Any) -> Any:
        target = np.zeros(array.shape, array.dtype)
        device.copy_out(array, target, stream, "memcpy_d2h")
        return target

    value = held.cell.get()
    if value is None and not device.runs:
        return np.zeros(held.meta.shape, held.meta.dtype.array)
    return mapped(value, out)


def taken_in(device: Device, value: Any, held: Held, stream: Any) -> None:
    """Put a value of the host into the one buffer of `held` once `stream` is done."""

    def into(array: Any, place: Any) -> Any:
        device.copy_in(array, place, stream, "memcpy_h2d")
        return place

    held.cell.put(laid(value, held.leases[0].buffer.array, into))


def memory(buffer: Buffer) -> Any:
    """The bytes of `buffer`, for a work that may run when the buffer is freed."""
    return buffer.array((buffer.size,), np.uint8)


def stored(value: Any, space: Any) -> Any:
    """A value of the device, copied into the bytes `space`."""

    def at(shape: Any, dtype: Any, start: int) -> Any:
        (size,) = shape
        return space[start : start + size * dtype.itemsize].view(dtype)

    def into(array: Any, place: Any) -> Any:
        place[...] = array
        return place

    return laid(value, at, into)


def laid(value: Any, at: Callable[[Any, Any, int], Any], into: Callable[[Any, Any], Any]) -> Any:
    """`value` with its arrays where `into` puts each: in order, in what `at` says is there."""
    start = 0

    def place(array: Any) -> Any:
        nonlocal start
        found = at((array.size,), array.dtype, start)
        start += aligned(array.nbytes)
        return into(array, ordered(found, array))

    return mapped(value, place)


def ordered(memory: Any, like: Any) -> Any:
    """`memory` in the shape of `like`, its axes in the same order: results depend on that."""
    axes = sorted(range(like.ndim), key=lambda k: -abs(like.strides[k]))
    found = memory.reshape([like.shape[k] for k in axes])
    return found.transpose([axes.index(k) for k in range(like.ndim)])


def nbytes_of(value: Any) -> int:
    """The bytes that `value` takes in one buffer."""
    total = 0

    def add(array: Any) -> Any:
        nonlocal total
        total += aligned(array.nbytes)
        return array

    mapped(value, add)
    return total


def aligned(size: int) -> int:
    """`size` up to where the next array may begin."""
    return -(-size // ALIGNED) * ALIGNED


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with each of its arrays changed."""
    if isinstance(value, Rows):
        return Rows(change(value.rows), change(value.values), value.height)
    if isinstance(value, list):
        return [mapped(v, change) for v in value]
    if isinstance(value, np.generic):
        return change(np.asarray(value))
    return change(value) if isinstance(value, ndarray) else value
