"""Samples of the updates of parameters; the references are the formulas of the papers."""

from functools import partial

import numpy as np

from scull.core.tensor import Rows
from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, bf16, call, f16, f32, f64, fails, rows, samples, strided


def whole(grad):
    """A gradient as a whole array."""
    return grad.dense() if isinstance(grad, Rows) else grad


def descended(param, rate, grad, master=None, *, multi_precision=False):
    """Gradient descent."""
    exact = master if multi_precision else param
    found = exact - rate * whole(grad)
    return found, master if master is None or not multi_precision else found


@samples("sgd", reference=descended)
def sgd_samples():
    rate = array([0.1])
    yield call(f32(2, 3), rate, f32(2, 3))
    yield call(f32(), array(0.1), f32())
    yield call(f32(0, 3), rate, f32(0, 3))
    yield call(f32(3, 2).T, rate, strided(f32(2, 3)))
    yield call(f32(150, 150), rate, f32(150, 150), name_of_case="several pieces")
    yield call(f64(2), array([0.1], "float64"), f64(2))
    yield call(f32(4, 3), rate, rows(4, [2, 0, 2], 3))
    yield call(f16(2, 3), rate, f16(2, 3), f32(2, 3), multi_precision=True)
    yield call(bf16(2, 3), rate, bf16(2, 3), f32(2, 3), multi_precision=True)
    yield call(f32(2, 3), rate, f32(2, 3), f32(2, 3))
    yield fails(ShapeError, "learning_rate has 2 elements, not one", f32(3), f32(2), f32(3))
    yield fails(ShapeError, "their shapes differ", f32(2, 3), rate, f32(3))
    yield fails(DtypeError, "grad is float64 and param is float32", f32(3), rate, f64(3))


def moved(
    param,
    grad,
    velocity,
    rate,
    master=None,
    *,
    mu,
    use_nesterov=False,
    regularization_method="",
    regularization_coeff=0.0,
    multi_precision=False,
    rescale_grad=1.0,
):
    """Gradient descent with a velocity."""
    exact = master if multi_precision else param
    decay = regularization_coeff if regularization_method == "l2_decay" else 0.0
    g = whole(grad) * rescale_grad + decay * exact
    v = mu * velocity + g
    found = exact - rate * (g + mu * v if use_nesterov else v)
    return found, v, master if master is None or not multi_precision else found


@samples("momentum", reference=moved)
def momentum_samples():
    rate = array([0.1])
    nesterov = {"mu": 0.9, "use_nesterov": True}
    decay = {"regularization_method": "l2_decay", "regularization_coeff": 0.02}
    yield call(f32(2, 3), f32(2, 3), f32(2, 3), rate, mu=0.9)
    yield call(f32(), f32(), f32(), array(0.1), mu=0.9)
    yield call(f32(0, 3), f32(0, 3), f32(0, 3), rate, mu=0.9)
    yield call(f32(150, 150), f32(150, 150), f32(150, 150), rate, **nesterov)
    yield call(f32(2, 3), f32(2, 3), f32(2, 3), rate, **nesterov, **decay, rescale_grad=0.5)
    yield call(f32(2, 3), f32(2, 3), f32(2, 3), rate, mu=0.9, **decay)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), f32(4, 3), rate, **nesterov, **decay)
    yield call(f16(3), f16(3), f32(3), rate, f32(3), mu=0.9, multi_precision=True)
    yield fails(ShapeError, "velocity is float32[2]", f32(3), f32(3), f32(2), rate, mu=0.9)
    yield fails(DtypeError, "velocity is float64", f32(3), f32(3), f64(3), rate, mu=0.9)
    yield fails(ShapeError, "learning_rate has 2", f32(3), f32(3), f32(3), f32(2), mu=0.9)


def adapted(
    param,
    grad,
    rate,
    moment1,
    moment2,
    beta1_pow,
    beta2_pow,
    master=None,
    skip=None,
    beta1_tensor=None,
    beta2_tensor=None,
    epsilon_tensor=None,
    **attrs,
):
    """Adam, with the correction of their bias beside the moments."""
    if skip is not None and skip.item():
        return param, moment1, moment2, beta1_pow, beta2_pow, master
    rate, pow1, pow2 = rate.item(), beta1_pow.item(), beta2_pow.item()
    beta1 = attrs["beta1"] if beta1_tensor is None else beta1_tensor
    beta2 = attrs["beta2"] if beta2_tensor is None else beta2_tensor
    epsilon = attrs["epsilon"] if epsilon_tensor is None else epsilon_tensor
    exact = master if attrs["multi_precision"] else param
    decayed = exact * (
        1 - rate * attrs.get("lr_ratio", 1) * attrs.get("coeff", 0) * attrs.get("with_decay", 0)
    )
    m = beta1 * moment1 + (1 - beta1) * whole(grad)
    v = beta2 * moment2 + (1 - beta2) * whole(grad) ** 2
    found = decayed - rate * (m / (1 - pow1)) / (np.sqrt(v / (1 - pow2)) + epsilon)
    if attrs["lazy_mode"] and isinstance(grad, Rows):
        absent = np.setdiff1d(np.arange(grad.height), grad.rows)
        found[absent], m[absent], v[absent] = exact[absent], moment1[absent], moment2[absent]
    if not attrs["use_global_beta_pow"]:
        beta1_pow, beta2_pow = beta1_pow * beta1, beta2_pow * beta2
    kept = master if master is None or not attrs["multi_precision"] else found
    return found, m, v, beta1_pow, beta2_pow, kept


def adaptive(**more):
    """Calls that `adam` and `adamw` take."""

    def state(*shape, make=f32):
        square = partial(make, low=0.1, high=2.0)
        return array([0.1]), make(*shape), square(*shape), array([0.729]), array([0.997])

    yield call(f32(2, 3), f32(2, 3), *state(2, 3), **more)
    yield call(f32(), f32(), *state(), **more)
    yield call(f32(0, 3), f32(0, 3), *state(0, 3), **more)
    yield call(f32(150, 150), f32(150, 150), *state(150, 150), **more)
    yield call(f32(3, 2).T, strided(f32(2, 3)), *state(2, 3), beta1=0.5, epsilon=0.1, **more)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), *state(4, 3), **more)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), *state(4, 3), lazy_mode=True, **more)
    yield call(
        f32(4, 3), rows(4, [], 3), *state(4, 3), lazy_mode=True, name_of_case="no rows", **more
    )
    yield call(f16(3), f16(3), *state(3), f32(3), multi_precision=True, **more)
    yield call(bf16(3), bf16(3), *state(3), name_of_case="states have more digits", **more)
    for skip in (True, False):
        yield call(
            f32(3), f32(3), *state(3), None, array([skip], bool), name_of_case=f"{skip=}", **more
        )
    yield call(f32(3), f32(3), *state(3), use_global_beta_pow=True, **more)
    betas = array([0.5]), array([0.75]), array([0.25])
    yield call(
        f32(3), f32(3), *state(3), None, None, *betas, name_of_case="betas are tensors", **more
    )
    yield fails(ShapeError, "moment1 is float32[2]", f32(3), f32(3), *state(2), **more)
    yield fails(ShapeError, "grad is float32[2]", f32(3), f32(2), *state(3), **more)
    yield fails(DtypeError, "moment1 is float64", f32(3), f32(3), *state(3, make=f64), **more)
    yield fails(
        DtypeError, "skip_update is float32", f32(3), f32(3), *state(3), None, f32(1), **more
    )


@samples("adam", reference=adapted)
def adam_samples():
    yield from adaptive()


@samples("adamw", reference=adapted)
def adamw_samples():
    yield from adaptive(with_decay=True, coeff=0.1)
    yield from (s for s in adaptive(with_decay=True, lr_ratio=0.5) if not s.error)
    yield from (s for s in adaptive(coeff=0.5) if not s.error)
