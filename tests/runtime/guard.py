"""Arrays between pages that nobody may touch: what reads or writes beside them is a fault.

`guarded_array` makes one. `run_guarded` runs a kernel on such arrays in a child, flush with the
page after and with the page before, and gives the outputs or says what was wrong.
"""

import ctypes
import mmap
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.runtime.child import ended, fork

PAGE = mmap.PAGESIZE
NO_ACCESS = 0  # PROT_NONE
FILL = 0xA5  # in every byte that nobody has written

needs_guards = pytest.mark.skipif(
    not hasattr(os, "fork") or not hasattr(mmap, "MAP_SHARED"),
    reason="pages are guarded where processes fork",
)

NumpyArray = np.ndarray[Any, Any]


def guarded_array(
    shape: int | Sequence[int], dtype: Any, end: bool = True, alignment: int | None = None
) -> NumpyArray:
    """An array that ends where a page begins that is a fault to touch, or begins where one ends.

    Its bytes are `FILL`, and shared with children that are forked. With `end` the place of its
    first element is a multiple of the size of an element, or else of `alignment`: then up to
    `alignment - 1` bytes lie between the array and the guard.
    """
    dtype = np.dtype(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    length = count * dtype.itemsize
    pages = max(-(-length // PAGE), 1)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    inside = np.frombuffer(memory, np.uint8)[PAGE:-PAGE]
    inside[:] = FILL
    for guard in (first, first + (pages + 1) * PAGE):
        _protect(guard)
    start = pages * PAGE - length if end else 0
    start -= start % (alignment or 1)
    return np.ndarray(sizes, dtype, memory, PAGE + start)


def _protect(page: int) -> None:
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protect(page, PAGE, NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect")


def surroundings(array: NumpyArray) -> NumpyArray:
    """The bytes between the guards that a guarded array does not take."""
    inside = np.frombuffer(array.base, np.uint8)[PAGE:-PAGE]
    start = array.ctypes.data - inside.ctypes.data
    return np.concatenate([inside[:start], inside[start + array.nbytes :]])


def guarded_copy(array: NumpyArray, end: bool = True) -> NumpyArray:
    """A guarded array with the values of another."""
    copy = guarded_array(array.shape, array.dtype, end)
    copy[...] = array
    return copy


def run_guarded(
    kernel: Callable[[list[NumpyArray], list[NumpyArray]], object],
    inputs: Sequence[NumpyArray],
    outputs: Sequence[tuple[Sequence[int], Any]],
) -> list[NumpyArray]:
    """The outputs, of these shapes and dtypes, of a kernel that stays within its buffers.

    An AssertionError says which buffers it left: it runs in a child with all arrays flush with the
    guard after them, then with the one before. Inputs must be as they were, outputs the same.
    """
    found: list[list[NumpyArray]] = []
    for end in (True, False):
        given = [guarded_copy(each, end) for each in inputs]
        made = [guarded_array(shape, dtype, end) for shape, dtype in outputs]
        code = ended(fork(lambda given=given, made=made: kernel(given, made)))
        beside = "after the end" if end else "before the start"
        assert code != -signal.SIGSEGV, f"memory {beside} of a buffer was touched"
        assert code == 0, f"the kernel ended with {code}"
        for k, (array, before) in enumerate(zip(given, inputs, strict=True)):
            assert array.tobytes() == before.tobytes(), f"input {k} was written"
        for kind, arrays in (("input", given), ("output", made)):
            for k, array in enumerate(arrays):
                assert (surroundings(array) == FILL).all(), f"bytes beside {kind} {k} were written"
        found.append(made)
    for k, pair in enumerate(zip(*found, strict=True)):
        same = pair[0].tobytes() == pair[1].tobytes()
        assert same, f"output {k} depends on where the buffers are"
    return [np.array(each) for each in found[0]]
