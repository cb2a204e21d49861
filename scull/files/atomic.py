"""Writing a file so that it is wholly old or wholly new, whatever happens meanwhile."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scull.errors import ArgumentError


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file when the block ends, and nothing when it raises."""
    target = Path(os.path.realpath(path))
    permissions = replaceable(target)
    os.makedirs(target.parent, exist_ok=True)
    temporary = target.with_name(f".{target.name[:40]}.{os.urandom(6).hex()}.tmp")
    try:
        with durable_file(temporary, permissions) as stream:
            yield stream
        os.replace(temporary, target)
    except BaseException:
        remove(temporary)
        raise
    sync_folder(target.parent)


def replaceable(target: Path) -> int | None:
    """The permissions of the file that would be replaced, None where there is none."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise ArgumentError(f"{target} is not an ordinary file")
    return stat.S_IMODE(mode)


@contextmanager
def durable_file(path: Path, permissions: int | None = None) -> Iterator[BinaryIO]:
    """A stream into a new file, which is on the disk when the block ends."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    with open(descriptor, "wb") as stream:
        if permissions is not None:
            os.chmod(path, permissions)
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def remove(path: Path) -> None:
    """Remove a file if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
