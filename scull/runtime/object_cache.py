"""Object code on disk: one file a kernel, named by a hash of all that its code depends on.

A folder that is not the user's own, or that others may enter, is not used; a file that is foreign,
cut short or damaged is not used. Nothing here fails: where there is no cache, code is compiled.
"""

import hashlib
import os
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from scull.flags import flag

Result = TypeVar("Result")

FORMAT = b"scullo01"  # the first bytes of an entry; another number for another meaning of its bytes
HEADER = struct.Struct("<8s32sQ32s")  # format, key, length of the code, its SHA-256
LARGEST = 1 << 28  # bytes of an entry
OFF = "off"
FOLDER = "objects"
UNFINISHED = "."  # what the name of a file begins with while it is written
ABANDONED_AFTER = 3600.0  # seconds: by then who was writing a file has died
NOTED_EVERY = 3600.0  # seconds: uses within them count as one
KEPT = 0.75  # the part of the limit that is kept when entries go
PRIVATE = 0o700
SAFE = {os.open, os.unlink, os.rename} <= os.supports_dir_fd and hasattr(os, "geteuid")

# Held for a moment while something is counted, and while a process forks: a child finds it free.
_counting = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_counting.acquire,
        after_in_parent=_counting.release,
        after_in_child=_counting.release,
    )


@dataclass
class Statistics:
    """What a cache did in this process."""

    hits: int = 0
    misses: int = 0
    rejected: int = 0  # entries that were foreign, cut short or damaged: misses too
    evicted: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    seconds: float = 0.0  # in which what was missing was compiled


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    name: str
    size: int
    used: float


class ObjectCache:
    """A folder of object code, for as many processes and threads as want it.

    The least recently used entries go when there are more than `limit` bytes. `folder` is None
    where nothing is kept.
    """

    def __init__(self, folder: Path | None, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._statistics = Statistics()
        self._said: set[str] = set()
        self._since_measured = limit  # bytes written; at first as many as make it measure

    @property
    def statistics(self) -> Statistics:
        """What was done so far."""
        with _counting:
            return replace(self._statistics)

    def get(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """The code of a key of 32 bytes: from the disk, else made and kept there."""
        found = self.find(key)
        if found is not None:
            return found
        start = time.perf_counter()
        code = make()
        self._count(misses=1, seconds=time.perf_counter() - start)
        self.keep(key, code)
        return code

    def find(self, key: bytes) -> bytes | None:
        """What is on disk under a key."""
        found = self._look(lambda place: self._read(place, key))
        if found is None:
            return None
        code, used = found
        self._count(hits=1, bytes_read=len(code))
        if time.time() - used > NOTED_EVERY:
            self._look(lambda place: os.utime(key.hex(), dir_fd=place, follow_symlinks=False))
        return code

    def keep(self, key: bytes, code: bytes) -> None:
        """Put something there, if the disk takes it."""
        self._look(lambda place: self._write(place, key, code), make=True)

    def entries(self) -> list[Entry]:
        """Its finished entries, the least recently used first."""
        return self._look(lambda place: [x for x in _files(place) if _is_finished(x)]) or []

    def clear(self) -> int:
        """Remove every file; their number."""
        return self._look(lambda place: _remove(place, _files(place))) or 0

    def problem(self) -> str | None:
        """Why nothing is kept, if nothing is."""
        if self.folder is None:
            return "switched off"
        if not SAFE:
            return "no folder can be kept private here"
        try:
            with _opened(self.folder, make=False):
                return None
        except FileNotFoundError:
            return None  # it is made when there is something to keep
        except OSError as error:
            return str(error)

    def _count(self, **changes: float) -> None:
        with _counting:
            for name, change in changes.items():
                setattr(self._statistics, name, getattr(self._statistics, name) + change)

    def _say(self, text: str) -> None:
        """A line where compilations are printed, once for each thing there is to say."""
        with _counting:
            new = text not in self._said
            self._said.add(text)
        if new and flag("DEBUG") >= 1:
            print(f"object cache: {text}", file=sys.stderr)

    def _look(self, act: Callable[[int], Result], *, make: bool = False) -> Result | None:
        """What `act` finds in the open folder; None where there is none that may be used."""
        if self.folder is None or not SAFE:
            return None
        try:
            with _opened(self.folder, make=make) as place:
                return act(place)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._say(f"{error}: code is compiled each time")
            return None

    def _read(self, place: int, key: bytes) -> tuple[bytes, float] | None:
        """The code of a key and when it was used, if it is there and sound."""
        name = key.hex()
        # not a link, and not a pipe that would wait for a writer
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
        try:
            state = os.fstat(file)
            problem = _not_a_file(state) or _not_private(state)
            content = b""
            if problem is None:
                with open(file, "rb", closefd=False) as stream:
                    content = stream.read()
                problem = _damage(content, key)
        finally:
            os.close(file)
        if problem is not None:
            self._count(rejected=1)
            self._say(f"{name} is {problem}: compiled again")
            return None
        return content[HEADER.size :], state.st_mtime

    def _write(self, place: int, key: bytes, code: bytes) -> None:
        name = f"{UNFINISHED}{os.getpid()}.{os.urandom(8).hex()}"
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
        try:
            with open(file, "wb") as stream:
                digest = hashlib.sha256(code).digest()
                stream.write(HEADER.pack(FORMAT, key, len(code), digest) + code)
            os.rename(name, key.hex(), src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            os.unlink(name, dir_fd=place)
            raise
        self._count(bytes_written=len(code))
        with _counting:
            self._since_measured += len(code)
            due = self._since_measured > self.limit // 16
            self._since_measured = 0 if due else self._since_measured
        if due:
            self._evict(place)

    def _evict(self, place: int) -> None:
        """Remove what nobody finished and, when there is too much, what was not used longest."""
        files, abandoned = list(_files(place)), time.time() - ABANDONED_AFTER
        _remove(place, (x for x in files if not _is_finished(x) and x.used < abandoned))
        finished = [x for x in files if _is_finished(x)]
        size = sum(x.size for x in finished)
        if size <= self.limit:
            return
        leaving = []
        for each in finished:
            if size <= self.limit * KEPT:
                break
            leaving.append(each)
            size -= each.size
        self._count(evicted=_remove(place, leaving))


def _is_finished(entry: Entry) -> bool:
    return not entry.name.startswith(UNFINISHED)


def _files(place: int) -> list[Entry]:
    """The files of a folder, the least recently used first."""
    found = []
    with os.scandir(place) as rows:
        for row in rows:
            try:
                state = row.stat(follow_symlinks=False)
            except FileNotFoundError:  # another process removed it
                continue
            if not stat.S_ISDIR(state.st_mode):
                found.append(Entry(row.name, state.st_size, state.st_mtime))
    return sorted(found, key=lambda x: (x.used, x.name))


def _remove(place: int, files: Iterable[Entry]) -> int:
    count = 0
    for each in files:
        try:
            os.unlink(each.name, dir_fd=place)
        except FileNotFoundError:
            continue
        count += 1
    return count


def _damage(content: bytes, key: bytes) -> str | None:
    """What is wrong with the bytes of an entry, if anything is."""
    if len(content) < HEADER.size:
        return "cut short"
    form, own_key, length, digest = HEADER.unpack_from(content)
    if form != FORMAT:
        return "of another format"
    if own_key != key:
        return "of another kernel"
    if length != len(content) - HEADER.size:
        return "cut short or too long"
    code = memoryview(content)[HEADER.size :]
    return None if hashlib.sha256(code).digest() == digest else "damaged"


def _not_a_file(state: os.stat_result) -> str | None:
    """Why this cannot be read as an entry, if it cannot."""
    if not stat.S_ISREG(state.st_mode):
        return "no file"
    return "too long" if state.st_size > LARGEST else None


def _not_private(state: os.stat_result) -> str | None:
    """Why a file or folder is not to be trusted, if it is not."""
    if state.st_uid != os.geteuid():
        return "another user's"
    if stat.S_IMODE(state.st_mode) & ~PRIVATE:
        return "open to other users"
    return None


@contextmanager
def _opened(folder: Path, *, make: bool) -> Iterator[int]:
    """The descriptor of a private folder; an OSError where it is not one."""
    if make and not os.path.lexists(folder):
        folder.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        problem = _not_private(os.fstat(place))
        if problem is not None:
            raise PermissionError(f"{folder} is {problem}")
        yield place
    finally:
        os.close(place)


def key_of(*parts: str) -> bytes:
    """The name of what these texts determine."""
    digest = hashlib.sha256(FORMAT)
    for part in parts:
        content = part.encode()
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.digest()


@cache
def _at(setting: str, megabytes: int) -> ObjectCache:
    if setting == OFF:
        return ObjectCache(None, 0)
    if not setting:
        parent = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(parent):  # what is relative is to be ignored
            parent = os.path.expanduser("~/.cache")
        setting = os.path.join(parent, "scull")
        if not os.path.isabs(setting):  # there is no home
            return ObjectCache(None, 0)
    return ObjectCache(Path(os.path.abspath(setting)) / FOLDER, megabytes << 20)


def object_cache() -> ObjectCache:
    """The cache the settings name: SCULL_CACHE_DIR and SCULL_CACHE_MEGABYTES."""
    return _at(flag("CACHE_DIR"), flag("CACHE_MEGABYTES"))
