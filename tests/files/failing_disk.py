"""A disk that fails at the call asked for: it is full, errs, or the process is killed there."""

import errno
import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# What changes a disk; writes are those of the stream into a file.
CALLS = ("open", "fsync", "replace", "unlink", "chmod", "mkdir")

Fate = Callable[[int], None]


def killed(count: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full(count: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def erring(count: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


class Disk:
    """Counts the calls that change a disk, and lets the one of a number meet its fate."""

    def __init__(self, at: int, fate: Fate, lasting: bool = False) -> None:
        self.at, self.fate, self.lasting = at, fate, lasting
        self.count = 0
        self.names: list[str] = []

    def call(self, name: str) -> bool:
        """Whether this call fails."""
        self.count += 1
        self.names.append(name)
        return self.count == self.at or (self.lasting and self.count > self.at)

    def wrapped(self, name: str) -> Callable[..., object]:
        """A function of `os` that is counted and may fail; nothing waits for a disk."""
        real = getattr(os, name)

        def called(*arguments: object, **options: object) -> object:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **options)
            if self.call(name):
                self.fate(self.count)
            return None if name == "fsync" else real(*arguments, **options)

        return called

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A block whose calls are counted and may fail."""
        disk, real = self, {name: getattr(os, name) for name in CALLS}

        class Raw(io.FileIO):
            def write(self, data):
                if disk.call("write"):
                    super().write(bytes(data)[: len(data) // 2])
                    disk.fate(disk.count)
                return super().write(data)

        file = io.FileIO
        try:
            io.FileIO = Raw
            for name in CALLS:
                setattr(os, name, self.wrapped(name))
            yield
        finally:
            io.FileIO = file
            for name, function in real.items():
                setattr(os, name, function)


def is_killed_at(at: int, work: Callable[[], object]) -> bool:
    """Whether a child that does the work is killed at its call of this number."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    code = 1
    try:
        with Disk(at, killed).watched():
            work()
        code = 0
    finally:
        os._exit(code)


def leftovers(folder: Path) -> list[str]:
    """Temporary and staged files in a folder and those in it."""
    names = [path.name for path in folder.rglob("*") if path.is_file()]
    return [name for name in names if name.endswith(".tmp") or ".commit-" in name]
