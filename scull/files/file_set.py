"""Several files that are replaced together, such as a Program and its parameters.

A hidden record beside them says which bytes belong together: a generation, and the size and the
checksums of each file, tensor by tensor. New files are first written under staged names. The
record's rename is the moment at which the new set counts; only then do the files take their places.
A reader takes each file from its place or its staged name, whichever holds the bytes the record
tells.

Programs that know no record see the files in their places alone. The first file of a set is taken
away before the others are replaced and put back after them, so such a reader finds either files of
one generation or no first file. What such a program writes wins over the record: values that are
other than those recorded, since nobody wrote them, are told from damage by how much they differ.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scull.errors import ArgumentError, FileError
from scull.files.atomic import atomic_file, durable_file, lock, remove, replaceable, sync_folder
from scull.files.checksum import Change, changes, is_slight, parts_of, refuse
from scull.files.record import Entry, Record, read_record, record_path, stem, write_record

Writer = Callable[[BinaryIO], object]


def write_set(
    prefix: str | os.PathLike[str], writers: Mapping[str, Writer], keep: bool = False
) -> None:
    """Replace the files `prefix + suffix` of these suffixes all together.

    The first suffix is the file without which other programs open nothing of the set. Files that
    the set had before and that are not written now are taken away, unless `keep` lets them stay.
    """
    if not writers:
        raise ArgumentError("a set has at least one file")
    target = Path(prefix)
    os.makedirs(target.parent, exist_ok=True)
    folder = Path(os.path.realpath(target.parent))
    with alone(folder):
        previous = settled_before(folder, target.name)
        clear(folder, target.name)
        record = stage(folder, target.name, writers, previous, keep)
        commit(folder, target.name, record)
        settle(folder, record)


@contextmanager
def open_set(
    prefix: str | os.PathLike[str], suffixes: Sequence[str]
) -> Iterator[dict[str, BinaryIO]]:
    """Streams of the files of one generation, by suffix; a file that is not there has none.

    Without a record, or when another program has written one of the files since, these are simply
    the files in their places. A file that is damaged is refused, by the names of its tensors.
    """
    with ExitStack() as streams:
        with located(prefix, suffixes) as paths:
            opened: dict[str, BinaryIO] = {
                suffix: streams.enter_context(open(path, "rb")) for suffix, path in paths.items()
            }
        yield opened


@contextmanager
def located(prefix: str | os.PathLike[str], suffixes: Iterable[str]) -> Iterator[dict[str, Path]]:
    """Where the files of one generation are, while no writer moves them."""
    target = Path(prefix)
    folder = Path(os.path.realpath(target.parent))
    with alone(folder, shared=True):
        record = read_record(folder, target.name)
        asked = [target.name + suffix for suffix in suffixes]
        found = None if record is None else whole_set(folder, target.name, record, asked)
        if found is None:
            found = {file: folder / file for file in asked if (folder / file).exists()}
        yield {file.removeprefix(target.name): path for file, path in found.items()}


def suffixes_of(prefix: str | os.PathLike[str]) -> list[str]:
    """What follows `prefix` in the names of the files of its set and of those beside it."""
    target = Path(prefix)
    folder = Path(os.path.realpath(target.parent))
    if not folder.is_dir():
        return []
    with alone(folder, shared=True):
        record = read_record(folder, target.name)
        names = set(os.listdir(folder))
        if record is not None:
            names = names - record.retired.keys() | record.files.keys()
    found = (name.removeprefix(target.name) for name in names if name.startswith(target.name))
    return sorted(suffix for suffix in found if suffix.startswith("."))


def write_file(path: str | os.PathLike[str], write: Writer) -> None:
    """Replace one file; the set it was of is a set no more."""
    with atomic_file(path) as stream:
        write(stream)
        for folder, name, *_ in sets_of(path):
            with alone(folder):
                settled_before(folder, name)
                remove(record_path(folder, name))


@contextmanager
def open_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream of one file, also when it is of a set and has not taken its place."""
    with ExitStack() as streams:
        opened = None
        for folder, name, file, _ in sets_of(path):
            suffix = file.removeprefix(name)
            with located(folder / name, [suffix]) as paths:
                opened = streams.enter_context(open(paths.get(suffix, path), "rb"))
        yield opened or streams.enter_context(open(path, "rb"))


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether `open_file` finds a file: in its place, or on the way there."""
    staged = (folder / entry.staged for folder, _, _, entry in sets_of(path))
    return os.path.isfile(path) or any(other.exists() for other in staged)


def sets_of(path: str | os.PathLike[str]) -> Iterator[tuple[Path, str, str, Entry]]:
    """The sets a file is of: their folder and name, what they call it and say of it."""
    target = Path(os.path.realpath(path))
    words, parent = target.name.split("."), target.parent
    asked = [(parent, ".".join(words[: i + 1]), target.name) for i in range(len(words))]
    asked.append((parent.parent, parent.name, f"{parent.name}/{target.name}"))
    for folder, name, file in asked:
        if name and record_path(folder, name).exists():
            with suppress(FileError):  # a damaged record says nothing of any file
                record = read_record(folder, name)
                if record is not None and file in record.files:
                    yield folder, name, file, record.files[file]


# ---- reading ----


def whole_set(
    folder: Path, name: str, record: Record, asked: Iterable[str]
) -> dict[str, Path] | None:
    """Where the bytes of the files asked for are; None when others are in their places, or none."""
    paths: dict[str, Path] = {}
    missing: list[str] = []
    damaged: list[tuple[str, list[Change]]] = []
    for file in asked:
        if file not in record.files:
            continue
        entry = record.files[file]
        path, known = source_of(folder, file, entry)
        if path is None:
            missing.append(file)
            continue
        paths[file] = path
        changed = changed_parts(path, entry)
        if changed and not known and not is_slight(changed):
            return None
        if changed:
            damaged.append((file, changed))
    if not paths:
        return None
    if missing:
        raise FileError(f"`{folder / missing[0]}` is not what was saved: it is missing")
    if damaged:
        remedy = f"; if another program changed it, remove `{record_path(folder, name)}`"
        refuse(folder / damaged[0][0], damaged[0][1], remedy)
    return paths


def source_of(folder: Path, file: str, entry: Entry) -> tuple[Path | None, bool]:
    """Where a file should be read, and whether nobody else can have written it there."""
    place, staged = folder / file, folder / entry.staged
    time = place.stat().st_mtime_ns if place.exists() else None
    if staged.exists() and time in (None, entry.replaced, entry.time):
        return staged, True
    return (None, False) if time is None else (place, time in (entry.time, entry.replaced))


def changed_parts(path: Path, entry: Entry) -> list[Change]:
    """The parts of a file that are not what the record tells."""
    with open(path, "rb") as stream:
        found = changes(stream, entry.parts)
        if not found and path.stat().st_size != entry.size:
            found.append(Change("", 1, 1))
    return found


# ---- writing ----


def settled_before(folder: Path, name: str) -> Record | None:
    """The record of the set that is replaced, whose files have taken their places."""
    try:
        record = read_record(folder, name)
    except FileError:  # a damaged record is replaced as well
        return None
    if record is not None and not is_foreign(folder, record):
        settle(folder, record)
    return record


def is_foreign(folder: Path, record: Record) -> bool:
    """Whether another program wrote a file whose successor has not taken its place."""
    for file, entry in record.files.items():
        if (folder / entry.staged).exists():
            path, _ = source_of(folder, file, entry)
            if path == folder / file and changed_parts(path, entry):
                return True
    return False


def stage(
    folder: Path, name: str, writers: Mapping[str, Writer], previous: Record | None, keep: bool
) -> Record:
    """Write every file under its staged name; on an exception none is left."""
    generation = 1 if previous is None else previous.generation + 1
    token = os.urandom(4).hex()
    files: dict[str, Entry] = {}
    staged: list[Path] = []
    try:
        for suffix, write in writers.items():
            path = folder / f"{stem(name)}-{generation}-{token}-{len(staged)}"
            place = folder / (name + suffix)
            os.makedirs(place.parent, exist_ok=True)
            permissions = replaceable(place)
            staged.append(path)
            with durable_file(path, permissions) as stream:
                write(stream)
                parts = parts_of(stream)
            written = path.stat()
            files[name + suffix] = Entry(
                size=written.st_size,
                parts=parts,
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
    others = {f: e for f, e in before.items() if f not in files and (folder / f).exists()}
    return Record(generation, files | others if keep else files, {} if keep else others)


def commit(folder: Path, name: str, record: Record) -> None:
    """Write the record, from when on the new set counts; its files go when it does not come."""
    try:
        write_record(folder, name, record)
    except BaseException:
        found = None
        with suppress(FileError):
            found = read_record(folder, name)
        if found != record:
            for entry in record.files.values():
                remove(folder / entry.staged)
        raise


def settle(folder: Path, record: Record) -> None:
    """Move the staged files to their places, and take away those that the set has no more."""
    staged = [name for name, entry in record.files.items() if (folder / entry.staged).exists()]
    first = next(iter(record.files))
    if first in staged and len(staged) > 1:
        remove(folder / first)
        sync_folder((folder / first).parent)
    for names in ([n for n in staged if n != first], [n for n in staged if n == first]):
        for name in names:
            os.replace(folder / record.files[name].staged, folder / name)
        for parent in {(folder / name).parent for name in names}:
            sync_folder(parent)
    for name, entry in record.retired.items():
        if (folder / name).exists() and not changed_parts(folder / name, entry):
            remove(folder / name)


def clear(folder: Path, name: str) -> None:
    """Remove what writers that were killed left behind; only for who is alone and has settled."""
    for left in os.listdir(folder):
        if left.startswith(f"{stem(name)}-"):
            remove(folder / left)


@contextmanager
def alone(folder: Path, shared: bool = False) -> Iterator[None]:
    """A block that no writer of a set in this folder enters meanwhile; readers may share it."""
    if os.name != "posix" or not folder.is_dir():
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock(descriptor, shared)
        yield
    finally:
        os.close(descriptor)
