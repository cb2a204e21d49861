"""Kinds of attributes: how a Python value is normalised, and how it stands in a Program."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NewType

from scull.core.dtype import DType, dtype_of
from scull.errors import ArgumentTypeError

Long = NewType("Long", int)
Double = NewType("Double", float)
Scalar = NewType("Scalar", float)
Dtype = NewType("Dtype", DType)
DtypeLong = NewType("DtypeLong", DType)
Body = NewType("Body", object)
Bodies = NewType("Bodies", list[Any])
Ints = NewType("Ints", tuple[Any, ...])
Longs = NewType("Longs", tuple[Any, ...])
Floats = NewType("Floats", tuple[Any, ...])
Doubles = NewType("Doubles", tuple[Any, ...])
Strings = NewType("Strings", tuple[Any, ...])
Booleans = NewType("Booleans", tuple[Any, ...])
Scalars = NewType("Scalars", tuple[Any, ...])

_single = struct.Struct("f")


@lru_cache(4096)
def rounded(value: float) -> float:
    """`value` rounded to float32, as attributes of Programs are."""
    try:
        return float(_single.unpack(_single.pack(value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


@dataclass(frozen=True)
class AttributeKind:
    """A kind: its wire name, `normal` from what a user gives, `spelt` as a Program shows it."""

    wire: str
    normal: Callable[[Any], Any]
    spelt: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _integer(value: Any) -> int:
    return int(value)


def _single_float(value: Any) -> float:
    return rounded(float(value))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _several(one: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def normal(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            return tuple([one(v) for v in value])
        return () if value is None else (one(value),)

    return normal


def _dtype(value: Any) -> DType | None:
    return None if value is None or (isinstance(value, int) and value == -1) else dtype_of(value)


def _dtype_number(value: DType | None) -> int:
    return -1 if value is None else value.number


KINDS: dict[Any, AttributeKind] = {
    bool: AttributeKind("BOOLEAN", bool, _same),
    int: AttributeKind("INT", _integer, _same),
    float: AttributeKind("FLOAT", _single_float, _same),
    str: AttributeKind("STRING", _text, _same),
    Long: AttributeKind("LONG", _integer, _same),
    Double: AttributeKind("FLOAT64", float, _same),
    Scalar: AttributeKind("SCALAR", _same, _same),
    Dtype: AttributeKind("INT", _dtype, _dtype_number),
    DtypeLong: AttributeKind("LONG", _dtype, _dtype_number),
    Body: AttributeKind("BLOCK", _same, _same),
    Bodies: AttributeKind("BLOCKS", list, _same),
    Ints: AttributeKind("INTS", _several(_integer), list),
    Longs: AttributeKind("LONGS", _several(_integer), list),
    Floats: AttributeKind("FLOATS", _several(_single_float), list),
    Doubles: AttributeKind("FLOAT64S", _several(float), list),
    Strings: AttributeKind("STRINGS", _several(_text), list),
    Booleans: AttributeKind("BOOLEANS", _several(bool), list),
    Scalars: AttributeKind("SCALARS", _several(_same), list),
}


def kind_of(annotation: Any) -> AttributeKind:
    """The kind a declaration's annotation stands for."""
    return KINDS[annotation]


def normalised(kind: AttributeKind, name: str, value: Any) -> Any:
    """`value` in the form rules and kernels see; raises ArgumentTypeError naming the attribute."""
    try:
        return kind.normal(value)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"attribute `{name}` takes {kind.wire}, not {type(value).__name__} {value!r}"
        ) from error
