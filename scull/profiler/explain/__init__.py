"""A page that shows what a plan decided, and what a run of it did."""

import os
from pathlib import Path
from typing import Any

from scull.errors import ArgumentTypeError
from scull.executor.executor import Executor
from scull.files.atomic import atomic_file
from scull.flags import flag
from scull.ir.program import main_program
from scull.profiler.explain.facts import facts_of
from scull.profiler.explain.page import page
from scull.profiler.explain.record import recorded
from scull.runtime.scope import Scope, global_scope


def explain(
    executor: Executor,
    program: Any,
    feed: Any,
    fetch_list: Any,
    path: str | os.PathLike[str],
    scope: Scope | None,
    title: str = "",
    machine_code: bool | None = None,
) -> str:
    """Run `program` on copies of what it works on, and write the page of that run to `path`.

    It shows machine code if that is asked for, or where Programs run as machine code.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(f"path is a {type(path).__name__}, not the path of a file")
    program = main_program() if program is None else program
    scope = global_scope() if scope is None else scope
    code = flag("COMPILE") != "off" if machine_code is None else machine_code
    found = recorded(executor, program, feed, fetch_list, scope, code)
    inner = getattr(program, "_program", program)
    facts = facts_of(inner, found, title or Path(path).stem)
    text = page(facts, str(found.plan))
    with atomic_file(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
    return os.fspath(path)
