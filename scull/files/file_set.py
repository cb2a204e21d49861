"""Several files that are replaced together, such as a Program and its parameters.

A hidden record beside them says which bytes belong together: a generation, and the size and
checksum of each file. New files are first written under staged names. The record's rename is the
moment at which the new set counts; only then do the files take their places. A reader takes each
file from its place or its staged name, whichever holds the bytes the record tells.

Programs that know no record see the files in their places alone. The first file of a set is taken
away before the others are replaced and put back after them, so such a reader finds either files of
one generation or no first file.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from scull.errors import ArgumentError, FileError
from scull.files.atomic import atomic_file, durable_file, remove, replaceable, sync_folder

try:
    import fcntl
except ImportError:  # a system without file locks: writers of one set must take turns themselves
    fcntl = None  # type: ignore[assignment]

RECORD = 1 << 16  # bytes: no record is longer

Writer = Callable[[BinaryIO], object]


@dataclass(frozen=True)
class Entry:
    """What the record says of one file."""

    size: int
    sha256: str
    time: int  # of its last change, as the file system counts
    replaced: int | None  # the time of the file it replaces
    staged: str  # its name until it takes its place


@dataclass(frozen=True)
class Record:
    """The files that belong together, by their names."""

    generation: int
    files: dict[str, Entry]
    retired: dict[str, str]  # files of the set before that this one lacks, with their checksums


def write_set(prefix: str | os.PathLike[str], writers: Mapping[str, Writer]) -> None:
    """Replace the files `prefix + suffix` of these suffixes all together.

    The first suffix is the file without which other programs open nothing of the set.
    """
    if not writers:
        raise ArgumentError("a set has at least one file")
    target = Path(prefix)
    os.makedirs(target.parent, exist_ok=True)
    folder = Path(os.path.realpath(target.parent))
    with alone(folder):
        previous = settled_before(folder, target.name)
        clear(folder, target.name)
        record = stage(folder, target.name, writers, previous)
        with atomic_file(record_path(folder, target.name)) as stream:
            stream.write(json.dumps(asdict(record), indent=1).encode() + b"\n")
        settle(folder, record)


def settled_before(folder: Path, name: str) -> Record | None:
    """The record of the set that is replaced, whose files have taken their places."""
    try:
        record = read_record(folder, name)
    except FileError:  # a damaged record is replaced as well
        return None
    if record is not None and not is_foreign(folder, record):
        settle(folder, record)
    return record


@contextmanager
def open_set(
    prefix: str | os.PathLike[str], suffixes: Sequence[str]
) -> Iterator[dict[str, BinaryIO]]:
    """Streams of the files of one generation, by suffix; a file that is not there has none.

    Without a record, or when another program has written one of the files since, these are simply
    the files in their places.
    """
    target = Path(prefix)
    folder = Path(os.path.realpath(target.parent))
    with ExitStack() as streams:
        with alone(folder, shared=True):
            record = read_record(folder, target.name)
            if record is None or is_foreign(folder, record):
                found = {suffix: folder / (target.name + suffix) for suffix in suffixes}
            else:
                found = whole_set(folder, target.name, record)
            opened: dict[str, BinaryIO] = {
                suffix: streams.enter_context(open(path, "rb"))
                for suffix, path in found.items()
                if suffix in suffixes and path.exists()
            }
        yield opened


def suffixes_of(prefix: str | os.PathLike[str]) -> list[str]:
    """What follows `prefix` in the names of the files of its set, or else of those beside it."""
    target = Path(prefix)
    folder = Path(os.path.realpath(target.parent))
    if not folder.is_dir():
        return []
    with alone(folder, shared=True):
        record = read_record(folder, target.name)
        known = record is not None and not is_foreign(folder, record)
        names = list(record.files) if record and known else os.listdir(folder)
    found = (name.removeprefix(target.name) for name in names if name.startswith(target.name))
    return sorted(suffix for suffix in found if suffix.startswith("."))


def whole_set(folder: Path, name: str, record: Record) -> dict[str, Path]:
    """Where the bytes of every file of the record are, by suffix."""
    paths = {}
    for file, entry in record.files.items():
        path = locate(folder, file, entry)
        if path is None:
            raise FileError(f"`{folder / file}` is not what was saved: it is damaged or missing")
        paths[file.removeprefix(name)] = path
    return paths


def locate(folder: Path, name: str, entry: Entry) -> Path | None:
    """The path under which the bytes of an entry are."""
    for path in (folder / entry.staged, folder / name):
        if path.exists() and has_bytes(path, entry):
            return path
    return None


def is_foreign(folder: Path, record: Record) -> bool:
    """Whether the files in their places are another program's, or all taken away."""
    present = False
    for name, entry in record.files.items():
        place = folder / name
        present |= place.exists() or (folder / entry.staged).exists()
        if not place.exists() or place.stat().st_mtime_ns in (entry.time, entry.replaced):
            continue
        if not has_bytes(place, entry):
            return True
    return not present


def has_bytes(path: Path, entry: Entry) -> bool:
    return path.stat().st_size == entry.size and checksum(path) == entry.sha256


def checksum(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def record_path(folder: Path, name: str) -> Path:
    return folder / f".{name}.commit"


def read_record(folder: Path, name: str) -> Record | None:
    """The record of a set, None where there is none."""
    path = record_path(folder, name)
    try:
        with open(path, "rb") as stream:
            data = stream.read(RECORD + 1)
    except FileNotFoundError:
        return None
    if len(data) > RECORD:
        raise FileError(f"`{path}` has more than {RECORD} bytes")
    try:
        return parse_record(json.loads(data), name)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileError(f"`{path}` is no record of a set of files: {error}") from error


def parse_record(loaded: Mapping[str, object], name: str) -> Record:
    """The record that the parsed text describes; files elsewhere than beside it are refused."""
    generation, files, retired = loaded["generation"], loaded["files"], loaded["retired"]
    if not isinstance(generation, int) or not isinstance(files, dict) or not files:
        raise TypeError("it has no generation and files")
    if not isinstance(retired, dict):
        raise TypeError("it has no list of retired files")
    entries = {file: Entry(**entry) for file, entry in files.items()}
    for entry in entries.values():
        if not isinstance(entry.staged, str) or not entry.staged.startswith(f".{name}.commit-"):
            raise ValueError(f"{entry.staged!r} is no staged name")
    for file in (*entries, *retired, *(entry.staged for entry in entries.values())):
        if {"/", "\\", "\0"} & set(file) or name not in file:
            raise ValueError(f"{file!r} is no file of it")
        os.fsencode(file)
    return Record(generation, entries, retired)


def stage(
    folder: Path, name: str, writers: Mapping[str, Writer], previous: Record | None
) -> Record:
    """Write every file under its staged name; on an exception none is left."""
    generation = 1 if previous is None else previous.generation + 1
    token = os.urandom(4).hex()
    files: dict[str, Entry] = {}
    staged: list[Path] = []
    try:
        for suffix, write in writers.items():
            path = folder / f".{name}.commit-{generation}-{token}{suffix}"
            place = folder / (name + suffix)
            permissions = replaceable(place)
            staged.append(path)
            with durable_file(path, permissions) as stream:
                write(stream)
            written = path.stat()
            files[place.name] = Entry(
                size=written.st_size,
                sha256=checksum(path),
                time=written.st_mtime_ns,
                replaced=place.stat().st_mtime_ns if place.exists() else None,
                staged=path.name,
            )
        sync_folder(folder)
    except BaseException:
        for path in staged:
            remove(path)
        raise
    before = {} if previous is None else previous.files
    retired = {file: before[file].sha256 for file in before.keys() - files.keys()}
    return Record(generation, files, retired)


def settle(folder: Path, record: Record) -> None:
    """Move the staged files to their places, and take away those that the set has no more."""
    names = [name for name, entry in record.files.items() if (folder / entry.staged).exists()]
    first = next(iter(record.files))
    if first in names:
        remove(folder / first)
        sync_folder(folder)
    for name in reversed(names):
        os.replace(folder / record.files[name].staged, folder / name)
        sync_folder(folder)
    for name, sha256 in record.retired.items():
        if (folder / name).exists() and checksum(folder / name) == sha256:
            remove(folder / name)


def clear(folder: Path, name: str) -> None:
    """Remove what writers that were killed left behind; only for who is alone and has settled."""
    for path in folder.iterdir():
        if path.name.startswith((f".{name}.commit-", f"..{name}.commit.")):
            remove(path)


@contextmanager
def alone(folder: Path, shared: bool = False) -> Iterator[None]:
    """A block that no writer of a set in this folder enters meanwhile; readers may share it."""
    if fcntl is None or not folder.is_dir():
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
