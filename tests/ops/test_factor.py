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
