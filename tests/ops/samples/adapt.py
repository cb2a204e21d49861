"""Samples of the updates with a step size for each element; the references are the formulas."""

from typing import Any

import numpy as np

from scull.core.tensor import Rows
from scull.errors import DtypeError, ShapeError, SlotError
from tests.ops.sample import array, bf16, boolean, call, f16, f32, f64, fails, rows, samples
from tests.ops.samples.update import whole


def exact(param: Any, master: Any, multi_precision: bool) -> Any:
    """What is updated."""
    return master if multi_precision and master is not None else param


def kept(found: Any, master: Any, multi_precision: bool) -> Any:
    """The master copy after an update to `found`."""
    return found if multi_precision and master is not None else master


def positive(*shape: int) -> Any:
    """Numbers that a mean of squares may be."""
    return f32(*shape, low=0.1, high=2.0)


def largest(
    param: Any,
    grad: Any,
    rate: Any,
    moment: Any,
    norm: Any,
    power: Any,
    master: Any = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    multi_precision: bool = False,
) -> Any:
    g, p = whole(grad), exact(param, master, multi_precision)
    m = beta1 * moment + (1 - beta1) * g
    v = np.maximum(np.abs(g), beta2 * norm + epsilon)
    p = p - rate / (1 - power) * m / v
    return p, m, v, kept(p, master, multi_precision)


@samples("adamax", reference=largest)
def adamax_samples():
    rate, power = array([0.1]), array([0.9])
    some = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
    yield call(f32(2, 3), f32(2, 3), rate, f32(2, 3), positive(2, 3), power)
    yield call(f32(), f32(), array(0.1), f32(), positive(), array(0.9), **some)
    yield call(f32(0, 3), f32(0, 3), rate, f32(0, 3), f32(0, 3), power)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), rate, f32(4, 3), positive(4, 3), power)
    yield call(f16(3), f16(3), rate, f32(3), positive(3), power, f32(3), multi_precision=True)
    wide = {"name_of_case": "states have more digits"}
    yield call(f16(3), f16(3), rate, f32(3), positive(3), power, **wide)
    yield call(f32(150, 250), f32(150, 250), rate, f32(150, 250), positive(150, 250), power)
    law = "inf_norm is float32[2]"
    yield fails(ShapeError, law, f32(3), f32(3), rate, f32(3), f32(2), power)
    yield fails(ShapeError, "beta1_pow has 2", f32(3), f32(3), rate, f32(3), f32(3), f32(2))


def summed(
    param: Any,
    grad: Any,
    moment: Any,
    rate: Any,
    master: Any = None,
    *,
    epsilon: float = 1e-6,
    multi_precision: bool = False,
) -> Any:
    g, p = whole(grad), exact(param, master, multi_precision)
    m = moment + g * g
    p = p - rate * g / (np.sqrt(m) + epsilon)
    return p, m, kept(p, master, multi_precision)


@samples("adagrad", reference=summed)
def adagrad_samples():
    rate = array([0.1])
    yield call(f32(2, 3), f32(2, 3), positive(2, 3), rate)
    yield call(f32(), f32(), positive(), array(0.1), epsilon=0.01)
    yield call(f32(0, 3), f32(0, 3), f32(0, 3), rate)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), positive(4, 3), rate)
    yield call(f64(3, 2).T, f64(2, 3), f64(2, 3, low=0.1), array([0.1], "float64"))
    yield call(bf16(3), bf16(3), positive(3), rate, f32(3), multi_precision=True)
    yield fails(DtypeError, "moment is float64", f32(3), f32(3), f64(3), rate)


def matched(
    param: Any,
    grad: Any,
    squares: Any,
    updates: Any,
    rate: Any,
    master: Any = None,
    *,
    rho: float = 0.95,
    epsilon: float = 1e-6,
    multi_precision: bool = False,
) -> Any:
    g, p = whole(grad), exact(param, master, multi_precision)
    a = rho * squares + (1 - rho) * g * g
    step = np.sqrt((updates + epsilon) / (a + epsilon)) * g
    p = p - rate * step
    return p, a, rho * updates + (1 - rho) * step * step, kept(p, master, multi_precision)


@samples("adadelta", reference=matched)
def adadelta_samples():
    rate = array([0.1])
    yield call(f32(2, 3), f32(2, 3), positive(2, 3), positive(2, 3), rate)
    yield call(f32(), f32(), positive(), positive(), array(0.1), epsilon=0.01, rho=0.5)
    yield call(f32(0, 3), f32(0, 3), f32(0, 3), f32(0, 3), rate)
    yield call(f32(4, 3), rows(4, [2, 0, 2], 3), positive(4, 3), positive(4, 3), rate)
    yield call(f16(3), f16(3), positive(3), positive(3), rate, f32(3), multi_precision=True)
    law = "avg_squared_update is float32[2]"
    yield fails(ShapeError, law, f32(3), f32(3), f32(3), f32(2), rate)


def rooted(
    param: Any,
    squares: Any,
    grad: Any,
    moment: Any,
    rate: Any,
    mean: Any = None,
    master: Any = None,
    *,
    epsilon: float = 1e-10,
    decay: float = 0.9,
    momentum: float = 0.0,
    centered: bool = False,
    multi_precision: bool = False,
) -> Any:
    g, p = whole(grad), exact(param, master, multi_precision)
    s = decay * squares + (1 - decay) * g * g
    mean = decay * mean + (1 - decay) * g if centered else mean
    spread = s - mean * mean if centered else s
    m = momentum * moment + rate * g / np.sqrt(spread + epsilon)
    return p - m, m, s, mean, kept(p - m, master, multi_precision)


@samples("rmsprop", reference=rooted)
def rmsprop_samples():
    rate = array([0.1])
    some = {"epsilon": 0.01, "decay": 0.5, "momentum": 0.9}
    small = f32(2, 3, low=-0.1, high=0.1)
    yield call(f32(2, 3), positive(2, 3), f32(2, 3), f32(2, 3), rate)
    yield call(f32(2, 3), positive(2, 3), f32(2, 3), f32(2, 3), rate, small, **some)
    yield call(f32(2, 3), positive(2, 3), f32(2, 3), f32(2, 3), rate, small, centered=True, **some)
    yield call(f32(), positive(), f32(), f32(), array(0.1))
    yield call(f32(0, 3), f32(0, 3), f32(0, 3), f32(0, 3), rate)
    yield call(f32(4, 3), positive(4, 3), rows(4, [2, 0, 2], 3), f32(4, 3), rate, **some)
    master = {"multi_precision": True}
    yield call(f16(3), positive(3), f16(3), f32(3), rate, None, f32(3), **master)
    law = "`centered` needs mean_grad"
    yield fails(SlotError, law, f32(3), f32(3), f32(3), f32(3), rate, centered=True)
    yield fails(ShapeError, "mean_square is float32[2]", f32(3), f32(2), f32(3), f32(3), rate)


def as_long(
    param: Any,
    grad: Any,
    rate: Any,
    moment1: Any,
    moment2: Any,
    pow1: Any,
    pow2: Any,
    master: Any = None,
    skip: Any = None,
    *,
    weight_decay: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    always_adapt: bool = False,
    multi_precision: bool = False,
) -> Any:
    if skip is not None and skip:
        return param, moment1, moment2, pow1, pow2, master
    g, p = whole(grad), exact(param, master, multi_precision)
    m, v = beta1 * moment1 + (1 - beta1) * g, beta2 * moment2 + (1 - beta2) * g * g
    step = m / (1 - pow1) / (np.sqrt(v / (1 - pow2)) + epsilon) + weight_decay * p
    own, length = np.linalg.norm(p), np.linalg.norm(step)
    adapts = (weight_decay or always_adapt) and own and length
    p = p - rate * step * (own / length if adapts else 1)
    return p, m, v, pow1 * beta1, pow2 * beta2, kept(p, master, multi_precision)


@samples("lamb", reference=as_long)
def lamb_samples():
    rest = (array([0.9]), array([0.999]))
    rate, some = array([0.1]), {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
    yield call(f32(2, 3), f32(2, 3), rate, f32(2, 3), positive(2, 3), *rest, weight_decay=0.01)
    yield call(f32(2), f32(2), rate, f32(2), positive(2), *rest, weight_decay=0.0, **some)
    adapts = {"weight_decay": 0.0, "always_adapt": True}
    yield call(f32(2), f32(2), rate, f32(2), positive(2), *rest, **adapts)
    yield call(
        f32(), f32(), array(0.1), f32(), positive(), array(0.9), array(0.99), weight_decay=0.1
    )
    yield call(f32(0), f32(0), rate, f32(0), f32(0), *rest, weight_decay=0.1)
    yield call(
        f32(4, 3), rows(4, [2, 0], 3), rate, f32(4, 3), positive(4, 3), *rest, weight_decay=0.1
    )
    for skip in (array([True], bool), array([False], bool)):
        given = (f32(2), f32(2), rate, f32(2), positive(2), *rest, None, skip)
        yield call(*given, weight_decay=0.1, name_of_case=f"skip {skip.item()}")
    given = (f16(3), f16(3), rate, f32(3), positive(3), *rest, f32(3))
    yield call(*given, weight_decay=0.1, multi_precision=True)
    yield call(*given[:-1], weight_decay=0.1, name_of_case="states have more digits")
    law = "skip_update is float32, not bool"
    given = (f32(2), f32(2), rate, f32(2), f32(2), *rest, None, f32(1))
    yield fails(DtypeError, law, *given, weight_decay=0.1)
    yield fails(ShapeError, "skip_update has 2", *given[:8], boolean(2), weight_decay=0.1)


def followed(
    param: Any,
    squares: Any,
    linear: Any,
    grad: Any,
    rate: Any,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    lr_power: float = -0.5,
) -> Any:
    g = whole(grad)
    total = squares + g * g
    z = linear + g - (total**-lr_power - squares**-lr_power) / rate * param
    p = np.where(np.abs(z) > l1, (l1 * np.sign(z) - z) / (total**-lr_power / rate + 2 * l2), 0)
    if isinstance(grad, Rows):  # the other rows stay as they are
        absent = np.setdiff1d(np.arange(grad.height), grad.rows)
        p[absent], total[absent], z[absent] = param[absent], squares[absent], linear[absent]
    return p, total, z


@samples("ftrl", reference=followed)
def ftrl_samples():
    rate = array([0.1])
    yield call(f32(2, 3), positive(2, 3), f32(2, 3), f32(2, 3), rate)
    yield call(f32(2, 3), positive(2, 3), f32(2, 3), f32(2, 3), rate, l1=0.5, l2=0.2)
    yield call(f32(3), positive(3), f32(3), f32(3), rate, l1=0.1, lr_power=-0.75)
    yield call(f32(), positive(), f32(), f32(), array(0.1))
    yield call(f32(0, 3), f32(0, 3), f32(0, 3), f32(0, 3), rate)
    yield call(f32(4, 3), positive(4, 3), f32(4, 3), rows(4, [2, 0, 2], 3), rate, l1=0.1)
    law = "linear_accumulator is float32[2]"
    yield fails(ShapeError, law, f32(3), f32(3), f32(2), f32(3), rate)
