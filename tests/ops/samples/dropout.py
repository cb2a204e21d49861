"""Samples of dropout."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples


def drops(x: Any, share: float, factor: float) -> Any:
    """Looks at results: `share` of them is 0, the others are multiplied by `factor`."""

    def holds(found: Any) -> None:
        out, mask = (np.asarray(getattr(v, "array", v)) for v in found)
        assert mask.dtype == np.uint8 and set(np.unique(mask)) <= {0, 1}
        np.testing.assert_allclose(
            out.astype("float64"), (x * mask).astype("float64") * factor, rtol=1e-2
        )
        assert abs((mask == 0).mean() - share) <= 4 * np.sqrt(share * (1 - share) / mask.size)

    return holds


@samples("dropout")
def dropout_samples():
    up, down = "upscale_in_train", "downgrade_in_infer"
    x = f32(40, 30)
    yield call(x, holds=drops(x, 0.5, 1.0), grad=False)
    yield call(
        x, dropout_prob=0.25, dropout_implementation=up, holds=drops(x, 0.25, 4 / 3), grad=False
    )
    yield call(x, dropout_prob=0.0, dropout_implementation=up, holds=drops(x, 0.0, 1.0))
    yield call(x, dropout_prob=1.0, dropout_implementation=up, holds=drops(x, 1.0, 1.0))
    yield call(x, is_test=True, dropout_implementation=up, holds=drops(x, 0.0, 1.0))
    yield call(
        x, is_test=True, dropout_prob=0.25, dropout_implementation=down, holds=drops(x, 0.0, 0.75)
    )
    yield call(x, array([3], "int32"), holds=drops(x, 0.5, 1.0), grad=False)
    yield call(x, seed=7, fix_seed=True, holds=drops(x, 0.5, 1.0), grad=False)
    x = f64(30)
    yield call(x, holds=drops(x, 0.5, 1.0), grad=False)
    x = f16(30)
    yield call(x, holds=drops(x, 0.5, 1.0), grad=False)
    yield call(f32(), dropout_prob=0.0, reference=lambda x: (x, np.ones((), "uint8")))
    yield call(f32(0, 3), reference=lambda x: (x, x.astype("uint8")))
    yield fails(ArgumentError, "dropout_prob is 1.5, outside [0, 1]", f32(3), dropout_prob=1.5)
    law = "dropout_implementation is 'scale', not upscale_in_train or downgrade_in_infer"
    yield fails(ArgumentError, law, f32(3), dropout_implementation="scale")
    yield fails(DtypeError, "not of floating-point elements", i32(3))
