"""Samples of activations."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import DtypeError
from tests.ops.sample import array, bf16, call, f16, f32, f64, fails, i32, samples, strided


def gelu_of(x: Any, *, approximate: bool = False) -> Any:
    if approximate:
        return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def softplus_of(x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def hard_swish_of(
    x: Any, *, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0
) -> Any:
    return x * np.clip(x + offset, 0, threshold) / scale


REFERENCES = {
    "erf": special.erf,
    "normal_cdf": special.ndtr,
    "gelu": gelu_of,
    "silu": lambda x: x * special.expit(x),
    "swish": lambda x, *, beta=1.0: x * special.expit(beta * x),
    "softplus": softplus_of,
    "elu": lambda x, *, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
    "leaky_relu": lambda x, *, alpha: np.where(x > 0, x, alpha * x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_sigmoid": lambda x, *, slope, offset: np.clip(slope * x + offset, 0, 1),
    "hard_swish": hard_swish_of,
}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "gelu": [{"approximate": True}],
    "swish": [{"beta": 0.5}],
    "softplus": [{"beta": 2.0, "threshold": 1.0}],
    "elu": [{"alpha": 0.5}, {"alpha": -0.5}],
    "leaky_relu": [{"alpha": 0.25}, {"alpha": 2.0}],
    "hard_sigmoid": [{"slope": 0.5, "offset": 0.25}],
    "hard_swish": [{"threshold": 4.0, "scale": 2.0, "offset": 1.0}],
}


def register(name: str) -> None:
    """The samples of one activation."""

    @samples(name, reference=REFERENCES[name])
    def activation_samples():
        yield call(f32(3, 4))
        yield call(f32())
        yield call(f32(0, 3))
        yield call(f64(5, low=-7, high=7))
        yield call(strided(f32(2, 3)))
        yield call(array([-100.0, -8.5, 8.5, 100.0]), name_of_case="far out")
        yield call(array([np.nan, np.inf, -9.0]), grad=False, name_of_case="no number")
        yield call(f16(3))
        yield call(bf16(3))
        for attrs in VARIANTS.get(name, []):
            yield call(f32(3, 4), **attrs)
        yield fails(DtypeError, "not of floating-point elements", i32(3))


for name in REFERENCES:
    register(name)
