"""A plan bound to a scope: what a run fills into its frame and takes out of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy import ndarray

from scull.core import session
from scull.core.op import MARK, meta_of
from scull.core.tensor import Rows
from scull.deferred import load
from scull.errors import UninitializedError
from scull.executor.alias import written
from scull.executor.feed import Feed, as_array, cell_of, fit, warn_of_absent
from scull.executor.fetch import delivered
from scull.executor.plan import Plan, make_plan
from scull.executor.schedule import Schedule, has_waiting, host_schedule, is_large
from scull.flags import PADDLE, flag
from scull.ir.level import has_levels
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.runtime.resident import Resident
from scull.runtime.scope import Cell, Scope
from scull.runtime.turn import Turn

if TYPE_CHECKING:
    from scull.executor.memory import Peak


class Settings(NamedTuple):
    """What a strategy asks of runs."""

    sequential: bool = False
    threads: int = 0  # 0: as the flags HOST_THREADS and NUM_THREADS say
    inplace: bool = True
    addto: bool = True
    staying: tuple[str, ...] = ()  # temporaries that are left in the scope
    passes: tuple[str, ...] = ()  # that a copy of the Program goes through before


PLAIN = Settings()
TIER = "scull.executor.tier"
MOST_SHAPES = 8  # of what is fed in turn, for each of which something is kept
T = TypeVar("T")


class Bound:
    """A plan bound to the cells of one scope, under the settings of one moment."""

    __slots__ = (
        "begun",
        "blank",
        "cells",
        "checked",
        "device",
        "draws",
        "feeds",
        "fetches",
        "large",
        "launches",
        "left",
        "limit",
        "peaks",
        "plan",
        "ran",
        "schedule",
        "scope",
        "sequences",
        "size",
        "steps",
        "stores",
        "straight",
        "threads",
        "tier",
        "turn",
        "waits",
    )

    def __init__(self, plan: Plan, scope: Scope, threads: int = 0, trains: bool = False) -> None:
        self.plan, self.size, self.draws, self.fetches = plan, plan.size, plan.draws, plan.fetches
        self.steps, self.blank = plan.loop, plan.blank
        self.cells = tuple((cell_of(scope, name), slot) for name, slot in plan.loads)
        self.stores = tuple((cell_of(scope, name), slot) for name, slot in plan.stores)
        self.left = tuple((cell_of(scope, name), slot, copy) for name, slot, copy in plan.left)
        self.feeds = tuple(Feed(*feed, scope) for feed in plan.feeds)
        self.begun = tuple(f for f in self.feeds if f.copies or f.cell is not None)
        # Whether levels of detail are fed and fetched beside the rest.
        self.sequences = bool(plan.levels) or any(f.name.endswith(MARK) for f in self.feeds)
        debug = flag("DEBUG") >= 2 or PADDLE["FLAGS_check_nan_inf"]
        self.checked = bool(flag("LEDGER") or flag("POISON") or debug)
        self.limit = flag("MAX_MEMORY")
        self.threads = threads or flag("HOST_THREADS")
        self.device: Any = None  # where it runs, when not on the host
        self.launches: dict[Any, Any] = {}  # the plan on that device, by what a frame starts with
        self.scope: Any = None  # weakly, by whoever keeps this
        self.ran = False
        self.large: bool | None = None  # whether several instructions are, once that is asked
        self.waits = has_waiting(plan.instructions)
        alone = changes_scope(plan) or plan.draws < 0
        # Of runs that must not overlap; but what waits may do so for another of them.
        self.turn: Any = Turn() if alone and not self.waits else None
        self.schedule: Schedule | None = None  # made when it runs again, or when something waits
        begins = flag("COMPILE") == "tiered" and not (plan.feeds or plan.loads)  # it runs once
        plain = self.waits or begins or flag("COMPILE") == "off"
        self.tier: Any = None  # as machine code
        if not plain:
            trains = trains or alone or has_gradients(plan)
            self.tier = load(TIER, "Tier")(plan, threads, trains, scope.runs)
        self.straight: Any = None  # the short way of the runs that were last machine code alone
        self.peaks: dict[Any, Peak] = {}  # by the metas of what stands in a frame at the start

    def parallel(self) -> Schedule | None:
        """The schedule of a run that pays on several threads, or must have some.

        Of the first run nobody asks, unless something waits.
        """
        if self.waits and self.schedule is None:
            self.schedule = host_schedule(self.plan)
        elif self.ran and self.large is None:
            self.large = sum(map(is_large, self.plan.instructions)) > 1
            self.schedule = host_schedule(self.plan) if self.large else None
        self.ran = True
        return self.schedule if self.schedule and (self.waits or self.schedule.pays) else None


def changes_scope(plan: Plan) -> bool:
    """Whether a run puts values into the scope, or writes over those there."""
    operators = (step.operator for step in plan.instructions)
    over = (v for o in operators if not leaves_statistics(o) for v in written(o))
    return bool(plan.stores or plan.left) or any(v.persistable for v in over)


def leaves_statistics(operator: Operator) -> bool:
    """Whether an operator tests: running statistics get the values that they have."""
    attrs = operator.attrs
    return bool(attrs.get("is_test")) and not attrs.get("trainable_statistics")


def has_gradients(plan: Plan) -> bool:
    """Whether a run computes gradients."""
    return any(step.operator.op.forward is not None for step in plan.instructions)


def bind(
    program: Program, scope: Scope, feeds: Any, fetches: Any, settings: Settings = PLAIN
) -> Bound:
    """Plan this run and bind it to `scope`."""
    warn_of_absent(program, feeds)
    return Bound(planned(program, feeds, fetches, settings), scope, settings.threads)


def planned(program: Program, feeds: Any, fetches: Any, settings: Settings = PLAIN) -> Plan:
    """The plan of a run under the flags of this moment."""
    sequential = PADDLE["FLAGS_new_executor_sequential_run"] or settings.sequential
    inplace = not PADDLE["FLAGS_check_nan_inf"] and PADDLE["FLAGS_new_executor_use_inplace"]
    levels: tuple[int, ...] = ()
    if has_levels(program, feeds):
        levelled = load("scull.passes.level", "levelled")
        program, feeds, fetches, levels = levelled(program, feeds, fetches)
    if flag("CONTROL_FLOW") != "in-graph":
        program = load("scull.passes.form", "formed")(program, flag("CONTROL_FLOW"))
    plan = make_plan(
        program.global_block(),
        feeds,
        fetches,
        seed=flag("SCHEDULE_SEED"),
        early=flag("EARLY_UPDATES"),
        sequential=sequential,
        skip_gc_vars=settings.staying,
        collects=PADDLE["FLAGS_eager_delete_tensor_gb"] >= 0,
        reuses=inplace and settings.inplace,
        adds=inplace and settings.addto,
    )
    return replace(plan, levels=levels) if levels else plan


def filled(bound: Bound, feed: Any, limit: int = 0) -> list[Any]:
    """A frame with what is fed and what the scope holds.

    What is refused, as a run that may take more than `limit` bytes is, has changed nothing.
    """
    frame: list[Any] = bound.blank.copy()
    for entry in bound.feeds:
        value = feed[entry.name]
        if type(value) is not np.ndarray:
            value = as_array(value, entry)
        if value.shape != entry.shape or value.dtype is not entry.dtype:
            value = fit(value, entry)
        frame[entry.slot] = value
    for cell, slot in bound.cells:
        value = frame[slot] = cell.value
        if type(value) is not ndarray:
            frame[slot] = special(bound, cell)
    if limit:
        refuse_beyond(bound, frame, limit)
    for entry in bound.begun:
        value = frame[entry.slot].copy()
        if entry.copies:
            frame[entry.slot] = value
        if entry.cell is not None:
            entry.cell.value = value
    if bound.draws:
        generator = session.generator()
        frame[1] = generator if bound.draws < 0 else generator.reserve(bound.draws)
    return frame


def special(bound: Bound, cell: Cell) -> Any:
    """What a run begins with in `cell`, which holds no array; a host takes home what is away."""
    if cell.value is None:
        refuse_uninitialized(bound, cell)
    elif type(cell.value) is Resident and bound.device is None:
        cell.value = cell.value.host()
    return cell.value


def refuse_beyond(bound: Bound, frame: list[Any], limit: int) -> None:
    """Refuse a run whose temporaries may take more than `limit` bytes."""
    peak_of_run(bound, frame).within(limit)


def peak_of_run(bound: Bound, frame: list[Any]) -> "Peak":
    """The most bytes of temporaries at once in a run that begins with `frame`."""
    if bound.device is not None:
        peak: Peak = load("scull.executor.stay", "peak_on_device")(bound, frame)
        return peak
    given = {slot: meta_of(v) for slot, v in enumerate(frame) if isinstance(v, np.ndarray | Rows)}
    arrays = [slot for slot in given if isinstance(frame[slot], np.ndarray)]
    strided = tuple(slot for slot in arrays if not frame[slot].flags.c_contiguous)
    key = (tuple(given.items()), strided)
    plan, variables = bound.plan, bound.plan.variables
    if not bound.waits:
        return remembered(bound.peaks, key, lambda: plan.peak_for(given, strided))
    any_order = load("scull.executor.stay", "peak_in_any_order")
    metas = {variables[slot]: meta for slot, meta in given.items()}
    spread = [variables[slot] for slot in strided]
    return remembered(bound.peaks, key, lambda: any_order(plan, metas, spread))


def remembered(known: dict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """What `known` holds under `key`, made when it is not there; those asked for last stay.

    Several threads may ask at once.
    """
    found = known.pop(key, None)
    if found is None:
        found = make()
        for old in list(known)[: 1 - MOST_SHAPES]:
            known.pop(old, None)
    known[key] = found
    return found


def refuse_uninitialized(bound: Bound, cell: Cell) -> None:
    """Refuse to run without a value that the scope does not have; what is only fetched is None."""
    slot = next(s for n, s in bound.plan.loads if n == cell.name)
    reader = next((s.operator for s in bound.plan.steps if slot in s.reads), None)
    if reader is not None:
        v = next((v for v in reader.operands() if v.name == cell.name), None)
        if v is not None and v.op is not None and v.block not in reader.block.lineage():
            made, read = (o.line or "a loaded file" for o in (v.op, reader))
            raise UninitializedError(
                f"`{v.name}`, made at {made}, has a value in its branch or loop alone; "
                f"`{reader.type}` at {read} reads it outside. Return it from the function"
            )
        raise UninitializedError(
            f"`{cell.name}` has no value in this scope; `{reader.type}` at "
            f"{reader.line or 'a loaded file'} reads it. Run the startup Program first: "
            "exe.run(paddle.static.default_startup_program())"
        )


def fetched(bound: Bound, frame: list[Any], return_numpy: bool) -> list[Any]:
    """The fetched values; never an array somebody else writes to."""
    results: list[Any] = []
    for slot, copy in bound.fetches:
        value = frame[slot]
        if copy or not return_numpy or type(value) is not np.ndarray:
            value = delivered(value, copy, return_numpy)
        results.append(value)
    return results
