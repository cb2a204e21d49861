"""Element types: Paddle's names and numbers, NumPy's arrays."""

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from scull.errors import DtypeError


class DType:
    """One element type. There is one object for each, so `is` compares."""

    __slots__ = (
        "array",
        "is_complex",
        "is_float",
        "is_integer",
        "itemsize",
        "name",
        "native",
        "number",
    )

    def __init__(self, name: str, number: int, array: Any) -> None:
        self.name, self.number, self.array = name, number, np.dtype(array)
        self.native = self.array.isbuiltin == 1
        self.is_complex = name.startswith("complex")
        self.is_float = "float" in name
        self.is_integer = "int" in name
        self.itemsize = self.array.itemsize

    def __repr__(self) -> str:
        return "paddle." + self.name

    def __reduce__(self) -> Any:
        return dtype_of, (self.name,)

    def __deepcopy__(self, memo: Any) -> "DType":
        return self

    def __eq__(self, other: object) -> bool:
        """Itself; also its number, which is what a Program's attribute holds."""
        return self is other or (type(other) is int and other == self.number)

    __hash__ = object.__hash__  # a number's own hash would be Python code in every cache's key

    def __int__(self) -> int:
        return self.number

    @property
    def value(self) -> int:
        """The number in the wire format, as on Paddle's `VarType`."""
        return self.number


bool_ = DType("bool", 0, np.bool_)
int16 = DType("int16", 1, np.int16)
int32 = DType("int32", 2, np.int32)
int64 = DType("int64", 3, np.int64)
float16 = DType("float16", 4, np.float16)
float32 = DType("float32", 5, np.float32)
float64 = DType("float64", 6, np.float64)
uint8 = DType("uint8", 20, np.uint8)
int8 = DType("int8", 21, np.int8)
bfloat16 = DType("bfloat16", 22, ml_dtypes.bfloat16)
complex64 = DType("complex64", 23, np.complex64)
complex128 = DType("complex128", 24, np.complex128)
float8_e4m3fn = DType("float8_e4m3fn", 32, ml_dtypes.float8_e4m3fn)
float8_e5m2 = DType("float8_e5m2", 33, ml_dtypes.float8_e5m2)

DTYPES = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64,
    complex128,
    float8_e4m3fn, float8_e5m2,
)  # fmt: skip
# `paddle.dtype` is where Paddle has its element types, too.
SHORT = {"float": "FP", "bfloat": "BF"}
for _dtype in DTYPES[:12]:
    _word = _dtype.name.rstrip("0123456789")
    setattr(DType, _dtype.name.replace(_word, SHORT.get(_word, _word.upper())), _dtype)
BY_NAME = {d.name: d for d in DTYPES}
BY_NUMBER = {d.number: d for d in DTYPES}
BY_ARRAY = {d.array: d for d in DTYPES}
BITS = np.dtype("uint16")  # NumPy knows no bfloat16: Paddle's arrays have its bits
BY_ARRAY[BITS] = bfloat16


@cache
def of_name(name: str) -> DType:
    """The element type called `name`; raises DtypeError for a name nobody knows."""
    short = name.removeprefix("paddle.").removeprefix("scull.")
    if short in BY_NAME:
        return BY_NAME[short]
    return of_array(array_dtype(short))


def of_array(array: Any) -> DType:
    """The element type of NumPy's `array` dtype."""
    try:
        return BY_ARRAY[array]
    except KeyError:
        raise DtypeError(f"`{array}` is no element type of a tensor") from None


def dtype_of(value: Any) -> DType:
    """`value` as an element type: one already, its name, its number, NumPy's type or Python's."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return of_name(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value not in BY_NUMBER:
            raise DtypeError(f"{value} is the number of no element type")
        return BY_NUMBER[value]
    return of_array(array_dtype(value))


def array_dtype(value: Any) -> Any:
    """What NumPy understands by `value` as a dtype."""
    try:
        return np.dtype(value)
    except (TypeError, ValueError, SyntaxError, AttributeError):
        raise DtypeError(f"{value!r} is no element type of a tensor") from None
