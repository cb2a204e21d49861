"""Samples of activations with random parts."""

import numpy as np

from scull.errors import ArgumentError, DtypeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples

BELOW = np.linspace(-3, -1, 1000)


@samples("rrelu")
def rrelu_samples():
    between = lambda found: bool(  # noqa: E731
        np.all((found[1] >= 0.125) & (found[1] < 1 / 3)) and len(np.unique(found[1])) > 900
    )
    yield call(array(BELOW, "float64"), holds=between)
    same = lambda found: found[0].tolist() == [1, 0, -0.5] and found[1][0] == 1  # noqa: E731
    yield call(array([1.0, 0.0, -2.0]), lower=0.25, upper=0.25, holds=same, grad=False)
    middle = lambda found: found[0].tolist() == [1, -1]  # noqa: E731
    yield call(array([1.0, -2.0]), is_test=True, lower=0.25, upper=0.75, holds=middle)
    yield call(f64(3, 2), lower=0.0, upper=1.0)
    yield call(f32())
    yield call(f32(0, 2))
    yield call(f16(3))
    yield fails(ArgumentError, "lower is 0.5 and upper 0.25", f32(2), lower=0.5, upper=0.25)
    yield fails(DtypeError, "not of floating-point elements", i32(2))


def often(found):
    """The largest of three is drawn as often as its weight says."""
    return abs(found[:, 2].mean() - 0.5) < 0.02 and bool(np.all(found.sum(1) == 1))


@samples("gumbel_softmax")
def gumbel_softmax_samples():
    weights = array(np.tile(np.log([1.0, 1.0, 2.0]), (20000, 1)))
    yield call(weights, hard=True, grad=False, holds=often)
    chances = lambda x: bool(np.allclose(x.sum(0), 1, atol=0.02))  # noqa: E731
    yield call(f32(3, 4), axis=0, holds=chances)
    yield call(f64(2, 3), temperature=0.5)
    yield call(f32(), holds=lambda x: x == 1, grad=False)
    yield call(f32(0, 3), holds=lambda x: x.shape == (0, 3))
    yield call(f16(2, 3))
    yield fails(ArgumentError, "temperature is 0.0, not above 0", f32(2), temperature=0.0)
    yield fails(ArgumentError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)
    yield fails(DtypeError, "not of floating-point elements", i32(2))
