"""Kinds of attributes: how a Python value is normalised, and how it stands in a Program."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NewType

import numpy as np

from scull.core.dtype import DType, dtype_of
from scull.errors import ArgumentError, ArgumentTypeError

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


def rounded(value: float) -> float:
    """`value` rounded to float32, as attributes of Programs are."""
    value = float(value)  # the cache must not keep a Tensor, nor take -0.0 for 0.0
    return rounded_nonzero(value) if value else value


@lru_cache(4096)
def rounded_nonzero(value: float) -> float:
    """`value`, which is not 0, rounded to float32."""
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


def _integer(bits: int) -> Callable[[Any], int]:
    limit = 1 << (bits - 1)

    def normal(value: Any) -> int:
        if isinstance(value, str | bytes):
            raise TypeError
        number = int(value)
        if number != value:
            raise ValueError("it is not a whole number")
        if not -limit <= number < limit:
            raise OverflowError(f"it does not fit {bits} bits")
        return number

    return normal


def _truth(value: Any) -> bool:
    if not isinstance(value, bool | int | float | np.generic):
        raise TypeError
    return bool(value)


def _number(value: Any) -> Any:
    if not isinstance(value, bool | int | float | complex | np.generic):
        raise TypeError
    return value


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError
    return float(value)


def _single_float(value: Any) -> float:
    return rounded(_float(value))


def _block(value: Any) -> Any:
    if not hasattr(value, "ops"):
        raise TypeError
    return value


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


def _given_dtype(value: Any) -> DType:
    found = _dtype(value)
    if found is None:
        raise TypeError
    return found


def _dtype_number(value: DType | None) -> int:
    return -1 if value is None else value.number


KINDS: dict[Any, AttributeKind] = {
    bool: AttributeKind("BOOLEAN", _truth, _same),
    int: AttributeKind("INT", _integer(32), _same),
    float: AttributeKind("FLOAT", _single_float, _same),
    str: AttributeKind("STRING", _text, _same),
    Long: AttributeKind("LONG", _integer(64), _same),
    Double: AttributeKind("FLOAT64", _float, _same),
    Scalar: AttributeKind("SCALAR", _number, _same),
    Dtype: AttributeKind("INT", _dtype, _dtype_number),
    DtypeLong: AttributeKind("LONG", _dtype, _dtype_number),
    Body: AttributeKind("BLOCK", _block, _same),
    Bodies: AttributeKind("BLOCKS", lambda value: list(map(_block, value)), _same),
    Ints: AttributeKind("INTS", _several(_integer(32)), list),
    Longs: AttributeKind("LONGS", _several(_integer(64)), list),
    Floats: AttributeKind("FLOATS", _several(_single_float), list),
    Doubles: AttributeKind("FLOAT64S", _several(_float), list),
    Strings: AttributeKind("STRINGS", _several(_text), list),
    Booleans: AttributeKind("BOOLEANS", _several(_truth), list),
    Scalars: AttributeKind("SCALARS", _several(_number), list),
}

GIVEN = {
    Dtype: AttributeKind("INT", _given_dtype, _dtype_number),
    DtypeLong: AttributeKind("LONG", _given_dtype, _dtype_number),
}


def kind_of(annotation: Any, default: Any = None) -> AttributeKind:
    """The kind a declaration's annotation stands for; None is an element type by default only."""
    if annotation in (Dtype, DtypeLong) and default is not None:
        return GIVEN[annotation]
    return KINDS[annotation]


def normalised(kind: AttributeKind, name: str, value: Any) -> Any:
    """`value` in the form rules and kernels see; raises ArgumentTypeError naming the attribute."""
    try:
        return kind.normal(value)
    except OverflowError as error:
        raise ArgumentError(
            f"attribute `{name}` takes {kind.wire}, not {value!r}: {error}"
        ) from error
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"attribute `{name}` takes {kind.wire}, not {type(value).__name__} {value!r}"
        ) from error
