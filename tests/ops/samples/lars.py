"""Samples of momentum at the rates of layers."""

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, samples


def moved(
    param,
    grad,
    velocity,
    rates,
    masters=None,
    *,
    mu,
    lars_weight_decay,
    lars_coeff=0.001,
    epsilon=0.0,
    rescale_grad=1.0,
    multi_precision=False,
):
    params, velocities = [], []
    exacts = masters if multi_precision else param
    for p, g, v, rate, decay in zip(exacts, grad, velocity, rates, lars_weight_decay, strict=True):
        g, rate = g * rescale_grad, rate.item()
        own, pull = np.sqrt((p * p).sum()), np.sqrt((g * g).sum())
        if decay > 0 and own > 0 and pull > 0:
            rate = rate * lars_coeff * own / (pull + decay * own + epsilon)
        v = mu * v + rate * (g + decay * p)
        params.append(p - v)
        velocities.append(v)
    return params, velocities, masters and params


@samples("lars_momentum", reference=moved)
def lars_momentum_samples():
    rate = array([0.1])
    decays = {"mu": 0.9, "lars_weight_decay": (0.1, 0.2), "lars_coeff": 0.5, "epsilon": 0.01}
    yield call([f32(2, 3), f32()], [f32(2, 3), f32()], [f32(2, 3), f32()], [rate, rate], **decays)
    some = {"mu": 0.9, "lars_weight_decay": (0.0,), "rescale_grad": 0.5}
    yield call([f64(3)], [f64(3)], [f64(3)], [array([0.1], "float64")], **some)
    some = {"mu": 0.9, "lars_weight_decay": (0.1,)}
    yield call([array([0.0, 0.0])], [f32(2)], [f32(2)], [rate], name_of_case="zeros", **some)
    yield call([f32(0, 3)], [f32(0, 3)], [f32(0, 3)], [rate], **some)
    exact = {"multi_precision": True}
    yield call([f16(3)], [f16(3)], [f32(3)], [rate], [f32(3)], **some, **exact)
    law = "there are 1 of param and 2 of lars_weight_decay"
    yield fails(ArgumentError, law, [f32(2)], [f32(2)], [f32(2)], [rate], **decays)
    yield fails(ShapeError, "their shapes differ", [f32(2)], [f32(3)], [f32(2)], [rate], **some)
    yield fails(ShapeError, "learning_rate has 2", [f32(2)], [f32(2)], [f32(2)], [f32(2)], **some)
