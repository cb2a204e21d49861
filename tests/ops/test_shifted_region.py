"""What samples cannot say of regions whose bins are moved."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import UnsupportedError
from scull.ops.shifted_region import deformable_psroi_pooling
from tests.ops.samples.shifted_region import ASKED, ROIS


def test_moved_bins_are_differentiated_once():
    x = paddle.to_tensor(np.ones((1, 4, 4, 5), "float32"), stop_gradient=False)
    moves = paddle.zeros([3, 2, 2, 2])
    asked = {**ASKED, "no_trans": False, "output_dim": 2}
    found, _ = deformable_psroi_pooling(x, paddle.to_tensor(ROIS), moves, **asked)
    (dx,) = paddle.grad((found * found).sum(), [x], create_graph=True)
    assert float(dx.sum()) > 0
    with pytest.raises(UnsupportedError, match="moved bins are differentiated once"):
        paddle.grad(dx.sum(), [x])
