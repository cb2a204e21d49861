"""What a loop or a branch kept for its gradient, outside the region that did.

It lies where the code put it until nobody holds it. Code of another region reads it there; to
instructions it is the rows that they would have kept themselves.
"""

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from scull.compiler.act import Hand
from scull.compiler.flow import Stack
from scull.compiler.row import LAST, ROOM, offsets, release
from scull.compiler.scan import Scanner
from scull.compiler.trace import Traced
from scull.core.dtype import of_name
from scull.core.meta import Kind, Meta
from scull.core.tensor import stub
from scull.errors import UnsupportedError
from scull.executor.block import Perhaps
from scull.executor.inline import PLACE, Kept, Shape, Unread, arrays_in
from scull.executor.listed import WORDS
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Array

IN_ROW = Meta(PLACE[0], of_name(PLACE[1]))  # what a stack in a row of another is told by
HELD = 2  # which of the words of a stack that left tells of its memory


@dataclass(frozen=True)
class Dense:
    """An array that was kept, and the array that tells whether it is there, where it may not be."""

    meta: Meta
    there: Meta | None = None
    count = 2  # arrays where it may not be there

    def laid(self, value: Any) -> Sequence[Any] | None:
        """The arrays of a value outside, which may not be there; None where it is no such one."""
        assert self.there is not None
        shape, dtype = tuple(self.meta.shape), self.meta.dtype.array
        if value is None:
            return np.zeros(shape, dtype), np.zeros(self.there.shape, bool)
        if type(value) is not np.ndarray or value.shape != shape or value.dtype != dtype:
            return None
        return value, np.ones(self.there.shape, bool)

    def taken(self, tracer: Scanner) -> Perhaps:
        """Such a value that comes into a region."""
        found: Perhaps = kept_as(self, tracer, WORDS)
        return found


@dataclass(frozen=True)
class Form:
    """What runs of a block kept, without its values: of each None, a Shape, a Dense or a Form.

    A block that `repeats` has rows of them; another has one where its condition holds, if it has
    one.
    """

    saved: tuple[Any, ...]
    repeats: bool
    condition: Meta | None

    @cached_property
    def number(self) -> int:
        """A number that equal ones share."""
        return hash((self.saved, self.repeats, self.condition))

    def __hash__(self) -> int:
        return self.number

    @cached_property
    def metas(self) -> tuple[Meta, ...]:
        """What arrays it is outside a region, where the words of a stack tell of its memory too."""
        return tuple(metas_of(self, WORDS))

    @property
    def count(self) -> int:
        """How many these are."""
        return len(self.metas)

    @cached_property
    def stacks(self) -> tuple[int, ...]:
        """Which of them tell where a stack lies."""
        return tuple(n for n, meta in enumerate(metas_of(self, None)) if meta is None)

    @cached_property
    def fields(self) -> tuple[list[tuple[int, tuple[int, ...], Any]], int]:
        """Where in a row each array lies, its shape and type; how long a row is."""
        arrays = [
            Array(str(n), tuple(meta.shape), meta.dtype.name)
            for n, meta in enumerate(m for x in self.saved for m in metas_of(x, IN_ROW))
        ]
        found, size = offsets(Stack(Array("place", (), "int64"), tuple(arrays)))
        return [(found[x], x.shape, np.dtype(numpy_dtype(x.dtype))) for x in arrays], size

    def laid(self, value: Any) -> Sequence[Any] | None:
        """The arrays of a value outside; None where it is no such one."""
        if type(value) is not Keeping or not (value.form is self or value.form == self):
            return None
        return value.arrays

    def taken(self, tracer: Scanner) -> Kept:
        """Such a value that comes into a region."""
        found: Kept = kept_as(self, tracer, WORDS)
        return found


def metas_of(form: Any, place: Any) -> Iterator[Any]:
    """What arrays a form is; `place` stands for the words of a stack."""
    if isinstance(form, Dense):
        yield form.meta
        if form.there is not None:
            yield form.there
    elif isinstance(form, Form):
        if form.repeats:
            yield place
            return
        if form.condition is not None:
            yield form.condition
        for x in form.saved:
            yield from metas_of(x, place)


def kept_as(form: Any, tracer: Scanner, place: Meta) -> Any:
    """A value of a form, of new arrays of a region; `place` is what stacks are told by."""

    def array(meta: Meta) -> Array:
        return tracer.given(meta).array

    if isinstance(form, Dense):
        if form.there is None:
            return tracer.given(form.meta)
        return Perhaps(form.meta, array(form.meta), array(form.there))
    if not isinstance(form, Form):
        return form
    if form.repeats:
        saved = tuple(kept_as(x, tracer, IN_ROW) for x in form.saved)
        fields = tuple(x for value in saved for x in arrays_in(value))
        return Kept(saved, None, Stack(array(place), fields))
    condition = None if form.condition is None else array(form.condition)
    return Kept(tuple(kept_as(x, tracer, place) for x in form.saved), condition)


# ---- what leaves a region ----


@dataclass(frozen=True)
class Handed:
    """What a block kept as it leaves its region: the arrays that tell of it."""

    form: Form
    arrays: tuple[Array, ...]


def handed(kept: Kept, tracer: Scanner) -> Handed:
    """What a block kept, as it leaves the region; UnsupportedError where it cannot."""
    form = form_of(kept)
    return Handed(form, tuple(leaving(kept, tracer)))


def leaving(value: Any, tracer: Scanner) -> Iterator[Array]:
    """The arrays that tell outside of what was kept."""
    if isinstance(value, Kept) and value.stack is not None:
        words = tracer.given(WORDS).array
        tracer.statements.append(Hand(tracer.origin, value.stack.place, words))
        yield words
    elif isinstance(value, Kept):
        if value.condition is not None:
            yield value.condition
        for x in value.saved:
            yield from leaving(x, tracer)
    else:
        yield from arrays_in(value)


def form_of(value: Any) -> Any:
    """The form of what was kept; UnsupportedError where it has none."""
    if isinstance(value, Kept):
        condition = None if value.condition is None else meta_of(value.condition)
        return Form(tuple(map(form_of, value.saved)), value.stack is not None, condition)
    if isinstance(value, Perhaps):
        return Dense(value.meta, meta_of(value.there))
    if isinstance(value, Traced):
        return Dense(value.meta)
    if value is None or (isinstance(value, Shape) and not isinstance(value, Unread)):
        return value
    raise UnsupportedError("what its block keeps cannot leave a region")


def meta_of(array: Array) -> Meta:
    """The shape and type of an array."""
    return Meta(array.shape, of_name(array.dtype))


class Keeping:
    """What a block kept, where code put it, which is free again when nobody holds this."""

    __slots__ = ("__weakref__", "arrays", "form", "release")

    def __init__(self, form: Form, arrays: Sequence[Any]) -> None:
        self.form, self.arrays, self.release = form, arrays, release()

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        for number in () if ending() else self.form.stacks:
            self.release(self.arrays[number].item(HELD))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("what machine code kept has one owner: it is neither copied nor pickled")

    def __reversed__(self) -> Iterator[tuple[Any, ...]]:
        """What each run kept as instructions keep it, the last first."""
        return last_first(self.form, self.arrays)


def last_first(form: Form, arrays: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """What each run of a block kept, the last first, of the arrays that it is outside."""
    if not form.repeats:
        given = iter(arrays)
        if form.condition is None or next(given).item():
            yield values_of(form, given)
        return
    fields, size = form.fields
    piece, rows, *_ = arrays[0].tolist()
    while piece:
        for number in reversed(range(rows)):
            at = piece + number * size
            yield values_of(form, (copied(at + far, shape, dtype) for far, shape, dtype in fields))
        piece, rows = word(piece + LAST), word(piece + ROOM) // 2


def values_of(form: Form, arrays: Iterator[Any]) -> tuple[Any, ...]:
    """What one run kept, of the arrays that it is."""
    return tuple([value_of(x, list(islice(arrays, count_of(x)))) for x in form.saved])


def value_of(form: Any, arrays: list[Any]) -> Any:
    """A value as instructions keep it."""
    if isinstance(form, Shape):
        return [] if form.meta.kind is Kind.ARRAY else shaped(form.meta)
    if isinstance(form, Dense):
        return arrays[0] if form.there is None or arrays[1].item() else None
    return form and [*last_first(form, arrays)][::-1]


def count_of(form: Any) -> int:
    """How many arrays a form is."""
    return sum(1 for _ in metas_of(form, None))


def shaped(meta: Meta) -> Any:
    """An array without elements of its own."""
    return stub(np.broadcast_to(np.zeros((), meta.dtype.array), meta.shape))


def copied(address: int, shape: Iterable[int], dtype: Any) -> Any:
    """A copy of an array that lies at an address."""
    found = np.empty(tuple(shape), dtype)
    ctypes.memmove(found.ctypes.data, address, found.nbytes)
    return found


def word(address: int) -> int:
    """A number at an address."""
    return ctypes.c_int64.from_address(address).value
