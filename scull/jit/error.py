"""Errors of recorded functions, as their users should see them."""

import functools
import traceback
from collections.abc import Iterator
from types import TracebackType

from scull.core.refusal import is_ours
from scull.flags import flag
from scull.jit.site import site_of, traceback_at

MOST_FRAMES = 10


def told(error: Exception) -> Exception:
    """`error` with a traceback of the user's frames alone, unless DEBUG is set."""
    if flag("DEBUG"):
        return error
    frames, site = without_ours(error.__traceback__), site_of(error)
    if frames is None and site is not None:  # it came up while the Program ran
        frames = traceback_at(site)
    return error.with_traceback(frames)


def why(error: Exception) -> str:
    """The first line of an error, and where the user's code met it."""
    lines = [f for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)]
    first = str(error).partition("\n")[0] or type(error).__name__
    return f"{first} ({lines[-1].filename}:{lines[-1].lineno})" if lines else first


def without_ours(frames: TracebackType | None) -> TracebackType | None:
    """Those of `frames` that are the user's; of a function that calls itself the first and last."""
    found = [f for f in each(frames) if not is_passed(f.tb_frame.f_code.co_filename)]
    if len(found) > 2 * MOST_FRAMES:
        found = [*found[:MOST_FRAMES], *found[-MOST_FRAMES:]]
    rest = None
    for f in reversed(found):
        rest = TracebackType(rest, f.tb_frame, f.tb_lasti, f.tb_lineno)
    return rest


def each(frames: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback frame by frame."""
    while frames is not None:
        yield frames
        frames = frames.tb_next


def is_passed(file: str) -> bool:
    """Whether frames of `file` are between the framework and the user."""
    return is_ours(file) or file == functools.__file__
