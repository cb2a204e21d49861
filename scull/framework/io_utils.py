"""What kinds of variables are saved, and where: in files or in memory."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from typing import Any

from scull.errors import ArgumentError
from scull.static.io import is_parameter, is_persistable


def is_belong_to_optimizer(var: Any) -> bool:
    """Whether a variable outlives runs and is no parameter, as the states of an optimizer do."""
    return is_persistable(var) and not (is_parameter(var) or var.need_check_feed)


def _is_file_path(path: Any) -> bool:
    """Whether something is the name of a file."""
    return isinstance(path, str)


def _is_memory_buffer(buffer: Any) -> bool:
    """Whether something is a stream in memory."""
    return isinstance(buffer, BytesIO)


def _open_file_buffer(path_or_buffer: Any, mode: str) -> AbstractContextManager[Any]:
    """A file that is opened, or a stream in memory, which a failed reading leaves where it was."""
    if _is_file_path(path_or_buffer):
        return open(path_or_buffer, mode)
    if not {"r", "w"} & set(mode):
        raise ArgumentError(f"Expected 'r' or 'w' in mode but got {mode}")
    return in_memory(path_or_buffer, "r" in mode)


@contextmanager
def in_memory(stream: BytesIO, back: bool) -> Iterator[BytesIO]:
    """A stream, put back where it was when what is done fails."""
    start = stream.tell()
    try:
        yield stream
    except BaseException:
        if back:
            stream.seek(start)
        raise


__all__ = ["is_belong_to_optimizer", "is_parameter", "is_persistable"]
