"""Loops and branches of Programs as loops and branches of a region, and their gradients.

What a round or a branch keeps for its gradient is arrays of the region, or of the one it is from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scull.compiler.flow import Carry, Loop, Stack
from scull.compiler.trace import Traced
from scull.core.dtype import bool_, of_name
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.errors import UnsupportedError
from scull.executor.block import Block, Perhaps
from scull.executor.instruction import DRAW, Instruction
from scull.executor.listed import NUMBER, TRUTH, Listed, begun, holds_lists, poured
from scull.executor.nested import RUNNERS, Inner, inner_of
from scull.lang.expression import Array

PLACE = ((2,), "int64")  # of the array that tells where a stack is


@dataclass(frozen=True)
class Shape:
    """A value of which the shape alone was kept."""

    meta: Meta


class Unread(Shape):
    """A list of tensors that nobody is told of who was to read it."""


@dataclass(frozen=True)
class Kept:
    """What runs of a block kept: one of a branch, if its condition held, or each round of a loop.

    `saved` are the values of one run; those of a loop lie in a row of its stack.
    """

    saved: tuple[Any, ...]
    condition: Array | None = None
    stack: Stack | None = None


def arrays_in(value: Any) -> Iterator[Array]:
    """The arrays that a kept value is made of."""
    if isinstance(value, Traced):
        yield value.array
        if isinstance(value, Perhaps):
            yield value.there
    elif isinstance(value, Kept):
        if value.stack is not None:
            yield value.stack.place
            return
        if value.condition is not None:
            yield value.condition
        for each in value.saved:
            yield from arrays_in(each)


def rebuilt(value: Any, arrays: Iterator[Array]) -> Any:
    """The same value of other arrays."""
    if isinstance(value, Perhaps):
        return Perhaps(value.meta, next(arrays), next(arrays))
    if isinstance(value, Traced):
        return Traced(value.meta, next(arrays))
    if not isinstance(value, Kept):
        return value
    if value.stack is not None:
        return Kept(value.saved, None, Stack(next(arrays), value.stack.fields))
    condition = None if value.condition is None else next(arrays)
    return Kept(tuple([rebuilt(each, arrays) for each in value.saved]), condition)


class Within(Block):
    """A block within another, which finds there what it does not make."""

    def __init__(self, around: Block, step: Instruction) -> None:
        super().__init__(step.nested, around.tracer)
        self.around, self.operator = around, step.operator
        self.before = around.tracer.statements
        self.inner: Inner = inner_of(step.nested, step.operator.op, around.slots)
        self.runner = RUNNERS[step.operator.type](step.operator, around.slots, self.inner)
        self.entries = {own: outer for outer, own in self.inner.entries}
        self.draws = {DRAW} if step.nested.draws else set[int]()
        self.entries.update((slot, slot) for slot in self.draws)
        self.again = around.again or step.operator.op.repeats

    def has(self, slot: int) -> bool:
        """Whether a slot may have a value."""
        return slot in self.values or (slot in self.entries and self.around.has(self.entries[slot]))

    def at(self, slot: int) -> Any:
        """The value of a slot, perhaps from around the block."""
        if slot not in self.values and slot in self.entries:
            self.values[slot] = self.around.at(self.entries[slot])
        return super().at(slot)

    def begin(self, slot: int) -> Listed:
        """Put a list without tensors into a slot, or where that is around the block, before it."""
        if slot not in self.entries:
            return super().begin(slot)
        with self.around.writing(self.before):
            found = self.values[slot] = self.around.list_at(self.entries[slot])
        return found

    def trace(self, step: Instruction) -> None:
        """Write the statements of a step, which may have a block of its own."""
        trace(super().trace, self, step)

    def run(self) -> None:
        """Write the statements of the block."""
        for step in self.plan.steps:
            self.trace(step)

    @property
    def changed(self) -> set[int]:
        """The slots that a run of the block gives a value."""
        found = set(self.draws)
        for step in self.plan.steps:
            o = step.operator
            found.update(self.slots[v] for v in o.results() if v in self.slots)
            if o.over is not None:
                found.add(self.slots[o.over])
        return found

    @property
    def left(self) -> list[tuple[int, int, bool]]:
        """What the block changes around it: the slot there, its own, whether in place."""
        op = self.operator.op
        over = [(self.around.slots[v], self.inner.own[v], True) for v in op.body.over]
        over += [(slot, slot, True) for slot in self.draws]
        return [*((outer, own, False) for outer, own in self.inner.exits), *over]


def trace(plain: Any, block: Block, step: Instruction) -> None:
    """Write the statements of any step: by `plain` where it has no block."""
    kind = INLINED.get(step.operator.type) if step.nested is not None else None
    if kind is None:
        plain(step)
        return
    try:
        kind(block, step)
    except UnsupportedError as error:
        o = step.operator
        raise UnsupportedError(f"`{o.type}` at {o.line or 'a loaded file'}: {error}") from error


# ---- loops ----


class Rounds:
    """A loop being traced: what it hands on, and what a round keeps."""

    def __init__(self, within: Within) -> None:
        self.within, self.tracer = within, within.tracer
        self.nows: dict[int, Any] = {}  # by own slot
        self.firsts: dict[int, Array] = {}
        self.carries: list[Carry] = []
        self.body: list[Any] = []
        self.taken: set[Array] = set()

    def begin(self, slots: Iterable[int], before: list[Any]) -> None:
        """Let the values of slots, where they have one, be others in each round."""
        within = self.within
        for slot in sorted(slots):
            is_list = holds_lists(within.plan.variables[slot])
            if not is_list and not within.has(slot):
                continue
            with within.writing(before):
                held = within.list_at(slot) if is_list else None
                first = within.array_at(slot) if held is None else held.length
            now = self.tracer.given(first.meta)
            self.firsts[slot] = first.array
            self.nows[slot] = now if held is None else Listed(held.place, now, held.item)
            within.values[slot] = self.nows[slot]

    def end(self) -> None:
        """Hand on what the slots hold at the end of a round."""
        for slot, now in self.nows.items():
            if isinstance(now, Listed):
                self.hand_on(now.length, self.firsts[slot], self.moved(slot, now).length)
                continue
            value = self.within.array_at(slot)
            if value.meta != now.meta:
                name = self.within.plan.variables[slot].name
                raise UnsupportedError(
                    f"`{name}` is {now.meta} before a round and {value.meta} after it"
                )
            self.hand_on(now, self.firsts[slot], value)

    def moved(self, slot: int, now: Listed) -> Listed:
        """The list in a slot, in the memory where the next round looks for it."""
        within = self.within
        value = within.list_at(slot)
        if value.place == now.place:
            return value
        if any(isinstance(x, Listed) and x.place == value.place for x in self.nows.values()):
            raise UnsupportedError("lists of tensors change places")
        return poured(within, begun(within, now.place, now.item), value, adds=False)

    def hand_on(self, now: Traced, first: Array, value: Traced) -> None:
        """Let a value be that of the next round."""
        self.carries.append(Carry(now.array, first, self.tracer.settled(value, self.taken)))

    def late(self, slot: int, before: list[Any]) -> Perhaps:
        """What rounds leave in a slot that has no value before the first: it may stay so."""
        value, within = self.within.array_at(slot), self.within
        now, there = self.tracer.given(value.meta), self.tracer.given(TRUTH)
        with within.writing(before):
            zeros, no = self.tracer.constant(0, value.meta).array, within.certain(False)
        self.hand_on(now, zeros, value)
        self.hand_on(there, no, Traced(TRUTH, within.certain(True)))
        return Perhaps(value.meta, now.array, there.array)


def while_loop(around: Block, step: Instruction) -> None:
    """A loop of a Program."""
    within = Within(around, step)
    runner, rounds = within.runner, Rounds(within)
    changed, before = within.changed, around.tracer.statements
    saved: list[Any] = []
    with within.writing(rounds.body):
        rounds.begin(changed & set(within.entries), before)
        condition = rounds.nows.get(runner.slot)
        if condition is None or condition.meta.dtype is not bool_ or condition.array.size != 1:
            raise UnsupportedError(f"`{runner.name}` is not one truth value that rounds change")
        saves = runner.keeper.saves if runner.scopes is not None else []
        firsts = [kept_of(within, slot, s) if s.first else None for slot, s in saves]
        within.run()
        for found, (slot, s) in zip(firsts, saves, strict=True):
            saved.append(found if s.first else kept_of(within, slot, s))
        rounds.end()
        ends = [
            (outer, own, over, rounds.nows[own] if own in rounds.nows else rounds.late(own, before))
            for outer, own, over in within.left
            if own in rounds.nows or within.has(own)
        ]
    kept = tuple(x for value in saved for x in arrays_in(value))
    stack = None
    if runner.scopes is not None:
        stack = Stack(fresh(around, *PLACE), tuple(fresh(around, x.shape, x.dtype) for x in kept))
        around.note(runner.scopes, Kept(tuple(saved), stack=stack))
    before.append(
        Loop(
            step.operator.type,
            tuple(rounds.carries),
            tuple(rounds.body),
            condition=condition.array,
            most=runner.most,
            keeps=stack,
            kept=kept,
        )
    )
    for outer, _, over, value in ends:
        around.note(outer, value, over)


def kept_of(within: Within, slot: int | None, save: Any) -> Any:
    """What a run keeps of a slot, now."""
    if slot is None or not within.has(slot):
        return None
    value = within.at(slot)
    if isinstance(value, Listed):  # that it is one; gradients in code read again none of it
        return Shape(value.meta) if save.shape else Unread(value.meta)
    return Shape(value.meta) if save.shape and isinstance(value, Traced) else value


def fresh(block: Block, shape: tuple[int, ...], dtype: str) -> Array:
    """A new array of the region."""
    return block.tracer.array(Meta(shape, of_name(dtype)))


def restore(within: Within, kept: Kept, arrays: Iterator[Array]) -> None:
    """Let a gradient block find what a run of the other block kept."""
    for (slot, _), value in zip(within.runner.saved, kept.saved, strict=True):
        if slot is None:
            continue
        if value is None:
            within.entries.pop(slot, None)
        elif isinstance(value, Shape):
            is_list = value.meta.kind is Kind.ARRAY
            within.values[slot] = value if is_list else within.tracer.given(value.meta)
        else:
            within.values[slot] = rebuilt(value, arrays)


def while_gradient(around: Block, step: Instruction) -> None:
    """The gradient of a loop: its rounds again, the last first."""
    within = Within(around, step)
    runner, rounds = within.runner, Rounds(within)
    kept = kept_at(around, runner.scopes)
    if kept.stack is None:
        raise UnsupportedError("nothing tells how many rounds there were")
    for outer, inside in runner.seeds:
        if around.has(outer):
            within.values[inside] = around.at(outer)
    before = around.tracer.statements
    added = {inside for _, inside, _, carried in runner.results if not carried}
    restored = {slot for slot, _ in runner.saved}
    for slot in added:
        within.entries.pop(slot, None)
    with within.writing(before):
        for _, inside, _, carried in runner.results:
            if carried and holds_lists(within.plan.variables[inside]):
                within.list_at(inside)
    found: list[tuple[int, Any]] = []
    with within.writing(rounds.body):
        known = within.changed & {*within.entries, *within.values}
        rounds.begin(known - restored - added, before)
        restore(within, kept, iter(kept.stack.fields))
        within.run()
        rounds.end()
        for outer, inside, like, carried in runner.results:
            value = rounds.nows.get(inside) if carried else None
            if value is None and holds_lists(within.plan.variables[inside]):
                value = within.list_at(inside)
                value = value if carried else gathered(rounds, value, before)
            elif value is None:
                value = within.array_at(inside)
                if not carried:
                    value = added_up(rounds, value, around.at(like).meta, before)
            found.append((outer, value))
        ends = [(outer, rounds.nows[own]) for outer, own, _ in within.left if own in rounds.nows]
    before.append(
        Loop(step.operator.type, tuple(rounds.carries), tuple(rounds.body), undoes=kept.stack)
    )
    for outer, value in ends:
        around.note(outer, value, True)
    for outer, value in found:
        around.note(outer, value)


def kept_at(around: Block, slot: int) -> Kept:
    """What runs of a block kept, if code of this region did."""
    found = around.at(slot) if around.has(slot) else None
    if not isinstance(found, Kept):
        raise UnsupportedError("what its block keeps does not come from this region")
    return found


def added_up(rounds: Rounds, value: Traced, meta: Meta, before: list[Any]) -> Traced:
    """The sum of what the rounds give."""
    if value.meta != meta:
        raise UnsupportedError(f"a gradient of {meta} is {value.meta}")
    within, tracer = rounds.within, rounds.tracer
    total = tracer.given(meta)
    with within.writing(before):
        zeros = tracer.constant(0, meta).array
    origin = tracer.origin
    (next_total,) = tracer.operator(op_of("sum"), [[total, value]], {})
    tracer.origin = origin
    rounds.hand_on(total, zeros, next_total)
    return total


def gathered(rounds: Rounds, value: Listed, before: list[Any]) -> Listed:
    """The sums of the lists that the rounds give."""
    within = rounds.within
    with within.writing(before):
        first = begun(within, item=value.item)
    if value.item.meta is None:
        return first
    now = Listed(first.place, rounds.tracer.given(NUMBER), value.item)
    rounds.hand_on(now.length, first.length.array, poured(within, now, value, adds=True).length)
    return now


# ---- branches ----


def holds(around: Block, runner: Any) -> Array | bool:
    """The condition of a branch, or whether it holds where sizes tell."""
    if not runner.is_scalar:
        return all(around.array_at(slot).array.size for _, slot in runner.conditions)
    (_, slot), *_ = runner.conditions
    found = around.array_at(slot)
    if found.meta.dtype is not bool_ or found.array.size != 1:
        raise UnsupportedError(f"its condition {found.meta} is not one truth value")
    return found.array


def conditional(around: Block, step: Instruction) -> None:
    """A branch of a Program."""
    within = Within(around, step)
    runner = within.runner
    condition = holds(around, runner)
    if condition is False:
        if runner.scopes is not None:
            raise UnsupportedError("it never runs")
        return
    body: list[Any] = around.tracer.statements if condition is True else []
    with within.writing(body):
        saves = runner.keeper.saves if runner.scopes is not None else []
        firsts = [kept_of(within, slot, s) if s.first else None for slot, s in saves]
        within.run()
        lasts = [None if s.first else kept_of(within, slot, s) for slot, s in saves]
        ends = [(outer, within.at(own), over) for outer, own, over in within.left]
    if condition is True:
        results = [value for _, value, _ in ends]
        inside = lasts
    else:
        olds = [around.at(outer) if around.has(outer) else None for outer, _, _ in ends]
        pairs = list(zip((value for _, value, _ in ends), olds, strict=True))
        leaving = [Traced(Meta(x.shape, of_name(x.dtype)), x) for v in lasts for x in arrays_in(v)]
        node, found = around.chosen(condition, [*pairs, *((x, None) for x in leaving)], body, [])
        around.tracer.statements.append(node)
        results = found[: len(ends)]
        arrays = iter([x.array for x in found[len(ends) :]])
        inside = [rebuilt(value, arrays) for value in lasts]
    for (outer, _, over), value in zip(ends, results, strict=True):
        around.note(outer, value, over)
    if runner.scopes is not None:
        saved = [f if s.first else x for f, x, (_, s) in zip(firsts, inside, saves, strict=True)]
        around.note(runner.scopes, Kept(tuple(saved), condition if condition is not True else None))


def conditional_gradient(around: Block, step: Instruction) -> None:
    """The gradient of a branch; zeros where it did not run."""
    within = Within(around, step)
    runner = within.runner
    kept = kept_at(around, runner.scopes)
    body: list[Any] = around.tracer.statements if kept.condition is None else []
    with within.writing(body):
        arrays = (x for value in kept.saved for x in arrays_in(value))
        restore(within, kept, arrays)
        within.run()
        left = within.left
        are_lists = [holds_lists(within.plan.variables[x]) for _, x, _, _ in runner.results]
        values = [
            within.list_at(inside) if is_list else within.at(inside)
            for (_, inside, _, _), is_list in zip(runner.results, are_lists, strict=True)
        ]
        values += [within.at(own) for _, own, _ in left]
    if kept.condition is not None:
        zeros: list[Any] = []
        with around.writing(zeros):
            others: list[Any] = [
                None if is_list else around.tracer.constant(0, around.at(like).meta)
                for (_, _, like, _), is_list in zip(runner.results, are_lists, strict=True)
            ]
        others += [around.at(outer) for outer, _, _ in left]
        pairs = list(zip(values, others, strict=True))
        node, values = around.chosen(kept.condition, pairs, body, zeros)
        around.tracer.statements.append(node)
    ends = [(outer, False) for outer, _, _, _ in runner.results]
    ends += [(outer, over) for outer, _, over in left]
    for (outer, over), value in zip(ends, values, strict=True):
        around.note(outer, value, over)


INLINED = {
    "while": while_loop,
    "while_grad": while_gradient,
    "conditional_block": conditional,
    "conditional_block_grad": conditional_gradient,
}
