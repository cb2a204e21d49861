"""Samples of matrices as products of triangles."""

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples


def eliminated(x):
    """The triangles of a matrix by plain elimination, exchanges counted from 1."""
    a, exchanges = x.copy(), []
    for i in range(min(x.shape)):
        chosen = i + int(np.abs(a[i:, i]).argmax())
        exchanges.append(chosen + 1)
        a[[i, chosen]] = a[[chosen, i]]
        for j in range(i + 1, len(a)):
            a[j, i] /= a[i, i]
            a[j, i + 1 :] -= a[j, i] * a[i, i + 1 :]
    return a, np.array(exchanges), np.zeros(1)


@samples("lu", reference=eliminated)
def lu_samples():
    yield call(f32(3, 3))
    yield call(f32(4, 2))
    yield call(f32(2, 3))
    yield call(f64(2, 4))
    yield call(f64(3, 2))
    batch = lambda x: tuple(map(np.stack, zip(*map(eliminated, x), strict=True)))  # noqa: E731
    many = lambda x: (*batch(x)[:2], np.zeros(2))  # noqa: E731
    yield call(f32(2, 3, 3), reference=many)
    singular = lambda x: (x, np.array([1, 2]), np.array([1]))  # noqa: E731
    yield call(array([[0, 1], [0, 2]]), reference=singular, grad=False, name_of_case="singular")
    yield fails(ShapeError, "at least 2 are needed", f32(2))


def unpacked(x, pivots):
    """The permutation as a product of exchanges, and the triangles."""
    m, n = x.shape
    p = np.eye(m)
    for i, other in enumerate(pivots):
        swap = np.eye(m)
        swap[[i, int(other) - 1]] = swap[[int(other) - 1, i]]
        p = p @ swap
    k = min(m, n)
    return p, np.tril(x[:, :k], -1) + np.eye(m, k), np.triu(x[:k])


@samples("lu_unpack", reference=unpacked)
def lu_unpack_samples():
    yield call(f32(3, 3), array([2, 3, 3], "int32"))
    yield call(f32(4, 2), array([4, 2], "int32"))
    yield call(f32(2, 3), array([2, 2], "int32"))
    yield fails(ShapeError, "are not one for each of 3 rows", f32(3, 3), array([1], "int32"))
    yield fails(DtypeError, "are not of integers", f32(2, 2), f32(2))
    outside = array([4, 2, 3], "int32")
    yield fails(RangeError, "a pivot is outside [1, 3]", f32(3, 3), outside, by_value=True)
