"""Samples of volumes made larger at their edges; the reference is NumPy's own."""

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import array, bf16, call, f32, fails, i64, samples, strided

NAMES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
LAST = {"data_format": "NDHWC"}


def padded(x, tensor=None, paddings=(), mode="constant", value=0.0, data_format="NCDHW"):
    """NumPy's `pad`; what negative paddings take away is cut first."""
    given = np.reshape(paddings if tensor is None else tensor.astype(int), (3, 2))[::-1]
    outer = [(0, 0)] * 2
    pairs = [*outer, *given] if data_format == "NCDHW" else [outer[0], *given, outer[0]]
    cut = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pairs, strict=True)]
    grown = [(max(a, 0), max(b, 0)) for a, b in pairs]
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x[tuple(cut)], grown, NAMES[mode], **options)


@samples("pad3d", reference=padded)
def pad3d_samples():
    one = (1, 0, 2, 1, 0, 1)
    yield call(f32(1, 2, 2, 3, 2), paddings=one, value=1.5)
    yield call(f32(1, 2, 2, 3, 2), paddings=(-1, 1, 0, 0, 0, -1))
    yield call(f32(1, 2, 3, 2, 2), **LAST, paddings=one, value=-1.0)
    yield call(f32(1, 1, 2, 3, 2), paddings=(1, 1, 2, 2, 1, 0), mode="reflect")
    yield call(f32(1, 1, 2, 3, 2), paddings=(5, 1, 0, 2, 1, 0), mode="replicate")
    yield call(f32(1, 1, 2, 3, 2), paddings=(5, 1, 0, 4, 1, 0), mode="circular")
    yield call(f32(1, 2, 3, 2, 1), **LAST, paddings=(1, 1, 2, 0, 1, 0), mode="reflect")
    yield call(i64(1, 1, 1, 2, 2), paddings=one, value=7.0)
    yield call(bf16(1, 1, 2, 2, 2), paddings=(1, 0, 0, 1, 0, 0), mode="reflect")
    yield call(f32(0, 1, 2, 2, 2), paddings=one)
    yield call(strided(f32(1, 1, 2, 2, 2)), paddings=one)
    tensor = array([1, 0, 0, 2, 0, 0], "int32")
    yield call(f32(1, 1, 1, 2, 2), tensor, paddings=())
    yield fails(ShapeError, "a volume has 5 axes, not 4", f32(1, 1, 2, 2), paddings=one)
    short = (1, 1)
    yield fails(ArgumentError, "need 6 paddings, not 2", f32(1, 1, 1, 2, 2), paddings=short)
    reflect = {"paddings": (2, 0, 0, 0, 0, 0), "mode": "reflect"}
    yield fails(ArgumentError, "reflects less than 2 elements", f32(1, 1, 1, 2, 2), **reflect)
    minus = (-2, -1, 0, 0, 0, 0)
    yield fails(ArgumentError, "axis 4 of size 2 lacks 3", f32(1, 1, 1, 2, 2), paddings=minus)
    yield fails(ArgumentError, "mode is 'x'", f32(1, 1, 1, 2, 2), paddings=one, mode="x")
    yield fails(
        ArgumentError, "data_format is 'x'", f32(1, 1, 1, 2, 2), paddings=one, data_format="x"
    )


def folded(x, like, tensor=None, paddings=(), mode="constant", data_format="NCDHW"):
    """Each element added to the one whose number padding would put there."""
    numbers = np.arange(1, like.size + 1).reshape(like.shape)
    origin = padded(numbers, tensor, paddings, mode, 0, data_format)
    return np.bincount(origin.ravel(), x.ravel(), like.size + 1)[1:].reshape(like.shape)


@samples("fold_pad3d", reference=folded)
def fold_pad3d_samples():
    small = f32(1, 1, 1, 3, 2)
    yield call(f32(1, 1, 1, 4, 5), small, paddings=(1, 2, 0, 1, 0, 0))
    yield call(f32(1, 1, 1, 4, 5), small, paddings=(1, 2, 0, 1, 0, 0), mode="replicate")
    yield call(f32(1, 1, 1, 4, 5), small, paddings=(1, 2, 0, 1, 0, 0), mode="circular")
    yield call(f32(1, 1, 1, 5, 4), small, paddings=(1, 1, 2, 0, 0, 0), mode="reflect")
    yield call(f32(1, 1, 1, 2, 1), small, paddings=(-1, 0, 0, -1, 0, 0))
