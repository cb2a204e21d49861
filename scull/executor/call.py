"""A region of a plan as one step of its runs."""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.driver import ENTRY, PREPARE
from scull.compiler.native import LASTING, Native
from scull.compiler.row import DROP
from scull.core.random import Generator
from scull.core.tensor import Rows
from scull.errors import ArgumentError
from scull.executor.instruction import DRAW
from scull.executor.keeping import Form, Keeping
from scull.executor.run import run
from scull.flags import flag
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Array
from scull.runtime.entry import Argument, Outcome, address_of, entry
from scull.runtime.line import LINE, aligned

if TYPE_CHECKING:
    from scull.executor.plan import Plan

Room = tuple[Any, tuple[Any, ...]]  # a table, what must live as long
Row = tuple[Any, Any, Any, tuple[int, ...]]  # a step as the loop takes it
DROPPING = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
FLUSHED = ("never", "training", "always")  # what FLUSH may be


@dataclass(frozen=True, eq=False)
class Part:
    """The machine code of a region, and what that has to do with the slots of a frame.

    `numbers` are the steps of the plan that it is; `slots` those that its inputs come from, `puts`
    those its results go to, of which the last ones are as many as there are `doubts`, which are
    perhaps not there, lists of `items`, what blocks kept, in the forms of `keeps`, and rows of
    `heights`; the memory of what stands in `over` is written over;
    `frees` are dropped after it. What stands in the slots of `takes` comes in as arrays, which have
    places behind all slots.
    """

    native: Native
    numbers: tuple[int, ...]
    slots: tuple[int, ...]
    puts: tuple[int, ...]
    over: frozenset[int]
    items: tuple[Array, ...]
    heights: tuple[int, ...]
    frees: tuple[int, ...]
    takes: tuple[tuple[int, Any], ...] = ()
    doubts: int = 0
    keeps: tuple[Form, ...] = ()


def row_of(plan: "Plan", number: int) -> Row:
    """A step of a plan as the loop takes it: constants stay in the frame."""
    step = plan.steps[number]
    return step.call, step.get, step.put, tuple(s for s in step.frees if s not in plan.standing)


class Call:
    """A region as a step: it reads and fills a frame by itself.

    Each thread within has an arena and a table of its own; all read what lasts.
    """

    def __init__(self, plan: "Plan", part: Part) -> None:
        self.plan, self.part, self.native = plan, part, part.native
        self.rows = tuple(row_of(plan, number) for number in part.numbers)
        self.slots = list(part.slots)
        self.draws = self.slots.index(DRAW) if DRAW in self.slots else None
        self.counts = DRAW in part.over  # draws: nobody knows ahead how many there are
        self.get = getter(self.slots) if self.draws is None else drawing(self.slots, self.draws)
        self.puts, self.over, self.heights = part.puts, part.over, list(part.heights)
        self.takes, self.doubts, self.keeps = part.takes, part.doubts, part.keeps
        self.told = bool(part.doubts or part.items or part.keeps)
        self.items = [(x.shape, dtype_of(x)) for x in part.items]
        self.drop = DROPPING(self.native.library.addresses[DROP]) if self.items else None
        self.made = [(a.shape, dtype_of(a)) for a in part.native.outputs]
        self.lasting = aligned(self.native.lasts)
        self.ready, self.turn = not self.native.lasts, Lock()
        self.free: list[Way] = []
        self.free.append(self.way())

    def prepare(self, given: Iterable[Any]) -> bool:
        """Whether what lasts is there: whoever comes first computes it of the inputs, in order.

        None stands for one that is not known yet.
        """
        with self.turn:
            if not self.ready:
                known = [(n, x) for n, x in enumerate(given) if x is not None]
                way = self.entry(self.room(), [n for n, _ in known], PREPARE)
                found = way(*(np.ascontiguousarray(x) for _, x in known))
                self.ready = found is None
            return self.ready

    def room(self) -> Room:
        """A table and an arena of one thread."""
        native = self.native
        table, arena = native.table.copy(), aligned(native.arena)
        table[0], table[LASTING] = address_of(arena), address_of(self.lasting)
        return table, (native, arena, self.lasting)

    def entry(
        self, room: Room, given: Iterable[int], name: str = ENTRY, keeps: Sequence[Any] = ()
    ) -> Callable[..., Any]:
        """A way into the code that takes the inputs numbered `given`, then the outputs.

        The table has the others already, which `keeps` holds. What comes before the first run has
        no outputs, and need not know all inputs.
        """
        native, taken, (table, rest) = self.native, set(given), room
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
            name,
            table,
            [*inputs, *outputs] if name == ENTRY else inputs,
            flush=flushes(bool(self.over - {DRAW})),
            status=status,
            keeps=(*rest, *keeps),
        )

    def way(self) -> "Way":
        """A free way into the code; one more where other threads have them all."""
        try:
            return self.free.pop()
        except IndexError:
            room = self.room()
            return Way(room, self.entry(room, range(len(self.slots))))

    def __call__(self, frame: list[Any]) -> tuple[()]:
        begun = self.begun(frame)
        if begun is None or not (self.ready or self.prepare(self.get(begun))):
            run(self.plan, self.rows, frame)
            return ()
        made = [np.empty(shape, dtype) for shape, dtype in self.made]
        way = self.way()
        way.mark, enter = None, way.enter
        found = self.drawn(enter, begun, made) if self.counts else enter(*self.get(begun), *made)
        if found is Outcome.REFUSED:
            found = enter(*self.in_order(begun), *made)
        self.free.append(way)
        if found is None:
            values: list[Any] = made if not self.heights else rows_of(made, self.heights)
            if self.told:
                values = self.values(values)
            for slot, value in zip(self.puts, values, strict=True):
                frame[slot] = value
        else:  # other arrays, or an index out of range, which the instructions explain
            assert isinstance(found, Outcome)
            run(self.plan, self.rows, frame)
        return ()

    def begun(self, frame: list[Any]) -> list[Any] | None:
        """A frame with the arrays behind it that come in for other values; None where one cannot.

        One cannot that instructions made in the place of code, or that is of another kind.
        """
        if not self.takes:
            return frame
        found = [*frame]
        for slot, form in self.takes:
            arrays = form.laid(frame[slot])
            if arrays is None:
                return None
            found += arrays
        return found

    def values(self, arrays: list[Any]) -> list[Any]:
        """The results, lists and what blocks kept in the place of arrays that tell of them."""
        rest = sum(form.count for form in self.keeps) + len(self.items) + len(self.heights)
        at = len(arrays) - rest - 2 * self.doubts
        found = arrays[:at]
        for _ in range(self.doubts):
            value, there = arrays[at : at + 2]
            found.append(value if there.item() else None)
            at += 2
        for item in self.items:
            found.append(self.taken(arrays[at], *item))
            at += 1
        for form in self.keeps:
            found.append(Keeping(form, arrays[at : at + form.count]))
            at += form.count
        return found + arrays[at:]

    def taken(self, words: Any, shape: tuple[int, ...], dtype: Any) -> list[Any]:
        """The list of tensors that lies where the words tell, which is there no more."""
        assert self.drop is not None
        address, count, row = words.tolist()
        given = (ctypes.c_uint8 * (count * row)).from_address(address)
        rows = np.array(given, np.uint8).reshape(count, row)
        self.drop(address)
        size = prod(shape) * dtype.itemsize
        return [
            x[:size].view(dtype).reshape(shape) if x[row - LINE] else None
            for x in (rows if row else ())
        ]

    def enter(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> Any:
        """Compute outputs; None, or what was refused."""
        if not self.ready and not self.prepare(inputs := list(inputs)):
            return Outcome.FAILED
        way = self.way()
        way.mark = None
        found = way.enter(*inputs, *outputs)
        self.free.append(way)
        return found

    def drawn(self, enter: Callable[..., Any], frame: list[Any], made: list[Any]) -> Any:
        """Compute outputs while nobody else draws, and go on from there; or what was refused."""
        assert self.draws is not None
        with frame[DRAW].turn:
            given = self.in_order(frame)
            found = enter(*given, *made)
            if found is None:
                frame[DRAW].set_state(tuple(given[self.draws].view(np.uint64).tolist()))
        return found

    def in_order(self, frame: list[Any]) -> list[Any]:
        """The arrays that are read, those with strides copied; what is no array is refused."""
        return [
            np.ascontiguousarray(x)
            if type(x) is np.ndarray and not (slot in self.over or x.flags.c_contiguous)
            else x
            for slot, x in zip(self.slots, self.get(frame), strict=True)
        ]

    def fixed(self, place: int, others: Sequence[Any]) -> Callable[..., Any]:
        """A way into the code that takes the input at `place`; the others stay, in order."""
        room = self.room()
        rest = [n for n in range(len(self.slots)) if n != place]
        for number, array in zip(rest, others, strict=True):
            room[0][1 + number] = address_of(array)
        return self.entry(room, [place], keeps=others)

    def of_one(self, slot: int, frame: list[Any]) -> Callable[[Any], Any] | None:
        """The one result as a function of the array in one slot, where the others stay.

        It gives None for what the code refuses.
        """
        if len(self.made) != 1 or self.over or self.slots.count(slot) != 1:
            return None
        if self.draws is not None or self.told or self.takes:
            return None
        place = self.slots.index(slot)
        fixed = [frame[s] for s in self.slots if s != slot]
        if not all(type(x) is np.ndarray and x.flags.c_contiguous for x in fixed):
            return None
        if not self.ready:
            self.prepare(None if s == slot else frame[s] for s in self.slots)
        if not self.ready:
            return None
        ((shape, dtype),), empty = self.made, np.empty
        free = [self.fixed(place, fixed)]

        def calling(x: Any) -> Any:
            out = empty(shape, dtype)
            try:
                enter = free.pop()
            except IndexError:
                enter = self.fixed(place, fixed)
            found = enter(x, out)
            free.append(enter)
            return out if found is None else None

        return calling


class Way:
    """A way into the code of a call, with the table and the arena of one thread.

    `enter` takes all inputs. `few`, where it is made, takes some: the others are those that the
    table had when `mark` was set, which says what they were.
    """

    __slots__ = ("enter", "few", "mark", "room")

    def __init__(self, room: Room, enter: Callable[..., Any]) -> None:
        self.room, self.enter = room, enter
        self.few: Any = None
        self.mark: object = None


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


def drawing(slots: list[int], place: int) -> Callable[[Any], Any]:
    """The same, with the run's first draw, or the generator's next, as an array."""
    pick = getter(slots)

    def picked(frame: Any) -> Any:
        found = list(pick(frame))
        draw = found[place]
        state = draw.get_state() if type(draw) is Generator else draw
        found[place] = np.array(state, np.uint64).view(np.int64)
        return found

    return picked


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
