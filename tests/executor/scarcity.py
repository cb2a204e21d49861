"""Memory of arrays that runs out when told: at the n-th allocation from now on.

What is given is never taken back, for no Python may run where an error is already under way.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

SET_HANDLER = 304  # the place of PyDataMem_SetHandler in NumPy's table of functions
NEVER = -1

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.calloc.restype = libc.realloc.restype = ctypes.c_void_p
libc.malloc.argtypes = (ctypes.c_size_t,)
libc.calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
libc.realloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class Supply:
    """How many allocations there were, and which of them fails."""

    def __init__(self) -> None:
        self.count, self.failing = 0, NEVER

    def lasts(self) -> bool:
        """Whether there is memory for one more."""
        self.count += 1
        return self.count - 1 != self.failing


SUPPLY = Supply()
MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
CALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
REALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Handler(ctypes.Structure):
    """What NumPy calls to get memory for the elements of arrays."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", MALLOC),
        ("calloc", CALLOC),
        ("realloc", REALLOC),
        ("free", FREE),
    )


HANDLER = Handler(
    b"scarcity",
    1,
    None,
    MALLOC(lambda _, size: libc.malloc(size) if SUPPLY.lasts() else None),
    CALLOC(lambda _, n, size: libc.calloc(n, size) if SUPPLY.lasts() else None),
    REALLOC(lambda _, old, size: libc.realloc(old, size) if SUPPLY.lasts() else None),
    ctypes.cast(libc.free, FREE),  # of the context, which is none
)


def set_handler() -> Any:
    """NumPy's function that sets the handler of this context, and gives the one before."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = pointer(np._core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[SET_HANDLER]
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)


def capsule() -> Any:
    """Our handler as NumPy takes it."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(HANDLER), b"mem_handler", None)


SET, OURS = set_handler(), capsule()


@contextmanager
def scarce(failing: int = NEVER) -> Iterator[Supply]:
    """The allocation numbered `failing` fails in this thread while this lasts, and no other."""
    before = SET(OURS)
    SUPPLY.count, SUPPLY.failing = 0, failing
    try:
        yield SUPPLY
    finally:
        SUPPLY.failing = NEVER
        SET(before)
