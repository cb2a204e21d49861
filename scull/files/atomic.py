"""Writing a file so that it is wholly old or wholly new, whatever happens meanwhile."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scull.errors import ArgumentError
from scull.files.checksum import Marked

try:
    import fcntl
except ImportError:  # a system without locks: writers of one file must take turns themselves
    fcntl = None  # type: ignore[assignment]

NAME = 40  # letters of a name that its temporary file has too


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Marked]:
    """A stream whose bytes become the file when the block ends, and nothing when it raises."""
    target = Path(os.path.realpath(path))
    permissions = replaceable(target)
    os.makedirs(target.parent, exist_ok=True)
    clear(target)
    temporary = target.with_name(f".{target.name[:NAME]}.{os.urandom(6).hex()}.tmp")
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
def durable_file(path: Path, permissions: int | None = None) -> Iterator[Marked]:
    """A stream into a new file, which is on the disk when the block ends."""
    with Marked(held(path), path) as stream:
        if permissions is not None:
            os.chmod(path, permissions)
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def held(path: Path) -> int:
    """A descriptor of a new file that nobody takes for one whose writer was killed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        lock(descriptor)
        if fcntl is None or os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # another writer was faster than the lock


def lock(descriptor: int, shared: bool = False) -> None:
    """Wait until nobody else has a file or folder locked, where the system has locks."""
    if fcntl is not None:
        with suppress(OSError):  # some network file systems have none
            fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def remove(path: Path) -> None:
    """Remove a file if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def clear(target: Path) -> None:
    """Remove the temporary files of writers of `target` that were killed."""
    if fcntl is None:
        return
    own = re.compile(rf"\.{re.escape(target.name[:NAME])}\.[0-9a-f]{{12}}\.tmp")
    for name in filter(own.fullmatch, os.listdir(target.parent)):
        with suppress(OSError):  # another writer is at work, or was faster
            descriptor = os.open(target.with_name(name), os.O_WRONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(target.with_name(name))
            finally:
                os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
