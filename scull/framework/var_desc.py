"""The enumerations of Paddle's core: kinds of variables with element types, kinds of attributes."""

from enum import Enum
from typing import Any

from scull.core.dtype import (
    BY_NUMBER,
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from scull.core.meta import Kind
from scull.errors import ArgumentError


class Unused(Enum):
    """Kinds of variables that no Variable of scull has."""

    PLACE_LIST = 14
    STRING = 25
    STRINGS = 26
    VOCAB = 27
    SPARSE_COO = 30


class VarTypes(type):
    """Element types and kinds of variables count as instances of `VarType`."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, DType | Kind | Unused)

    def __call__(cls, number: int) -> Any:
        """The member of a number."""
        for members in (BY_NUMBER, Kind._value2member_map_, Unused._value2member_map_):
            if number in members:
                return members[number]
        raise ArgumentError(f"{number} is not a valid VarType")

    @property
    def __members__(cls) -> dict[str, Any]:
        """The members by name."""
        return {name: member for name, member in vars(cls).items() if name.isupper()}


class VarType(metaclass=VarTypes):
    """What a variable holds, and of which elements: one list in Paddle's files, so one here."""

    BOOL, UINT8, INT8, INT16, INT32, INT64 = bool_, uint8, int8, int16, int32, int64
    FP16, FP32, FP64, BF16 = float16, float32, float64, bfloat16
    COMPLEX64, COMPLEX128 = complex64, complex128
    LOD_TENSOR, SELECTED_ROWS, LOD_TENSOR_ARRAY = Kind.DENSE, Kind.ROWS, Kind.ARRAY
    FEED_MINIBATCH, FETCH_LIST, STEP_SCOPES = Kind.FEED, Kind.FETCH, Kind.SCOPES
    READER, RAW = Kind.READER, Kind.RAW
    LOD_RANK_TABLE, PLACE_LIST, VOCAB = Kind.TABLE, Unused.PLACE_LIST, Unused.VOCAB
    STRING, STRINGS, SPARSE_COO = Unused.STRING, Unused.STRINGS, Unused.SPARSE_COO


class DataType:
    """Element types under the names that newer code has for them."""

    BOOL, UINT8, INT8, INT16, INT32, INT64 = bool_, uint8, int8, int16, int32, int64
    FLOAT16, FLOAT32, FLOAT64, BFLOAT16 = float16, float32, float64, bfloat16
    COMPLEX64, COMPLEX128 = complex64, complex128


class VarDesc:
    """Where old code finds `VarType`."""

    VarType = VarType


class DeviceType(Enum):
    """Kinds of devices."""

    CPU, CUDA, XPU = 0, 1, 3


class AttrType(Enum):
    """Kinds of attributes."""

    INT, FLOAT, STRING, INTS, FLOATS, STRINGS = 0, 1, 2, 3, 4, 5
    BOOL, BOOLS, BLOCK, LONG, BLOCKS, LONGS = 6, 7, 8, 9, 10, 11
    FLOAT64S, VAR, VARS, FLOAT64, SCALAR, SCALARS = 12, 13, 14, 15, 16, 17

    def __int__(self) -> int:
        return self.value
