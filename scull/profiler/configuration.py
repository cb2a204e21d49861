"""A profiler described by a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scull.profiler.export import export_chrome_tracing, export_protobuf
from scull.profiler.scheduler import make_scheduler
from scull.profiler.session import Profiler
from scull.profiler.state import ProfilerTarget

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "export_chrome_tracing": export_chrome_tracing,
    "export_protobuf": export_protobuf,
    "make_scheduler": make_scheduler,
}


def get_profiler(config_path: str) -> Profiler:
    """A profiler with the arguments a JSON file gives; what is wrong there is told and left out.

    A function is given as `{"make_scheduler": {"args": [], "kwargs": {"record": 2, ...}}}`, by its
    name in this package.

    Args:
        config_path (str): the file, with `targets`, `scheduler`, `on_trace_ready`, `timer_only`.

    Returns:
        Profiler: not yet started.
    """
    try:
        given = dict(json.loads(Path(config_path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        print(f"Load config file for profiler error: {error}\nUse default parameters instead.")
        return Profiler()
    found = {}
    for name, read in READERS.items():
        if name in given:
            try:
                found[name] = read(given[name])
            except (AttributeError, LookupError, TypeError, ValueError, AssertionError):
                print(f"Set {name} parameter error, use default parameter instead.")
    return Profiler(**found)


def targets(names: Any) -> list[ProfilerTarget]:
    """Kinds of devices by name."""
    return [ProfilerTarget[name.upper()] for name in names]


def scheduler(given: Any) -> Any:
    """Two numbers of steps, or a function."""
    return called(given) if isinstance(given, dict) else (int(given[0]), int(given[1]))


def called(given: Any) -> Any:
    """What a function of this package returns for the arguments given."""
    [(name, call)] = given.items()
    function = FUNCTIONS[name]
    return function if call["use_direct"] else function(*call["args"], **call["kwargs"])


def truth(value: Any) -> bool:
    """A truth, and nothing like one."""
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


READERS = {
    "targets": targets,
    "scheduler": scheduler,
    "on_trace_ready": called,
    "timer_only": truth,
}
