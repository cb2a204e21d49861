"""Linear algebra by its public names, beside NumPy's."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError

T = paddle.to_tensor
X = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 2.0]])
TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
L = paddle.linalg
CALLS = {
    "cond": (lambda x: L.cond(x), np.linalg.cond),
    "cond -2": (lambda x: L.cond(x, -2), lambda x: np.linalg.cond(x, -2)),
    "cond fro": (lambda x: L.cond(x, "fro"), lambda x: np.linalg.cond(x, "fro")),
    "cond nuc": (lambda x: L.cond(x, "nuc"), lambda x: np.linalg.cond(x, "nuc")),
    "cond 1": (lambda x: L.cond(x, 1), lambda x: np.linalg.cond(x, 1)),
    "cond -inf": (lambda x: L.cond(x, -np.inf), lambda x: np.linalg.cond(x, -np.inf)),
    "pinv": (lambda x: L.pinv(x), np.linalg.pinv),
    "pinv, hermitian": (lambda x: L.pinv(x, hermitian=True), np.linalg.pinv),
    "lstsq": (lambda x: L.lstsq(x, x)[0], lambda x: np.linalg.lstsq(x, x)[0]),
    "rank": (lambda x: L.matrix_rank(x, 2.5), lambda x: np.linalg.matrix_rank(x, 2.5)),
    "qr r": (lambda x: L.qr(x, "r"), lambda x: np.linalg.qr(x, "r")),
    "svd": (lambda x: L.svd(x)[1], lambda x: np.linalg.svd(x)[1]),
    "multi_dot": (lambda x: L.multi_dot([x, x, x]), lambda x: x @ x @ x),
    "lu": (lambda x: product(*L.lu_unpack(*L.lu(x))), lambda x: x),
}


A = np.arange(120.0).reshape(2, 3, 4, 5)
B = np.arange(180.0).reshape(3, 3, 4, 5) / 7
ONE = A[:, :1]
DOTS = {
    "a shorter left list": ([[1], [1, 2]], A, B, "abcd,ebcf->adef"),
    "a shorter right list": ([[1, 2, 3], [0]], A, B, "abcd,becd->ae"),
    "one list of lists": ([[2, 3]], A, B, "abcd,efcd->abef"),
    "tensors": ([T([1]), T([0])], A, B, "abcd,befg->acdefg"),
    "a left axis of size 1": ([[1, 2], [0, 2]], ONE, B, "axcd,becf->adef"),
    "a right axis of size 1": ([[1, 2], [1, 2]], A, ONE, "abcd,excf->adef"),
}


@pytest.mark.parametrize("name", DOTS)
def test_tensordot_pairs_axes_as_paddle_does(name):
    axes, x, y, letters = DOTS[name]
    found = paddle.tensordot(T(x), T(y), axes).numpy()
    np.testing.assert_allclose(found, np.einsum(letters, x, y), rtol=1e-12)


def product(*factors):
    """The factors multiplied."""
    found = factors[0]
    for x in factors[1:]:
        found = found @ x
    return found


@pytest.mark.parametrize("name", CALLS)
def test_values_are_those_of_numpy(name):
    function, reference = CALLS[name]
    np.testing.assert_allclose(function(T(X)).numpy(), reference(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_a_program_gives_the_same(name):
    main = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main):
            out = CALLS[name][0](paddle.static.data("x", X.shape, "float64"))
        (found,) = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, CALLS[name][1](X), rtol=1e-10, atol=1e-12)


def test_a_pseudo_inverse_has_the_gradient_of_small_steps():
    x = T(TALL, stop_gradient=False)
    weights = np.arange(1.0, 7.0).reshape(2, 3)
    (L.pinv(x) * T(weights)).sum().backward()
    numeric = np.zeros_like(TALL)
    for i in np.ndindex(TALL.shape):
        step = np.zeros_like(TALL)
        step[i] = 1e-6
        above, below = ((np.linalg.pinv(TALL + d) * weights).sum() for d in (step, -step))
        numeric[i] = (above - below) / 2e-6
    np.testing.assert_allclose(x.grad.numpy(), numeric, rtol=1e-6, atol=1e-7)


def test_least_squares_says_how_near_it_comes():
    right = np.array([[1.0], [0.0], [2.0]])
    expected = np.linalg.lstsq(TALL, right)
    found = L.lstsq(T(TALL), T(right), driver="gelsd")
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "law"),
    [
        (lambda: L.eigh(T(X), "X"), "UPLO must be L or U"),
        (lambda: L.cond(T(X), 3), "unsupported 3 for p"),
        (lambda: L.inv(paddle.ones([2, 2])), "a matrix has no inverse"),
        (lambda: L.matrix_power(T(X), 1.5), "`n` holds integers, not float 1.5"),
        (lambda: L.det([1.0]), "must be Tensor, but got list"),
    ],
)
def test_a_mistake_is_named(call, law):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=law):
        call()


@pytest.mark.parametrize("name", [*L.__all__, "array_write", "array_read", "create_array"])
def test_the_examples_of_a_function_run(name):
    function = getattr(L, name, None) or getattr(paddle.tensor, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_lists_of_tensors_grow_by_one():
    array = paddle.tensor.create_array("float32", [paddle.zeros([1])])
    array = paddle.tensor.array_write(paddle.ones([1]), T([1]), array)
    paddle.tensor.array_write(paddle.full([1], 2.0), T([0]), array)
    assert paddle.tensor.array_length(array) == 2
    assert paddle.tensor.array_read(array, T([0])).item() == 2.0
    with pytest.raises(ArgumentError, match="place 5 lies beyond the end of a list of 2"):
        paddle.tensor.array_write(paddle.ones([1]), T([5]), array)


@pytest.mark.parametrize("function", [paddle.matmul, paddle.mm, paddle.kron])
@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        ("float32", "complex64", "complex64"),
        ("complex64", "float32", "complex64"),
        ("float64", "complex64", "complex128"),
        ("complex128", "float32", "complex128"),
    ],
)
def test_floats_beside_complex_factors_become_such(function, left, right, dtype):
    x, y = paddle.ones([2, 2], left), paddle.ones([2, 2], right) * 2
    x.stop_gradient = False
    found = function(x, y)
    assert found.dtype == getattr(paddle, dtype)
    paddle.sum(paddle.real(found)).backward()
    assert x.grad.dtype == x.dtype and x.grad.numpy().real.sum() > 0


def test_a_program_multiplies_floats_by_complex_matrices():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x, y = (paddle.static.data(d, [2, 2], d) for d in ("float32", "complex64"))
            feed = {v.name: np.ones([2, 2], v.name) for v in (x, y)}
            made = [paddle.matmul(x, y), paddle.kron(y, x), paddle.add(x, y)]
            found = paddle.static.Executor().run(main, feed, made)
        assert [v.dtype for v in found] == ["complex64"] * 3
        assert found[0].tolist() == [[2, 2], [2, 2]]
    finally:
        paddle.disable_static()
