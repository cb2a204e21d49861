"""What tests of the simulated device do again and again."""

import numpy as np


def filled(device, stream, value, size=4):
    """A buffer on its home stream, and the work that fills it with a number."""
    buffer = device.allocator.allocate(8 * size, stream)
    array = buffer.array((size,), "float64")
    stream.launch(lambda: array.fill(value), (), (buffer,), f"fill {value}")
    return buffer, array


def look_at(seen, array):
    """Note the elements of an array."""
    seen.append(array.copy())


def fetched(device, array, stream):
    """The elements of a buffer, read by the host."""
    target = np.zeros(array.shape, array.dtype)
    device.copy_out(array, target, stream)
    stream.synchronize()
    return target.tolist()
