"""Lists of numbers: powers, places of triangles, shards of indices; whether there is anything."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype
from scull.core.dtype import bool_, int64
from scull.core.eager import primitive
from scull.core.memory import refuse_bytes
from scull.core.meta import UNKNOWN, Meta, count
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError

NO_VALUE = "it reads no value"


@primitive(infer_first=True)
def logspace(start: Meta, stop: Meta, num: Meta, base: Meta, *, dtype: Dtype) -> Meta:
    """`num` powers of `base`, whose exponents go from `start` to `stop` in equal steps."""
    given = {"start": start, "stop": stop, "num": num, "base": base}
    for name, m in given.items():
        if count(m.shape) not in (1, -1):
            raise ShapeError(f"{name} has {count(m.shape)} elements, not one")
    if not num.dtype.is_integer:
        raise DtypeError(f"num is {num.dtype.name}, not an integer")
    return Meta((UNKNOWN,), dtype or start.dtype)


PLACE = 40  # bytes for each number between others while they are computed


@logspace.kernel
def logspace_kernel(
    xp: Any, start: Any, stop: Any, num: Any, base: Any, *, out: Any = None, dtype: Any
) -> Any:
    """The lower half is counted from `start`, the upper from `stop`."""
    many, first, last = int(num.item()), float(start.item()), float(stop.item())
    if many < 1:
        raise ArgumentError(f"{many} numbers are asked for, at least 1 is needed")
    refuse_bytes(many * PLACE, f"{many} numbers")
    target = dtype.array if dtype else start.dtype
    if many == 1:
        return xp.asarray([float(base.item()) ** first]).astype(target)
    step, steps = (last - first) / (many - 1), xp.arange(many)
    low, high = first + step * steps, last - step * (many - 1 - steps)
    return xp.power(float(base.item()), xp.where(steps < many // 2, low, high)).astype(target)


logspace.no_grad("Paddle gives it none")
logspace.no_lowering("its length depends on values")


def triangle(rows: int, columns: int, offset: int, dtype: Any, lower: bool) -> Any:
    """The places of a triangle of a matrix: numbers of rows above those of columns."""
    first = np.arange(rows)
    # of each row: where its part begins and how many elements it has
    if lower:
        starts, counts = np.zeros_like(first), np.clip(first + offset + 1, 0, columns)
    else:
        starts = np.clip(first + offset, 0, columns)
        counts = columns - starts
    total = int(counts.sum())
    ends = np.cumsum(counts)
    places = np.arange(total) - np.repeat(ends - counts, counts) + np.repeat(starts, counts)
    return np.stack([np.repeat(first, counts), places]).astype(dtype.array)


def triangle_size(rows: int, columns: int, offset: int, dtype: Any, lower: bool) -> Meta:
    """The meta of the places of a triangle."""
    if rows < 0 or columns < 0:
        raise ArgumentError(f"{rows} rows and {columns} columns are no size")
    if dtype.name not in ("int32", "int64"):
        raise DtypeError(f"places are int32 or int64, not {dtype.name}")
    above = part_size(rows, columns, offset if lower else offset - 1)
    return Meta((2, above if lower else rows * columns - above), dtype)


def part_size(rows: int, columns: int, offset: int) -> int:
    """How many elements lie on and below a diagonal."""
    first = max(0, -offset)  # the first row that has any
    full = max(0, min(rows, columns - offset - 1) - first)  # rows that end at the diagonal
    start = first + offset + 1
    rest = max(0, rows - max(first, columns - offset - 1))
    return max(0, full * start + full * (full - 1) // 2 + min(rest, rows) * columns)


@primitive(enlarges=("rows", "cols"), slots={"out": "out"}, infer_first=True)
def tril_indices(*, rows: int = 0, cols: int = 0, offset: int = 0, dtype: Dtype = int64) -> Meta:
    """The places of the elements on and below a diagonal of a matrix."""
    return triangle_size(rows, cols, offset, dtype, True)


@primitive(enlarges=("row", "col"), slots={"out": "out"}, infer_first=True)
def triu_indices(*, row: int = 0, col: int = 0, offset: int = 0, dtype: Dtype = int64) -> Meta:
    """The places of the elements on and above a diagonal of a matrix."""
    return triangle_size(row, col, offset, dtype, False)


tril_indices.kernel(
    lambda xp, *, out=None, rows, cols, offset, dtype: triangle(rows, cols, offset, dtype, True)
)
triu_indices.kernel(
    lambda xp, *, out=None, row, col, offset, dtype: triangle(row, col, offset, dtype, False)
)
for function in (tril_indices, triu_indices):
    function.no_grad(NO_VALUE)
    function.no_lowering("a list of places is no expression")


@primitive
def is_empty(x_meta: Meta) -> Meta:
    """Whether `x` has no element."""
    return Meta((), bool_)


is_empty.kernel(lambda xp, x, *, out=None: xp.array(0 in x.shape))
is_empty.no_grad(NO_VALUE)
is_empty.lower(lambda index, x: lang.constant(0 in x.shape, "bool"))


@primitive(infer_first=True)
def shard_index(
    x: Meta, *, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Meta:
    """Indices counted from the first of a shard, `ignore_value` for those of other shards."""
    if x.ndim < 2:
        raise ShapeError(f"{x} has {x.ndim} axes, at least 2 are needed")
    if x.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"indices are int32 or int64, not {x.dtype.name}")
    if index_num < 1 or nshards < 1:
        raise ArgumentError(f"{index_num} indices in {nshards} shards: both must be above 0")
    if not 0 <= shard_id < nshards:
        raise RangeError(f"shard_id {shard_id} is outside [0, {nshards})")
    return x


@shard_index.kernel
def shard_index_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    index_num: int,
    nshards: int,
    shard_id: int,
    ignore_value: int,
) -> Any:
    wrong = (x < 0) | (x >= index_num)
    if wrong.any():
        raise RangeError(f"index {x[wrong][0]} is outside [0, {index_num})")
    size = (index_num + nshards - 1) // nshards
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = xp.where(x // size == shard_id, x % size, ignore_value)
    return out


shard_index.no_grad("an index is not differentiable")


@shard_index.lower
def shard_index_at(
    index: Any, x: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int
) -> Any:
    size = (index_num + nshards - 1) // nshards
    place = lang.sure(x[index], (x[index] >= 0) & (x[index] < index_num))
    here = lang.equal(place // size, shard_id)
    return lang.select(here, place % size, lang.constant(ignore_value, x.dtype))
