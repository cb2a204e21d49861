"""Samples of roundings to whole numbers."""

import numpy as np

from tests.ops.sample import array, call, f32, samples
from tests.ops.samples.math import anywhere

HALVES = (0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0, -0.2)


def away(x):
    """Halves rounded away from 0."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0.0)


def finite(x):
    """As `away`, with infinities as they are."""
    return np.where(np.isfinite(x), away(np.where(np.isfinite(x), x, 0)), x)


def between_whole(**options):
    """Calls without whole numbers in any element type, where the results jump."""
    yield from anywhere(low=1.1, high=1.4, **options)
    yield call(f32(3, 4, low=-3.9, high=3.9), grad=False)


@samples("floor", reference=np.floor)
def floor_samples():
    yield from between_whole()


@samples("ceil", reference=np.ceil)
def ceil_samples():
    yield from between_whole()


@samples("round", reference=finite)
def round_samples():
    yield from between_whole()
    yield call(array(HALVES), grad=False, name_of_case="halves")


@samples("trunc", reference=np.trunc)
def trunc_samples():
    yield from between_whole(integers=True)
