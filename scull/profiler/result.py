"""What one recording found: written to a file, read back, seen as trees."""

import gzip
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from scull.core.timeline import Change, Span, Timeline
from scull.deferred import load
from scull.errors import ArgumentError, FileError, MissingFileError, ResourceError
from scull.files.atomic import atomic_file
from scull.profiler.tree import Node, place_changes, tree

VERSION = "1.0.2"  # of the form of files, as Paddle 2.6 counts
FORMATS = {"json": "chrome", "pb": "nodetree"}  # the module that writes and reads each
GZIP = b"\x1f\x8b"
LARGEST = 1 << 31  # bytes of a file once it is unpacked


@dataclass(frozen=True)
class Thread:
    """What one thread did."""

    number: int
    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class ProfilerResult:
    """What was recorded; times are nanoseconds since 1970."""

    threads: tuple[Thread, ...]
    changes: tuple[Change, ...] = ()  # of memory
    process: int = 0
    index: int = 0  # which result of its profiler
    extra: dict[str, str] = field(default_factory=dict)
    version: str = VERSION

    @cached_property
    def trees(self) -> dict[int, Node]:
        """The spans of each thread as a tree."""
        found = {t.number: tree(t.spans, self.process, t.number) for t in self.threads}
        place_changes(found, self.changes, self.process)
        return found

    def get_data(self) -> dict[int, Node]:
        """The spans of each thread as a tree, by the number of the thread."""
        return self.trees

    def get_extra_info(self) -> dict[str, str]:
        """How busy the processor was, and the names of the threads."""
        return self.extra

    def get_span_indx(self) -> int:
        """Which result of its profiler it is."""
        return self.index

    def get_version(self) -> str:
        """The version of the form of files."""
        return self.version

    def save(self, path: str, format: str = "json") -> None:
        """Write a file: a "json" for trace viewers, or a "pb" that Paddle reads."""
        if format not in FORMATS:
            raise ArgumentError(f"a result is saved as one of {list(FORMATS)}, not {format!r}")
        content = load(f"scull.profiler.{FORMATS[format]}", "written")(self)
        if str(path).endswith(".gz"):
            content = gzip.compress(content, mtime=0)
        with atomic_file(path) as stream:
            stream.write(content)


def result_of(timeline: Timeline, index: int, extra: dict[str, str]) -> ProfilerResult:
    """What `timeline` holds, with times since 1970."""
    offset = timeline.offset
    threads: dict[int, Thread] = {}
    for track in list(timeline.tracks):
        spans = (s._replace(start=s.start + offset, end=s.end + offset) for s in track.spans)
        before = threads.get(track.thread)  # one that ended: systems give its number again
        known = before.spans if before else ()
        threads[track.thread] = Thread(track.thread, track.name, (*known, *spans))
    changes = tuple(c._replace(moment=c.moment + offset) for c in timeline.changes)
    names = {str(t.number): t.name for t in threads.values()}
    every = tuple(threads.values())
    return ProfilerResult(every, changes, os.getpid(), index, {**extra, **names})


def load_profiler_result(filename: str) -> ProfilerResult:
    """Read what `Profiler.export` wrote, in either format.

    Args:
        filename (str): the file.

    Returns:
        ProfilerResult: its `get_data()` gives the spans of each thread as a tree.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
        ...     y = paddle.ones([3]) + 1.0
        >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
        >>> profiler.export(path)
        >>> result = paddle.profiler.load_profiler_result(path)
        >>> [len(tree.children_node) for tree in result.get_data().values()]
        [1]
    """
    if not os.path.exists(filename):
        raise MissingFileError(f"there is no file {filename}")
    content = Path(filename).read_bytes()
    if content.startswith(GZIP):
        content = unpacked(content)
    kind = "chrome" if content.lstrip()[:1] in (b"{", b"[") else "nodetree"
    read: Callable[[bytes], Any] = load(f"scull.profiler.{kind}", "read")
    return read(content)  # type: ignore[no-any-return]


def unpacked(content: bytes) -> bytes:
    """What was packed by gzip."""
    try:
        with gzip.open(BytesIO(content)) as stream:
            found = stream.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"a packed trace cannot be unpacked: {error}") from None
    if len(found) > LARGEST:
        raise ResourceError(f"a packed trace holds more than {LARGEST} bytes")
    return found
