"""Sparse tensors: made, shown, turned into other kinds; their places, values and gradients."""

import copy

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    RangeError,
    ShapeError,
    UnsupportedError,
)

sparse = paddle.sparse
WHOLE = [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 4.0]]


def coo(stop_gradient=True):
    places = [[0, 1, 2, 2], [1, 2, 0, 2]]
    values = [1.0, 2.0, 3.0, 4.0]
    return sparse.sparse_coo_tensor(places, values, [3, 3], stop_gradient=stop_gradient)


def csr(stop_gradient=True):
    lists = [0, 1, 2, 4], [1, 2, 0, 2], [1.0, 2.0, 3.0, 4.0]
    return sparse.sparse_csr_tensor(*lists, [3, 3], stop_gradient=stop_gradient)


def test_a_sparse_tensor_says_what_it_is():
    for x, kind in ((coo(), "coo"), (csr(), "csr")):
        assert isinstance(x, paddle.Tensor) and paddle.is_tensor(x)
        asked = x.is_sparse(), x.is_sparse_coo(), x.is_sparse_csr(), x.is_dense()
        assert asked == (True, kind == "coo", kind == "csr", False)
        assert (x.shape, x.ndim, x.dim(), x.size, len(x), x.nnz()) == ([3, 3], 2, 2, 9, 3, 4)
        assert (x.dtype, x.numel().item(), x.stop_gradient) == (paddle.float32, 9, True)
        assert x.to_dense().tolist() == x.numpy().tolist() == np.asarray(x).tolist() == WHOLE
        assert x.is_same_shape(x.to_dense()) and x.to_dense().is_same_shape(x)
        assert x.is_contiguous() and x.contiguous() is x and not x.is_selected_rows()
    dense = paddle.ones([2])
    assert not (dense.is_sparse() or dense.is_sparse_coo() or dense.is_sparse_csr())


def test_a_sparse_tensor_is_printed_as_paddle_prints_it():
    assert str(coo()) == (
        "Tensor(shape=[3, 3], dtype=paddle.float32, place=Place(cpu), stop_gradient=True, \n"
        "       indices=[[0, 1, 2, 2],\n"
        "                [1, 2, 0, 2]], \n"
        "       values=[1., 2., 3., 4.])"
    )
    assert str(csr(False)) == (
        "Tensor(shape=[3, 3], dtype=paddle.float32, place=Place(cpu), stop_gradient=False, \n"
        "       crows=[0, 1, 2, 4], \n"
        "       cols=[1, 2, 0, 2], \n"
        "       values=[1., 2., 3., 4.])"
    )


@pytest.mark.parametrize("shape", [[5], [3, 4], [2, 3, 4], [0, 3]])
def test_a_dense_tensor_and_its_coordinates_hold_the_same(shape):
    rng = np.random.default_rng(0)
    whole = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    for count in range(1, len(shape) + 1):
        x = paddle.to_tensor(whole, stop_gradient=False)
        found = x.to_sparse_coo(count)
        assert np.array_equal(found.to_dense().numpy(), whole)
        stored = whole.any(tuple(range(count, len(shape))))
        assert np.array_equal(found.indices().numpy(), np.array(stored.nonzero()))
        if stored.any():
            (found.to_dense() * 3.0).sum().backward()
            each = stored.reshape(*stored.shape, *(1,) * (len(shape) - count))
            assert np.array_equal(x.grad.numpy(), np.broadcast_to(each, shape) * 3.0)


@pytest.mark.parametrize("shape", [[3, 4], [2, 3, 4]])
def test_rows_and_coordinates_are_one_another(shape):
    rng = np.random.default_rng(1)
    whole = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    rows = paddle.to_tensor(whole).to_sparse_csr()
    each = np.zeros((*shape[:-2], shape[-2] + 1), int)
    each[..., 1:] = np.cumsum((whole != 0).sum(-1), -1)
    assert rows.crows().tolist() == each.reshape(-1).tolist()
    assert rows.cols().tolist() == whole.nonzero()[-1].tolist()
    back = rows.to_sparse_coo(len(shape))
    assert np.array_equal(back.indices().numpy(), np.array(whole.nonzero()))
    assert str(back.to_sparse_csr()) == str(rows)
    assert np.array_equal(rows.to_dense().numpy(), whole)


def test_rows_of_coordinates_in_any_order_begin_where_they_do():
    x = sparse.sparse_coo_tensor([[2, 0, 2], [1, 0, 0]], [1.0, 2.0, 3.0], [3, 2])
    rows = x.to_sparse_csr()
    assert (rows.crows().tolist(), rows.cols().tolist()) == ([0, 1, 1, 3], [0, 1, 0])
    assert rows.values().tolist() == [2.0, 1.0, 3.0]


def test_elements_of_one_place_are_summed_by_coalesce_and_the_last_of_them_is_dense():
    places = [[1, 0, 1], [2, 0, 2]]
    x = sparse.sparse_coo_tensor(places, [1.0, 2.0, 4.0], [2, 3], stop_gradient=False)
    once = x.coalesce()
    assert once.indices().tolist() == [[0, 1], [0, 2]]
    assert once.values().tolist() == [2.0, 5.0]
    assert x.to_dense().tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 4.0]]
    (once.values() * paddle.to_tensor([10.0, 100.0])).sum().backward()
    assert x.grad.values().tolist() == [100.0, 10.0, 100.0]


def test_the_least_shape_holds_every_element():
    x = sparse.sparse_coo_tensor([[0, 4], [2, 0]], [[1, 2], [3, 4]])
    assert (x.shape, x.dtype) == ([5, 3, 2], paddle.int64)
    assert x.to_dense()[4, 0].tolist() == [3, 4]


def test_values_that_want_a_gradient_get_one():
    v = paddle.to_tensor([5.0, 6.0], stop_gradient=False)
    x = sparse.sparse_coo_tensor([[0, 2]], v * 2.0, [3], stop_gradient=False)
    sparse.square(x).to_dense().sum().backward()
    assert v.grad.tolist() == [40.0, 48.0]
    alone = sparse.sparse_coo_tensor([[0, 2]], v, [3])
    assert alone.stop_gradient and not v.stop_gradient
    w = paddle.to_tensor([1.0, 2.0])
    sparse.square(sparse.sparse_coo_tensor([[0, 2]], w, [3], stop_gradient=False)).backward()
    assert w.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("make", [coo, csr])
def test_the_gradient_of_a_sparse_leaf_is_sparse_and_adds_up(make):
    x = make(False)
    sparse.square(x).backward(make())
    assert x.grad.shape == [3, 3] and x.grad.values().tolist() == [2.0, 8.0, 18.0, 32.0]
    sparse.square(x).backward()
    assert x.grad.values().tolist() == [4.0, 12.0, 24.0, 40.0]
    x.clear_grad()
    assert x.grad.values().tolist() == [0.0] * 4
    x.grad = make()
    assert x.grad.values().tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("make", [coo, csr])
def test_gradients_of_sparse_tensors_are_asked_for_and_of_any_order(make):
    x = make(False)
    (first,) = paddle.grad(sparse.pow(x, 3.0), x, create_graph=True)
    assert first.values().tolist() == [3.0, 12.0, 27.0, 48.0]
    (second,) = paddle.grad(first, x)
    assert second.values().tolist() == [6.0, 12.0, 18.0, 24.0]
    (weighed,) = paddle.grad(sparse.square(x), x, make())
    assert weighed.values().tolist() == [2.0, 8.0, 18.0, 32.0]
    paddle.autograd.backward([sparse.square(x)], [make()])
    assert x.grad.values().tolist() == [2.0, 8.0, 18.0, 32.0]


def test_hooks_see_and_replace_sparse_gradients():
    x = coo(False)
    y = sparse.square(x)
    y.retain_grads()
    seen = []
    x.register_hook(lambda g: seen.append(g.is_sparse_coo()) or sparse.multiply(g, 10))
    y.backward()
    assert seen == [True]
    assert x.grad.values().tolist() == [20.0, 40.0, 60.0, 80.0]
    assert y.grad.values().tolist() == [1.0] * 4


def test_gradients_of_other_places_are_refused():
    other = sparse.sparse_coo_tensor([[0], [0]], [1.0], [3, 3])
    for wrong in (other, csr(), coo().to_dense(), 3):
        with pytest.raises(ArgumentTypeError, match="the same places"):
            sparse.square(coo(False)).backward(wrong)


def test_copies_are_tensors_of_their_own():
    x = coo(False)
    for made, leaf in ((x.detach(), True), (copy.deepcopy(x), True), (x.clone(), False)):
        assert made is not x and str(made.values().numpy()) == str(x.values().numpy())
        assert made.is_leaf is leaf
    still = x.detach()
    still.stop_gradient = False
    assert not x.stop_gradient and still.is_leaf
    alike = x.to_sparse_csr()
    alike.stop_gradient = True
    assert not x.stop_gradient


def test_operators_are_functions_of_paddle_sparse():
    for make in (coo, csr):
        x, two = make(), sparse.multiply(make(), 2)
        whole = x.to_dense()
        assert (x + two).to_dense().tolist() == (whole * 3.0).tolist()
        assert (two - x).to_dense().tolist() == WHOLE
        assert (x * two).to_dense().tolist() == (whole * whole * 2.0).tolist()
        assert (x * 3 + 3 * x).to_dense().tolist() == (whole * 6.0).tolist()
        assert (x / 2).to_dense().tolist() == (whole / 2.0).tolist()
        assert np.nanmax((two / x).numpy()) == 2.0
        assert (-x).to_dense().tolist() == (-whole).tolist()
        assert (x**2).to_dense().tolist() == (whole * whole).tolist()
        assert abs(-x).to_dense().tolist() == WHOLE
        assert (
            x.T.to_dense().tolist() == x.transpose([1, 0]).to_dense().tolist() == whole.T.tolist()
        )
        assert (x @ whole).tolist() == (whole @ whole).tolist() == (whole @ x).tolist()
        assert (x @ x).to_dense().tolist() == (whole @ whole).tolist()
        assert x.sin().values().tolist() == sparse.sin(x).values().tolist()
        assert (x.astype("float64").dtype, x.cast("int32").dtype) == (paddle.float64, x.dtype)


def test_what_changes_elements_that_are_not_stored_is_refused():
    for refused in (lambda: coo() + 1, lambda: 1 + csr(), lambda: coo() - 2.0, lambda: 2 - coo()):
        with pytest.raises(UnsupportedError, match="to_dense\\(\\)"):
            refused()


def test_operators_of_dense_tensors_refuse_sparse_ones():
    calls = (
        *(
            lambda: paddle.sin(coo()),
            lambda: coo() == coo(),
            lambda: coo()[0],
            lambda: coo().mean(),
        ),
        *(lambda: paddle.concat([coo(), coo()]), lambda: paddle.ones([3, 3]) * coo()),
        *(lambda: paddle.nn.functional.relu(csr()), lambda: bool(coo()), lambda: coo().item()),
    )
    for call in calls:
        with pytest.raises(NotImplementedError):
            call()


def test_methods_of_sparse_tensors_refuse_dense_ones_and_other_kinds():
    dense = paddle.ones([2, 2])
    for name in ["values", "indices", "crows", "cols", "nnz", "to_dense", "coalesce"]:
        with pytest.raises(NotImplementedError, match=f"{name}\\(\\): `x` is no Sparse"):
            getattr(dense, name)()
    wrong = (csr().indices, csr().coalesce, coo().crows, coo().cols, csr().to_sparse_csr)
    for method in (*wrong, lambda: coo().to_sparse_coo(2)):
        with pytest.raises(NotImplementedError):
            method()
    for count in (0, 3):
        with pytest.raises(RangeError, match=r"outside \[1, 2\]"):
            dense.to_sparse_coo(count)
    for shape in ([2], [1, 1, 1, 1]):
        with pytest.raises(ArgumentError, match="2 or 3"):
            paddle.ones(shape).to_sparse_csr()
    with pytest.raises(ArgumentError, match="2 or 3 sparse axes"):
        dense.to_sparse_coo(1).to_sparse_csr()


@pytest.mark.parametrize(
    ("arguments", "error", "law"),
    [
        (([0, 1], [1.0, 2.0]), ShapeError, "'indices' must be 2-D"),
        (([[0.0, 1.0]], [1.0, 2.0]), ArgumentTypeError, "the dtype of indices"),
        (([[0, 1, 2]], [1.0, 2.0]), ShapeError, "get 3 and 2"),
        (([[0]], 1.0), ShapeError, "one 0-D value"),
        (([[0, 5]], [1.0, 2.0], [3]), ArgumentError, r"required is \[6\], but get \[3\]"),
        (([[0, 1], [0, 5]], [1.0, 2.0], [3, 3]), ArgumentError, "minimum shape"),
        (([[0]], [[1.0, 2.0]], [1, 3]), ArgumentError, "minimum shape"),
        (([[0, 1]], [1.0, 2.0], [3, 3]), ArgumentError, "sparse_dim"),
        (([[0, -1]], [1.0, 2.0], [3]), RangeError, "outside of the shape"),
    ],
)
def test_coordinates_that_make_no_tensor_are_refused(arguments, error, law):
    with pytest.raises(error, match=law):
        sparse.sparse_coo_tensor(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "law"),
    [
        (
            ([0, 1], [0], [1.0], [2, 2]),
            ShapeError,
            r"\(2\) of crows must be equal to the rows\(2\)",
        ),
        (([1, 1, 1], [0], [1.0], [2, 2]), ArgumentError, "must be 0"),
        (([0, 2, 1], [0], [1.0], [2, 2]), ArgumentError, "rise"),
        (([0, 1, 2], [0], [1.0], [2, 2]), ArgumentError, "number of non-zero"),
        (([0, 1, 1], [0, 1], [1.0], [2, 2]), ShapeError, "same as length of values"),
        (([0, 1, 1], [0], [1.0], [2]), ArgumentError, "2-D or 3-D"),
        (([[0, 1, 1]], [0], [1.0], [2, 2]), ShapeError, "must be 1-D"),
        (([0.0, 1, 1], [0], [1.0], [2, 2]), ArgumentTypeError, "the dtype of indices"),
        (([0, 1, 1], [7], [1.0], [2, 2]), RangeError, "`cols` holds places outside"),
        (([0, 1, 1, 3], [0], [1.0], [2, 2, 2]), ShapeError, "times 2"),
    ],
)
def test_rows_that_make_no_tensor_are_refused(arguments, error, law):
    with pytest.raises(error, match=law):
        sparse.sparse_csr_tensor(*arguments)


def test_matrices_without_rows_begin_at_0():
    rows = paddle.ones([3, 4, 5]).to_sparse_csr()
    none = sparse.slice(rows, [1], [2], [2])
    assert (none.shape, none.crows().tolist()) == ([3, 0, 5], [0, 0, 0])


def test_programs_have_no_sparse_tensors():
    x = coo()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            v = paddle.static.data("v", [2, 3])
            calls = (
                *(lambda: sparse.sin(x), lambda: sparse.sin(v), lambda: v.to_sparse_coo(2)),
                *(lambda: sparse.sparse_coo_tensor([[0]], v), lambda: v.values()),
                *(lambda: sparse.matmul(v, x), lambda: sparse.nn.functional.relu(v)),
            )
            for call in calls:
                with pytest.raises(AssertError, match="in eager mode"):
                    call()
    finally:
        paddle.disable_static()


def test_a_tensor_without_stored_elements_goes_through_every_function():
    empty = np.zeros((2, 0), int), np.zeros(0, "float32")
    for x in (
        sparse.sparse_coo_tensor(*empty, [2, 3]),
        sparse.sparse_csr_tensor([0, 0, 0], empty[0][0], empty[1], [2, 3]),
    ):
        assert x.to_dense().tolist() == [[0.0] * 3] * 2
        for y in (x + x, sparse.sin(x), x.T, sparse.reshape(x, [3, 2]), sparse.sum(x, -1)):
            assert y.nnz() == 0
        assert sparse.slice(x, [1], [1], [1]).shape == [2, 0]
        assert sparse.slice(x, [0], [1], [1]).to_dense().shape == [0, 3]
        assert (x @ paddle.ones([3, 2])).tolist() == [[0.0] * 2] * 2
        assert (x @ x.T).nnz() == 0
        assert sparse.nn.functional.softmax(x).nnz() == 0
