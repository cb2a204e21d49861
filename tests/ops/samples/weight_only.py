"""Samples of weights as whole numbers of 8 or 4 bits, in every order they are stored."""

from typing import Any

import ml_dtypes
import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f32, fails, i32, i64, samples

HALF, BRAIN = np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)


def place(row: int, column: int, k: int, n: int, bits: int, arch: int) -> int:
    """Where the element of a weight [k, n] is stored, counted in elements."""
    if arch == 0:
        return column * k + row
    if arch == 70:
        at = row * n + column
    else:
        period, together = 128 // bits, 16 // bits
        block, within = divmod(row, period)
        lane, pair = (within // 2) % 4, within // 8
        dealt = block * period + lane * (period // 4) + pair * 2 + within % 2
        rows, across = divmod(dealt, 64), divmod(column, together)
        at = ((across[0] * (k // 64) + rows[0]) * together + across[1]) * 64 + rows[1]
    word, within = divmod(at, 32 // bits)
    size = 32 // bits
    return word * size + (within // 2 if within % 2 == 0 else size // 2 + within // 2)


def stored(steps: Any, bits: int, arch: int) -> Any:
    """Whole numbers of a weight [k, n] as bytes, one by one."""
    k, n = steps.shape
    found = np.zeros(k * n, "int64")
    for row in range(k):
        for column in range(n):
            shift = 0 if arch == 0 else 2 ** (bits - 1)
            found[place(row, column, k, n, bits, arch)] = steps[row, column] + shift
    found %= 2**bits
    if bits == 4:
        found = found[0::2] + 16 * found[1::2]
    return found.astype("uint8").view("int8").reshape(n * bits // 8, k)


def quantized(x: Any, algo: str = "weight_only_int8", arch: int = 0) -> Any:
    bits = 4 if algo.endswith("4") else 8
    most = 2 ** (bits - 1) - 1
    scale = (np.abs(x.astype("float32")).max(0) / np.float32(most)).astype(x.dtype)
    whole = scale.astype("float32")
    steps = np.rint(x.astype("float32") / np.where(whole == 0, 1, whole))
    steps = np.clip(steps, -most, most).astype("int64")
    return stored(steps, bits, 0 if algo == "llm.int8" else arch), scale


def half(*shape: int, bits: int = 8) -> Any:
    """float16 numbers whose scales are 1 / 128 exactly, near whole numbers of steps."""
    most = 2 ** (bits - 1) - 1
    steps = i64(*shape) * 37 % (2 * most + 1) - most
    steps.reshape(-1)[: shape[-1]] = most
    offsets = np.where(np.abs(steps) < most // 2, 0.25, 0)
    return ((steps + offsets) / 128).astype(HALF)


@samples("weight_quantize", reference=quantized)
def quantize_samples():
    for algo in ("weight_only_int8", "weight_only_int4", "llm.int8"):
        for arch in (0, 70, 80):
            yield call(half(128, 32, bits=4 if "4" in algo else 8), algo=algo, arch=arch)
    yield call(half(64, 16, bits=4).astype(BRAIN), algo="weight_only_int4", arch=75)
    yield call(np.zeros((64, 16), HALF), arch=86)
    yield fails(DtypeError, "not of float16 or bfloat16", f32(64, 16))
    yield fails(ShapeError, "must be 2D", half(2, 64, 16))
    yield fails(ShapeError, "first dimension of input must be divisible by 64", half(60, 16))
    yield fails(ShapeError, "second dimension of input must be divisible by 16", half(64, 8))
    yield fails(ArgumentError, "algo is 'no'", half(64, 16), algo="no")
    yield fails(ArgumentError, "arch is 60", half(64, 16), arch=60)


def whole(*shape: int) -> Any:
    """Bytes of every value."""
    return (i64(*shape) * 37 % 251 - 125).astype("int8")


def signed(weight: Any, bits: int) -> Any:
    """Plain bytes as whole numbers [n, k]."""
    if bits == 8:
        return weight.astype("int64")
    halves = np.stack([weight.astype("int64") & 15, weight.astype("int64") >> 4 & 15], -1)
    return ((halves + 8) % 16 - 8).reshape(weight.shape[0] * 2, weight.shape[1])


def steps_of(weight: Any, bits: int = 8, arch: int = 0) -> Any:
    if arch == 0:
        return signed(weight, bits).astype("int8")
    n, k = weight.shape[0] * 8 // bits, weight.shape[1]
    numbers = signed(weight, bits).reshape(-1) % 2**bits - 2 ** (bits - 1)
    places = [[place(i, j, k, n, bits, arch) for i in range(k)] for j in range(n)]
    return numbers[np.array(places)].astype("int8")


@samples("weight_steps", reference=steps_of)
def steps_samples():
    yield call(whole(3, 5))
    yield call(whole(3, 4), bits=4)
    for arch in (70, 86):
        yield call(whole(16, 128), arch=arch)
        yield call(whole(8, 64), bits=4, arch=arch)
    yield fails(DtypeError, "a stored weight is of int8", i32(3, 4))
    yield fails(ShapeError, "has 2 axes, not 1", whole(3))
    yield fails(ShapeError, "divisible by 64", whole(16, 32), arch=70)
    yield fails(ArgumentError, "arch is 3", whole(3, 4), arch=3)
    yield fails(ArgumentError, "bits is 5, not one of 8, 4", whole(3, 4), bits=5)


def restored(weight: Any, scale: Any, bits: int) -> Any:
    return signed(weight, bits).T.astype("float32") * scale.astype("float32")


@samples(
    "weight_dequantize",
    reference=lambda x, scale, algo="weight_only_int8", out_dtype="float16": restored(
        x, scale, 4 if algo.endswith("4") else 8
    ).astype(getattr(out_dtype, "array", out_dtype)),
)
def dequantize_samples():
    yield call(whole(3, 5), f32(3, low=0.1, high=1.0), grad=False)
    yield call(whole(2, 4), f32(4), algo="weight_only_int4", out_dtype="float32", grad=False)
    yield fails(ArgumentError, "algo is 'no'", whole(3, 5), f32(3), algo="no")


@samples(
    "weight_only_linear",
    reference=lambda x, w, b=None, s=None, weight_dtype="int8", arch=0: (
        x @ restored(w, s, int(weight_dtype[3:])) + (0 if b is None else b)
    ),
)
def linear_samples():
    yield call(f32(2, 5), whole(3, 5), f32(3), f32(3, low=0.01, high=0.1), grad=False)
    yield call(f32(2, 3, 4), whole(2, 4), None, f32(4), weight_dtype="int4", grad=False)
    yield fails(
        ArgumentError,
        "weight_dtype is 'int2'",
        f32(2, 5),
        whole(3, 5),
        None,
        f32(3),
        weight_dtype="int2",
    )


def mixed(x: Any, w: Any, b: Any = None, s: Any = None, threshold: float = 6.0) -> Any:
    """Row by row and column by column."""
    rows, found = x.reshape(-1, x.shape[-1]).astype("float64"), []
    large = np.abs(rows).max(0) > threshold
    for row in rows:
        scale = max(np.abs(np.where(large, 0, row)).max() / 127, 1e-30)
        small = np.rint(np.where(large, 0, row) / scale) @ w.T.astype("float64") * scale
        found.append((small + np.where(large, row, 0) @ w.T) * s)
    found = np.array(found).reshape(*x.shape[:-1], -1)
    return (found + (0 if b is None else b)).astype(x.dtype)


@samples("llm_int8_linear", reference=mixed)
def mixed_samples():
    yield fails(ArgumentError, "has a `weight_scale`", f32(2, 5), whole(3, 5))
    yield call(f32(2, 5), whole(3, 5), f32(3), f32(3, low=0.01, high=0.1), grad=False)
    yield call(
        f32(2, 3, 4), whole(6, 4), None, f32(6, low=0.01, high=0.1), threshold=0.7, grad=False
    )
    yield call(np.zeros((2, 4), "float32"), whole(6, 4), None, f32(6), grad=False)
