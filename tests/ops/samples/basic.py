"""Samples of basic operators: few, as what they are made of has samples, too."""

import numpy as np
from scipy import special

from scull.core.dtype import float32, float64, int64
from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, samples

UNARY = {
    "abs_p": np.abs,
    "cos_p": np.cos,
    "erf_p": special.erf,
    "exp_p": np.exp,
    "sin_p": np.sin,
    "tanh_p": np.tanh,
}
POSITIVE = {"log_p": np.log, "rsqrt_p": lambda x: 1 / np.sqrt(x), "sqrt_p": np.sqrt}
BINARY = {
    "add_p": np.add,
    "div_p": np.divide,
    "eq_p": np.equal,
    "ge_p": np.greater_equal,
    "gt_p": np.greater,
    "max_p": np.maximum,
    "mul_p": np.multiply,
    "ne_p": np.not_equal,
    "sub_p": np.subtract,
}


def family(names, *operands):
    """Register the same call for operators of a family, each with its reference."""
    for name, reference in names.items():

        @samples(name, reference=reference)
        def one():
            yield call(*[f32(2, 3, low=low) for low in operands])


family(UNARY, -2.0)
family(POSITIVE, 0.5)
family(BINARY, -2.0, 0.5)


@samples("pow_p", reference=np.power)
def pow_p_samples():
    yield call(f32(2, 3, low=0.1), f32(2, 3))
    yield fails(ShapeError, "x has 2 axes and y has 1; broadcast one", f32(2, 3), f32(3))
    yield fails(ShapeError, "x has a size 3 where y has 1; broadcast one", f32(2, 3), f32(2, 1))
    yield fails(DtypeError, "x is float32 and y is float64; cast one", f32(3), f64(3))


@samples("select_p", reference=np.where)
def select_p_samples():
    yield call(boolean(2, 3), f32(2, 3), f32(2, 3))
    yield fails(ShapeError, "broadcast one", boolean(3), f32(2, 3), f32(2, 3))


@samples("cast_p")
def cast_p_samples():
    yield call(f32(2, 3), dtype=float64, reference=lambda x: x)
    yield call(f32(2, 3), dtype=int64, reference=np.trunc, grad=False)


@samples("reshape_p", reference=lambda x, shape: x.reshape(shape))
def reshape_p_samples():
    yield call(f32(2, 3), shape=(3, 2))
    yield fails(ShapeError, "does not fill the shape", f32(2, 3), shape=(4,))


@samples("broadcast_p", reference=lambda x, shape: np.broadcast_to(x, shape))
def broadcast_p_samples():
    yield call(f32(1, 3), shape=(2, 2, 3))
    yield fails(ShapeError, "does not stretch", f32(3), shape=(2,))


@samples("transpose_p", reference=lambda x, axis: x.transpose(axis))
def transpose_p_samples():
    yield call(f32(2, 3, 4), axis=(2, 0, 1))
    yield fails(ArgumentError, "is no order of 2 axes", f32(2, 3), axis=(0, 0))


@samples("split_p")
def split_p_samples():
    yield call(f32(2, 3), num_or_sections=(1, 2), axis=1, reference=lambda x: np.split(x, [1], 1))
    yield call(f32(4), num_or_sections=(2,), reference=lambda x: np.split(x, 2))


@samples("concat_p", reference=lambda xs, axis: np.concatenate(xs, axis))
def concat_p_samples():
    yield call([f32(2, 3), f32(2, 1)], axis=1)


@samples("reduce_sum_p", reference=lambda x, axis, keepdim: x.sum(axis, keepdims=keepdim))
def reduce_sum_p_samples():
    yield call(f32(2, 3, 4), axis=(0, 2))
    yield call(f32(2, 3), axis=(1,), keepdim=True)
    yield call(f32(2, 3), axis=(), reference=lambda x: x)


@samples("matmul_p", reference=np.matmul)
def matmul_p_samples():
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(2, 2, 3), f32(2, 3, 1))
    yield fails(ShapeError, "both take 2, or both 3", f32(2, 2, 3), f32(3, 1))
    yield fails(ShapeError, "x has 2 matrices and y has 1", f32(2, 2, 3), f32(1, 3, 1))


WINDOW = {"axis": (0, 1), "starts": (1, 0), "ends": (3, 4), "strides": (1, 2)}


def put(x, y):
    """`x` with `y` in the window."""
    x = x.copy()
    x[1:3, 0:4:2] = y
    return x


@samples("slice_select_p", reference=lambda x: x[1:3, 0:4:2])
def slice_select_p_samples():
    yield call(f32(3, 4), **WINDOW)


@samples("slice_assign_p", reference=put)
def slice_assign_p_samples():
    yield call(f32(3, 4), f32(2, 2), **WINDOW)
    yield fails(ShapeError, "x has 2 axes and y has 1", f32(3, 4), f32(2), **WINDOW)


PLACES = array([2, 0, 2], "int32")


def added(x, y, places, axis):
    """`x` with the slices of `y` added."""
    x = x.copy()
    np.add.at(x, (slice(None),) * axis + (places,), y)
    return x


@samples("gather_p", reference=lambda x, places, axis: x.take(places, axis))
def gather_p_samples():
    yield call(f32(3, 2), PLACES, axis=0)
    yield call(f32(2, 3), PLACES, axis=1)


@samples("scatter_add_p", reference=added)
def scatter_add_p_samples():
    yield call(f32(3, 2), f32(3, 2), PLACES, axis=0)
    yield call(f32(2, 3), f32(2, 3), PLACES, axis=1)


@samples("fill_constant_p")
def fill_constant_p_samples():
    yield call(value=2.5, shape=(2, 3), holds=lambda x: (x == 2.5).all() and x.shape == (2, 3))
    yield call(value=3.0, shape=(), dtype=int64, holds=lambda x: x == 3 and x.dtype == np.int64)
    yield fails(ArgumentError, "shape [-1] has a negative size", value=1.0, shape=(-1,))


@samples("bernoulli_p")
def bernoulli_p_samples():
    few = lambda x: 0.26 < x.mean() < 0.34 and set(np.unique(x)) == {0.0, 1.0}  # noqa: E731
    yield call(shape=(200, 100), p=0.3, holds=few)
    yield call(shape=(200, 100), p=0.3, dtype=float64, holds=few)
    yield fails(ArgumentError, "p is 1.5, and probabilities lie in [0, 1]", shape=(2,), p=1.5)
    yield fails(DtypeError, "random numbers of int64", shape=(2,), p=0.5, dtype=int64)


@samples("uniform_random_p")
def uniform_random_p_samples():
    within = lambda x: 2 <= x.min() < 2.1 and 2.9 < x.max() < 3  # noqa: E731
    yield call(shape=(200, 100), min=2.0, max=3.0, holds=within)
    yield call(shape=(200, 100), min=2.0, max=3.0, seed=5, dtype=float32, holds=within)
    yield fails(DtypeError, "random numbers of int64", shape=(2,), min=0.0, max=1.0, dtype=int64)
