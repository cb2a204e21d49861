"""The loop that runs a plan, and the one that checks it while it does."""

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from scull.autograd.version import owner
from scull.core.operand import weak_meta
from scull.core.refusal import cause, situation
from scull.core.scratch import watching
from scull.core.tensor import Rows
from scull.errors import NumberError
from scull.executor.instruction import Instruction
from scull.executor.plan import Plan
from scull.flags import PADDLE, flag

Frame = list[Any]
Counted = dict[int, tuple[int, set[int]]]  # of a memory's owner: its bytes, the slots using it


def run(plan: Plan, steps: tuple[Any, ...], frame: Frame) -> None:
    """Run `plan` once. Order and lifetimes were decided when it was made."""
    call = get = None
    try:
        for call, get, put, frees in steps:
            frame[put] = call(*get(frame))
            for slot in frees:
                frame[slot] = None
    except Exception as error:
        step = next(s for s in plan.steps if s.call is call and s.get is get)
        raise explained(error, step, frame) from None


@dataclass
class Ledger:
    """The bytes of a run's temporaries and scratch: now, at most, and after each step."""

    live: int = 0
    peak: int = 0
    values: int = 0  # the peak without scratch
    history: tuple[int, ...] = ()
    taken: int = 0  # what kernels take for themselves, now
    most_taken: int = 0  # and at most, within one step

    def add(self, size: int) -> None:
        """Count bytes of values, or give them back when negative."""
        self.live += size
        self.values = max(self.values, self.live)
        self.peak = max(self.peak, self.live)

    def take(self, size: int) -> None:
        """Count bytes of scratch, or give them back when negative."""
        self.taken += size
        self.most_taken = max(self.most_taken, self.taken)

    def step(self) -> None:
        """A step is done: what it took for itself lay beside its results."""
        self.peak = max(self.peak, self.live + self.most_taken)
        self.most_taken = self.taken


def run_checked(plan: Plan, frame: Frame, ledger: Ledger) -> None:
    """Run `plan` step by step and count bytes, under the settings POISON, DEBUG and
    FLAGS_check_nan_inf.
    """
    poison, finite, shown = flag("POISON"), PADDLE["FLAGS_check_nan_inf"], flag("DEBUG") >= 2
    counted: Counted = {}
    outside = {id(owner(v)) for v in frame if isinstance(v, ndarray)}
    for number, step in enumerate(plan.steps):
        start = time.perf_counter()
        try:
            with watching(ledger.take):
                found = step.call(*step.get(frame))
            if step.is_shape:
                drop(frame, step.put, counted, ledger, poison)
            before = [frame[slot] for slot in step.writes]
            frame[step.put] = found
            if finite:
                refuse_nan_inf(plan, step, frame)
        except Exception as error:
            raise explained(error, step, frame) from None
        if shown:
            took = (time.perf_counter() - start) * 1e6
            print(f"{number:>5} {step.operator.type:<32} {took:>10.1f} us", file=sys.stderr)
        for slot in step.writes:
            count(frame[slot], slot, counted, outside, ledger)
        for slot, value in zip(step.writes, before, strict=True):
            if value is not None and memory_of(value) is not memory_of(frame[slot]):
                forget(value, slot, counted, ledger, poison)
        ledger.step()
        for slot in step.frees:
            drop(frame, slot, counted, ledger, poison)
        ledger.history += (ledger.live,)


def refuse_nan_inf(plan: Plan, step: Instruction, frame: Frame) -> None:
    """Raise when a result of `step` holds NaN or infinity."""
    for slot in step.writes:
        value = frame[slot]
        if isinstance(value, ndarray) and value.dtype.kind in "fc" and not np.isfinite(value).all():
            nans, infs = int(np.isnan(value).sum()), int(np.isinf(value).sum())
            raise NumberError(
                f"`{plan.names[slot]}` holds {nans} NaN and {infs} infinities among {value.size}"
            )


def memory_of(value: Any) -> Any:
    """The array that owns the memory of a value, or the number it is; None of what has none."""
    found = value.values if isinstance(value, Rows) else value
    if isinstance(found, np.generic):
        return found
    return owner(found) if isinstance(found, ndarray) else None


def count(value: Any, slot: int, counted: Any, outside: set[int], ledger: Ledger) -> None:
    """Note the memory of a result."""
    memory = memory_of(value)
    if memory is None or id(memory) in outside:
        return
    if id(memory) not in counted:
        counted[id(memory)] = (memory.nbytes, set())
        ledger.add(memory.nbytes)
    counted[id(memory)][1].add(slot)


def drop(frame: Frame, slot: int, counted: Any, ledger: Ledger, poison: bool) -> None:
    """Forget the value in `slot`."""
    value, frame[slot] = frame[slot], None
    forget(value, slot, counted, ledger, poison)


def forget(value: Any, slot: int, counted: Any, ledger: Ledger, poison: bool) -> None:
    """`slot` uses the memory of `value` no more; the memory is gone when no other slot uses it."""
    memory = memory_of(value)
    entry = counted.get(id(memory))
    if memory is None or entry is None:
        return
    entry[1].discard(slot)
    if not entry[1]:
        del counted[id(memory)]
        ledger.add(-entry[0])
        if poison and memory.flags.writeable and memory.dtype.kind in "fc":
            memory.fill(np.nan)


def explained(error: Exception, step: Instruction, frame: Frame) -> Exception:
    """`error` with the operator, its operands and the user's line that made it."""
    operator = step.operator
    operands = [described(frame, s) for s in step.get(frame)] if step is not None else []
    if not getattr(error, "__notes__", None):
        metas = tuple(operands[: len(operator.op.inputs)])  # without the draw of a random one
        error = cause(error, operator.op, metas, operator.attrs)
        error.add_note(situation(operator.op, metas, str(operator.line or "a loaded file")))
    return error.with_traceback(None)


def described(frame: Frame, value: Any) -> Any:
    """The meta of an operand."""
    try:
        return weak_meta(value)
    except AttributeError:
        return None
