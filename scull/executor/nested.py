"""Operators with blocks while they run: each run of a block has a frame of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.core.eager import kernel_for
from scull.core.memory import owner
from scull.core.op import Op, meta_of, op_of
from scull.core.tensor import stub
from scull.errors import ArgumentError, ProgramError, RunError, UninitializedError
from scull.executor.alias import shape_readers
from scull.executor.closed import BlockOp
from scull.executor.instruction import DRAW, Instruction, apart, flat, whole
from scull.executor.run import Checked, Frame, run
from scull.flags import flag
from scull.ir.operator import Operator, each
from scull.ir.reach import inner_gradients, results_of
from scull.ir.variable import Variable

if TYPE_CHECKING:
    from scull.executor.plan import Plan

Start = Callable[[Any, Frame], Callable[[], None]]  # from a plan and a frame to a run of both
Slots = dict[Variable, int]


def plainly(plan: "Plan", frame: Frame) -> Callable[[], None]:
    """Run a plan over a frame as often as the result is called."""
    return partial(run, plan, plan.loop, frame)


@dataclass(frozen=True)
class Inner:
    """The plan of a block, and how its frame and the one around it exchange values."""

    plan: "Plan"
    own: Slots  # the places of its frame
    entries: tuple[tuple[int, int], ...]  # the slot around it, its own
    exits: tuple[tuple[int, int], ...]
    private: tuple[int, ...]  # its slots that start with a copy

    def entered(self, around: Frame) -> Frame:
        """A frame with what a run of the block finds."""
        frame: Frame = self.plan.blank.copy()
        frame[DRAW] = around[DRAW]
        for outer, own in self.entries:
            frame[own] = around[outer]
        for own in self.private:
            if frame[own] is not None:
                frame[own] = frame[own].copy()
        return frame

    def left(self, frame: Frame, around: Frame) -> None:
        """Hand out what the block made."""
        for outer, own in self.exits:
            value = frame[own]
            around[outer] = np.asarray(value) if isinstance(value, np.generic) else value


def inner_of(plan: "Plan", op: BlockOp, slots: Slots) -> Inner:
    """How the plan of a block meets the frame around it, whose slots are `slots`."""
    own = {v: i for i, v in enumerate(plan.variables) if isinstance(v, Variable)}
    entries = tuple((slots[v], own[v]) for v in op.begins if v in slots and v in own)
    known = {i for _, i in entries}
    exits = () if op.backward else tuple((slots[v], own[v]) for v in op.body.exits)
    private = known & {own[v] for v in op.body.private}
    return Inner(plan, own, entries, exits, tuple(sorted(private)))


class Keeper:
    """Takes from the frame of a block what its gradient block will read."""

    def __init__(self, op: BlockOp, inner: Inner) -> None:
        self.saves = [(inner.own.get(s.variable), s) for s in op.saves]
        self.own = [slot for slot, s in self.saves if slot is not None and not s.first]

    def row(self, frame: Frame, once: Callable[[], None]) -> tuple[Any, ...]:
        """Run the block once; what it found and left. The next run has variables of its own."""
        checked = once if isinstance(once, Checked) else None  # it looks after memory
        found = [self.taken(frame, slot, s) if s.first else None for slot, s in self.saves]
        if checked is not None:
            checked.hold(found)
        once()
        row = tuple(
            value if s.first else self.taken(frame, slot, s)
            for value, (slot, s) in zip(found, self.saves, strict=True)
        )
        if checked is not None:
            checked.hold(row)
            checked.drop(self.own)
        for slot in self.own:
            frame[slot] = None
        return row

    def taken(self, frame: Frame, slot: int | None, save: Any) -> Any:
        """One value of a frame."""
        value = None if slot is None else frame[slot]
        if isinstance(value, list):
            return value.copy()  # writes change it
        if value is None or isinstance(value, tuple):
            return value
        if save.shape:
            return stub(value)
        return value.copy() if save.copied else value


class Branch:
    """A block that runs when its condition holds."""

    def __init__(self, operator: Operator, slots: Slots, inner: Inner) -> None:
        self.inner, op = inner, operator.op
        self.conditions = [(v.name, slots[v]) for v in each(op.source.inputs[0])]
        self.is_scalar = op.source.attrs["is_scalar_condition"]
        self.scopes = scopes_slot(operator, slots)
        self.keeper = Keeper(op, inner)

    def __call__(self, frame: Frame, start: Start = plainly) -> tuple[()]:
        kept = None
        if self.holds(frame):
            own = self.inner.entered(frame)
            kept = [self.keeper.row(own, start(self.inner.plan, own))]
            self.inner.left(own, frame)
        if self.scopes is not None:
            frame[self.scopes] = kept
        return ()

    def holds(self, frame: Frame) -> bool:
        """Whether the block runs; a condition that is no truth value asks for elements."""
        if self.is_scalar:
            return truth(*self.conditions[0], frame)
        return all(frame[slot].size for _, slot in self.conditions)


class Loop:
    """A block that runs as long as its condition holds."""

    def __init__(self, operator: Operator, slots: Slots, inner: Inner) -> None:
        self.inner, op = inner, operator.op
        (condition,) = each(op.source.inputs[1])
        if condition not in inner.own:
            raise ProgramError(f"nothing in a loop touches its condition `{condition.name}`")
        self.name, self.slot = condition.name, inner.own[condition]
        self.most = flag("MAX_ROUNDS") or -1
        self.scopes = scopes_slot(operator, slots)
        self.keeper = Keeper(op, inner)

    def __call__(self, frame: Frame, start: Start = plainly) -> tuple[()]:
        own = self.inner.entered(frame)
        again = start(self.inner.plan, own)
        rows: list[Any] = []
        for number in count():
            if not truth(self.name, self.slot, own):
                break
            if number == self.most:
                raise RunError(f"the loop is to run more than MAX_ROUNDS={number} times")
            if self.scopes is None:
                again()
            else:
                rows.append(self.keeper.row(own, again))
        if self.scopes is not None:
            frame[self.scopes] = rows
        self.inner.left(own, frame)
        return ()


def scopes_slot(operator: Operator, slots: Slots) -> int | None:
    """Where an operator puts what its block kept; None where nobody asks."""
    scopes = operator.op.scopes
    return slots[scopes] if scopes is not None and scopes in set(operator.results()) else None


def truth(name: str, slot: int, frame: Frame) -> bool:
    """The one truth value in a slot."""
    value = frame[slot]
    if value is None:
        raise UninitializedError(f"the condition `{name}` has no value")
    if value.size != 1:
        raise ArgumentError(f"the condition `{name}` is {meta_of(value)}, not one truth value")
    return bool(value.item())


class Backward:
    """What the gradients of a branch and of a loop have in common."""

    def __init__(self, operator: Operator, slots: Slots, inner: Inner) -> None:
        self.inner, op = inner, operator.op
        source, own = op.source, inner.own
        self.scopes = slots[op.scopes]
        changed = {*op.body.over, *op.body.private}
        self.saved = [(own.get(s.variable), s.variable in changed) for s in op.saves]
        called, results = inner_gradients(source), results_of(source)
        carried = set(each(source.inputs[source.op.inputs.index("out")])) if op.repeats else set()
        for v in results:
            if called.get(v) not in own:
                where = f"`{source.type}` at {source.line or 'a loaded file'}"
                raise ProgramError(f"the block of {where} does not compute `{v.name}@GRAD`")
        self.results = [
            (slots[d], own[called[v]], slots[v], v in carried) for v, d in results.items()
        ]
        given = [(d, inside) for d, inside in op.seeds if inside in own and d in slots]
        self.seeds = [(slots[d], own[inside]) for d, inside in given]

    def restore(self, row: Any, own: Frame) -> None:
        """Let the gradient block find what a run of the other block kept."""
        for (slot, is_changed), value in zip(self.saved, row, strict=True):
            if slot is not None:
                own[slot] = value.copy() if is_changed else value


class BranchGradient(Backward):
    """A gradient block that runs when the other block ran; else its gradients are zeros."""

    def __call__(self, frame: Frame, start: Start = plainly) -> tuple[()]:
        row = next(reversed(frame[self.scopes] or ()), None)
        if row is None:
            for outer, _, like, _ in self.results:
                frame[outer] = nothing_like(frame[like])
            return ()
        own = self.inner.entered(frame)
        self.restore(row, own)
        start(self.inner.plan, own)()
        for outer, inside, _, _ in self.results:
            frame[outer] = own[inside]
        return ()


class LoopGradient(Backward):
    """A gradient block that runs once for each round of a loop, the last first."""

    def __init__(self, operator: Operator, slots: Slots, inner: Inner) -> None:
        super().__init__(operator, slots, inner)
        self.add = op_of("sum")

    def __call__(self, frame: Frame, start: Start = plainly) -> tuple[()]:
        own = self.inner.entered(frame)
        for outer, inside in self.seeds:
            own[inside] = frame[outer]
        again = start(self.inner.plan, own)
        checked = again if isinstance(again, Checked) else None
        totals: dict[int, Any] = {}
        added = [(outer, inside) for outer, inside, _, carried in self.results if not carried]
        for row in reversed(frame[self.scopes]):
            self.restore(row, own)
            again()
            for outer, inside in added:
                totals[outer] = total(self.add, totals.get(outer), own[inside])
            if checked is not None:
                checked.hold([*totals.values()])
                checked.drop(inside for _, inside in added)
            for _, inside in added:
                own[inside] = None
        for outer, inside, like, carried in self.results:
            if carried:
                frame[outer] = own[inside]
            else:
                frame[outer] = totals[outer] if outer in totals else nothing_like(frame[like])
        return ()


def total(add: Op, before: Any, value: Any) -> Any:
    """The sum of the gradients of several rounds."""
    if before is None or value is None:
        return value if before is None else before
    operands = [before, value]
    return kernel_for(add, [operands])(operands)


def nothing_like(value: Any) -> Any:
    """Zeros in the shape of a value; of a list of tensors an empty one."""
    if value is None or isinstance(value, list):
        return []
    return np.zeros(value.shape, value.dtype)


RUNNERS: dict[str, Any] = {
    "conditional_block": Branch,
    "while": Loop,
    "conditional_block_grad": BranchGradient,
    "while_grad": LoopGradient,
}


def bind_blocks(operator: Operator, slots: Slots, copies_views: bool, inner: Inner) -> Instruction:
    """The instruction of an operator with blocks; it reads and fills a frame by itself."""
    call = RUNNERS[operator.type](operator, slots, inner)
    reads = tuple(dict.fromkeys(slots[v] for v in operator.operands()))
    writes = tuple(slots[v] for v in operator.outputs[0])
    shapes = tuple(sorted(slots[v] for v in shape_readers(operator)))
    if copies_views:
        call = keeping_apart(call, reads, writes)
    return Instruction(
        operator,
        call,
        whole,
        slice(0, 0),
        reads,
        writes,
        shapes=shapes,
        copies=copies_views,
        nested=inner.plan,
    )


def keeping_apart(call: Any, reads: tuple[int, ...], writes: tuple[int, ...]) -> Any:
    """`call` with results in memory of their own, where views would see later writes."""

    def calling(frame: Frame, start: Start = plainly) -> tuple[()]:
        taken = {id(owner(v)) for v in flat([frame[slot] for slot in reads])}
        call(frame, start)
        for slot, value in zip(writes, apart([frame[s] for s in writes], taken), strict=True):
            frame[slot] = value
        return ()

    return calling
