"""Gradients of factors of symmetric matrices, which only symmetric changes can ask for."""

import numpy as np
import pytest

import scull as paddle
from scull.ops import factor


def loss_of(function, a):
    """A number made of all results for a symmetric matrix made of `a`."""
    x = a @ a.t() * 0.1 + paddle.diag(paddle.arange(1, a.shape[0] + 1).astype("float64"))
    found = function(x)
    weights = [np.cos(np.arange(v.size) + 1.0).reshape(v.shape) for v in found]
    return sum((v * paddle.to_tensor(w)).sum() for v, w in zip(found, weights, strict=True))


FUNCTIONS = {
    "cholesky": lambda x: (factor.cholesky(x),),
    "cholesky, upper": lambda x: (factor.cholesky(x, upper=True),),
    "eigh": factor.eigh,
    "eigh, upper": lambda x: factor.eigh(x, uplo="U"),
    "eigenvectors": lambda x: factor.eigh(x)[1:],
    "eigvalsh": lambda x: factor.eigvalsh(x)[:1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_symmetric_factors_are_those_of_small_steps(name):
    values = np.random.default_rng(3).normal(size=(3, 3))
    a = paddle.to_tensor(values, stop_gradient=False)
    loss_of(FUNCTIONS[name], a).backward()
    step, numeric = 1e-6, np.zeros((3, 3))
    for i in np.ndindex(3, 3):
        sides = []
        for sign in (1, -1):
            moved = values.copy()
            moved[i] += sign * step
            sides.append(loss_of(FUNCTIONS[name], paddle.to_tensor(moved)).item())
        numeric[i] = (sides[0] - sides[1]) / (2 * step)
    np.testing.assert_allclose(a.grad.numpy(), numeric, rtol=1e-6, atol=1e-7)


HERMITIAN = {
    "eigenvalues and eigenvectors": lambda x: [v.abs() for v in paddle.linalg.eigh(x)],
    "eigenvalues": lambda x: [paddle.linalg.eigvalsh(x)],
}


def complex_loss(function, parts):
    """A real number made of the results for a Hermitian matrix with these parts."""
    a = paddle.complex(parts[0], parts[1])
    x = a + a.t().conj() + paddle.diag(paddle.arange(3).astype("complex128") * 4.0)
    found = function(x)
    weights = [np.cos(np.arange(np.prod(v.shape)) + 1.0).reshape(v.shape) for v in found]
    return sum((v * paddle.to_tensor(w)).sum() for v, w in zip(found, weights, strict=True))


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", HERMITIAN)
def test_gradients_of_hermitian_eigenvalues_are_those_of_small_steps(name, static):
    values, function = np.random.default_rng(3).normal(size=(2, 3, 3)), HERMITIAN[name]
    step, numeric = 1e-6, np.zeros_like(values)
    for i in np.ndindex(*values.shape):
        change = np.zeros_like(values)
        change[i] = step
        moved = [paddle.to_tensor(values + s * change) for s in (1, -1)]
        up, down = (complex_loss(function, v).item() for v in moved)
        numeric[i] = (up - down) / (2 * step)
    np.testing.assert_allclose(derivative(function, values, static), numeric, rtol=1e-6, atol=1e-7)


def derivative(function, values, static):
    """The gradient of `complex_loss` by the tape or by a Program."""
    if not static:
        parts = paddle.to_tensor(values, stop_gradient=False)
        complex_loss(function, parts).backward()
        return parts.grad.numpy()
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        parts = paddle.static.data("parts", [2, 3, 3], "float64")
        parts.stop_gradient = False
        (found,) = paddle.static.gradients([complex_loss(function, parts)], [parts])
    (found,) = paddle.static.Executor().run(main, feed={"parts": values}, fetch_list=[found])
    paddle.disable_static()
    return found


def test_eigenvalues_of_hermitian_matrices_are_real():
    x = paddle.to_tensor([[1, -2j], [2j, 5]])
    values, vectors = paddle.linalg.eigh(x)
    assert (values.dtype, vectors.dtype) == (paddle.float32, paddle.complex64)
    assert paddle.linalg.eigvalsh(x.astype("complex128")).dtype is paddle.float64
