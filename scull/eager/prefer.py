"""Eager mode on machine code: hot operators call kernels made for the sizes of their operands.

A kernel is made when an operator first meets operands of its sizes, which waits for it: a call that
is repeated gives the same bits, and so does a program that runs again. Where sizes keep changing an
operator soon makes few kernels: as many as its calls use often, and those for sizes that NumPy met
often. Small operands are for NumPy in any case, and always the same ones. In runs of a Program
whose own code is still to come nobody asks for kernels: they would not be used for long. The
compiler loads with the first kernel.
"""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from numpy import ndarray

from scull.core.dtype import bfloat16, bool_, float16, float32, float64, int32, int64
from scull.core.meta import Meta
from scull.core.op import REGISTRY, Op, meta_of
from scull.core.tensor import Stub
from scull.deferred import load
from scull.eager.threshold import LEAST, MOST
from scull.errors import ScullError
from scull.runtime.llvm import available

MOST_SIZES = 64  # of the operands of one operator, for which there is machine code
MOST_NEW = 16  # of them, beside one more for so many calls that had code
OFTEN = 64  # calls with other sizes that give them code, too
MOST_COUNTED = 1024  # sizes whose calls are counted
KINDS = (float16, bfloat16, float32, float64, int32, int64, bool_)
DTYPES = frozenset(kind.array for kind in KINDS)  # of its operands

Call = Callable[[Sequence[Any], Any, dict[str, Any]], Any]  # of operands, `out` and attributes
Places = tuple[int, ...]  # for each result the operand it is written over, or -1


def follow(mode: str) -> None:
    """Let eager mode prefer machine code, unless the mode is `off`."""
    names = {} if mode == "off" else LEAST
    Op.preferred = dict.fromkeys(names, prefer)
    for op in [REGISTRY[name] for name in LEAST if name in REGISTRY]:
        if op.short is op.eager:
            op.short = op.cpu
        op.eager, op.least = op.cpu, sys.maxsize
        if names:
            prefer(op)


def prefer(op: Op) -> None:
    """Let eager mode prefer machine code to the kernel of an operator."""
    op.eager, op.least = preferring(op), LEAST[op.name]
    if op.short is op.cpu and len(op.inputs) > 1:
        op.short = op.eager


@cache
def preferring(op: Op) -> "Preferring":
    """The one kernel of its kind, with the machine code it has by now."""
    return Preferring(op, LEAST[op.name])


class Preferring:
    """The kernel of an operator that has machine code where an operand has `least` elements."""

    def __init__(self, op: Op, least: int) -> None:
        self.op, self.least = op, least
        self.most = MOST.get(op.name, sys.maxsize)
        self.known: dict[Any, Call] = {}
        self.spent = 0  # calls with code that are needed to pay for what new sizes got
        self.counts: dict[Any, int] = {}  # of calls with sizes beyond as many as may be new

    def __call__(self, *operands: Any, out: Any = None, **attrs: Any) -> Any:
        for x in operands:
            if type(x) is ndarray and x.size >= self.least:
                break
        else:
            return self.by_numpy(operands, out, attrs)
        key = key_of(operands, out, attrs)
        call = self.known.get(key)
        if call is None:
            call = self.new(key, operands, attrs)
        elif self.spent:
            self.spent -= 1
        return call(operands, out, attrs)

    def by_numpy(self, operands: Sequence[Any], out: Any, attrs: dict[str, Any]) -> Any:
        """What NumPy gives."""
        if out is None:
            return self.op.cpu(*operands, **attrs)
        return self.op.cpu(*operands, out=out, **attrs)

    def new(self, key: Any, operands: Sequence[Any], attrs: dict[str, Any]) -> Call:
        """The call for operands of sizes not met before."""
        if key is None or _asking.nothing or len(self.known) >= MOST_SIZES:
            return self.by_numpy
        if any(x.size > self.most for x in operands if type(x) is ndarray):
            return self.by_numpy
        if not available() or not self.pays_off(key):
            return self.by_numpy
        metas = [metas_of(x) for x in operands]
        self.known[key] = self.made(metas, key[1], attrs)
        return self.known[key]

    def pays_off(self, key: Any) -> bool:
        """Whether code for new sizes is likely to be used often."""
        if self.spent <= MOST_NEW * (MOST_NEW - 1):
            self.spent += MOST_NEW
            return True
        count = self.counts.pop(key, 0) + 1
        if count < OFTEN and len(self.counts) < MOST_COUNTED:
            self.counts[key] = count
        return count >= OFTEN

    def made(self, metas: list[Any], over: Places | None, attrs: dict[str, Any]) -> Call:
        """A call of machine code; of NumPy where there can be none."""
        try:
            call: Call = load("scull.eager.native", "Made")(self, metas, over, attrs)
            return call
        except Exception as error:
            if not isinstance(error, ScullError):
                warnings.warn(f"{self.op.name}: no machine code, {error!r}", stacklevel=2)
            return self.by_numpy


def metas_of(operand: Any) -> Any:
    """What is known of an operand, of each of a list; a number as it is."""
    if type(operand) is list:
        return [meta_of(x) for x in operand]
    return meta_of(operand) if hasattr(operand, "shape") else operand


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
        elif type(x) is list and all(type(v) is ndarray and v.dtype in DTYPES for v in x):
            sizes.append(tuple([(v.shape, v.dtype) for v in x]))
        else:
            return None
    over = None
    if out is not None:
        over = places_of(out if type(out) is tuple else (out,), operands)
    try:
        values = tuple([(n, tuple(v) if type(v) is list else v) for n, v in attrs.items()])
        key = (tuple(sizes), over, values)
        hash(key)
    except TypeError:
        return None
    return key


def places_of(results: Sequence[Any], operands: Sequence[Any]) -> Places:
    """Which operand each result is written over; -1: none."""
    given = [id(x) for x in operands]
    return tuple([given.index(id(o)) if id(o) in given and o is not None else -1 for o in results])


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
