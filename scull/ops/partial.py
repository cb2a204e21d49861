"""Some columns of several matrices, joined or added up."""

from functools import reduce
from typing import Any

from scull.core.eager import composite
from scull.core.meta import agree
from scull.errors import DtypeError, RangeError, ShapeError
from scull.ops.join import alike, concat, split
from scull.ops.slicing import place_window, slice

LAST = 2**31 - 1
NUMBERS = ("float32", "float64", "int32", "int64")


def some_columns(x: list[Any], start: int, length: int, dtypes: tuple[str, ...]) -> list[Any]:
    """`length` columns of each of `x` from `start` on; those up to the end if it is below 0."""
    alike(x)
    if x[0].dtype.name not in dtypes:
        raise DtypeError(f"x is {x[0].dtype.name}, not {', '.join(dtypes)}")
    for m in x:
        if m.ndim != 2:
            raise ShapeError(f"x has {m.ndim} axes, not 2")
        for n, size in zip(m.shape, x[0].shape, strict=True):
            agree(n, size, "sizes {} and {} are not the same")
    width = x[0].shape[1]
    first = start if width == -1 or start >= 0 else start + width
    if width != -1 and not (0 <= first < width and first + max(length, 0) <= width):
        raise RangeError(f"columns {start} to {start + length} are outside a matrix of {width}")
    return [slice(m, **window(start, length)) for m in x]


def window(start: int, length: int) -> dict[str, Any]:
    """The attributes that say which columns."""
    end = start + length if length >= 0 and (start >= 0 or start + length < 0) else LAST
    return {"axes": (1,), "starts": (start,), "ends": (end,)}


@composite
def partial_concat(x: list[Any], *, start_index: int = 0, length: int = -1):
    """Some columns of each of `x`, beside each other."""
    return concat(
        some_columns(x, start_index, length, (*NUMBERS, "complex64", "complex128")), axis=1
    )


@partial_concat.grad("x")
def partial_concat_grad(x_meta: Any, dout: Any, start_index: int, length: int) -> Any:
    own = window(start_index, length)
    pieces = split(dout, num=len(x_meta), axis=1)
    return [place_window(d, m, strides=(1,), **own) for d, m in zip(pieces, x_meta, strict=True)]


@composite
def partial_sum(x: list[Any], *, start_index: int = 0, length: int = -1):
    """The sum of some columns of each of `x`."""
    if start_index < 0:
        raise RangeError(f"start_index is {start_index}, below 0")
    return reduce(lambda a, b: a + b, some_columns(x, start_index, length, NUMBERS))


@partial_sum.grad("x")
def partial_sum_grad(x_meta: Any, dout: Any, start_index: int, length: int) -> Any:
    return [place_window(dout, m, strides=(1,), **window(start_index, length)) for m in x_meta]
