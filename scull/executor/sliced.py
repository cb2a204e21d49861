"""A plan for batches of any size: its regions compute slices of a few sizes, without copies.

A region is proved to compute every row of the batch by itself (`compiler.batch`), for few rows and
for as many as there may be: what holds wherever a row lies in a large batch, such as that it is not
cut off, holds in the smaller ones. Code is made for powers of two of rows, each when it is first
needed. A run goes through them: 13 rows are 8, 4 and 1. The last slice may begin within the one
before it, where that is less work: 15 rows are 8 and 8.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.batch import Batch, said, widths
from scull.compiler.trace import Statement
from scull.core.meta import Kind, Meta
from scull.core.op import MARK
from scull.errors import ArgumentError, UnsupportedError
from scull.executor.call import Call, Row, dtype_of, row_of
from scull.executor.compiled import part_of
from scull.executor.division import Division, Piece
from scull.executor.instruction import DRAW, whole
from scull.executor.run import run
from scull.flags import flag
from scull.lang.body import Map
from scull.lang.expression import Array

if TYPE_CHECKING:
    from scull.executor.plan import Plan

WITNESSES = (11, 65_537)  # rows that a plan is traced for, to see what it does with a row
LARGEST = 32  # rows of a slice
WASTE = 4  # the last slice may compute a part of its rows again: one in so many
USES = ("beyond", "always", "never")  # what BATCH_SLICES may be


@lru_cache(1024)
def slices(count: int) -> tuple[tuple[int, int], ...]:
    """Where the slices of so many rows begin, and how many each has: a power of two."""
    found, start = list[tuple[int, int]](), 0
    while start < count:
        rest = count - start
        size = min(1 << (rest.bit_length() - 1), LARGEST)
        twice = 2 * size
        if size < rest < twice <= min(count, LARGEST) and WASTE * (twice - rest) <= twice:
            start, size = count - twice, twice
        found.append((start, size))
        start += size
    return tuple(found)


class Fed:
    """Which of the values that a plan is fed are batches, and of which size they come."""

    def __init__(self, plan: "Plan") -> None:
        asked = flag("BATCH_SLICES")
        if asked not in USES:
            raise ArgumentError(f"BATCH_SLICES is {asked!r}: it is {', '.join(USES)}")
        self.always, self.refusal = asked == "always", ""
        dense = [(v, slot) for v, slot, _ in plan.feeds if v.kind is Kind.DENSE]
        self.slots = tuple(slot for v, slot in dense if v.meta.shape[:1] == (-1,))
        if asked == "never":
            self.refusal = "BATCH_SLICES is never"
        elif any(v.name.endswith(MARK) for v, _, _ in plan.feeds):
            self.refusal = "levels of detail are fed"
        elif not self.slots:
            self.refusal = "nothing that is fed has a first axis of unknown size"

    def count(self, frame: list[Any]) -> int:
        """The rows of the batch; 0: none, too many, or not as many in all that is fed."""
        found = {len(frame[slot]) for slot in self.slots}
        count = found.pop()
        return 0 if found or count > max(WITNESSES) else count


@dataclass(frozen=True)
class Alone:
    """A region that computes every row by itself: its number among the parts, what it says."""

    number: int
    like: Batch
    wide: tuple[int, ...]
    text: list[str]


def batch_of(piece: Piece, count: int) -> Batch:
    """What there is to prove of a region; UnsupportedError where there is no hope."""
    if DRAW in piece.region.given:
        raise UnsupportedError("random numbers are drawn by their place in the batch")
    made = {s.out: s.body for s in piece.region.tracer.statements if isinstance(s, Statement)}
    for new, old in zip(piece.over.values(), piece.old, strict=True):
        if new != old and not is_copy(made.get(new), old):
            raise UnsupportedError("a value of the scope is updated")
    if piece.takes:
        raise UnsupportedError("a list of tensors comes from outside")
    if piece.heights:
        raise UnsupportedError("a result is row-sparse")
    return Batch(count, piece.inputs, piece.region.tracer.statements)


def is_copy(body: Any, array: Array) -> bool:
    """Whether a body says that an array is what another one is."""
    return isinstance(body, Map) and body.value is array[body.axes]


class Sliced:
    """The steps of a plan for batches of any size, where all other sizes are the same.

    `refusal` tells why there are none; `reasons` why regions stay instructions.
    """

    def __init__(
        self,
        plan: "Plan",
        metas: Mapping[int, Meta],
        batches: Collection[int],
        *,
        threads: int = 0,
        fixed: Collection[int] = (),
    ) -> None:
        self.plan, self.metas, self.batches = plan, dict(metas), frozenset(batches)
        self.threads, self.fixed = threads, fixed
        self.steps: tuple[Row, ...] = ()
        self.sizes: frozenset[int] = frozenset()  # of slices for which there is code
        self.refusal, self.reasons = "", list[str]()
        self.task: Any = None  # that makes code in the background
        self._alone: list[Alone] = []
        self._regions: list[SlicedCall] = []
        self._lock = Lock()

    def has(self, count: int) -> bool:
        """Whether there is code for so many rows."""
        return bool(self.steps) and self.sizes.issuperset(size for _, size in slices(count))

    def make(self, count: int) -> None:
        """See to it that there is code for so many rows, or a refusal."""
        with self._lock:
            try:
                if not self._alone:
                    self.prove()
                for size in sorted({size for _, size in slices(count)} - self.sizes):
                    self._compile(size)
            except UnsupportedError as error:
                self.refusal = str(error)

    def _divided(self, count: int) -> Division:
        """The regions of a batch of so many rows."""
        metas = {
            slot: meta.with_shape((count, *meta.shape[1:])) if slot in self.batches else meta
            for slot, meta in self.metas.items()
        }
        return Division(self.plan, metas)

    def prove(self) -> None:
        """Find the regions that compute every row by itself; UnsupportedError if none does."""
        one, other = (self._divided(count) for count in WITNESSES)
        self.numbers = numbers_of(one)
        if numbers_of(other) != self.numbers:
            raise UnsupportedError("other batches have other regions")
        for number, pieces in enumerate(zip(one.parts, other.parts, strict=True)):
            if isinstance(pieces[0], Piece):
                try:
                    self._alone.append(alone(number, pieces))
                except UnsupportedError as error:
                    self.reasons.append(str(error))
        if not self._alone:
            raise UnsupportedError(self.reasons[0] if self.reasons else "it has no regions")
        self._regions = [
            SlicedCall(self.plan, part, each.wide)
            for each in self._alone
            if isinstance(part := one.parts[each.number], Piece)
        ]

    def _compile(self, size: int) -> None:
        """Make the code for slices of so many rows."""
        division = self._divided(size)
        if numbers_of(division) != self.numbers:
            raise UnsupportedError(f"a batch of {size} has other regions")
        calls = list[Call]()
        for each in self._alone:
            piece = division.parts[each.number]
            assert isinstance(piece, Piece)
            text = said(batch_of(piece, size), each.wide, each.like)
            for line, known, node in zip(text, each.text, each.like.nodes, strict=True):
                if line != known:
                    raise UnsupportedError(f"`{node.origin}` is another for a batch of {size}")
            part = part_of(self.plan, piece, self.fixed)
            if part is None:
                raise UnsupportedError("a region has no machine code")
            part.native.table[-1] = self.threads
            calls.append(Call(self.plan, part))
        for region, call in zip(self._regions, calls, strict=True):
            region.calls[size] = call
        self.steps = self.steps or self._rows(division, calls)
        self.sizes |= {size}

    def _rows(self, division: Division, calls: list[Call]) -> tuple[Row, ...]:
        """The steps as the loop takes them, whatever the size of the batch."""
        found, rest = list[Row](), dict(zip((e.number for e in self._alone), calls, strict=True))
        regions = iter(self._regions)
        for number, part in enumerate(division.parts):
            if number in rest:
                found.append((next(regions), whole, slice(0, 0), rest[number].part.frees))
            else:
                numbers = [part] if isinstance(part, int) else part.region.numbers
                found.extend(row_of(self.plan, n) for n in numbers)
        return tuple(found)

    def __str__(self) -> str:
        """What becomes of a batch of any size, and why."""
        if self.refusal:
            return f"every size of the batch has code of its own: {self.refusal}"
        text = f"a batch of any size is computed in slices of up to {LARGEST} rows"
        return "; but ".join([text, *self.reasons])


def told(plan: "Plan", metas: Mapping[int, Meta]) -> str:
    """What becomes of batches of further sizes, and why; nothing where no batch is fed."""
    fed = Fed(plan)
    if not fed.slots:
        return ""
    sliced = Sliced(plan, metas, fed.slots)
    sliced.refusal = fed.refusal
    if not fed.refusal:
        try:
            sliced.prove()
        except UnsupportedError as error:
            sliced.refusal = str(error)
    return str(sliced)


def numbers_of(division: Division) -> list[Any]:
    """The steps of each part."""
    return [p if isinstance(p, int) else (*p.region.numbers,) for p in division.parts]


def alone(number: int, pieces: tuple[Any, ...]) -> Alone:
    """The proof for a region, traced twice; UnsupportedError with the reason there is none."""
    one, other = (batch_of(p, count) for p, count in zip(pieces, WITNESSES, strict=True))
    wide = tuple(widths(one, other))
    known = dict(zip(one.arrays, wide, strict=True))
    for x, y in zip(*(p.outputs for p in pieces), strict=True):
        if x.shape != y.shape and not known[x]:
            raise UnsupportedError("a result has no elements")
    if not any(known[x] for x in one.given):
        raise UnsupportedError("it reads nothing of the batch")
    text, again = said(one, wide, one), said(other, wide, one)
    for line, also, node in zip(text, again, one.nodes, strict=True):
        if line != also:
            raise UnsupportedError(f"`{node.origin}` is another for another batch")
    return Alone(number, one, wide, text)


class SlicedCall:
    """A region as a step for a batch of any size: `calls` compute slices of theirs."""

    def __init__(self, plan: "Plan", piece: Piece, wide: tuple[int, ...]) -> None:
        self.plan, self.calls = plan, dict[int, Call]()
        self.rows = tuple(row_of(plan, number) for number in piece.region.numbers)
        known = dict(
            zip(Batch(0, piece.inputs, piece.region.tracer.statements).arrays, wide, strict=True)
        )
        self.wide = {slot: known[array] for array, slot in piece.slots.items() if known[array]}
        self.puts = piece.results
        made = piece.outputs[: len(piece.outputs) - len(piece.over)]
        self.made = [(known[x], x.shape[1:] if known[x] else x.shape, dtype_of(x)) for x in made]

    def __call__(self, frame: list[Any]) -> tuple[()]:
        slot, width = next(iter(self.wide.items()))
        count = len(frame[slot]) // width
        if any([len(frame[slot]) != width * count for slot, width in self.wide.items()]):
            run(self.plan, self.rows, frame)
            return ()
        made = [
            np.empty((width * count, *shape) if width else shape, dtype)
            for width, shape, dtype in self.made
        ]
        given: dict[int, Any] = {}
        for start, size in slices(count):
            call = self.calls[size]
            for slot in call.slots:
                if slot not in given:
                    given[slot] = np.ascontiguousarray(frame[slot])
            inputs = [part(given[slot], self.wide.get(slot, 0), start, size) for slot in call.slots]
            outputs = [
                part(x, width, start, size)
                for x, (width, _, _) in zip(made, self.made, strict=True)
            ]
            if call.enter(inputs, outputs) is not None:
                run(self.plan, self.rows, frame)  # which tells of an index out of range
                return ()
        for slot, array in zip(self.puts, made, strict=True):
            frame[slot] = array
        return ()


def part(array: Any, width: int, start: int, size: int) -> Any:
    """The rows of a slice, where an array has so many positions for each."""
    return array[start * width : (start + size) * width] if width else array
