"""Samples of images pooled to several sizes."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples


def pooled(x: Any, *, pyramid_height: int, pooling_type: str) -> Any:
    combine, found = {"max": np.max, "avg": np.mean}[pooling_type], []
    for count in (2**level for level in range(pyramid_height)):
        sizes = [math.ceil(n / count) for n in x.shape[2:]]
        before = [math.ceil((s * count - n) / 2) for s, n in zip(sizes, x.shape[2:], strict=True)]
        windows = []
        for place in np.ndindex(count, count):
            starts = [p * s - b for p, s, b in zip(place, sizes, before, strict=True)]
            parts = [slice(max(a, 0), a + s) for a, s in zip(starts, sizes, strict=True)]
            windows.append(combine(x[:, :, parts[0], parts[1]], axis=(2, 3)))
        found.append(np.stack(windows, 2).reshape(len(x), -1))
    return np.concatenate(found, 1)


@samples("spp", reference=pooled)
def spp_samples():
    for kind in ("max", "avg"):
        yield call(f32(2, 3, 7, 6), pyramid_height=3, pooling_type=kind, unknown_sizes=False)
    yield call(f64(1, 2, 4, 4), pyramid_height=1, pooling_type="avg", unknown_sizes=False)
    yield call(f64(1, 1, 7, 3), pyramid_height=2, pooling_type="max", unknown_sizes=False)
    law = "has 3 axes, 4 are needed"
    yield fails(ShapeError, law, f32(2, 3, 5), pyramid_height=1, pooling_type="max")
    law = "pyramid_height is 0, not from 1 to 12"
    yield fails(ArgumentError, law, f32(2, 3, 5, 5), pyramid_height=0, pooling_type="max")
    law = "pooling_type is 'sum', neither max nor avg"
    yield fails(ArgumentError, law, f32(2, 3, 5, 5), pyramid_height=1, pooling_type="sum")
