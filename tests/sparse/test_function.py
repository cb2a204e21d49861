"""Functions of sparse tensors: those of dense ones, at the places that are stored."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RangeError, ShapeError, UnsupportedError
from tests.sparse.drawn import check, drawn

sparse = paddle.sparse
UNARY = "abs asin asinh atan atanh deg2rad expm1 log1p neg rad2deg sin sinh sqrt square tan tanh"
KINDS = pytest.mark.parametrize("kind", ["coo", "csr"])


@KINDS
@pytest.mark.parametrize("name", UNARY.split())
def test_a_function_that_leaves_0_runs_over_the_stored_elements(name, kind):
    x = drawn(0, [3, 4], 0.5, kind)
    found = check(getattr(sparse, name), getattr(paddle, name), x)
    assert found.nnz() == x.nnz() and found.lies_as(x)


def test_dense_axes_behind_the_coordinates_are_values():
    x = drawn(0, [3, 4, 2], 0.5, axes=2)
    assert check(sparse.tanh, paddle.tanh, x).values().shape == [x.nnz(), 2]
    check(lambda x: sparse.transpose(x, [1, 0, 2]), lambda x: x.transpose([1, 0, 2]), x)
    check(lambda x: sparse.reshape(x, [6, -1, 2]), lambda x: x.reshape([6, 2, 2]), x)
    check(lambda x: sparse.slice(x, [0, 2], [1, 0], [3, 1]), lambda x: x[1:3, :, :1], x)
    check(lambda x: sparse.sum(x, -1), lambda x: x.sum(-1), x)
    y = drawn(1, [3, 4, 2], 0.5, axes=2)
    check(sparse.add, paddle.add, drawn(2, [3, 4, 2], 0.5, axes=2), y)


def test_axes_before_and_behind_change_places_among_themselves_alone():
    x = drawn(0, [3, 4, 2, 5], 0.5, axes=2)
    check(lambda x: sparse.transpose(x, [1, 0, 3, 2]), lambda x: x.transpose([1, 0, 3, 2]), x)
    with pytest.raises(UnsupportedError, match="stays behind the sparse"):
        sparse.transpose(x, [0, 2, 1, 3])
    with pytest.raises(UnsupportedError, match="stored stay"):
        sparse.reshape(x, [12, 10])


@KINDS
def test_integers_are_degrees_and_quotients_too(kind):
    x = sparse.cast(drawn(0, [3, 4], 0.5, kind) * 10, None, "int64")
    assert sparse.deg2rad(x).dtype is sparse.divide(x, 2).dtype is paddle.float32
    assert sparse.sum(x).dtype is sparse.sum(sparse.cast(x, None, "bool")).dtype is paddle.int64


@KINDS
def test_casts_change_values_and_places(kind):
    x = drawn(0, [3, 4], 0.5, kind)
    y = sparse.cast(x, "int32", "float32")
    places = y.indices() if kind == "coo" else y.cols()
    assert (places.dtype, y.dtype, x.dtype) == (paddle.int32, paddle.float32, paddle.float64)
    y.backward()
    assert x.grad.dtype is paddle.float64
    if kind == "coo":
        assert {v.indices().dtype for v in (y.coalesce(), y + y.T.T, sparse.sum(y, 0))} == {
            paddle.int32
        }


@KINDS
@pytest.mark.parametrize("factor", [2, 0.5, 3.0])
def test_powers_are_those_of_the_stored_elements(kind, factor):
    x = drawn(0, [3, 4], 0.5, kind)
    check(lambda x: sparse.pow(x, factor), lambda x: x**factor, x)


@KINDS
def test_what_is_no_number_is_found(kind):
    x = sparse.divide(drawn(0, [3, 4], 0.5, kind).detach() * 0, 0)
    assert sparse.isnan(x).dtype is paddle.bool and sparse.isnan(x).values().numpy().all()


@KINDS
@pytest.mark.parametrize("perm", [[0, 2, 1], [2, 1, 0], [1, 0, 2], [1, 2, 0], [-1, 0, 1]])
def test_axes_in_another_order_are_those_of_the_whole(perm, kind):
    x = drawn(0, [3, 4, 5], 0.3, kind)
    check(lambda x: sparse.transpose(x, perm), lambda x: x.transpose([p % 3 for p in perm]), x)


@KINDS
@pytest.mark.parametrize("shape", [[4, 6], [2, 3, 4], [-1, 8], [0, 12], [2, 0, -1]])
def test_another_shape_is_that_of_the_whole(shape, kind):
    x = drawn(0, [2, 12], 0.3, kind)
    meant = [x.shape[i] if n == 0 else n for i, n in enumerate(shape)]
    check(lambda x: sparse.reshape(x, shape), lambda x: x.reshape(meant), x)


@KINDS
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(("start", "end"), [(0, 2), (1, 9), (-2, 100), (1, -1), (2, 2)])
def test_what_is_cut_out_is_cut_of_the_whole(axis, start, end, kind):
    x = drawn(0, [4, 5], 0.4, kind)
    part = [slice(None)] * 2
    part[axis] = slice(start, end)
    check(lambda x: sparse.slice(x, [axis], [start], [end]), lambda x: x[tuple(part)], x)
    both = sparse.slice(x, paddle.to_tensor([0, 1]), [1, 2], [3, 4])
    assert np.array_equal(both.numpy(), x.numpy()[1:3, 2:4])


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, [0, 2], (1, -1)])
def test_the_sum_of_coordinates_is_that_of_the_whole(axis, keepdim):
    x = drawn(0, [3, 4, 5], 0.3)
    check(lambda x: sparse.sum(x, axis, keepdim=keepdim), lambda x: x.sum(axis, keepdim=keepdim), x)


def test_the_sum_of_everything_is_one_element():
    x = drawn(0, [3, 4], 0.5)
    check(sparse.sum, lambda x: x.sum().reshape([1]), x)
    check(
        lambda x: sparse.sum(x, keepdim=True), lambda x: x.sum(keepdim=True), drawn(1, [3, 4], 0.5)
    )
    check(
        lambda x: sparse.sum(x, 0), lambda x: x.sum(0, keepdim=True), drawn(1, [3, 2], 0.5, axes=1)
    )


@pytest.mark.parametrize("shape", [[3, 4], [2, 3, 4]])
def test_rows_are_summed_row_by_row_or_together(shape):
    x = drawn(0, shape, 0.4, "csr")
    check(lambda x: sparse.sum(x, -1), lambda x: x.sum(-1, keepdim=True), x)
    check(sparse.sum, lambda x: x.sum().reshape([1, 1]), drawn(0, shape, 0.4, "csr"))
    with pytest.raises(UnsupportedError, match="the last axis"):
        sparse.sum(x, 0)


@KINDS
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
@pytest.mark.parametrize("other", [0, 1])
def test_two_tensors_meet_at_the_places_of_both(name, other, kind):
    for shape in ([4, 6], [2, 3, 4]):
        x, y = drawn(0, shape, 0.4, kind), drawn(other, shape, 0.4, kind)
        found = check(getattr(sparse, name), getattr(paddle, name), x, y)
        stored = (x.numpy() != 0) | (y.numpy() != 0)
        assert found.nnz() == stored.sum()


@KINDS
def test_a_quotient_is_stored_everywhere(kind):
    x, y = drawn(0, [3, 4], 0.5, kind), drawn(1, [3, 4], 0.5, kind)
    found = sparse.divide(x, y)
    assert found.nnz() == 12
    assert np.array_equal(found.numpy(), (x.to_dense() / y.to_dense()).numpy(), equal_nan=True)
    check(sparse.divide, paddle.divide, drawn(0, [3, 4], 0.5, kind), drawn(1, [3, 4], 1.0, kind))


def test_what_is_stored_twice_counts_twice_where_places_differ():
    x = sparse.sparse_coo_tensor([[1, 1, 0]], [1.0, 2.0, 4.0], [3])
    y = sparse.sparse_coo_tensor([[2, 1]], [1.0, 10.0], [3])
    assert (x + y).to_dense().tolist() == [4.0, 13.0, 1.0]
    assert (x * y).to_dense().tolist() == [0.0, 30.0, 0.0]


def test_a_row_is_added_to_the_dense_axes_of_every_stored_element():
    x, row = drawn(0, [3, 4, 2], 0.5, axes=2), paddle.to_tensor([1.0, 10.0], "float64")
    row.stop_gradient = False
    found = sparse.add(x, row)
    assert np.allclose(found.values().numpy(), x.values().numpy() + [1.0, 10.0])
    found.backward()
    assert row.grad.tolist() == [x.nnz()] * 2


def test_another_element_type_becomes_that_of_the_first():
    x, y = drawn(0, [3], 1.0, dtype="float32"), drawn(1, [3], 1.0)
    assert (x + y).dtype is (x * y).dtype is (x / y).dtype is paddle.float32


def test_shapes_are_the_same_or_not():
    x = drawn(0, [3, 4], 0.5)
    assert sparse.is_same_shape(x, paddle.ones([3, 4]))
    assert not sparse.is_same_shape(x, drawn(0, [4, 3], 0.5, "csr"))
    with pytest.raises(ArgumentTypeError, match="`y` must be Tensor, but got int"):
        sparse.is_same_shape(x, 3)


X, DENSE = drawn(0, [3, 4], 0.5), paddle.ones([3, 4])


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda: sparse.sin(DENSE), UnsupportedError, r"sin\(\): `x` is no Sparse"),
        (lambda: sparse.sin("a"), ArgumentTypeError, "must be Tensor, but got str"),
        (lambda: sparse.add(X, DENSE), UnsupportedError, "`y` is no SparseCooTensor"),
        (lambda: sparse.add(DENSE, X), UnsupportedError, "`x` is no Sparse"),
        (lambda: sparse.multiply(X, X.to_sparse_csr()), UnsupportedError, "`y` is no SparseCoo"),
        (lambda: sparse.add(X, drawn(0, [4, 3], 0.5)), ShapeError, r"\[3, 4\] and y \[4, 3\]"),
        (lambda: sparse.add(X, drawn(0, [3, 4], 0.5, axes=1)), ShapeError, "2 sparse axes and y 1"),
        (lambda: sparse.transpose(X, [0, 0]), ShapeError, "each of 2 axes once"),
        (lambda: sparse.transpose(X, [0, 2]), RangeError, "axis 2 is outside"),
        (lambda: sparse.reshape(X, [5, 5]), ShapeError, "does not hold"),
        (lambda: sparse.reshape(X, [-1, -1]), ShapeError, "does not hold"),
        (lambda: sparse.reshape(X, [3, 4, 0]), RangeError, "lacks"),
        (lambda: sparse.slice(X, [2], [0], [1]), RangeError, "axis 2 is outside"),
        (lambda: sparse.slice(X, [0, 1], [0], [1]), ArgumentError, "one length"),
        (lambda: sparse.slice(X, [0], [2], [1]), ArgumentError, "lies before its start"),
        (lambda: sparse.sum(X, 2), RangeError, "axis 2 is outside"),
    ],
)
def test_what_makes_no_sense_is_refused_by_a_law(call, error, law):
    with pytest.raises(error, match=law):
        call()
