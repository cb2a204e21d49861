"""How a program with a mistake is kept, run in every mode, and told."""

import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import scull as paddle

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]
EAGER, STATIC, TO_STATIC = "eager", "static", "to_static"
CARETS = sys.version_info[:2] == (3, 11)  # others mark other parts of some lines
MOST = 5  # lines that are shown of a function which calls itself
FRAMEWORK = str(Path(paddle.__file__).parent)


class Bad(NamedTuple):
    """A function, what it is called with, and the modes in which it is a mistake.

    `differs` says why the modes do not speak of one law.
    """

    function: Callable[..., Any]
    arrays: tuple[Any, ...]
    ways: tuple[str, ...]
    differs: str | None


def bad(*arrays, ways=(EAGER, STATIC, TO_STATIC), differs=None):
    """Keep the decorated function as a program with a mistake."""

    def kept(function):
        return Bad(function, arrays, ways, differs)

    return kept


def f32(*shape):
    """Numbers that are all 1."""
    return np.ones(shape, "float32")


def i64(*shape):
    """Whole numbers that are all 1."""
    return np.ones(shape, "int64")


def eager(case):
    return case.function(*[paddle.to_tensor(a) for a in case.arrays])


def to_static(case):
    function = paddle.jit.to_static(case.function, full_graph=True)
    return function(*[paddle.to_tensor(a) for a in case.arrays])


def static(case):
    """The function within a Program, which then runs."""
    function = paddle.jit.to_static(case.function, full_graph=True)
    feed = dict(zip(inspect.signature(case.function).parameters, case.arrays, strict=True))
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            data = [paddle.static.data(n, a.shape, a.dtype) for n, a in feed.items()]
            found = function(*data)
        executor = paddle.static.Executor()
        executor.run(startup)
        executor.run(main, feed=feed, fetch_list=[found])
    finally:
        paddle.disable_static()


RUN = {EAGER: eager, STATIC: static, TO_STATIC: to_static}


def caught(case, way):
    """The error that the program gives in one mode."""
    try:
        RUN[way](case)
    except Exception as error:
        return error
    raise AssertionError(f"{case.function.__name__} is no mistake in {way} mode")


def law(error):
    """The kind of an error, and what was broken."""
    return f"{type(error).__name__}: {told(error).partition(chr(10))[0]}"


def told(error):
    """The text of an error, with the place of files in the repository."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    text = "\n".join([text, *getattr(error, "__notes__", [])])
    return re.sub(r"0x[0-9a-f]+", "0x…", text.replace(f"{ROOT}/", ""))


def frames(error):
    """The frames between the test and the mistake."""
    found = traceback.extract_tb(error.__traceback__)
    own = [i for i, f in enumerate(found) if f.filename == __file__]
    return found[own[-1] + 1 :]


def lines(error):
    """The user's lines, with a caret under what was run."""
    found = []
    own = [f for f in frames(error) if not f.filename.startswith(FRAMEWORK)]
    for f in own[:MOST]:
        found.append(f"  {Path(f.filename).name}:{f.lineno} {f.name}: {f.line}")
        if CARETS and f.colno is not None and f.end_lineno == f.lineno:
            raw = Path(f.filename).read_text().splitlines()[f.lineno - 1]
            start = found[-1].index(f": {f.line}") + 2 - (len(raw) - len(raw.lstrip()))
            found.append(" " * (start + f.colno) + "^" * (f.end_colno - f.colno))
    return [*found, "  …"] if len(own) > MOST else found


def ours(error):
    """How many frames of the framework there are after the call of the user's code."""
    return sum(f.filename.startswith(FRAMEWORK) for f in frames(error))


def story(name, case):
    """What each mode tells of the mistake; modes that tell the same stand together.

    So they do where only their carets differ: the first one's are shown.
    """
    sections = {}
    for way in case.ways:
        error = caught(case, way)
        text = [*(f"  {line}" for line in told(error).splitlines()[1:]), *lines(error)]
        key = (law(error), *without_carets(text))
        sections.setdefault(key, (text, []))[1].append(way)
    parts = [name + (f"   # {case.differs}" if case.differs else "")]
    for (first, *_), (text, ways) in sections.items():
        parts += [f"[{', '.join(ways)}] {first}", *text]
    return "\n".join(parts)


def without_carets(text):
    """The lines of a text but those that mark a part of the one above."""
    return [line for line in text if not re.fullmatch(r" *\^+", line)]
