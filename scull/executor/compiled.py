"""Plans whose instructions run as machine code: regions of operators become one function each.

What cannot be a loop over elements stays an instruction between regions. A function is made for
the sizes a run begins with; another run with other sizes makes one more, up to a bound.
"""

import sys
import warnings
from collections.abc import Callable, Collection, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.decision import Decision, observed
from scull.compiler.flow import controls, leaves
from scull.compiler.native import Native, aligned, native_of
from scull.compiler.rows import TracedRows
from scull.compiler.scan import Scanner
from scull.compiler.trace import Traced
from scull.core.meta import Kind, Meta
from scull.core.op import meta_of
from scull.core.tensor import Rows
from scull.errors import ArgumentError, ScullError, UnsupportedError
from scull.executor.block import Block
from scull.executor.inline import trace
from scull.executor.instruction import DRAW, Instruction, unrecorded, whole
from scull.executor.run import run
from scull.flags import flag
from scull.ir.operator import effects
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Array
from scull.runtime.entry import Argument, Outcome, address_of, entry

if TYPE_CHECKING:
    from scull.executor.plan import Plan

Row = tuple[Any, Any, Any, tuple[int, ...]]  # a step as the loop takes it
FLUSHED = ("never", "training", "always")  # what FLUSH may be


class Region(Block):
    """Steps that may become one function, with what their values are so far."""

    def __init__(self, plan: "Plan", metas: dict[int, Meta], unknown: set[int]) -> None:
        super().__init__(plan, Scanner())
        self.metas, self.unknown = metas, unknown  # what is known outside, of which slots nothing
        self.rows: list[Row] = []
        self.given: dict[int, Traced] = {}  # values as they were at its start, by slot
        self.makers: dict[int, int] = {}  # the numbers of the steps that wrote a slot
        self.over: set[int] = set()  # whose memory is written over
        self.ends: list[tuple[int, int]] = []  # steps, their last nodes

    def has(self, slot: int) -> bool:
        """Whether a slot may have a value; UnsupportedError where nobody knows."""
        v = self.plan.variables[slot]
        if slot in self.values:
            return True
        if slot in self.unknown or v.kind is not Kind.DENSE:
            raise UnsupportedError(f"`{v.name}` is no array of a known size")
        return slot in self.metas

    def at(self, slot: int) -> Any:
        """The value of a slot; what no step of the region made comes from outside."""
        if slot not in self.values and self.has(slot):
            self.values[slot] = self.given[slot] = self.tracer.given(self.metas[slot])
        return super().at(slot)

    def add(self, number: int, step: Instruction, row: Row) -> None:
        """Take a step; UnsupportedError, and nothing changed, where that cannot be."""
        before = dict(self.values), dict(self.given)
        count, over = len(self.tracer.statements), set(self.over)
        self.number = number
        try:
            trace(super().trace, self, step)
        except UnsupportedError:
            self.values, self.given = before
            self.over = over
            del self.tracer.statements[count:]
            raise
        self.rows.append(row)
        self.ends.append((number, len(self.tracer.statements)))

    def note(self, slot: int, value: Any, over: bool = False) -> None:
        """A slot has a new value, in the memory of what it began with if `over` that."""
        if over and self.values.get(slot) is self.given.get(slot, self):
            self.over.add(slot)
        elif not over:
            self.over.discard(slot)
        super().note(slot, value)
        if isinstance(value, Traced | TracedRows):
            self.metas[slot] = value.meta
        self.unknown.discard(slot)
        self.makers[slot] = self.number


class Stay(Exception):
    """Some steps have to be instructions: what they make would leave its region."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__(numbers)
        self.numbers = numbers


class Specialised:
    """The steps of a plan for one set of sizes.

    `reasons` tell, by the number of a step, why it stays an instruction. They are made `anew` for
    those who want to see how.
    """

    def __init__(
        self,
        plan: "Plan",
        metas: dict[int, Meta],
        *,
        threads: int = 0,
        fixed: Collection[int] = (),
        anew: bool = False,
    ) -> None:
        self.plan, self.begun, self.anew = plan, metas, anew
        self.fixed = fixed  # slots whose values are the same in every run
        self.threads = threads  # that share a kernel at most; 0: as many as the pool has
        self.slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
        self.last = last_reads(plan)
        self.reasons: dict[int, str] = {}
        self._begin()

    def _begin(self) -> None:
        self.metas, self.unknown = dict(self.begun), set[int]()
        self.rows: list[Row] = []
        self.region = Region(self.plan, self.metas, self.unknown)
        self.made: list[tuple[Call, Region, tuple[Decision, ...]]] = []

    def steps(self) -> tuple[Row, ...]:
        """The steps, regions in the place of what they compute."""
        stay: set[int] = set()
        while True:
            try:
                found = self._steps(stay)
            except Stay as found_out:
                stay |= found_out.numbers
                self._begin()
                continue
            if flag("DEBUG") >= 5:
                for number, reason in self.reasons.items():
                    print(f"{self.plan.steps[number].operator.type}: {reason}", file=sys.stderr)
            return found

    def _steps(self, staying: set[int]) -> tuple[Row, ...]:
        plan = self.plan
        stay = {plan.steps[number].put for number in plan.constants}
        for number, step in enumerate(plan.steps):
            if number in plan.constants:
                continue
            frees = tuple(slot for slot in step.frees if slot not in stay)
            row = (step.call, step.get, step.put, frees)
            if step.is_shape and self.region.rows:
                self.region.rows.append(row)
                continue
            try:
                if number in staying:
                    raise UnsupportedError("what it makes is used where there is no code")
                if step.is_shape:
                    raise UnsupportedError("it keeps a shape")
                self.region.add(number, step, row)
            except UnsupportedError as error:
                self.reasons[number] = str(error)
                if not self._may_go_first(step, frees):
                    self._close(number)
                self.rows.append(row)
                self._infer(step)
        self._close(len(plan.steps))
        return tuple(self.rows)

    def _may_go_first(self, step: Instruction, frees: tuple[int, ...]) -> bool:
        """Whether an instruction may run before the region so far: it has nothing to do with it."""
        o, region = step.operator, self.region
        if step.is_shape or step.nested is not None or effects(o) or o.op.views or o.op.in_place:
            return False
        read = {self.slots[v] for v in o.operands() if v in self.slots}
        made = {self.slots[v] for v in o.results() if v in self.slots}
        return not (read & region.makers.keys() or region.values.keys() & {*made, *frees})

    def _infer(self, step: Instruction) -> None:
        """Note the sizes of what an instruction between regions gives, if they are known."""
        o = step.operator
        if step.is_shape:
            return
        places = [self.slots[v] for v in o.results() if v in self.slots]
        try:
            metas = unrecorded(o.op, tuple(map(self._meta, o.inputs)))
            found = o.op.infer(metas, o.op.attrs | o.attrs)
            flat = [m for r in found for m in (r if isinstance(r, list) else [r]) if m is not None]
        except (ScullError, KeyError):
            flat = []
        known = len(flat) == len(places) and not any(-1 in m.shape for m in flat)
        for number, place in enumerate(places):
            if known and not step.nested:
                self.metas[place] = flat[number]
                self.unknown.discard(place)
            else:
                self.metas.pop(place, None)
                self.unknown.add(place)

    def _meta(self, slot: Any) -> Any:
        if slot is None or isinstance(slot, list | tuple):
            return slot if slot is None else [self._meta(v) for v in slot]
        return self.metas[self.slots[slot]]

    def _close(self, number: int) -> None:
        """The region so far as one step, if it is worth that."""
        region, self.region = self.region, Region(self.plan, self.metas, self.unknown)
        if not region.given and not any(controls(region.tracer.statements)):  # constants alone
            self.rows.extend(region.rows)
            return
        leaving = {s for s in region.makers if self.last.get(s, -1) >= number}
        inner = {s for s in leaving if type(region.values[s]) not in (Traced, TracedRows)}
        if inner:
            raise Stay({region.makers[s] for s in inner})
        results = sorted(leaving - region.over, key=lambda s: (is_sparse(region.values[s]), s))
        over = {s: region.values[s].array for s in sorted(region.over) if s in region.given}
        outputs = [x for s in results for x in arrays_in(region.values[s])] + [*over.values()]
        inputs = [v.array for v in region.given.values()]
        inputs += [region.tracer.draws] if region.tracer.draws is not None else []
        old = [region.given[s].array for s in over]
        fixed = {region.given[s].array for s in self.fixed if s in region.given}
        try:
            with observed() as decisions:
                made = region.tracer.statements
                native = native_of(made, inputs, outputs, old, fixed=fixed, anew=self.anew)
        except Exception as error:
            kinds = ", ".join(dict.fromkeys(s.origin for s in leaves(region.tracer.statements)))
            warnings.warn(
                f"{kinds}: no machine code, {type(error).__name__}: {error}", stacklevel=2
            )
            self.rows.extend(region.rows)
            return
        frees = {slot for row in region.rows for slot in row[3]} - leaving
        native.table[-1] = self.threads
        call = Call(self.plan, region, native, results, region.over)
        self.made.append((call, region, decisions()))
        self.rows.append((call, whole, slice(0, 0), tuple(sorted(frees))))


class Call:
    """A region as a step: it reads and fills a frame by itself.

    Each thread within has an arena and a table of its own.
    """

    def __init__(
        self,
        plan: "Plan",
        region: Region,
        native: Native,
        results: list[int],
        over: Iterable[int],
    ) -> None:
        self.plan, self.rows, self.native = plan, tuple(region.rows), native
        read = {v.array: slot for slot, v in region.given.items()}
        if region.tracer.draws is not None:
            read[region.tracer.draws] = DRAW
        self.slots = [read[array] for array in native.inputs]
        self.get = getter(self.slots) if DRAW not in self.slots else drawing(self.slots)
        self.puts, self.over = results, frozenset(over)
        values = [region.values[slot] for slot in results]
        self.heights = [v.meta.shape[0] for v in values if is_sparse(v)]  # of the last results
        self.made = [(a.shape, dtype_of(a)) for a in native.outputs]
        self.free = [self.entry(range(len(self.slots)))]

    def entry(self, given: Iterable[int], fixed: Iterable[Any] = ()) -> Callable[..., Any]:
        """A way into the code that takes the inputs numbered `given`, then the outputs.

        The other inputs are `fixed`, in order.
        """
        native = self.native
        table, arena = native.table.copy(), aligned(native.arena)
        table[0] = address_of(arena)
        taken, kept = list(given), list(fixed)
        rest = [n for n in range(len(self.slots)) if n not in taken]
        for number, array in zip(rest, kept, strict=True):
            table[1 + number] = address_of(array)
        inputs = [
            Argument(a.name, a.shape, dtype_of(a), 1 + n, self.slots[n] in self.over)
            for n, a in enumerate(native.inputs)
            if n in taken
        ]
        first = 1 + len(self.slots)
        outputs = [
            Argument(a.name, a.shape, dtype_of(a), first + n, True)
            for n, a in enumerate(native.outputs)
        ]
        status = first + len(outputs)
        return entry(
            native.library,
            native.name,
            table,
            [*inputs, *outputs],
            flush=flushes(bool(self.over)),
            status=status,
            keeps=(native, arena, *kept),
        )

    def __call__(self, frame: list[Any]) -> tuple[()]:
        made = [np.empty(shape, dtype) for shape, dtype in self.made]
        free = self.free
        try:
            enter = free.pop()
        except IndexError:  # other threads have them all
            enter = self.entry(range(len(self.slots)))
        found = enter(*self.get(frame), *made)
        if found is Outcome.REFUSED:
            found = enter(*self.in_order(frame), *made)
        free.append(enter)
        if found is None:
            arrays = made if not self.heights else rows_of(made, self.heights)
            for slot, array in zip(self.puts, arrays, strict=True):
                frame[slot] = array
        else:  # other arrays, or an index out of range, which the instructions explain
            assert isinstance(found, Outcome)
            run(self.plan, self.rows, frame)
        return ()

    def in_order(self, frame: list[Any]) -> list[Any]:
        """The arrays that are read, those with strides copied."""
        return [
            x if slot in self.over else np.ascontiguousarray(x)
            for slot, x in zip(self.slots, self.get(frame), strict=True)
        ]

    def of_one(self, slot: int, frame: list[Any]) -> Callable[[Any], Any] | None:
        """The one result as a function of the array in one slot, where the others stay.

        It gives None for what the code refuses.
        """
        if len(self.made) != 1 or self.over or self.slots.count(slot) != 1 or DRAW in self.slots:
            return None
        place = self.slots.index(slot)
        fixed = [frame[s] for s in self.slots if s != slot]
        if not all(type(x) is np.ndarray and x.flags.c_contiguous for x in fixed):
            return None
        ((shape, dtype),), empty = self.made, np.empty
        free = [self.entry([place], fixed)]

        def calling(x: Any) -> Any:
            out = empty(shape, dtype)
            try:
                enter = free.pop()
            except IndexError:
                enter = self.entry([place], fixed)
            found = enter(x, out)
            free.append(enter)
            return out if found is None else None

        return calling


def flushes(updates: bool) -> bool:
    """Whether numbers too small for all their digits are zero, which many CPUs are slow with.

    Moments of an optimizer come to be such numbers where gradients are zero for long.
    """
    asked = flag("FLUSH")
    if asked not in FLUSHED:
        raise ArgumentError(f"FLUSH is {asked!r}: it is {', '.join(FLUSHED[:-1])} or {FLUSHED[-1]}")
    return asked == "always" or (asked == "training" and updates)


def getter(slots: list[int]) -> Callable[[Any], Any]:
    """A function that picks the arrays in some slots of a frame."""
    if len(slots) == 1:
        return itemgetter(slice(slots[0], slots[0] + 1))
    return itemgetter(*slots) if slots else lambda frame: ()


def drawing(slots: list[int]) -> Callable[[Any], Any]:
    """The same, with the run's first draw as an array."""
    place, pick = slots.index(DRAW), getter(slots)

    def picked(frame: Any) -> Any:
        found = list(pick(frame))
        found[place] = np.array(found[place], np.uint64)
        return found

    return picked


def is_sparse(value: Any) -> bool:
    """Whether a value of a region is row-sparse."""
    return isinstance(value, TracedRows)


def arrays_in(value: Any) -> list[Array]:
    """The arrays that a value of a region is."""
    return [value.rows.array, value.values.array] if is_sparse(value) else [value.array]


def rows_of(made: list[Any], heights: list[int]) -> list[Any]:
    """What a region made, its last arrays in pairs as rows: those that are there, in order."""
    dense = len(made) - 2 * len(heights)
    found = made[:dense]
    for number, height in enumerate(heights):
        rows, values = made[dense + 2 * number : dense + 2 * number + 2]
        if rows.size and rows.min() < 0:
            there = np.flatnonzero(rows >= 0)
            there = there[np.argsort(rows[there], kind="stable")]
            rows, values = rows[there], values[there]
        found.append(Rows(rows, values, height))
    return found


def dtype_of(array: Array) -> Any:
    """NumPy's element type of an array."""
    return np.empty(0, numpy_dtype(array.dtype)).dtype  # the one object that arrays share


def last_reads(plan: "Plan") -> dict[int, int]:
    """By slot: the number of the last step that reads it; more than any for what outlives a run."""
    found: dict[int, int] = {}
    for number, step in enumerate(plan.steps):
        found.update(dict.fromkeys((s for s in step.reads if s > DRAW), number))
    end = len(plan.steps)
    outside = [slot for slot, _ in plan.fetches]
    outside += [slot for _, slot in plan.stores] + [slot for _, slot, _ in plan.left]
    found.update(dict.fromkeys((*outside, *plan.kept), end))
    return found


def sizes_of(frame: list[Any]) -> dict[int, Meta]:
    """The metas of the arrays that a run begins with, by slot."""
    return {slot: meta_of(x) for slot, x in enumerate(frame) if type(x) is np.ndarray}
