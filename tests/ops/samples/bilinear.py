"""Samples of products of two vectors through matrices."""

from typing import Any

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples


def bilinear(x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    return np.einsum("ni,kij,nj->nk", x, weight, y) + (0 if bias is None else bias)


@samples("bilinear_tensor_product", reference=bilinear)
def bilinear_tensor_product_samples():
    yield call(f32(2, 3), f32(2, 4), f32(5, 3, 4))
    yield call(f64(2, 3), f64(2, 4), f64(5, 3, 4), f64(1, 5))
    yield call(f32(1, 1), f32(1, 2), f32(1, 1, 2), f32(1, 1))
    yield call(f32(0, 3), f32(0, 4), f32(5, 3, 4))
    law = "x has 2 rows and y 3"
    yield fails(ShapeError, law, f32(2, 3), f32(3, 4), f32(5, 3, 4))
    law = "x has 3 columns, weight is for 4"
    yield fails(ShapeError, law, f32(2, 3), f32(2, 4), f32(5, 4, 4))
    law = "bias has 1 axes, 2 are needed"
    yield fails(ShapeError, law, f32(2, 3), f32(2, 4), f32(5, 3, 4), f32(5))
    law = "differ in element type"
    yield fails(DtypeError, law, f32(2, 3), f64(2, 4), f32(5, 3, 4))
