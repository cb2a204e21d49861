"""Errors of recorded functions, as their users should see them."""

import copy
import functools
import traceback
from collections.abc import Iterable, Iterator
from types import TracebackType

from scull.core.refusal import is_ours
from scull.errors import AssertError
from scull.flags import flag
from scull.jit.convert.run.raising import Raising
from scull.jit.site import Site, site_of, traceback_at

MOST_FRAMES = 10


def told(error: Exception, raises: Iterable[Raising] = ()) -> Exception:
    """`error` with a traceback of the user's frames alone, unless DEBUG is set.

    In the place of one by which a Program stops comes that of `raises` which it stands for.
    """
    site = site_of(error)
    own = raised(error, site, raises) if isinstance(error, AssertError) and site else error
    if flag("DEBUG"):
        return own
    frames = without_ours(error.__traceback__)
    if frames is None and site is not None:  # it came up while the Program ran
        frames = traceback_at(site)
    return own.with_traceback(frames)


def raised(error: Exception, site: Site, raises: Iterable[Raising]) -> Exception:
    """The exception of the user's own that `error` stands for; itself when there is none."""
    line = f"{site.file}:{site.line}"
    for text, at, exception in raises:
        if at == line and text in str(error):
            return copy.copy(exception)
    return error


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
