"""The places of a sequence, as many as it has when it is computed."""

from typing import Any

from scull.tensor.attribute import shape
from scull.tensor.creation import arange


def places(x: Any, axis: int, dtype: str = "int64") -> Any:
    """The numbers of the places of `x` along `axis`, from 0 on."""
    count = x.shape[axis]
    return arange(count if count >= 0 else shape(x)[axis].astype("int64"), dtype=dtype)
