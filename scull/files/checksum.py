"""Checksums of the parts of a file: of each tensor in it, and of what stands between.

They tell which tensor is damaged. A part has several, each of a piece of it, so that the few bytes
that a disk loses are told apart from values that another program has put in their place.
"""

import io
import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from scull.errors import FileError
from scull.files.source import CHUNK

PIECES = 8  # of a part, at most
DIGITS = 8  # of the checksum of a piece, as text

SEAL = struct.Struct("<IQ8s")  # the checksum and the length of a text before it, and a mark
MARK = b"scullsum"
TEXT = 1 << 26  # bytes: no list of parts is longer


class Marked(io.BufferedWriter):
    """A stream into a new file that is told where its parts begin."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(io.FileIO(descriptor, "w"))
        self.path = path
        self.marks: list[tuple[str, int]] = []


class Part(NamedTuple):
    """So many bytes of a file, and the checksums of their pieces."""

    name: str
    size: int
    checksums: str


class Change(NamedTuple):
    """How many pieces of a part are not what they were."""

    name: str
    changed: int
    pieces: int


def mark(stream: BinaryIO, name: str, ahead: int = 0) -> None:
    """Tell a stream into a file that a part begins, after so many bytes more."""
    if isinstance(stream, Marked):
        stream.marks.append((name, stream.tell() + ahead))


def parts_of(stream: Marked, pieces: int = PIECES) -> list[Part]:
    """The parts of what was written, in the order in which they lie in the file."""
    stream.flush()
    end = stream.tell()
    names = ["", *(name for name, _ in stream.marks)]
    starts = accumulate((0, *(min(start, end) for _, start in stream.marks), end), max)
    parts = []
    with open(stream.path, "rb") as written:
        for name, (start, following) in zip(names, pairwise(starts), strict=True):
            size = following - start
            if size:
                parts.append(Part(name, size, checksums(written, size, min(pieces, size))))
    return parts


def checksums(stream: BinaryIO, size: int, pieces: int) -> str:
    """Of the next bytes of a stream, in so many pieces."""
    step = -(-size // pieces)
    if size <= CHUNK:
        data = memoryview(stream.read(size))
        found = [zlib.crc32(data[start : start + step]) for start in range(0, size, step)]
    else:
        found = [checksum(stream, min(step, size - start)) for start in range(0, size, step)]
    return "".join(f"{value:0{DIGITS}x}" for value in found)


def checksum(stream: BinaryIO, size: int) -> int:
    """Of the next bytes of a stream, or of those that are left."""
    value = 0
    while size and (data := stream.read(min(CHUNK, size))):
        value = zlib.crc32(data, value)
        size -= len(data)
    return value


def changes(stream: BinaryIO, parts: Iterable[Part]) -> list[Change]:
    """The parts of a file, from its beginning on, that are not what they were."""
    found = []
    for name, size, known in parts:
        seen = checksums(stream, size, len(known) // DIGITS)
        if seen != known:
            pieces = range(0, len(known), DIGITS)
            other = sum(seen[i : i + DIGITS] != known[i : i + DIGITS] for i in pieces)
            found.append(Change(name, other, len(pieces)))
    return found


def is_slight(found: Sequence[Change]) -> bool:
    """Whether less than half of what changed is other than it was: no new values, but damage."""
    return sum(c.changed for c in found) * 2 < sum(c.pieces for c in found)


def refuse(path: str | os.PathLike[str], found: Sequence[Change], remedy: str = "") -> NoReturn:
    """Refuse a file by the names of its damaged parts."""
    names = list(dict.fromkeys(f"`{c.name}`" for c in found if c.name))
    which = f", in {', '.join(names[:5])}" if names else ""
    more = f" and {len(names) - 5} others" if len(names) > 5 else ""
    raise FileError(f"`{path}` is not what was saved: it is damaged{which}{more}{remedy}")


def parsed(loaded: object) -> list[Part]:
    """The parts that a parsed text lists."""
    if not isinstance(loaded, list):
        raise TypeError("there is no list of parts")
    parts = [Part(*part) for part in loaded]
    for name, size, known in parts:
        if type(name) is not str or type(size) is not int or type(known) is not str:
            raise TypeError("a part is no name, size and checksums")
        if size < 1 or len(known) % DIGITS or not 0 < len(known) <= DIGITS * min(PIECES, size):
            raise ValueError(f"a part of {size} bytes has {len(known)} digits of checksums")
    return parts


# ---- at the end of a file ----


def seal(stream: BinaryIO) -> None:
    """Append the checksums of its parts to a file, where programs that know none stop reading."""
    if not isinstance(stream, Marked) or not stream.marks:
        return
    text = MARK + json.dumps(parts_of(stream, 1)).encode()
    mark(stream, "")
    stream.write(text + SEAL.pack(zlib.crc32(text), len(text), MARK))


@contextmanager
def unsealed(stream: BinaryIO) -> Iterator[int]:
    """A block that reads a value, and where this ends at the latest.

    It is refused if its checksums tell of another, or are cut off. Where there are none, as in a
    stream of several values, nothing is checked.
    """
    end = sealed_from(stream) if stream.tell() == 0 else None
    yield size_of(stream) if end is None else end
    position = stream.tell()
    if end is None and stream.read(len(MARK)) == MARK:
        raise FileError(f"`{called(stream)}` is damaged: its end is cut off")
    stream.seek(position)


def size_of(stream: BinaryIO) -> int:
    """Where a stream ends."""
    start = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(start)
    return end


def sealed_from(stream: BinaryIO) -> int | None:
    """Where the checksums at the end of a file begin; it is refused when they tell of others."""
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(end - SEAL.size, 0))
    last = stream.read(SEAL.size)
    stream.seek(0)
    if len(last) < SEAL.size or not last.endswith(MARK):
        return None
    expected, length, _ = SEAL.unpack(last)
    start: int = end - SEAL.size - length
    if start < 0 or length > TEXT:
        raise FileError(f"`{called(stream)}` is damaged: its checksums are longer than itself")
    stream.seek(start)
    text = stream.read(length)
    if zlib.crc32(text) != expected:
        raise FileError(f"`{called(stream)}` is damaged: its checksums are not what they were")
    stream.seek(0)
    found = changes(stream, listed(text, called(stream)))
    if found:
        refuse(called(stream), found)
    stream.seek(0)
    return start


def called(stream: BinaryIO) -> str:
    """What messages call a stream."""
    return str(getattr(stream, "name", "the file"))


def listed(text: bytes, path: str) -> list[Part]:
    """The parts that the text at the end of a file lists."""
    try:
        return parsed(json.loads(text.removeprefix(MARK)))
    except (ValueError, TypeError, RecursionError) as error:
        raise FileError(f"`{path}` has no list of checksums at its end: {error}") from error
