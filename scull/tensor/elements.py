"""The elements of new tensors: numbers, lists and arrays as arrays of an element type."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import dtype_of, of_array
from scull.core.place import Place
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ops import create
from scull.ops.complex import complex as complex_parts
from scull.ops.promotion import cast_to
from scull.tensor.size import called, is_static

VALUES = {"bool": "bool_values", "float32": "fp32_values", "float64": "fp64_values"}
VALUES |= {"int32": "int32_values", "int64": "int64_values"}


def element_type(dtype: Any) -> Any:
    """`dtype` as an element type of a new tensor."""
    try:
        return dtype_of(dtype)
    except TypeError:
        raise ArgumentTypeError(f"`dtype` is an element type of a tensor, not {dtype!r}") from None


def check_place(place: Any) -> None:
    """Refuse a place that is none, or is not in this process."""
    if place is None or (isinstance(place, Place) and place.kind == "cpu"):
        return
    if isinstance(place, str) and place.split(":")[0] == "cpu":
        return
    if isinstance(place, Place) and place.kind in ("cpu", "gpu_pinned"):
        return
    raise ArgumentError(f"there is no place {place} in this process")


def array_of(data: Any, dtype: Any) -> Any:
    """The array of a new tensor."""
    if isinstance(data, Tensor):
        found = data.array.dense() if type(data.array) is Rows else data.array
        return found.astype(dtype.array if dtype else found.dtype)
    if isinstance(data, np.ndarray | np.generic):
        found = np.array(data)
        if found.dtype == np.uint16:
            found = found.view(dtype_of("bfloat16").array)
    elif isinstance(data, bool | int | float | complex | list | tuple | range):
        found = regular(data)
        if dtype is None:  # a type that is asked for takes the numbers as they are
            wide = {"f": session.default_dtype().array, "c": complex_type(), "i": np.dtype("int64")}
            found = found.astype(wide.get(found.dtype.kind, found.dtype), copy=False)
    else:
        found = None
    if found is None or found.dtype.kind in "USOMm":
        raise ArgumentTypeError(
            f"Can't constructs a 'paddle.Tensor' with data type {type(data)}, "
            "data type must be scalar|list|tuple|np.ndarray|paddle.Tensor"
        )
    of_array(found.dtype)
    return found if dtype is None else found.astype(dtype.array, copy=False)


def regular(data: Any) -> Any:
    """Nested lists, tensors among them, as an array."""
    try:
        return np.array(plain(data))
    except ValueError:
        raise ArgumentError("lists beside each other differ in length") from None


def complex_type() -> Any:
    """The complex element type whose parts are of the default one."""
    return np.dtype("complex128" if session.default_dtype().name == "float64" else "complex64")


def plain(data: Any) -> Any:
    """Nested lists with tensors among them replaced by their elements."""
    if isinstance(data, list | tuple):
        return [plain(v) for v in data]
    return data.array if isinstance(data, Tensor) else data


def constant(data: Any) -> Any:
    """A tensor of elements that stand in the source; in a Program they become an attribute."""
    if isinstance(data, bool | int | float | complex | np.generic):
        data = [data]
    array = regular(data)
    if array.dtype == np.float64:
        array = array.astype(session.default_dtype().array)
    if array.dtype.kind in "USOMm":
        raise ArgumentTypeError(f"a tensor has no elements such as those of {type(data).__name__}")
    if not is_static():
        made: Any = Tensor(array.copy())
        return made
    return held_array(array)


def held_array(array: Any) -> Any:
    """An array as an attribute of a Program, exactly; a cast gives it a type that has none."""
    dtype = of_array(array.dtype)
    if dtype.is_complex:
        return complex_parts(held_array(array.real), held_array(array.imag))
    wide = dtype
    if dtype.name not in VALUES:
        wide = dtype_of("int64" if dtype.is_integer else "float32")
    values = {VALUES[wide.name]: array.reshape(-1).tolist()}
    named = called(None, "assign")
    held = create.assign_value(shape=array.shape, dtype=wide, **values, name=named)
    return cast_to(held, dtype)
