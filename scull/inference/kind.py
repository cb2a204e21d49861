"""Element types, places and precisions, as predictors number them."""

from enum import Enum

import numpy as np


class DataType(Enum):
    """The element type of an input or output."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7


class PlaceType(Enum):
    """Where a predictor computes."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(Enum):
    """The element type a predictor is asked to compute in."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


def data_type(dtype: np.dtype) -> DataType:
    """The number of a NumPy element type; KeyError for one that predictors do not take."""
    return DataType[dtype.name.upper()]


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """The bytes of one element.

    Args:
        dtype (DataType): the element type.

    Examples:
        >>> from scull.inference import DataType, get_num_bytes_of_data_type
        >>> get_num_bytes_of_data_type(DataType.INT64)
        8
    """
    return np.dtype(dtype.name.lower()).itemsize
