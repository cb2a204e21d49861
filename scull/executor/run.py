"""The loop that runs a plan, and the one that checks it while it does."""

import sys
import time
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.core.memory import owner
from scull.core.meta import Kind
from scull.core.operand import weak_meta
from scull.core.refusal import cause, noted, situation
from scull.core.scratch import watching
from scull.core.tensor import Rows, Stub
from scull.deferred import load
from scull.errors import ScullError, UninitializedError, is_located
from scull.executor.instruction import Instruction, flat, unrecorded
from scull.flags import PADDLE, flag

if TYPE_CHECKING:
    from scull.executor.plan import Plan

Frame = list[Any]
Counted = dict[int, "Held"]  # by the owner of the memory
ELSEWHERE = -1  # for the slot of a value that is in no frame


def run(plan: "Plan", steps: tuple[Any, ...], frame: Frame) -> None:
    """Run `plan` once. Order and lifetimes were decided when it was made."""
    call = get = None
    try:
        for call, get, put, frees in steps:
            frame[put] = call(*get(frame))
            for slot in frees:
                frame[slot] = None
    except Exception as error:
        step = next((s for s in plan.steps if s.call is call and s.get is get), None)
        if step is None:  # a region of them, whose own instruction was found
            raise
        raise explained(error, step, frame) from None


@dataclass
class Held:
    """Memory of a run: from the step that took it to the one after which it went."""

    size: int
    born: int
    slots: dict[int, None] = field(default_factory=dict)  # whose values lay in it, in order
    users: set[int] = field(default_factory=set)  # those of `slots` whose values still do
    freed: int | None = None  # None: it outlived the run
    memory: Any = None  # kept while it counts: no other gets its id

    def free(self, ledger: "Ledger") -> None:
        """It is gone."""
        self.freed, self.memory = len(ledger.history), None
        ledger.add(-self.size)


@dataclass
class Ledger:
    """The bytes of a run's temporaries and scratch: now, at most, and after each step.

    What happens in the blocks of an operator is part of its step.
    """

    live: int = 0
    peak: int = 0
    values: int = 0  # the peak without scratch
    history: tuple[int, ...] = ()
    highest: tuple[int, ...] = ()  # the most bytes of values while each step ran
    high: int = 0  # and so far, while the present one does
    depth: int = 0  # how many operators with blocks are running, each within the one before
    taken: int = 0  # what kernels take for themselves, now
    most_taken: int = 0  # and at most, within one step
    buffers: list[Held] = field(default_factory=list)

    def add(self, size: int) -> None:
        """Count bytes of values, or give them back when negative."""
        self.live += size
        self.values = max(self.values, self.live)
        self.high = max(self.high, self.live)
        self.peak = max(self.peak, self.live)

    def take(self, size: int) -> None:
        """Count bytes of scratch, or give them back when negative."""
        self.taken += size
        self.most_taken = max(self.most_taken, self.taken)

    def step(self) -> None:
        """A step is done: what it took for itself lay beside its results."""
        self.peak = max(self.peak, self.live + self.most_taken)
        self.most_taken = self.taken

    def note(self) -> None:
        """A step is over: note what is live after it, and how much was."""
        if not self.depth:
            self.history += (self.live,)
            self.highest += (self.high,)
            self.high = self.live


def run_checked(plan: "Plan", frame: Frame, ledger: Ledger) -> None:
    """Run `plan` step by step and count bytes, under the settings POISON, DEBUG and
    FLAGS_check_nan_inf.
    """
    checked = Checked(plan, frame, ledger)
    try:
        checked()
    finally:
        for held in checked.counted.values():
            held.memory = None  # what outlives the run is the caller's


class Checked:
    """One frame over which a plan runs step by step: a loop's block runs several times."""

    def __init__(self, plan: "Plan", frame: Frame, ledger: Ledger) -> None:
        self.plan, self.frame, self.ledger = plan, frame, ledger
        self.counted: Counted = {}
        self.outside = {id(v): v for v in map(owner, flat(frame))}  # held: no other gets its id
        self.inner: list[Checked] = []  # those of the blocks that the present step runs

    def start(self, plan: "Plan", frame: Frame) -> "Checked":
        """Run the plan of a block over its frame as often as the result is called."""
        self.inner.append(Checked(plan, frame, self.ledger))
        return self.inner[-1]

    def hold(self, values: Any) -> None:
        """Somebody else has these values of the frame, too, as long as the run lasts."""
        for key in memories_of(values):
            if key in self.counted:
                self.counted[key].users.add(ELSEWHERE)

    def drop(self, slots: Iterable[int]) -> None:
        """Forget these values of the frame."""
        for slot in slots:
            drop(self.frame, slot, self.counted, self.ledger, flag("POISON"))

    def __call__(self) -> None:
        """Run the plan once."""
        for number, step in enumerate(self.plan.steps):
            self.step(number, step)

    def step(self, number: int, step: Instruction) -> None:
        """Run one step."""
        frame, counted, ledger = self.frame, self.counted, self.ledger
        poison, shown = flag("POISON"), flag("DEBUG") >= 2
        start = time.perf_counter()
        before = [list(v) if isinstance(v := frame[slot], list) else v for slot in step.writes]
        try:
            with watching(ledger.take):
                frame[step.put] = self.called(step)
            if PADDLE["FLAGS_check_nan_inf"]:
                examine(self.plan, step, frame)
        except Exception as error:
            raise explained(error, step, frame) from None
        if shown:
            took = (time.perf_counter() - start) * 1e6
            print(f"{number:>5} {step.operator.type:<32} {took:>10.1f} us", file=sys.stderr)
        self.leave()
        for slot in step.writes:
            count(frame[slot], slot, counted, self.outside, ledger)
        for slot, value in zip(step.writes, before, strict=True):
            if value is not None and value is not frame[slot]:
                forget(value, slot, counted, ledger, poison, frame[slot])
        ledger.step()
        for slot in step.frees:
            drop(frame, slot, counted, ledger, poison)
        ledger.note()

    def called(self, step: Instruction) -> Any:
        """What an instruction makes."""
        if step.nested is None:
            return step.call(*step.get(self.frame))
        self.ledger.depth += 1
        try:
            return step.call(*step.get(self.frame), self.start)
        finally:
            self.ledger.depth -= 1

    def leave(self) -> None:
        """Count no more what the blocks of a step made: what goes on is counted out here."""
        for inner in self.inner:
            for held in inner.counted.values():
                held.free(self.ledger)
        self.inner.clear()


def examine(plan: "Plan", step: Instruction, frame: Frame) -> None:
    """Look for NaN and infinity in the results of `step`, as the flags say."""
    numbers = load("scull.core.check", "numbers")  # few runs ask for it
    for slot in step.writes:
        numbers(step.operator.op, frame[slot], plan.names[slot], step.operator.type)


def memories_of(value: Any) -> dict[int, Any]:
    """The arrays that own the memory of a value, and the numbers in it, by their ids."""
    if isinstance(value, np.generic):
        return {id(value): value}
    return {id(found): found for found in map(owner, flat([value]))}


def count(value: Any, slot: int, counted: Any, outside: Container[int], ledger: Ledger) -> None:
    """Note the memory of a result."""
    for key, memory in memories_of(value).items():
        if key in outside:
            continue
        if key not in counted:
            counted[key] = Held(memory.nbytes, len(ledger.history), memory=memory)
            if not ledger.depth:
                ledger.buffers.append(counted[key])
            ledger.add(memory.nbytes)
        counted[key].slots[slot] = None
        counted[key].users.add(slot)


def drop(frame: Frame, slot: int, counted: Any, ledger: Ledger, poison: bool) -> None:
    """Forget the value in `slot`."""
    value, frame[slot] = frame[slot], None
    forget(value, slot, counted, ledger, poison)


def forget(
    value: Any, slot: int, counted: Any, ledger: Ledger, poison: bool, now: Any = None
) -> None:
    """`slot` uses the memory of `value` no more, but for what is in the value it has `now`.

    Memory is gone when no other slot uses it.
    """
    rest = memories_of(now)
    for key, memory in memories_of(value).items():
        held = counted.get(key)
        if held is None or key in rest:
            continue
        held.users.discard(slot)
        if held.users:
            continue
        del counted[key]
        held.free(ledger)
        if poison and memory.flags.writeable and memory.dtype.kind in "fc":
            memory.fill(np.nan)


def explained(error: Exception, step: Instruction, frame: Frame) -> Exception:
    """`error` with the operator, its operands and the user's line that made it."""
    operator = step.operator
    if not is_located(error):
        metas = unrecorded(operator.op, described(step, frame))
        says = isinstance(error, ScullError | MemoryError)
        lost = None if says else absent(step, frame)
        error = lost or cause(error, operator.op, metas, operator.attrs)
        noted(error, situation(operator.op, metas, str(operator.line or "a loaded file")))
    return error.with_traceback(None)


def absent(step: Instruction, frame: Frame) -> Exception | None:
    """What is wrong where an operand has no value, since what writes it did not run."""
    for v, slot in zip(step.operator.operands(), step.reads, strict=False):
        if frame[slot] is None and v.kind is Kind.DENSE:
            return UninitializedError(f"`{v.name}` has no value: no operator that ran gave it one")
    return None


def described(step: Instruction, frame: Frame) -> tuple[Any, ...]:
    """The metas of what an instruction reads; as declared where that is no tensor, or not there."""
    operands = step.operator.operands()
    values = dict(zip(operands, [frame[slot] for slot in step.reads], strict=False))

    def meta(v: Any) -> Any:
        known = isinstance(values.get(v), np.ndarray | np.generic | Rows | Stub)
        return weak_meta(values[v]) if known else v.meta

    return tuple(
        [meta(v) for v in slot if v is not None] if isinstance(slot, list) else slot and meta(slot)
        for slot in step.operator.inputs
    )
