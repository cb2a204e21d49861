"""Samples of modified Bessel functions."""

from scipy import special

from tests.ops.sample import array, call, f64, samples
from tests.ops.samples.special import at_points

EVERYWHERE = (0.0, -0.0, 7.999, 8.0, 8.001, -30.0, 700.0, float("nan"))


def everywhere():
    """Calls with small and great numbers."""
    yield from at_points(low=-9.0, high=9.0)
    yield call(f64(9, low=6.0, high=40.0))
    yield call(array(EVERYWHERE, "float64"), grad=False, name_of_case="limits")


@samples("i0", reference=special.i0)
def i0_samples():
    yield from everywhere()


@samples("i0e", reference=special.i0e)
def i0e_samples():
    yield from everywhere()


@samples("i1", reference=special.i1)
def i1_samples():
    yield from everywhere()
    yield call(array([0.0, 1.0, -9.0]))


@samples("i1e", reference=special.i1e)
def i1e_samples():
    yield from everywhere()
