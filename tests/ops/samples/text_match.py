"""Samples of how well the words of two texts match."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import call, f32, f64, fails, i64, samples

X, Y = packed([[0, 2, 5]]), packed([[0, 1, 4]])


def both(x: Any, y: Any, x_levels: Any, y_levels: Any) -> Any:
    """The rows of each text, and of the other."""
    ends = [pairwise(unpacked(v)[0]) for v in (x_levels, y_levels)]
    return [(x[a:b], y[c:d]) for (a, b), (c, d) in zip(*ends, strict=True)]


def products(x: Any, y: Any, *levels: Any) -> Any:
    found = [np.einsum("ith,jh->tij", a, b).reshape(-1) for a, b in both(x, y, *levels)]
    return np.concatenate(found)[:, None]


def matching(x: Any, y: Any, w: Any, *levels: Any, dim_t: int = 1) -> Any:
    along = np.einsum("ik,kth->ith", x, w)
    return products(along, y, *levels), along.reshape(-1, 1)


@samples("match_matrix_tensor", reference=matching)
def match_matrix_tensor_samples():
    for make in (f32, f64):
        given = make(5, 3), make(4, 2), make(3, 2, 2)
        yield call(*given, X, Y, dim_t=2, unknown_sizes=False)
    law = "x has 3 columns and w 2 rows"
    yield fails(ShapeError, law, f32(5, 3), f32(4, 2), f32(2, 1, 2), X, Y)
    law = "w has 2 channels, dim_t is 1"
    yield fails(ShapeError, law, f32(5, 3), f32(4, 2), f32(3, 2, 2), X, Y)
    law = "2, 2 and 3 axes are needed"
    yield fails(ShapeError, law, f32(5, 3), f32(4, 2), f32(3, 2), X, Y)
    law = "int64[4, 2] is not of float32 or float64"
    yield fails(DtypeError, law, f32(5, 3), i64(4, 2), f32(3, 1, 2), X, Y)
    law = "an operand has no levels of detail"
    one = f32(5, 3), f32(4, 2), f32(3, 1, 2)
    yield fails(ArgumentError, law, *one, by_value=True)
    law = "x has 2 texts and y 1"
    yield fails(ShapeError, law, *one, X, packed([[0, 4]]), by_value=True)


@samples("matched", reference=products)
def matched_samples():
    yield call(f32(5, 2, 3), f32(4, 3), X, Y)
    yield call(f64(5, 1, 3), f64(4, 3), X, Y)
    law = "y has 3 rows and its levels tell of 4"
    yield fails(ShapeError, law, f32(5, 2, 3), f32(3, 3), X, Y, by_value=True)


def slopes(x: Any, y: Any, dout: Any, *levels: Any) -> Any:
    dx, dy, begin = np.zeros_like(x), np.zeros_like(y), 0
    for (a, b), (c, d) in zip(*(pairwise(unpacked(v)[0]) for v in levels), strict=True):
        each = dout[begin : begin + x.shape[1] * (b - a) * (d - c)]
        begin += len(each)
        each = each.reshape(x.shape[1], b - a, d - c)
        dx[a:b] = np.einsum("tij,jh->ith", each, y[c:d])
        dy[c:d] = np.einsum("tij,ith->jh", each, x[a:b])
    return dx, dy


@samples("matched_backward", reference=slopes)
def matched_backward_samples():
    yield call(f64(5, 2, 3), f64(4, 3), f64(22, 1), X, Y)
    law = "x has 4 rows and its levels tell of 5"
    yield fails(ShapeError, law, f64(4, 2, 3), f64(4, 3), f64(22, 1), X, Y, by_value=True)
