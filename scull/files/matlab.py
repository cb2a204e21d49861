"""Arrays of numbers in files of MATLAB, version 5."""

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scull.errors import FileError

# The element types of the format, "MAT-File Format" (MathWorks), table 1-1, and those of arrays.
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
STORED |= {13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"}
CLASSES |= {14: "i8", 15: "u8"}
MATRIX, PACKED = 14, 15
COMPLEX = 0x0800
HEAD = 128
LARGEST = 1 << 26  # bytes of what is unpacked


def read_matlab(path: str | Path) -> dict[str, NDArray[Any]]:
    """The arrays of real numbers in a file, by their names; what else is in it is left out.

    Raises:
        FileError: the file is damaged, or of another kind.
    """
    data = Path(path).read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(data[HEAD - 2 : HEAD])
    if order is None:
        raise FileError(f"`{path}` is no file of MATLAB, version 5")
    try:
        parts = elements(data[HEAD:], order)
        return dict(array for kind, part in parts for array in named(kind, part, order))
    except (struct.error, zlib.error, ValueError, IndexError) as error:
        raise FileError(f"`{path}` is damaged: {error}") from None


def elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The elements in some bytes: the type of each, and its own bytes."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from(f"{order}2I", data, at)
        start, end = at + 8, at + 8 + size
        if kind >> 16:  # up to four bytes stand where the size would
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = at + 4, at + 4 + size
            at += 8
        else:
            at = end if kind == PACKED else end + -end % 8
        if end > len(data):
            raise ValueError(f"an element of {size} bytes ends behind the file")
        yield kind, data[start:end]


def named(kind: int, data: bytes, order: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of one element, with their names."""
    if kind == PACKED:
        unpacked = zlib.decompressobj().decompress(data, LARGEST)
        for inner, part in elements(unpacked, order):
            if inner == PACKED:
                raise ValueError("what is unpacked is packed again")
            yield from named(inner, part, order)
    elif kind == MATRIX:
        flags, sizes, name, *parts = elements(data, order)
        (word,) = struct.unpack_from(f"{order}I", flags[1])
        if word & 0xFF in CLASSES and not word & COMPLEX:
            shape = numbers(*sizes, order)
            values = numbers(*parts[0], order)
            if len(values) != math.prod(map(int, shape)):
                raise ValueError(f"{len(values)} numbers have not the shape {shape.tolist()}")
            array = values.reshape(shape, order="F").astype(CLASSES[word & 0xFF])
            yield name[1].decode("latin-1"), array


def numbers(kind: int, data: bytes, order: str) -> NDArray[Any]:
    """The numbers of an element."""
    if kind not in STORED:
        raise ValueError(f"an element of the type {kind} holds no numbers")
    return np.frombuffer(data, order + STORED[kind])
