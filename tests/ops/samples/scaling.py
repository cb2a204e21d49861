"""Samples of scaled losses."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples


def unscaled(x, scale):
    found = not all(np.isfinite(v).all() for v in x)
    return [v if found else v / scale for v in x], np.array([found])


@samples("check_finite_and_unscale", reference=unscaled)
def check_finite_and_unscale_samples():
    yield call([f32(2, 3), f32(4)], array([4.0]))
    yield call([f32(), f32(0, 3)], array(2.0))
    yield call([f16(3)], array([8.0]))
    yield call([f64(2)], array([0.5], "float64"))
    yield call([f32(2), array([1.0, np.inf]), f32(3)], array([4.0]), name_of_case="infinite")
    yield call([array([np.nan, 1.0])], array([4.0]), name_of_case="no number")
    yield fails(ShapeError, "scale has 2 elements, not one", [f32(2)], f32(2))
    yield fails(DtypeError, "not of floating-point elements", [i32(2)], f32(1))


STEPS = {
    "incr_every_n_steps": 2,
    "decr_every_n_nan_or_inf": 2,
    "incr_ratio": 2.0,
    "decr_ratio": 0.5,
}


def state(found, scale, good, bad):
    return array([found], bool), array([scale]), array([good], "int32"), array([bad], "int32")


def following(found, scale, good, bad, result, **more):
    """A call and the states it must give."""
    x = [f32(2, 3), f16(2)]

    def reference(x, *_):
        kept = [v * (not found) for v in x]
        return kept, *(np.array([v]) for v in result)

    case = {"name_of_case": f"{found}, {scale}, {good}, {bad}, {more}", "reference": reference}
    return call(x, *state(found, scale, good, bad), **case, **STEPS | more)


@samples("update_loss_scaling")
def update_loss_scaling_samples():
    yield following(False, 8.0, 0, 1, (8.0, 1, 0))
    yield following(False, 8.0, 1, 1, (16.0, 0, 0))
    yield following(True, 8.0, 1, 0, (8.0, 0, 1))
    yield following(True, 8.0, 1, 1, (4.0, 0, 0))
    yield following(True, 1.5, 1, 1, (1.0, 0, 0))
    yield following(False, 8.0, 1, 0, (8.0, 0, 0), incr_ratio=float("inf"))

    def zeros(x, found, scale, good, bad, *_):
        return [v * 0 for v in x], scale, good, bad

    yield call([f32(2)], *state(True, 8.0, 1, 1), keeps=True, reference=zeros, **STEPS)
    stop = array([True], bool)
    yield call([f32(2)], *state(True, 8.0, 1, 1), stop, reference=zeros, **STEPS)
    law = "found_infinite is float32, not bool"
    wrong = (f32(1), *state(True, 8.0, 1, 1)[1:])
    yield fails(DtypeError, law, [f32(2)], *wrong, **STEPS)
    law = "in_good_steps is float32, not an integer"
    found, scale, _, bad = state(True, 8.0, 1, 1)
    yield fails(DtypeError, law, [f32(2)], found, scale, f32(1), bad, **STEPS)
