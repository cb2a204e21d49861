"""Plans whose instructions run as machine code: regions of operators become one function each.

What cannot be a loop over elements stays an instruction between regions. A function is made for
the sizes a run begins with; another run with other sizes makes one more, up to a bound.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.decision import Decision, observed
from scull.compiler.native import Native, aligned, native_of
from scull.compiler.rows import RowsTracer, TracedRows
from scull.compiler.trace import Traced
from scull.core.meta import Kind, Meta
from scull.core.op import meta_of
from scull.core.tensor import Rows
from scull.errors import ScullError, UnsupportedError
from scull.executor.alias import written
from scull.executor.instruction import DRAW, Instruction, overwrites, unrecorded, whole
from scull.executor.run import run
from scull.ir.operator import Operator, program_outputs
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Array, Expression, constant
from scull.runtime.entry import Argument, Outcome, address_of, entry

if TYPE_CHECKING:
    from scull.executor.plan import Plan

Row = tuple[Any, Any, Any, tuple[int, ...]]  # a step as the loop takes it


@dataclass
class Region:
    """Steps that may become one function, with what their values are so far."""

    tracer: RowsTracer = field(default_factory=RowsTracer)
    rows: list[Row] = field(default_factory=list)
    values: dict[int, Any] = field(default_factory=dict)  # by slot, Traced or TracedRows
    given: dict[int, Traced] = field(default_factory=dict)  # as they were at its start
    written: set[int] = field(default_factory=set)
    over: set[int] = field(default_factory=set)  # whose memory is written over
    ends: list[tuple[int, int]] = field(default_factory=list)  # steps, their last statements
    draws: Array | None = None  # the seed and the number of the run's first draw


class Specialised:
    """The steps of a plan for one set of sizes."""

    def __init__(self, plan: "Plan", metas: dict[int, Meta]) -> None:
        self.plan, self.metas = plan, metas
        self.slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
        self.rows: list[Row] = []
        self.region = Region()
        self.made: list[tuple[Call, Region, tuple[Decision, ...]]] = []
        self.last = last_reads(plan)
        self.mixed = mixed(plan)

    def steps(self) -> tuple[Row, ...]:
        """The steps, regions in the place of what they compute."""
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
                self._trace(step)
                self.region.rows.append(row)
                self.region.ends.append((number, len(self.region.tracer.statements)))
            except UnsupportedError:
                self._close(number)
                self.rows.append(row)
                self._infer(step)
        self._close(len(plan.steps))
        return tuple(self.rows)

    def _value(self, v: Any) -> Any:
        """The value of a variable in this region."""
        if v is None or isinstance(v, list | tuple):
            return v if v is None else [self._value(x) for x in v]
        slot, region = self.slots[v], self.region
        if slot not in region.values:
            meta = self.metas.get(slot)
            if meta is None or v.kind is not Kind.DENSE:
                raise UnsupportedError(f"`{v.name}` is no array of a known size")
            region.values[slot] = region.given[slot] = region.tracer.given(meta)
        return region.values[slot]

    def _trace(self, step: Instruction) -> None:
        o = step.operator
        if step.is_shape or step.nested is not None or o.told or o.op.has_blocks:
            raise UnsupportedError(f"`{o.type}` is no computation of elements")
        if any(v in self.mixed for v in written(o)):
            raise UnsupportedError(f"`{o.type}` writes over what lies in other variables")
        before = dict(self.region.values), dict(self.region.given)
        count = len(self.region.tracer.statements)
        try:
            results = self._results(o, step.draws)
        except Exception as error:
            if not isinstance(error, ScullError):
                warnings.warn(f"{o.type}: no machine code, {error!r}", stacklevel=2)
            self.region.values, self.region.given = before
            del self.region.tracer.statements[count:]
            raise UnsupportedError(str(error)) from error
        for name, slot, found in zip(program_outputs(o.op), o.outputs, results, strict=False):
            over = name in o.op.outputs and overwrites(o, name)
            values = found if isinstance(found, list) else [found]
            for v, value in zip(slot if isinstance(slot, list) else [slot], values, strict=False):
                if v is None or value is None:
                    continue
                self._note(self.slots[v], value, over)

    def _note(self, place: int, value: Any, over: bool) -> None:
        """A slot has a new value, in the memory of what it began with if `over` that."""
        region = self.region
        if over and region.values.get(place) is region.given.get(place, self):
            region.over.add(place)
        elif not over:
            region.over.discard(place)
        region.values[place] = value
        self.metas[place] = value.meta
        region.written.add(place)

    def _draw(self, o: Operator, draws: int) -> tuple[Expression, Expression] | None:
        """The key of an operator's random words; None where nobody knows it ahead."""
        seed = o.attrs.get("seed", 0)
        if seed or self.plan.draws < 0:
            return draw_of(seed) if seed else None
        if self.region.draws is None:
            self.region.draws = Array("draws", (2,), "uint64")
        return self.region.draws[0], self.region.draws[1] + draws

    def _results(self, o: Operator, draws: int) -> list[Any]:
        op, attrs = o.op, dict(o.attrs)
        if op.takes_wanted:
            attrs["wanted"] = tuple(
                n for n, s in zip(op.outputs, o.outputs, strict=False) if s is not None
            )
        inputs, tracer = [self._value(s) for s in o.inputs], self.region.tracer
        if op.shape_record:
            place = op.inputs.index(op.shape_record)
            noted = inputs[place].meta
            inputs[place] = tracer.given(noted.with_shape(noted.shape[1:]))
        draw = self._draw(o, draws) if "random" in op.effects else None
        found = list(tracer.operator(op, inputs, attrs, draw))
        if op.xshape and len(o.outputs) > len(op.outputs) and o.outputs[-1] is not None:
            x = inputs[op.inputs.index(op.xshape)].meta
            found.append(tracer.constant(0, x.with_shape((0, *x.shape))))
        return found

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
            else:
                self.metas.pop(place, None)

    def _meta(self, slot: Any) -> Any:
        if slot is None or isinstance(slot, list | tuple):
            return slot if slot is None else [self._meta(v) for v in slot]
        return self.metas[self.slots[slot]]

    def _close(self, number: int) -> None:
        """The region so far as one step, if it is worth that."""
        region, self.region = self.region, Region()
        if not region.given:  # constants alone
            self.rows.extend(region.rows)
            return
        leaving = {s for s in region.written if self.last.get(s, -1) >= number}
        results = sorted(leaving - region.over, key=lambda s: (is_sparse(region.values[s]), s))
        over = {s: region.values[s].array for s in sorted(region.over) if s in region.given}
        outputs = [x for s in results for x in arrays_in(region.values[s])] + [*over.values()]
        inputs = [v.array for v in region.given.values()]
        inputs += [region.draws] if region.draws is not None else []
        old = [region.given[s].array for s in over]
        try:
            with observed() as decisions:
                native = native_of(region.tracer.statements, inputs, outputs, old)
        except Exception as error:
            kinds = ", ".join(dict.fromkeys(s.origin for s in region.tracer.statements))
            warnings.warn(
                f"{kinds}: no machine code, {type(error).__name__}: {error}", stacklevel=2
            )
            self.rows.extend(region.rows)
            return
        frees = {slot for row in region.rows for slot in row[3]} - leaving
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
        if region.draws is not None:
            read[region.draws] = DRAW
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
        table, arena = native.table.copy(), aligned(native.region.arena.size)
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
        keeps = (native, arena, *kept)
        arguments = [*inputs, *outputs]
        return entry(native.library, native.name, table, arguments, status=status, keeps=keeps)

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


def draw_of(seed: int) -> tuple[Expression, Expression]:
    """The key of the first draw of a seed."""
    return constant(seed & (2**64 - 1), "uint64"), constant(0, "uint64")


def dtype_of(array: Array) -> Any:
    """NumPy's element type of an array."""
    return np.empty(0, numpy_dtype(array.dtype)).dtype  # the one object that arrays share


def mixed(plan: "Plan") -> set[Any]:
    """The variables that an operator lays into one another."""
    operators = [step.operator for step in plan.steps]
    return {
        v for o in operators if set(o.op.views.values()) & set(o.op.outputs) for v in o.results()
    }


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
