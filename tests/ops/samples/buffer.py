"""Samples of tensors in one buffer."""

import numpy as np

from scull.core.dtype import float32, int64
from scull.errors import DtypeError, ShapeError
from tests.ops.sample import call, f32, f64, fails, i64, samples


def laid(x, *, unit=4096, copy_data=False, constant=0.0, set_constant=False):
    rest = constant if set_constant and not copy_data else 0.0
    parts = [v if copy_data else np.full(v.shape, rest) for v in x]
    total = []
    for part in parts:
        step = -(-part.size * 4 // unit) * unit // 4
        total += [part.reshape(-1), np.full(step - part.size, rest)]
    return parts, np.concatenate(total)


@samples("coalesce_tensor")
def coalesce_tensor_samples():
    x = [f32(2, 3), f32(4), f32()]
    yield call(x, dtype=float32, copy_data=True, reference=lambda x: laid(x, copy_data=True))
    set_constant = {"set_constant": True, "constant": 2.5}
    yield call(x, dtype=float32, reference=lambda x: laid(x, **set_constant), **set_constant)
    tight = {"dtype": float32, "copy_data": True, "use_align": False}
    yield call(x, reference=lambda x: laid(x, unit=4, copy_data=True), **tight)
    some = {"dtype": float32, "align_size": 16}
    yield call(x, reference=lambda x: laid(x, unit=16), **some)
    wide = {"dtype": float32, "align_size": 64, "user_defined_size_of_dtype": 2}
    yield call([f32(6), f32(4)], reference=lambda x: (laid(x)[0], np.zeros(64)), **wide)
    shapes = {"concated_shapes": (3, 2, 4), "concated_ranks": (2, 1), "use_align": False}

    def shaped(x):
        return [x[0].reshape(3, 2), x[1]], np.concatenate([v.reshape(-1) for v in x])

    yield call([f32(6), f32(4)], dtype=float32, copy_data=True, reference=shaped, **shapes)
    yield call([i64(2)], dtype=int64, reference=lambda x: ([x[0] * 0], np.zeros(512)))
    law = "a tensor is float64, the buffer is of float32"
    yield fails(DtypeError, law, [f64(2)], dtype=float32)
    law = "1 sizes do not make 1 shapes of ranks (2,)"
    wrong = {"concated_shapes": (3,), "concated_ranks": (2,)}
    yield fails(ShapeError, law, [f32(3)], dtype=float32, **wrong)


@samples("nop", reference=lambda x: list(x))
def nop_samples():
    yield call([f32(2, 3), i64(2)])
    yield call([f32()])
