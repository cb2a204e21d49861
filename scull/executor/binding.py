"""A plan bound to a scope: what a run fills into its frame and takes out of it."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.core import session
from scull.core.dtype import BITS, bfloat16
from scull.core.op import meta_of
from scull.core.tensor import Rows, Tensor
from scull.errors import FeedError, UninitializedError
from scull.executor.plan import Plan, make_plan
from scull.executor.pool import Spread, is_large
from scull.flags import PADDLE, flag
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, Scope, ScopeTensor

if TYPE_CHECKING:
    from scull.executor.memory import Peak


class Feed:
    """One input of a bound plan, and the shape it had last."""

    __slots__ = ("cell", "copies", "dtype", "name", "shape", "slot", "variable")

    def __init__(self, variable: Variable, slot: int, copies: bool, scope: Scope) -> None:
        self.variable, self.name, self.slot, self.copies = variable, variable.name, slot, copies
        self.dtype = variable.meta.dtype.array
        self.cell = cell_of(scope, variable.name) if variable.persistable else None
        self.shape: tuple[int, ...] | None = None  # what was accepted last


class Bound:
    """A plan bound to the cells of one scope, under the settings of one moment."""

    __slots__ = (
        "cells",
        "checked",
        "draws",
        "feeds",
        "fetches",
        "large",
        "limit",
        "peaks",
        "plan",
        "ran",
        "size",
        "spread",
        "steps",
        "stores",
        "threads",
    )

    def __init__(self, plan: Plan, scope: Scope) -> None:
        self.plan, self.size, self.draws, self.fetches = plan, plan.size, plan.draws, plan.fetches
        self.steps = tuple((s.call, s.get, s.put, s.frees) for s in plan.steps)
        self.cells = tuple((cell_of(scope, name), slot) for name, slot in plan.loads)
        self.stores = tuple((cell_of(scope, name), slot) for name, slot in plan.stores)
        self.feeds = tuple(Feed(*feed, scope) for feed in plan.feeds)
        debug = flag("DEBUG") >= 2 or PADDLE["FLAGS_check_nan_inf"]
        self.checked = bool(flag("LEDGER") or flag("POISON") or debug)
        self.limit = flag("MAX_MEMORY")
        self.threads = flag("HOST_THREADS")
        self.ran = False
        self.large: bool | None = None  # whether several instructions are, once that is asked
        self.spread: Spread | None = None  # made when it runs again
        self.peaks: dict[Any, Peak] = {}  # by the metas of what stands in a frame at the start

    def spreads(self) -> bool:
        """Whether a run pays on several threads; of the first nobody asks."""
        if self.ran and self.large is None:
            self.large = sum(map(is_large, self.plan.instructions)) > 1
            self.spread = Spread(self.plan) if self.large else None
        self.ran = True
        return self.spread is not None and self.spread.pays


def cell_of(scope: Scope, name: str) -> Cell:
    """The cell `name`; made empty when the scope has none, so that a later value is seen."""
    return scope.find_var(name) or scope.var(name)


def bind(program: Program, scope: Scope, feeds: Any, fetches: Any) -> Bound:
    """Plan this run and bind it to `scope`."""
    block = program.global_block()
    for name in feeds:
        if block.find(name) is None:
            warnings.warn(
                f"The variable {name} is not found in program. It is not declared or is pruned.",
                stacklevel=4,
            )
    sequential = PADDLE["FLAGS_new_executor_sequential_run"]
    plan = make_plan(block, feeds, fetches, seed=flag("SCHEDULE_SEED"), sequential=sequential)
    return Bound(plan, scope)


def filled(bound: Bound, feed: Any) -> list[Any]:
    """A frame with what is fed and what the scope holds."""
    frame: list[Any] = [None] * bound.size
    if bound.draws:
        frame[1] = session.generator().reserve(bound.draws)
    for entry in bound.feeds:
        value = feed[entry.name]
        if type(value) is not np.ndarray:
            value = as_array(value, entry)
        if value.shape != entry.shape or value.dtype is not entry.dtype:
            value = fit(value, entry)
        frame[entry.slot] = value.copy() if entry.copies else value
        if entry.cell is not None:
            entry.cell.value = frame[entry.slot] if entry.copies else value.copy()
    for cell, slot in bound.cells:
        value = frame[slot] = cell.value
        if value is None:
            raise uninitialized(bound, cell)
    return frame


def refuse_beyond(bound: Bound, frame: list[Any], limit: int) -> None:
    """Refuse a run whose temporaries may take more than `limit` bytes."""
    given = {slot: meta_of(v) for slot, v in enumerate(frame) if isinstance(v, np.ndarray | Rows)}
    arrays = [slot for slot in given if isinstance(frame[slot], np.ndarray)]
    strided = tuple(slot for slot in arrays if not frame[slot].flags.c_contiguous)
    key = (tuple(given.items()), strided)
    if key not in bound.peaks:
        bound.peaks = {key: bound.plan.peak_for(given, strided)}
    bound.peaks[key].within(limit)


def as_array(value: Any, entry: Feed) -> Any:
    """A fed value as an array; numbers and lists take the declared element type."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, list | tuple | bool | int | float):
        return np.asarray(value, entry.dtype)
    return np.asarray(value)


def fit(array: Any, entry: Feed) -> Any:
    """`array`, whose shape is accepted from now on; FeedError when it is not what was declared."""
    v, shape = entry.variable, entry.variable.shape
    if array.dtype == BITS and entry.dtype == bfloat16.array:
        array = array.view(bfloat16.array)
    if not v.need_check_feed:
        return array
    if array.dtype != entry.dtype:
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value is {array.dtype}; "
            f"feed value.astype('{v.meta.dtype.name}')"
        )
    pairs = zip(shape, array.shape, strict=False)
    if len(array.shape) != len(shape) or any(n not in (-1, m) for n, m in pairs):
        given = list(array.shape)
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value has shape {given}"
        )
    entry.shape = array.shape
    return array


def uninitialized(bound: Bound, cell: Cell) -> Exception:
    """What to say of a value the scope does not have."""
    slot = next(s for n, s in bound.plan.loads if n == cell.name)
    reader = next((s.operator for s in bound.plan.steps if slot in s.reads), None)
    by = f"; `{reader.type}` at {reader.line} reads it" if reader else ""
    return UninitializedError(
        f"`{cell.name}` has no value in this scope{by}. Run the startup Program first: "
        "exe.run(paddle.static.default_startup_program())"
    )


def fetched(bound: Bound, frame: list[Any], return_numpy: bool) -> list[Any]:
    """The fetched values; never an array somebody else writes to."""
    results: list[Any] = []
    for slot, copy in bound.fetches:
        value = frame[slot]
        if type(value) is Rows:
            results.append(value)
            continue
        if copy or type(value) is not np.ndarray:
            value = np.array(value)
        results.append(value if return_numpy else ScopeTensor(Cell("", value)))
    return results
