"""Samples of weights that were stored in fewer bits."""

import struct
from typing import Any

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i32, i64, samples


@samples(
    "dequantize_abs_max",
    reference=lambda x, scale, max_range: x.astype("float64") * scale.reshape(-1)[0] / max_range,
)
def whole_samples():
    x = array([[1, -128, 127], [0, 5, -5]]).astype("int8")
    yield call(x, array([0.5]), max_range=127.0)
    yield call(x.astype("int16"), array([0.5, 2.0]), max_range=7.0)
    yield fails(DtypeError, "steps are of int8 or int16", i32(3), f32(1), max_range=127.0)
    yield fails(DtypeError, "not of floating-point", x, i64(1), max_range=127.0)


def named(x: Any, table: Any) -> Any:
    found = [table[n] if n >= 0 else -table[n + 128] for n in x.reshape(-1).astype(int)]
    return np.array(found, table.dtype).reshape(x.shape)


@samples("dequantize_log", reference=named)
def table_samples():
    table = f32(128, low=0.0, high=2.0)
    yield call(array([[1, -128, 127], [0, 5, -5]]).astype("int8"), table)
    yield call(np.zeros((0, 2), "int8"), table)
    yield fails(DtypeError, "places in the table are of int8", i32(3), table)
    yield fails(ShapeError, "the table has 128 numbers", np.zeros(3, "int8"), f32(64))


def rows_in_bytes() -> Any:
    """Three rows of eight numbers each."""
    rows = []
    for row in range(3):
        held = bytes([0, 255, 128, 7, row, 1, 2, 3])
        rows.append(np.frombuffer(struct.pack("<ff", -1 - row, 2 + row) + held, "<f4"))
    return np.stack(rows)


def looked_up(w: Any, ids: Any, padding_idx: int = -1) -> Any:
    found = []
    for place in ids.reshape(-1).astype(int):
        least, most, *held = struct.unpack("<ff8B", w[place].astype("float32").tobytes())
        numbers = [least + n * (most - least) / 256 for n in held]
        found.append([0.0] * 8 if place == padding_idx else numbers)
    return np.array(found).reshape(*ids.shape[:-1], 8)


@samples("lookup_table_dequant", reference=looked_up)
def row_samples():
    w = rows_in_bytes()
    yield call(w, np.array([[0], [2], [1]]))
    yield call(w, np.array([[[0], [2]]]), padding_idx=2)
    yield fails(RangeError, "index 5 is outside [0, 3)", w, np.array([[5]]), by_value=True)
    yield fails(DtypeError, "bytes lie in float32", w.astype("float64"), np.array([[0]]))
    yield fails(ShapeError, "no matrix of 2 columns and bytes", f32(3, 2), np.array([[0]]))
    yield fails(ShapeError, "the last axis of ids has 1 element", w, np.array([[0, 1]]))
