"""One operator as machine code for operands of some sizes."""

import threading
from collections.abc import Callable, Sequence
from itertools import accumulate, compress
from typing import Any

import numpy as np

from scull.compiler.native import native_of
from scull.compiler.trace import Traced, Tracer
from scull.core.attribute import normalised
from scull.core.dtype import DType, float32
from scull.core.meta import Kind, Meta
from scull.core.op import Op, op_of
from scull.eager.prefer import Places, Preferring
from scull.errors import UnsupportedError
from scull.lang.arithmetic import numpy_dtype
from scull.lang.dtype import HALF
from scull.lang.expression import Array
from scull.runtime.entry import Argument, address_of, entry
from scull.runtime.line import aligned

FLOATS = ("float16", "bfloat16", "float32", "float64")


class Made:
    """One operator as machine code for operands of these metas."""

    def __init__(
        self, owner: Preferring, metas: list[Any], over: Places | None, attrs: dict[str, Any]
    ) -> None:
        self.plain = owner.by_numpy
        op, tracer = owner.op, Tracer()
        given = [each(tracer.given, x) for x in metas]
        kinds = op.kinds
        attrs = {n: normalised(kinds[n], n, v) if n in kinds else v for n, v in attrs.items()}
        results = traced(tracer, op, given, attrs)
        if any(isinstance(x, list) for x in results):
            raise UnsupportedError(f"`{op.name}` gives lists")
        if any(x is not None and x.meta.kind is Kind.ROWS for x in results):
            raise UnsupportedError(f"`{op.name}` gives rows")
        pairs = list(zip(results, over or (-1,) * len(results), strict=True))
        places = positions(given)
        values = {n: x.array for n, x in enumerate(flattened(given)) if isinstance(x, Traced)}
        fresh = [x.array for x, place in pairs if x is not None and place < 0]
        laid = [(x.array, values[places[place]]) for x, place in pairs if place >= 0]
        outputs = [*fresh, *(new for new, _ in laid)]
        self.native = native_of(
            tracer.statements, [*values.values()], outputs, [old for _, old in laid]
        )
        numbers = {array: n for n, array in values.items()}
        self.taken = [numbers[array] for array in self.native.inputs]
        self.over = frozenset(places[place] for _, place in pairs if place >= 0)
        self.apart = [x is not None and place < 0 for x, place in pairs]
        self.lists = any(type(x) is list for x in given)
        self.made = [(x.shape, numpy_dtype(x.dtype)) for x in self.native.outputs]
        self.present = [x is not None for x, _ in pairs]
        self.size = self.native.arena
        self.free = [self.way()]

    def way(self) -> tuple[Any, Any]:
        """A way into the code, for one thread at a time, and the table it uses."""
        native = self.native
        table = native.table.copy()
        arguments = [
            Argument(array.name, array.shape, dtype_of(array), 1 + n, writable)
            for n, (array, writable) in enumerate(
                [(x, i in self.over) for x, i in zip(native.inputs, self.taken, strict=True)]
                + [(x, True) for x in native.outputs]
            )
        ]
        status = 1 + len(arguments)
        return entry(
            native.library, native.name, table, arguments, status=status, keeps=(native,)
        ), table

    def __call__(self, operands: Sequence[Any], out: Any, attrs: dict[str, Any]) -> Any:
        every = flattened(operands) if self.lists else operands
        given = [every[n] for n in self.taken]
        if out is None:
            made = [np.empty(shape, dtype) for shape, dtype in self.made]
        else:
            results = out if type(out) is tuple else (out,)
            made = list(compress(results, self.apart))
        try:
            way = self.free.pop()
        except IndexError:  # other threads have them all
            way = self.way()
        enter, table = way
        if self.size:
            table[0] = room(self.size)
        found = enter(*given, *made)
        if found is not None and not self.over:  # arrays with strides, perhaps
            found = enter(*map(np.ascontiguousarray, given), *made)
        self.free.append(way)
        if found is not None:
            return self.plain(operands, out, attrs)
        if out is not None:
            return out
        if len(self.present) == 1:
            return made[0]
        fresh = iter(made)
        return tuple([next(fresh) if there else None for there in self.present])


def each(function: Callable[[Any], Any], operand: Any) -> Any:
    """What a function gives for a meta, or for each of a list; numbers stay."""
    if type(operand) is list:
        return [each(function, x) for x in operand]
    return function(operand) if isinstance(operand, Meta) else operand


def flattened(operands: Sequence[Any]) -> list[Any]:
    """Operands with those of lists among the others."""
    return [x for operand in operands for x in (operand if type(operand) is list else [operand])]


def positions(operands: Sequence[Any]) -> list[int]:
    """Where each operand begins among those that are flattened."""
    sizes = [len(x) if type(x) is list else 1 for x in operands]
    return [0, *accumulate(sizes)]


def traced(tracer: Tracer, op: Op, given: list[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """The results of an operator; one whose kernel widens half precision has float32 inside."""
    values = [x.meta for x in flattened(given) if isinstance(x, Traced)]
    kinds = {m.dtype for m in values if m.dtype.name in FLOATS}
    half = next((x for x in kinds if x.name in HALF), None)
    if half is None or not op.widens:
        return tracer.operator(op, given, attrs)
    if len(kinds) > 1:
        raise UnsupportedError(f"`{op.name}` of {' and '.join(sorted(x.name for x in kinds))}")

    def cast(x: Any, source: DType, target: DType) -> Any:
        if type(x) is list:
            return [cast(v, source, target) for v in x]
        if not isinstance(x, Traced) or x.meta.dtype is not source:
            return x
        return tracer.operator(op_of("cast"), [x], {"in_dtype": source, "out_dtype": target})[0]

    wide = tracer.operator(op, [cast(x, half, float32) for x in given], attrs)
    return tuple([cast(x, float32, half) for x in wide])


class Room(threading.local):
    """The memory of this thread for what lies between the kernels of one operator."""

    memory: Any = None
    size = address = 0


_room = Room()


def room(size: int) -> int:
    """The address of so many bytes, good until this thread asks for more."""
    if size > _room.size:
        _room.memory = aligned(size)
        _room.size, _room.address = size, address_of(_room.memory)
    return _room.address


def dtype_of(array: Array) -> Any:
    """NumPy's element type of an array: the one object that arrays share."""
    return np.empty(0, numpy_dtype(array.dtype)).dtype
