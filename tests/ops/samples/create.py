"""Samples of new tensors and of copies."""

import numpy as np

from scull.core.dtype import bfloat16, bool_, float32, float64, int32, int64, uint8
from scull.core.tensor import Rows
from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import (
    array,
    bf16,
    boolean,
    c64,
    call,
    f32,
    f64,
    fails,
    i32,
    i64,
    rows,
    samples,
    strided,
)


def filled(number=None, tensor=None, tensors=None, *, shape, value, dtype, str_value):
    """One value in a shape, wherever both come from."""
    if tensors:
        shape = [v.item() for v in tensors]
    elif tensor is not None:
        shape = tensor.tolist()
    return np.full(shape, value if number is None else number.item(), dtype.array)


@samples("fill_constant", reference=filled)
def fill_constant_samples():
    yield call(shape=(2, 3), value=1.5)
    yield call(shape=(), value=7.0, dtype=int64)
    yield call(shape=(0, 3))
    yield call(shape=(2,), value=1.0, dtype=bool_)
    yield call(shape=(2,), value=0.1, dtype=float64)
    yield call(array(2.5), shape=(2, 3))
    yield call(None, array([2, 3], "int32"), unknown_sizes=False)
    yield call(None, None, [array([2], "int32"), array(3, "int64")], shape=(-1, 3))
    exact = lambda *_: np.full(2, 2**53 + 1)  # noqa: E731
    yield call(shape=(2,), str_value="9007199254740993", dtype=int64, reference=exact)
    yield call(shape=(2,), str_value="-inf", reference=lambda *_: np.full(2, -np.inf))
    yield call(shape=(2,), str_value="7.0", dtype=int32, reference=lambda *_: np.full(2, 7))
    yield fails(ArgumentError, "shape [-1, 2] has a negative size", shape=(-1, 2))


@samples("fill_constant_batch_size_like")
def fill_constant_batch_size_like_samples():
    yield call(f32(2, 3), shape=(-1, 4), value=2.0, reference=lambda x: np.full((2, 4), 2.0))
    yield call(
        f32(2, 3),
        shape=(5, -1),
        input_dim_idx=1,
        output_dim_idx=1,
        dtype=int64,
        str_value="3",
        reference=lambda x: np.full((5, 3), 3),
    )


@samples("assign_value")
def assign_value_samples():
    yield call(
        shape=(2, 2),
        dtype=int64,
        int64_values=(1, 2, 3, 4),
        reference=lambda: np.array([[1, 2], [3, 4]]),
    )
    yield call(shape=(), dtype=float32, fp32_values=(1.5,), reference=lambda: np.array(1.5))
    yield call(shape=(2,), dtype=bool_, bool_values=(1, 0), reference=lambda: np.array([1, 0]) > 0)
    yield call(shape=(0,), dtype=float64, reference=lambda: np.zeros(0))
    yield fails(
        ShapeError,
        "2 values do not fill the shape [3]",
        shape=(3,),
        dtype=int32,
        int32_values=(1, 2),
    )


@samples("eye", reference=lambda num_rows, num_columns: np.eye(num_rows, num_columns))
def eye_samples():
    yield call(num_rows=3, num_columns=3)
    yield call(num_rows=2, num_columns=4, dtype=int64)
    yield call(num_rows=4, num_columns=2, dtype=bool_)
    yield call(num_rows=0, num_columns=0)
    yield call(num_rows=3, reference=lambda: np.eye(3), name_of_case="square unless told")
    yield fails(ArgumentError, "-2 rows and 3 columns are no size", num_rows=-2, num_columns=3)


def numbers(start, end, step):
    """NumPy's own."""
    return np.arange(start.item(), end.item(), step.item())


def three(*values, dtype="float32"):
    """Numbers as the three operands of a range."""
    return [array([v], dtype) for v in values]


@samples("arange", reference=numbers)
def arange_samples():
    yield call(*three(0, 5, 1, dtype="int64"))
    yield call(*three(5, 0, -2, dtype="int32"))
    yield call(*three(0.0, 1.0, 0.25), name_of_case="fractions")
    yield call(*three(2.0, 2.0, 1.0), name_of_case="nothing")
    yield call(*[array(v, "int64") for v in (1, 4, 1)], name_of_case="0-D")
    refused = "leads from 5 to 0"
    yield fails(ArgumentError, refused, *three(5, 0, 1, dtype="int64"), by_value=True)
    yield fails(ArgumentError, "steps of 0", *three(0, 5, 0, dtype="int64"), by_value=True)


@samples("linspace", reference=lambda start, stop, num: np.linspace(start[0], stop[0], num[0]))
def linspace_samples():
    yield call(array([0.0]), array([1.0]), array([5], "int32"))
    yield call(array([3.0]), array([-1.0]), array([4], "int32"), dtype=float64)
    yield call(array([3.0]), array([9.0]), array([1], "int32"), name_of_case="one")
    yield call(
        array([0], "int32"),
        array([10], "int32"),
        array([4], "int32"),
        dtype=int32,
        reference=lambda *_: np.array([0, 3, 6, 10]),
    )
    few = "0 numbers are asked for"
    yield fails(ArgumentError, few, array([0.0]), array([1.0]), array([0], "int32"), by_value=True)
    ends = array([0], "int8"), array([9], "int8")
    yield fails(DtypeError, "floats, int32 or int64, not int8", *ends, array([2], "int32"))


@samples("assign", reference=lambda x: x.dense() if isinstance(x, Rows) else x)
def assign_samples():
    yield call(f32(2, 3))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(boolean(3))
    yield call(c64(3))
    yield call(strided(f32(2, 3)))
    yield call(rows(5, [1, 3, 1], 2))


@samples("cast", reference=lambda x, out_dtype: x.astype(out_dtype.array))
def cast_samples():
    yield call(f32(2, 3), out_dtype=float64)
    yield call(f32(), out_dtype=int32, grad=False)
    yield call(f32(0, 3), out_dtype=int64, grad=False)
    yield call(f32(2, 3), out_dtype=bool_, grad=False)
    yield call(f32(2, 3, low=0.1), out_dtype=uint8, grad=False)
    yield call(i64(2, 3), out_dtype=float32)
    yield call(boolean(3), out_dtype=float32)
    yield call(bf16(3), out_dtype=float32, grad=False)
    yield call(f32(3), out_dtype=bfloat16, grad=False)
    yield call(strided(f32(2, 3)), out_dtype=float64, in_dtype=float32)
    yield call(c64(3), out_dtype=float32, grad=False, reference=lambda x: x.real)
    wide = lambda x: x.dense().astype("float64")  # noqa: E731
    yield call(rows(4, [2, 0], 3), out_dtype=float64, reference=wide)


def linear(x, factor=None, *, scale, bias, bias_after_scale):
    """x * scale + bias; integers take whole numbers."""
    x = x.dense() if isinstance(x, Rows) else x
    scale = scale if factor is None else factor.item()
    if x.dtype.kind in "iu":
        scale, bias = int(scale), int(bias)
    return x * scale + bias if bias_after_scale else (x + bias) * scale


@samples("scale", reference=linear)
def scale_samples():
    yield call(f32(2, 3), scale=2.5)
    yield call(f32(), scale=2.0, bias=1.0)
    yield call(f32(0, 3), scale=2.0)
    yield call(f32(2, 3), scale=2.0, bias=1.0, bias_after_scale=False)
    yield call(i64(3), scale=2.7, bias=1.6)
    yield call(i32(3), scale=0.5)
    yield call(strided(f32(2, 3)), bias=-1.0)
    yield call(c64(3), scale=2.0)
    yield call(f32(2, 3), array([3.0]))
    yield call(f32(2, 3), array(3.0), bias=1.0)
    yield call(rows(4, [2, 0, 2], 3), scale=2.0)
    yield fails(DtypeError, "bool[3] is not of numbers", boolean(3), scale=2.0)
    yield fails(ShapeError, "has not one element", f32(3), f32(2))


def total(x):
    """The sum, rows as whole matrices."""
    return sum(v.dense() if isinstance(v, Rows) else v for v in x)


@samples("add_n", reference=total)
def add_n_samples():
    yield call([f32(2, 3), f32(2, 3), f32(2, 3)])
    yield call([f32(), f32(), f32()])
    yield call([f32(2, 3)])
    yield call([f32(0, 3), f32(0, 3)])
    yield call([i64(3), i64(3)])
    yield call([strided(f32(2, 3)), f32(3, 2).T])
    yield call([rows(5, [1, 3], 2), rows(5, [3, 0, 0], 2)])
    yield call([rows(5, [1, 1], 2), f32(5, 2), rows(5, [4], 2)])
    yield call([f32(5, 2), rows(5, [1, 1], 2)])
    yield fails(ShapeError, "sizes 3 and 2 are not the same", [f32(2, 3), f32(2, 2)])
    yield fails(ShapeError, "are not of one shape", [f32(2, 3), f32(3)])
    yield fails(DtypeError, "are not of one element type", [f32(3), f64(3)])


@samples("increment", reference=lambda x, step: x + (int(step) if x.dtype.kind == "i" else step))
def increment_samples():
    yield call(f32(1))
    yield call(f64(), step=-2.5)
    yield call(i64(1, 1), step=2.7)
    yield fails(ShapeError, "has not one element", i64(2))
