"""The record of a set of files: which bytes belong together, and what they were."""

import hashlib
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scull.errors import FileError
from scull.files.atomic import atomic_file
from scull.files.checksum import Part, parsed

LONGEST = 1 << 26  # bytes: no record is longer
LONGEST_NAME = 255  # bytes of the name of a file
NAME = 160  # bytes of a name that stand in the names of its record and its staged files


@dataclass(frozen=True)
class Entry:
    """What the record says of one file."""

    size: int
    parts: list[Part]
    time: int  # of its last change, as the file system counts
    replaced: int | None  # the time of the file it replaces
    staged: str  # its name until it takes its place


@dataclass(frozen=True)
class Record:
    """The files that belong together, by their names."""

    generation: int
    files: dict[str, Entry]
    retired: dict[str, Entry]  # files of the set before that this one lacks


def stem(name: str) -> str:
    """How the names of the record and the staged files of a set begin."""
    octets = name.encode("utf-8", "surrogateescape")
    if len(octets) <= NAME:
        return f".{name}.commit"
    short = octets[: NAME - 17].decode("utf-8", "ignore")
    return f".{short}.{hashlib.sha256(octets).hexdigest()[:16]}.commit"


def record_path(folder: Path, name: str) -> Path:
    """Where the record of a set is."""
    return folder / stem(name)


def write_record(folder: Path, name: str, record: Record) -> None:
    """Put a record in the place of the one before."""
    described = asdict(record)
    text = json.dumps({"record": described, "crc32": checksum_of(described)})
    with atomic_file(record_path(folder, name)) as stream:
        stream.write(text.encode() + b"\n")


def checksum_of(described: Any) -> int:
    """The checksum of what a record says."""
    return zlib.crc32(json.dumps(described).encode())


def read_record(folder: Path, name: str) -> Record | None:
    """The record of a set, None where there is none."""
    path = record_path(folder, name)
    try:
        with open(path, "rb") as stream:
            if os.fstat(stream.fileno()).st_size > LONGEST:
                raise FileError(f"`{path}` has more than {LONGEST} bytes")
            data = stream.read()
    except FileNotFoundError:
        return None
    try:
        loaded = json.loads(data)
        if loaded["crc32"] != checksum_of(loaded["record"]):
            raise ValueError("it is damaged")
        return parse_record(loaded["record"], name)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        law = f"`{path}` is no record of a set of files, and without it they load unchecked"
        raise FileError(f"{law}: {error}") from error


def parse_record(loaded: Mapping[str, Any], name: str) -> Record:
    """The record that the parsed text describes; files elsewhere than beside it are refused."""
    generation, files, retired = loaded["generation"], loaded["files"], loaded["retired"]
    if not isinstance(generation, int) or not isinstance(files, dict) or not files:
        raise TypeError("it has no generation and files")
    if not isinstance(retired, dict):
        raise TypeError("it has no list of retired files")
    record = Record(generation, entries(files, name), entries(retired, name))
    if record.files.keys() & record.retired.keys():
        raise ValueError("a file is of the set and is not")
    return record


def entries(loaded: Mapping[str, Any], name: str) -> dict[str, Entry]:
    """What is said of each file, when these are files of the set."""
    found = {}
    for file, described in loaded.items():
        entry = Entry(**described | {"parts": parsed(described["parts"])})
        if not re.fullmatch(rf"{re.escape(stem(name))}-[\w-]+", entry.staged):
            raise ValueError(f"{entry.staged!r} is no staged name")
        first, *inner = file.removeprefix(name).split("/")  # or a file within the folder `name`
        own = file.startswith(name) and not (first and inner)
        if not own or {"\\", "\0"} & set(file) or {"", ".", ".."} & set(inner):
            raise ValueError(f"{file!r} is no file of it")
        names = (*file.split("/"), entry.staged)
        if any(len(n.encode("utf-8", "surrogateescape")) > LONGEST_NAME for n in names):
            raise ValueError(f"{file[:80]!r} is too long for the name of a file")
        found[file] = entry
    return found
