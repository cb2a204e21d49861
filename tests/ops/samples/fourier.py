"""Samples of Fourier transforms, compared with the sums that define them."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import c64, c128, call, f16, f32, f64, fails, i64, samples, strided


def along(x, axis, sign):
    """The sums of the elements along `axis`, turned once per element and frequency."""
    n = np.arange(x.shape[axis])
    turns = np.exp(sign * 2j * np.pi * np.outer(n, n) / len(n))
    return np.moveaxis(np.moveaxis(x, axis, -1) @ turns, -1, axis)


def divisor(count, normalization, forward):
    """What sums of `count` elements are divided by."""
    if normalization == "ortho":
        return np.sqrt(count)
    return count if (normalization == "forward") is forward else 1


def whole(x, axes, normalization, forward):
    """All frequencies of `x`."""
    found = np.asarray(x, "complex128")
    for axis in axes:
        found = along(found, axis, -1 if forward else 1)
    return found / divisor(np.prod([x.shape[a] for a in axes]), normalization, forward)


def half(x, axes, normalization, forward, onesided):
    """Those of them that real numbers need."""
    found = whole(x, axes, normalization, forward)
    if not onesided:
        return found
    return found.take(range(x.shape[axes[-1]] // 2 + 1), axes[-1])


def from_half(x, axes, normalization, forward, last_dim_size=0):
    """The real numbers of such a half: each element that has a mirror image stands for two."""
    *others, last = axes
    size = last_dim_size or 2 * (x.shape[last] - 1)
    found = np.moveaxis(whole(x, others, "backward", True) if forward else x, last, -1)
    if others and not forward:
        found = np.moveaxis(whole(x, others, "forward", False), last, -1)
    k, n = np.arange(found.shape[-1]), np.arange(size)
    turns = np.exp((-2j if forward else 2j) * np.pi * np.outer(k, n) / size)
    twice = np.where((k == 0) | (2 * k == size), 1, 2)
    count = size * np.prod([x.shape[a] for a in others])
    found = ((found * twice) @ turns).real / divisor(count, normalization, forward)
    return np.moveaxis(found, -1, last)


NORMS = ("backward", "forward", "ortho")
PLAIN = {"axes": (-1,), "normalization": "backward", "forward": True}
ELSEWHERE = {"axes": (1,), "normalization": "none", "forward": True}


def mistakes(make, **more):
    """Axes and normalizations that no transform has."""
    law = "normalization is 'none', not one of backward, forward, ortho"
    yield fails(ArgumentError, law, make(2, 3), **ELSEWHERE, **more)
    yield fails(ArgumentError, "axes is empty", make(2, 3), **PLAIN | {"axes": ()}, **more)
    law, twice = "axes [1, -1] name an axis twice", {"axes": (1, -1)}
    yield fails(ArgumentError, law, make(2, 3), **PLAIN | twice, **more)
    law, outside = "axis 2 is outside [-2, 2)", {"axes": (2,)}
    yield fails(RangeError, law, make(2, 3), **PLAIN | outside, **more)
    yield fails(ShapeError, "axis 1 has no elements", make(2, 0), **PLAIN, **more)


@samples("fft_c2c", reference=whole)
def fft_c2c_samples():
    for norm in NORMS:
        yield call(c64(3, 4), axes=(1,), normalization=norm, forward=True)
        yield call(c128(3, 5), axes=(0,), normalization=norm, forward=False)
    yield call(c64(2, 3, 4), axes=(0, 2), normalization="ortho", forward=True)
    yield call(strided(c128(2, 3)), **PLAIN)
    yield call(c64(1), **PLAIN)
    yield call(c64(0, 3), **PLAIN)
    yield from mistakes(c64)
    law = "float32[3] is not of complex elements"
    yield fails(DtypeError, law, f32(3), **PLAIN)


@samples("fft_r2c", reference=half)
def fft_r2c_samples():
    for norm in NORMS:
        for onesided in (False, True):
            how = {"normalization": norm, "onesided": onesided}
            yield call(f32(3, 4), axes=(1,), forward=True, **how)
            yield call(f64(5, 2), axes=(0,), forward=False, **how)
    for onesided in (False, True):
        how = {"normalization": "backward", "onesided": onesided}
        yield call(f64(2, 3, 4), axes=(2, 0), forward=True, **how)
        yield call(f64(2, 3, 5), axes=(0, 1, 2), forward=False, **how)
    yield call(strided(f64(2, 3)), **PLAIN, onesided=True)
    yield call(f32(1), **PLAIN, onesided=True)
    yield call(f32(0, 3), **PLAIN, onesided=True)
    yield from mistakes(f32, onesided=True)
    for x in (c64(3), i64(3), f16(3)):
        law = "has neither float32 nor float64 elements"
        yield fails(DtypeError, law, x, **PLAIN, onesided=True, name_of_case=x.dtype.name)


@samples("fft_c2r", reference=from_half)
def fft_c2r_samples():
    for norm in NORMS:
        yield call(c64(3, 4), axes=(1,), normalization=norm, forward=False)
        yield call(c128(3, 2), axes=(0,), normalization=norm, forward=True, last_dim_size=5)
    yield call(c128(3, 2, 3), axes=(2, 0), normalization="ortho", forward=False)
    yield call(c128(2, 2, 3), axes=(0, 1, 2), normalization="forward", forward=True)
    yield call(strided(c128(2, 3)), **PLAIN)
    yield call(c64(1), **PLAIN, last_dim_size=1)
    yield call(c64(0, 3), **PLAIN)
    yield from mistakes(c64)
    law = "axis 0 has one element, which makes no even number of them"
    yield fails(ShapeError, law, c64(1), **PLAIN)
    law = "5 real elements come of 3 complex ones, and axis 0 has 4"
    yield fails(ShapeError, law, c64(4), **PLAIN, last_dim_size=5)
    yield fails(DtypeError, "float32[3] is not of complex elements", f32(3), **PLAIN)


def pairs_scaled(x, axis, size, factor):
    k = np.arange(x.shape[axis])
    factors = np.where((k == 0) | (2 * k == size), 1.0, factor)
    return np.moveaxis(np.moveaxis(x, axis, -1) * factors, -1, axis)


@samples("scale_pairs", reference=pairs_scaled)
def scale_pairs_samples():
    yield call(c64(2, 3), axis=1, size=4, factor=0.5)
    yield call(c128(3, 2), axis=0, size=5, factor=2.0)
    yield call(c64(1), axis=0, size=1, factor=2.0)
    yield call(strided(c128(2, 3)), axis=-1, size=5, factor=0.5)
