"""Weights that were stored in fewer bits, as Paddle 1.7 and 1.8 wrote them."""

from typing import Any

import numpy as np

from scull.core.attribute import Long
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.errors import DtypeError, ShapeError
from scull.ops.index import inside, whole_numbers

LEVELS = 256  # between the smallest and the largest number of a row
ENDS = 2  # the numbers of a row before its bytes: the smallest and the largest
NO_GRAD = "stored numbers have no gradient, as in Paddle"
NO_LOOP = "it reads bytes or a table"


@primitive(infer_first=True)
def dequantize_abs_max(x: Meta, scale: Meta, *, max_range: float) -> Meta:
    """Steps, int8 or int16, as the numbers they stand for: ``x * scale / max_range``."""
    if x.dtype.name not in ("int8", "int16"):
        raise DtypeError(f"steps are of int8 or int16, not {x}")
    floating(scale)
    return x.with_dtype(scale.dtype)


@dequantize_abs_max.kernel
def dequantize_abs_max_kernel(
    xp: Any, x: Any, scale: Any, *, out: Any = None, max_range: float
) -> Any:
    first = scale.reshape(-1)[0]
    return xp.divide(x.astype(scale.dtype) * first, scale.dtype.type(max_range), out=out)


@primitive(slots={"table": "Dict"}, infer_first=True)
def dequantize_log(x: Meta, table: Meta) -> Meta:
    """What a table of 128 magnitudes says of int8 numbers: those below 0 count from -128 on."""
    if x.dtype.name != "int8":
        raise DtypeError(f"places in the table are of int8, not {x}")
    floating(table)
    if table.ndim != 1 or table.shape[0] not in (UNKNOWN, 128):
        raise ShapeError(f"the table has 128 numbers, not {table}")
    return x.with_dtype(table.dtype)


@dequantize_log.kernel
def dequantize_log_kernel(xp: Any, x: Any, table: Any, *, out: Any = None) -> Any:
    both = xp.concatenate([table, -table])
    return xp.take(both, x.astype(np.int16) % LEVELS, 0, out, "clip")


@primitive(infer_first=True)
def lookup_table_dequant(w: Meta, ids: Meta, *, padding_idx: Long = -1) -> Meta:
    """The rows that `ids` names of a table in bytes; `padding_idx` gives zeros.

    A row of `w` is the smallest number, the largest, and the bytes of the rest, four in a float32.
    """
    whole_numbers(ids)
    if w.dtype.name != "float32":
        raise DtypeError(f"bytes lie in float32, not in {w}")
    if w.ndim != 2 or (w.shape[1] != UNKNOWN and w.shape[1] <= ENDS):
        raise ShapeError(f"the table {w} is no matrix of {ENDS} columns and bytes")
    if not ids.ndim or ids.shape[-1] not in (UNKNOWN, 1):
        raise ShapeError(f"the last axis of ids has 1 element, and ids is {ids}")
    columns = UNKNOWN if w.shape[1] == UNKNOWN else 4 * (w.shape[1] - ENDS)
    return Meta((*ids.shape[:-1], columns), w.dtype)


@lookup_table_dequant.kernel
def lookup_table_dequant_kernel(
    xp: Any, w: Any, ids: Any, *, out: Any = None, padding_idx: int
) -> Any:
    places = ids[..., 0]
    rows = xp.ascontiguousarray(w[inside(places, w.shape[0])])
    least, step = rows[..., :1], (rows[..., 1:2] - rows[..., :1]) / np.float32(LEVELS)
    counts = xp.ascontiguousarray(rows[..., ENDS:]).view(np.uint8)
    found = xp.add(counts * step, least, out=out)
    if padding_idx != -1:
        found[places == padding_idx] = 0
    return found


for function in (dequantize_abs_max, dequantize_log, lookup_table_dequant):
    function.no_grad(NO_GRAD)
    function.no_lowering(NO_LOOP)
