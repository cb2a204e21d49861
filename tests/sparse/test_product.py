"""Products with sparse matrices against those with whole ones, and gradients of second order."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.sparse.product import FEW
from tests.sparse.drawn import check, drawn

sparse = paddle.sparse
KINDS = pytest.mark.parametrize("kind", ["coo", "csr"])
SHARES = pytest.mark.parametrize("share", [0.02, 0.5])  # by elements, by whole matrices


def matrix(seed, *shape):
    values = np.random.default_rng(seed).standard_normal(shape)
    return paddle.to_tensor(values, stop_gradient=False)


@KINDS
@SHARES
@pytest.mark.parametrize("lead", [[], [3]])
def test_a_product_with_a_dense_matrix_is_that_of_the_whole(lead, share, kind):
    x = drawn(0, [*lead, 2 * FEW, 30], share, kind)
    check(sparse.matmul, paddle.matmul, x, matrix(1, *lead, 30, 5))
    check(lambda y, x: y @ x, paddle.matmul, matrix(1, *lead, 5, 2 * FEW), drawn(0, x.shape, share))


@KINDS
@SHARES
def test_a_product_with_a_vector_is_that_of_the_whole(share, kind):
    check(sparse.mv, paddle.mv, drawn(0, [2 * FEW, 30], share, kind), matrix(1, 30))


def test_long_and_short_rows_are_summed_alike():
    stored = np.random.default_rng(0).random((FEW + 20, 400)) < 0.01
    stored[[3, 70]] = True
    x = paddle.to_tensor(stored * 1.5).to_sparse_csr()
    y = matrix(1, 400, 3)
    assert np.allclose(sparse.matmul(x, y).numpy(), (stored * 1.5) @ y.numpy())


@KINDS
@pytest.mark.parametrize("lead", [[], [2]])
def test_a_product_of_sparse_matrices_is_sparse(lead, kind):
    x, y = drawn(0, [*lead, 6, 7], 0.3, kind), drawn(1, [*lead, 7, 5], 0.3, kind)
    found = check(sparse.matmul, paddle.matmul, x, y)
    assert found.is_sparse_coo() is (kind == "coo")
    reached = np.matmul(x.numpy() != 0, y.numpy() != 0)
    assert found.nnz() == reached.sum()


def test_what_is_stored_twice_or_out_of_order_counts_as_its_sum():
    x = sparse.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [1.0, 2.0, 4.0], [2, 3])
    whole = x.coalesce().to_dense()
    y = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert (x @ y).tolist() == (whole @ y).tolist()
    assert (x @ x.T).to_dense().tolist() == (whole @ whole.T).tolist()


@KINDS
@SHARES
@pytest.mark.parametrize("lead", [[], [3]])
def test_a_masked_product_is_computed_where_the_mask_stores(lead, share, kind):
    mask = drawn(0, [*lead, 2 * FEW, 30], share, kind).detach()
    x, y = matrix(1, *lead, 2 * FEW, 4), matrix(2, *lead, 4, 30)
    stored = paddle.to_tensor((mask.numpy() != 0) * 1.0)
    check(lambda x, y: sparse.masked_matmul(x, y, mask), lambda x, y: (x @ y) * stored, x, y)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@SHARES
def test_half_precision_is_summed_in_float32_and_rounded_once(share, dtype):
    x = drawn(0, [2 * FEW, 300], share, "csr", dtype="float32").astype(dtype)
    y = matrix(1, 300, 3).astype(dtype)
    found = sparse.matmul(x, y)
    exact = sparse.matmul(x.astype("float32"), y.astype("float32"))
    assert found.dtype is x.dtype and found.tolist() == exact.astype(dtype).tolist()
    assert sparse.masked_matmul(found, y.T, x).dtype is x.dtype


def test_a_mask_in_any_order_with_a_place_twice_stays_as_it_is():
    places = [1, 0, 1, 1], [0, 1, 1, 0]
    mask = sparse.sparse_coo_tensor(places, [1.0] * 4, [2, 2])
    x, y = matrix(1, 2, 3), matrix(2, 3, 2)
    found = sparse.masked_matmul(x, y, mask)
    assert np.allclose(found.values().numpy(), (x @ y).numpy()[places])
    found.backward()
    (expected,) = paddle.grad((x @ y) * paddle.to_tensor([[0.0, 1], [2, 1]], "float64"), x)
    assert np.allclose(x.grad.numpy(), expected.numpy())


@KINDS
def test_products_are_added_and_weighed(kind):
    x, y, z = drawn(0, [6, 7], 0.3, kind), matrix(1, 7, 5), matrix(2, 6, 5)
    check(lambda *v: sparse.addmm(*v, 2.0, 3.0), lambda *v: paddle.addmm(*v, 2.0, 3.0), z, x, y)
    y, z = drawn(3, [7, 5], 0.3, kind), drawn(4, [6, 5], 0.3, kind)
    x = drawn(0, [6, 7], 0.3, kind)
    check(lambda *v: sparse.addmm(*v, 2.0, 3.0), lambda *v: paddle.addmm(*v, 2.0, 3.0), z, x, y)


@KINDS
@SHARES
def test_gradients_of_gradients_are_those_of_the_whole(share, kind):
    def squares(x, y):
        out = sparse.matmul(x, y) if x.is_sparse() else x @ y
        dx, dy = paddle.grad((out**3).sum(), [x, y], create_graph=True)
        dx = dx.values() if dx.is_sparse() else dx[tuple(places)]
        return (dx**2).sum() + (dy**2).sum()

    x, y = drawn(0, [20, 30], share, kind), matrix(1, 30, 3)
    places = x.numpy().nonzero()
    whole = paddle.to_tensor(x.numpy(), stop_gradient=False)
    found = paddle.grad(squares(x, y), [x, y])
    expected = paddle.grad(squares(whole, y), [whole, y])
    assert np.allclose(found[0].values().numpy(), expected[0].numpy()[places])
    assert np.allclose(found[1].numpy(), expected[1].numpy())


@pytest.mark.parametrize("shape", [[30, 20], [20, 30]])
@pytest.mark.parametrize("center", [False, True])
def test_all_principal_components_make_the_matrix(shape, center):
    x = drawn(0, shape, 0.3)
    matrix = x.numpy() - x.numpy().mean(0) * center
    u, s, v = sparse.pca_lowrank(x, 20, center)
    assert np.allclose((u.numpy() * s.numpy()) @ v.numpy().T, matrix)
    assert np.allclose(s.numpy(), np.linalg.svd(matrix)[1])


X, Y = drawn(0, [3, 4], 0.5), paddle.ones([4, 2], "float64")


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda: sparse.matmul(Y, Y), UnsupportedError, "`x` is no Sparse"),
        (lambda: sparse.matmul(X, Y.T), ShapeError, "have no product"),
        (lambda: sparse.matmul(X, Y[:, 0]), ShapeError, "have no product"),
        (lambda: sparse.matmul(X, X.T.to_sparse_csr()), UnsupportedError, "`y` is no SparseCoo"),
        (lambda: sparse.matmul(X, Y.astype("float32")), DtypeError, "cast one"),
        (lambda: sparse.matmul(drawn(0, [3, 4], 1, axes=1), Y), UnsupportedError, "dense axes"),
        (lambda: sparse.mv(X, Y), ShapeError, "have no product"),
        (lambda: sparse.masked_matmul(Y, Y.T, Y), UnsupportedError, "`mask` is no Sparse"),
        (lambda: sparse.masked_matmul(X, Y, X), UnsupportedError, "`x` is sparse"),
        (lambda: sparse.masked_matmul(Y, Y.T, X), ShapeError, r"is not \[3, 4\]"),
        (lambda: sparse.addmm(X, X, Y), UnsupportedError, "both sparse or both dense"),
        (lambda: sparse.pca_lowrank(X, 9), ArgumentError, "`q` is 9"),
        (lambda: sparse.pca_lowrank(X, niter=-1), ArgumentError, "`niter`"),
        (lambda: sparse.pca_lowrank(Y), ValueError, "must be sparse, but got dense"),
        (lambda: sparse.pca_lowrank(drawn(0, [2, 3, 4], 0.5)), ShapeError, "2-dimensional"),
    ],
)
def test_what_has_no_product_is_refused_by_a_law(call, error, law):
    with pytest.raises(error, match=law):
        call()
