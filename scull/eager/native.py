"""Eager mode on machine code: hot operators call kernels made for the sizes of their operands.

With COMPILE `eager` a kernel is made when an operator first meets operands of its sizes; with
`tiered` it is made in the background, and NumPy answers up to call CODE_FROM_RUN for these sizes,
which waits for it. So a program gives the same bits in every run. Small operands are for NumPy in
any case, and always the same ones. In runs of a Program whose own code is still to come nobody asks
for kernels: they would not be used for long.
"""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
from numpy import ndarray

from scull.compiler.arena import aligned
from scull.compiler.native import native_of
from scull.compiler.trace import Traced, Tracer
from scull.core.attribute import normalised
from scull.core.dtype import DType, float32
from scull.core.meta import Kind, Meta
from scull.core.op import Op, by_name, meta_of, op_of
from scull.core.tensor import Stub
from scull.eager.threshold import LEAST, MOST
from scull.errors import ScullError, UnsupportedError
from scull.flags import flag
from scull.lang.arithmetic import numpy_dtype
from scull.lang.dtype import HALF
from scull.lang.expression import Array
from scull.runtime import llvm
from scull.runtime.background import READY, Task, background
from scull.runtime.entry import Argument, address_of, entry

MOST_SIZES = 64  # of the operands of one operator, for which there is machine code
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = frozenset(map(numpy_dtype, (*FLOATS, "int32", "int64", "bool")))  # of its operands

Call = Callable[[Sequence[Any], Any, dict[str, Any]], Any]  # of operands, `out` and attributes
Places = tuple[int, ...]  # for each result the operand it is written over, or -1


def follow(mode: str) -> None:
    """Let eager mode prefer machine code, unless the mode is `off`."""
    wanted = mode != "off" and llvm.available()
    for name, least in LEAST.items():
        op = by_name()[name]
        found = preferring(op, least) if wanted else op.cpu
        if op.short is op.eager:
            op.short = found
        op.eager = found


@cache
def preferring(op: Op, least: int) -> "Preferring":
    """The one kernel of its kind, with the machine code it has by now."""
    return Preferring(op, least)


class Preferring:
    """The kernel of an operator that has machine code where an operand has `least` elements."""

    def __init__(self, op: Op, least: int) -> None:
        self.op, self.plain, self.least = op, op.cpu, least
        self.most = MOST.get(op.name, sys.maxsize)
        self.known: dict[Any, Call] = {}
        self.tasks: dict[Any, Task[Call]] = {}
        self.calls: dict[Any, int] = {}  # by then of what is made

    def __call__(self, *operands: Any, out: Any = None, **attrs: Any) -> Any:
        for x in operands:
            if type(x) is ndarray and x.size >= self.least:
                break
        else:
            return self.by_numpy(operands, out, attrs)
        key = key_of(operands, out, attrs)
        call = self.known.get(key) or self.new(key, operands, attrs)
        return call(operands, out, attrs)

    def by_numpy(self, operands: Sequence[Any], out: Any, attrs: dict[str, Any]) -> Any:
        """What NumPy gives."""
        if out is None:
            return self.plain(*operands, **attrs)
        return self.plain(*operands, out=out, **attrs)

    def new(self, key: Any, operands: Sequence[Any], attrs: dict[str, Any]) -> Call:
        """The call for operands of sizes not met before, or whose code is still made."""
        if key is None or _asking.nothing or len(self.known) >= MOST_SIZES:
            return self.by_numpy
        if any(x.size > self.most for x in operands if type(x) is ndarray):
            return self.by_numpy
        task = self.tasks.get(key)
        if task is None:
            metas = [meta_of(x) if hasattr(x, "shape") else x for x in operands]
            make = partial(self.made, metas, key[1], attrs)
            if flag("COMPILE") == "eager":
                self.known[key] = make()
                return self.known[key]
            task = self.tasks[key] = background().submit(self.op.name, make)
        return self.known[key] if self.ready(key, task) else self.by_numpy

    def ready(self, key: Any, task: Task[Call]) -> bool:
        """Whether a task has ended, whose call is known then; the last call before it waits."""
        first = flag("CODE_FROM_RUN")
        calls = self.calls[key] = self.calls.get(key, 0) + 1
        if calls < first or not (task.wait() if first else task.ended):
            return False
        self.known[key] = task.result if task.state == READY else self.by_numpy
        self.tasks.pop(key, None)
        self.calls.pop(key, None)
        return True

    def made(self, metas: list[Any], over: Places | None, attrs: dict[str, Any]) -> Call:
        """A call of machine code; of NumPy where there can be none."""
        try:
            return Made(self, metas, over, attrs)
        except Exception as error:
            if not isinstance(error, ScullError):
                warnings.warn(f"{self.op.name}: no machine code, {error!r}", stacklevel=2)
            return self.by_numpy


def key_of(operands: Sequence[Any], out: Any, attrs: dict[str, Any]) -> Any:
    """What a kernel is made for: sizes, what results are written over, attributes.

    None where there is no machine code for operands of such kinds.
    """
    sizes: list[Any] = []
    for x in operands:
        if type(x) is ndarray:
            if x.dtype not in DTYPES:
                return None
            sizes.append((x.shape, x.dtype))
        elif x is None or type(x) in (float, int, bool):
            sizes.append((type(x), x))
        elif isinstance(x, Stub | Meta):
            sizes.append((tuple(x.shape), str(x.dtype)))
        else:
            return None
    over = None
    if out is not None:
        results = out if type(out) is tuple else (out,)
        over = tuple([place_of(o, operands) for o in results])
    try:
        values = tuple([(n, tuple(v) if type(v) is list else v) for n, v in attrs.items()])
        key = (tuple(sizes), over, values)
        hash(key)
    except TypeError:
        return None
    return key


def place_of(result: Any, operands: Sequence[Any]) -> int:
    """Which operand a result is written over; -1: none."""
    places = (i for i, x in enumerate(operands) if x is result and x is not None)
    return next(places, -1)


class Made:
    """One operator as machine code for operands of these metas."""

    def __init__(
        self, owner: Preferring, metas: list[Any], over: Places | None, attrs: dict[str, Any]
    ) -> None:
        self.plain = owner.by_numpy
        op, tracer = owner.op, Tracer()
        given = [tracer.given(x) if isinstance(x, Meta) else x for x in metas]
        kinds = op.kinds
        attrs = {n: normalised(kinds[n], n, v) if n in kinds else v for n, v in attrs.items()}
        results = traced(tracer, op, given, attrs)
        if any(isinstance(x, list) for x in results):
            raise UnsupportedError(f"`{op.name}` gives lists")
        if any(x is not None and x.meta.kind is Kind.ROWS for x in results):
            raise UnsupportedError(f"`{op.name}` gives rows")
        pairs = list(zip(results, over or (-1,) * len(results), strict=True))
        values = {n: x.array for n, x in enumerate(given) if isinstance(x, Traced)}
        fresh = [x.array for x, place in pairs if x is not None and place < 0]
        laid = [(x.array, values[place]) for x, place in pairs if place >= 0]
        outputs = [*fresh, *(new for new, _ in laid)]
        self.native = native_of(
            tracer.statements, [*values.values()], outputs, [old for _, old in laid]
        )
        numbers = {array: n for n, array in values.items()}
        self.taken = [numbers[array] for array in self.native.inputs]
        self.over = frozenset(place for _, place in pairs if place >= 0)
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
        given = [operands[n] for n in self.taken]
        if out is None:
            made = [np.empty(shape, dtype) for shape, dtype in self.made]
        else:
            results = out if type(out) is tuple else (out,)
            made = [x for x in results if place_of(x, operands) < 0 and x is not None]
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


def traced(tracer: Tracer, op: Op, given: list[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """The results of an operator; one whose kernel widens half precision has float32 inside."""
    kinds = {x.meta.dtype for x in given if isinstance(x, Traced) and x.meta.dtype.name in FLOATS}
    half = next((x for x in kinds if x.name in HALF), None)
    if half is None or not op.widens:
        return tracer.operator(op, given, attrs)
    if len(kinds) > 1:
        raise UnsupportedError(f"`{op.name}` of {' and '.join(sorted(x.name for x in kinds))}")

    def cast(x: Any, source: DType, target: DType) -> Any:
        if not isinstance(x, Traced) or x.meta.dtype is not source:
            return x
        return tracer.operator(op_of("cast"), [x], {"in_dtype": source, "out_dtype": target})[0]

    wide = tracer.operator(op, [cast(x, half, float32) for x in given], attrs)
    return tuple([cast(x, float32, half) for x in wide])


class Asking(threading.local):
    """Whether this thread asks for no machine code."""

    nothing = False


_asking = Asking()


@contextmanager
def asking_nothing() -> Iterator[None]:
    """Operators in this thread use what machine code there is, and ask for no more."""
    before, _asking.nothing = _asking.nothing, True
    try:
        yield
    finally:
        _asking.nothing = before


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
