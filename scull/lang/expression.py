"""Expressions: what one element of a result is.

A node never changes and is the only one of its kind: an equal one made again is the same object, so
`is` compares whole expressions and a dictionary finds what was computed already. A node has a
`dtype`, `operands` and `free`, the axes it varies with; `parts`, all nodes below it, is noted when
somebody first asks. There are six kinds of nodes, and that is all a compiler has to know.
"""

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TypeAlias, Union
from weakref import WeakValueDictionary

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from scull.lang.dtype import element
from scull.lang.operation import result_dtype

Number: TypeAlias = bool | int | float
Operand: TypeAlias = Union["Expression", Number]

_made: WeakValueDictionary[object, "Expression"] = WeakValueDictionary()
_lock = threading.Lock()
_numbers = itertools.count()


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Expression:
    """A value of one dtype for each position of its free axes."""

    dtype: str
    operands: tuple["Expression", ...]
    free: frozenset["Axis"] = field(init=False, repr=False)
    parts: tuple["Expression", ...] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        free: frozenset[Axis] = frozenset()
        for x in self.operands:
            if x.free is not free:  # most operands share theirs
                free = free | x.free if free else x.free
        object.__setattr__(self, "free", free)

    def __add__(self, other: Operand) -> "Expression":
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> "Expression":
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> "Expression":
        return apply("subtract", self, other)

    def __rsub__(self, other: Operand) -> "Expression":
        return apply("subtract", other, self)

    def __mul__(self, other: Operand) -> "Expression":
        return apply("multiply", self, other)

    def __rmul__(self, other: Operand) -> "Expression":
        return apply("multiply", other, self)

    def __truediv__(self, other: Operand) -> "Expression":
        return apply("divide", self, other)

    def __rtruediv__(self, other: Operand) -> "Expression":
        return apply("divide", other, self)

    def __floordiv__(self, other: Operand) -> "Expression":
        return apply("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> "Expression":
        return apply("floor_divide", other, self)

    def __mod__(self, other: Operand) -> "Expression":
        return apply("remainder", self, other)

    def __rmod__(self, other: Operand) -> "Expression":
        return apply("remainder", other, self)

    def __pow__(self, other: Operand) -> "Expression":
        return apply("power", self, other)

    def __rpow__(self, other: Operand) -> "Expression":
        return apply("power", other, self)

    def __and__(self, other: Operand) -> "Expression":
        return apply("and", self, other)

    def __rand__(self, other: Operand) -> "Expression":
        return apply("and", other, self)

    def __or__(self, other: Operand) -> "Expression":
        return apply("or", self, other)

    def __ror__(self, other: Operand) -> "Expression":
        return apply("or", other, self)

    def __xor__(self, other: Operand) -> "Expression":
        return apply("xor", self, other)

    def __rxor__(self, other: Operand) -> "Expression":
        return apply("xor", other, self)

    def __lshift__(self, other: Operand) -> "Expression":
        return apply("shift_left", self, other)

    def __rshift__(self, other: Operand) -> "Expression":
        return apply("shift_right", self, other)

    def __lt__(self, other: Operand) -> "Expression":
        return apply("less", self, other)

    def __le__(self, other: Operand) -> "Expression":
        return apply("less_equal", self, other)

    def __gt__(self, other: Operand) -> "Expression":
        return apply("less", other, self)

    def __ge__(self, other: Operand) -> "Expression":
        return apply("less_equal", other, self)

    def __neg__(self) -> "Expression":
        return apply("negative", self)

    def __abs__(self) -> "Expression":
        return apply("absolute", self)

    def __invert__(self) -> "Expression":
        return apply("not", self)

    def __bool__(self) -> bool:
        raise ArgumentTypeError(
            "an expression is true or false for each element: write `&`, `|`, `~` or `select`"
        )


@dataclass(frozen=True, eq=False, slots=True)
class Constant(Expression):
    """One number, rounded to its dtype."""

    value: Number


@dataclass(frozen=True, eq=False, slots=True)
class Axis(Expression):
    """The positions 0 .. size - 1, as an int64; two axes of one size are different axes."""

    size: int
    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "free", frozenset((self,)))


@dataclass(frozen=True, eq=False, slots=True)
class Load(Expression):
    """The element of `array` at the position its operands give."""

    array: "Array"


@dataclass(frozen=True, eq=False, slots=True)
class Apply(Expression):
    """An operation of the table in `operation.py` on the operands."""

    operation: str


@dataclass(frozen=True, eq=False, slots=True)
class Guard(Expression):
    """`(condition, value, otherwise)`: a select that computes and reads only what it chooses."""


@dataclass(frozen=True, eq=False, slots=True)
class Reduce(Expression):
    """A left fold of its operand over `axes`, the last running fastest."""

    operation: str
    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        free = self.operands[0].free - frozenset(self.axes)
        object.__setattr__(self, "free", free)


@dataclass(frozen=True)
class Array:
    """A named array in memory, contiguous in rows."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance, in elements, between neighbours along each axis."""
        inner = itertools.accumulate(reversed(self.shape[1:]), lambda x, y: x * y, initial=1)
        return tuple(reversed(list(inner)))[-len(self.shape) :] if self.shape else ()

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return prod(self.shape)

    def __getitem__(self, index: Operand | tuple[Operand, ...]) -> Expression:
        """The element at `index`: one integer expression for each axis."""
        places = index if isinstance(index, tuple) else (index,)
        if len(places) != len(self.shape):
            raise ShapeError(f"`{self.name}` has {self.ndim} axes and the index {len(places)}")
        operands = tuple(position(place) for place in places)
        return only(Load, self.dtype, operands, self)


def only(
    kind: Callable[..., Expression],
    dtype: str,
    operands: tuple[Expression, ...],
    *content: object,
) -> Expression:
    """The one node of a kind with this content: the equal one made before, or a new one."""
    return _one((kind, dtype, operands, *content), kind, dtype, operands, *content)


def _one(key: object, kind: Callable[..., Expression], *parts: object) -> Expression:
    found = _made.get(key)
    if found is None:
        with _lock:
            found = _made.setdefault(key, kind(*parts))
    return found


def rounded(value: Number, dtype: str) -> Number:
    """`value` as an element of `dtype`, in a Python number; what does not fit is an error."""
    facts = element(dtype)
    if isinstance(value, (bool, np.bool_)):
        if facts.kind != "bool":
            raise DtypeError(f"{value} is a bool and its neighbour is {dtype}")
        return bool(value)
    if facts.kind == "float" and isinstance(value, (int, float, np.number)):
        return round_float(float(value), dtype)
    if facts.kind == "integer" and isinstance(value, (int, np.integer)):
        if not facts.lowest <= value <= facts.highest:
            raise ArgumentError(f"{value} is outside {dtype}")
        return int(value)
    raise DtypeError(f"{value!r} is no {dtype}: `cast` its neighbour")


def round_float(value: float, dtype: str) -> float:
    """`value` rounded once, to nearest and ties to even."""
    if dtype == "float64":
        return value
    with np.errstate(over="ignore"):
        if dtype != "bfloat16":
            return float(np.dtype(dtype).type(value))
        single = np.float32(value)
        if np.isfinite(single) and float(single) != value:  # round to odd, so that it rounds once
            down = np.nextafter(single, np.float32(0)) if abs(single) > abs(value) else single
            single = np.uint32(down.view(np.uint32) | 1).view(np.float32)
        if not np.isfinite(single):
            return float(single)
        bits = int(single.view(np.uint32))
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        return float(np.uint32(bits).view(np.float32))


def constant(value: Number, dtype: str) -> Expression:
    """A number of a dtype."""
    return _integer(value, dtype) if type(value) is int else _number(value, dtype)


@lru_cache(maxsize=4096)
def _integer(value: int, dtype: str) -> Expression:
    return _number(value, dtype)


def _number(value: Number, dtype: str) -> Expression:
    kept = rounded(value, dtype)
    return _one((Constant, dtype, repr(kept)), Constant, dtype, (), kept)  # zeros told apart


def axis(size: int) -> Axis:
    """A new axis to reduce over."""
    if size < 0:
        raise ArgumentError(f"an axis has {size} positions")
    return Axis("int64", (), int(size), next(_numbers))


def operand(value: Operand, dtype: str) -> Expression:
    """`value` itself, or a number in its neighbour's dtype."""
    return value if isinstance(value, Expression) else constant(value, dtype)


def position(place: Operand) -> Expression:
    """An index as int64."""
    if not isinstance(place, Expression):
        return constant(place, "int64")
    if element(place.dtype).kind != "integer":
        raise DtypeError(f"an index is an integer, not {place.dtype}")
    return cast(place, "int64")


def operands_of(values: Sequence[Operand]) -> tuple[Expression, ...]:
    """The values as expressions; numbers take the dtype of the first expression."""
    for value in values:
        if isinstance(value, Expression):
            return tuple([operand(each, value.dtype) for each in values])
    raise ArgumentTypeError(
        "one of the operands has to be an expression: name a dtype by `constant`"
    )


def apply(operation: str, *values: Operand) -> Expression:
    """An operation on expressions and numbers."""
    if operation in ("select", "pick"):
        operands = (operand(values[0], "bool"), *operands_of(values[1:]))
    else:
        operands = operands_of(values)
    dtype = result_dtype(operation, tuple(x.dtype for x in operands))
    simple = _simplified(operation, operands, dtype)
    return only(Apply, dtype, operands, operation) if simple is None else simple


def cast(x: Expression, dtype: str) -> Expression:
    """`x` in another dtype; floats to integers truncate, keep within its range, and NaN gives 0."""
    element(dtype)
    if x.dtype == dtype:
        return x
    if isinstance(x, Constant) and element(x.dtype).kind == "integer" == element(dtype).kind:
        return constant(_wrapped(int(x.value), dtype), dtype)
    return only(Apply, dtype, (x,), "cast")


def bitcast(x: Expression, dtype: str) -> Expression:
    """The same bits read as another dtype of the same size."""
    if element(x.dtype).bits != element(dtype).bits or "bool" in (x.dtype, dtype):
        raise DtypeError(f"the bits of {x.dtype} are no {dtype}")
    return x if x.dtype == dtype else only(Apply, dtype, (x,), "bitcast")


def guarded(condition: Expression, value: Expression, otherwise: Operand) -> Expression:
    """`value` where the condition holds; elsewhere `otherwise`, and nothing of `value` is read."""
    other = operand(otherwise, value.dtype)
    dtype = result_dtype("select", (condition.dtype, value.dtype, other.dtype))
    return only(Guard, dtype, (condition, value, other))


def with_operands(node: Expression, operands: tuple[Expression, ...]) -> Expression:
    """The same node over other operands of the same dtypes."""
    if operands == node.operands:
        return node
    match node:
        case Load(array=array):
            return only(Load, node.dtype, operands, array)
        case Apply(operation=operation):
            return only(Apply, node.dtype, operands, operation)
        case Reduce(operation=operation, axes=axes):
            return only(Reduce, node.dtype, operands, operation, axes)
        case _:
            assert isinstance(node, Guard)
            return only(Guard, node.dtype, operands)


def _wrapped(value: int, dtype: str) -> int:
    """An integer of any size as its low bits are in `dtype`."""
    facts = element(dtype)
    low = value & ((1 << facts.bits) - 1)
    return low - (1 << facts.bits) if facts.signed and low >> (facts.bits - 1) else low


_FOLD = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
}


def _simplified(operation: str, operands: tuple[Expression, ...], dtype: str) -> Expression | None:
    """The short form of integer arithmetic with constants, so that positions read well."""
    if operation not in ("add", "subtract", "multiply", "floor_divide") or dtype[0] not in "iu":
        return None
    x, y = operands
    a = x.value if isinstance(x, Constant) else None
    b = y.value if isinstance(y, Constant) else None
    if a is not None and b is not None and operation in _FOLD:
        return constant(_wrapped(int(_FOLD[operation](a, b)), dtype), dtype)
    if operation == "multiply" and (a == 0 or b == 0):
        return constant(0, dtype)
    neutral = 0 if operation in ("add", "subtract") else 1
    if b == neutral:
        return x
    return y if a == neutral and operation in ("add", "multiply") else None
