"""A stream that is read with its end in sight: nothing is allocated for what it does not hold."""

import os
import struct
from functools import lru_cache
from typing import Any, BinaryIO, NoReturn

from scull.errors import ArgumentError, FileError

CHUNK = 1 << 20

compiled = lru_cache(maxsize=64)(struct.Struct)


class Source:
    """A stream, the position in it and its end."""

    def __init__(self, stream: BinaryIO) -> None:
        if not stream.seekable():
            raise ArgumentError("a file is read from a stream that can seek")
        self.stream = stream
        self.position = stream.tell()
        self.end = stream.seek(0, os.SEEK_END)
        stream.seek(self.position)

    @property
    def left(self) -> int:
        return max(self.end - self.position, 0)

    def refuse(self, law: str) -> NoReturn:
        raise FileError(f"{law} at byte {self.position}")

    def require(self, size: int, what: str) -> None:
        if size > self.left:
            self.refuse(f"{what} takes {size} bytes and {self.left} are left")

    def take(self, size: int, what: str) -> bytes:
        """The next bytes."""
        position = self.position
        if size > self.end - position:
            self.require(size, what)
        data = self.stream.read(size)
        if len(data) != size:
            self.refuse(f"{what} was cut off while it was read")
        self.position = position + size
        return data

    def line(self, longest: int) -> bytes:
        """The next bytes up to a newline, which is left out."""
        data = self.stream.readline(longest + 1)
        if not data.endswith(b"\n"):
            self.refuse(f"a line does not end within {longest} bytes")
        self.position += len(data)
        return data[:-1]

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """The next numbers."""
        numbers = compiled(layout)
        return numbers.unpack(self.take(numbers.size, what))

    def fill(self, memory: memoryview, what: str) -> None:
        """Read as many bytes as the memory has, straight into it."""
        size = len(memory)
        self.require(size, what)
        done = 0
        while done < size:
            count = self.stream.readinto(memory[done:])  # type: ignore[attr-defined]
            if not count:
                self.refuse(f"{what} was cut off while it was read")
            done += count
        self.position += size
