"""What a run did: when and on which thread, and which memory it held from when to when."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scull.core import session
from scull.core.tensor import Rows
from scull.core.timeline import Timeline, filling
from scull.executor.binding import Bound, filled, peak_of_run
from scull.executor.executor import Executor
from scull.executor.feed import as_dictionary
from scull.executor.memory import Peak
from scull.executor.plan import Plan
from scull.executor.run import Held, Ledger
from scull.executor.stream import Streams
from scull.flags import flags
from scull.ir.program import Program
from scull.profiler.explain.code import Code, code_of
from scull.runtime.resident import Resident
from scull.runtime.scope import Scope

OUTSIDE = frozenset({"python", "writes", "communicates", "blocks"})  # effects that others see


class Ran(NamedTuple):
    """One step of a run, in nanoseconds since the first began."""

    step: int
    thread: str
    start: int
    end: int


@dataclass(frozen=True)
class Recorded:
    """One run of a plan."""

    plan: Plan
    streams: Streams
    peak: Peak  # as planned for these inputs
    spans: tuple[Ran, ...]
    live: tuple[int, ...]  # bytes after each step; nothing where nobody counts them
    highest: tuple[int, ...]  # and the most of them while it ran
    buffers: tuple[Held, ...]
    code: Code | None = None


def recorded(
    executor: Executor,
    program: Any,
    feed: Any,
    fetch_list: Any,
    scope: Scope,
    machine_code: bool = False,
) -> Recorded:
    """Run `program` and note what happens; `scope` and the random numbers stay as they are.

    Bytes are counted in a run of their own, and the times are those of a later run, both by
    instructions; there is one run alone where others would see every one. Machine code is made and
    run besides, if it is asked for.
    """
    inner = getattr(program, "_program", program)
    if inner is not program:  # a CompiledProgram belongs to one scope
        program = copy(program)
        program._compiled = False
    code = None
    with unchanged(executor), flags(COMPILE="off"):
        twin = copied(inner, scope)
        with flags(LEDGER=True), filling() as timeline:
            executor.run(program, feed, fetch_list, scope=twin)
        ledger = executor.ledger
        runs = not acts_outside(inner)
        if runs:
            executor.run(program, feed, fetch_list, scope=twin)
            with filling() as timeline:
                executor.run(program, feed, fetch_list, scope=twin)
        bound: Bound = [b for b in inner.plans.values() if b.scope() is twin][-1]
        frame = filled(bound, as_dictionary(feed))
        peak = peak_of_run(bound, frame)
        if machine_code:
            code = code_of(bound, frame, runs=runs)
    plan = bound.plan.on(executor.place)
    counted = (ledger.history, ledger.highest, tuple(ledger.buffers))
    return Recorded(plan, plan.streams, peak, steps_of(timeline), *counted, code)


@contextmanager
def unchanged(executor: Executor) -> Iterator[None]:
    """Runs within the block leave random numbers and the executor's ledger as they are."""
    generator, ledger = session.generator(), executor.ledger
    state, executor.ledger = generator.get_state(), Ledger()
    try:
        yield
    finally:
        generator.set_state(state)
        executor.ledger = ledger


def acts_outside(program: Program) -> bool:
    """Whether somebody outside a run sees what it does."""
    return any(o.op.effects & OUTSIDE for block in program.blocks for o in block.ops)


def copied(program: Program, scope: Scope) -> Scope:
    """A scope with copies of what `program` finds in `scope`."""
    twin = Scope()
    for v in program.list_vars():
        cell = scope.find_var(v.name) if v.persistable else None
        if cell is not None:
            own = twin.var(v.name)
            own.value, own.lod = copy_of(cell.value), [list(level) for level in cell.lod]
    return twin


def copy_of(value: Any) -> Any:
    """A copy of what stands in a scope; what only Python code changes is shared."""
    if isinstance(value, Rows):
        return Rows(value.rows.copy(), value.values.copy(), value.height)
    if isinstance(value, Resident):
        return value.host()
    return value.copy() if isinstance(value, np.ndarray) else value


def steps_of(timeline: Timeline) -> tuple[Ran, ...]:
    """The steps of the plan, as they began; what runs within one is part of it."""
    found = []
    for track in timeline.tracks:
        end = 0
        for span in track.spans:
            step = (span.arguments or {}).get("step")
            if step is not None and span.start >= end:
                end = span.end
                found.append(Ran(step, track.name, span.start, end))
    found.sort(key=lambda ran: (ran.start, ran.step))
    first = found[0].start if found else 0
    return tuple(r._replace(start=r.start - first, end=r.end - first) for r in found)
