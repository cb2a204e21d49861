"""What half-precision elements are gathered to: as exact as float32 makes it, rounded once."""

import numpy as np
import pytest

import scull as paddle
from scull.flags import flags

GATHERED = {
    "sum": paddle.sum,
    "rows": lambda x: paddle.sum(x, axis=1),
    "mean": paddle.mean,
    "mean of rows": lambda x: paddle.mean(x, axis=0),
    "prod": lambda x: paddle.prod(x, axis=1),
    "cumsum": lambda x: paddle.cumsum(x, axis=0),
    "cumprod": lambda x: paddle.cumprod(paddle.full_like(x, 1.0078125), dim=0),
    "dot": lambda x: paddle.dot(x, x),
    "matmul": lambda x: paddle.matmul(x, x, transpose_y=True),
    "bmm": lambda x: paddle.bmm(paddle.stack([x, x]), paddle.stack([x.t(), x.t()])),
    "norm": paddle.norm,
    "softmax": lambda x: paddle.nn.functional.softmax(x, axis=0),
    "logsumexp": paddle.logsumexp,
    "einsum": lambda x: paddle.einsum("ij,ij->i", x, x),
    "tiles": lambda x: grad_of(lambda v: paddle.tile(v, [300, 1]), x),
    "repeats": lambda x: grad_of(lambda v: paddle.repeat_interleave(v, 300, 0), x),
    "bias": lambda x: grad_of(lambda v: paddle.ones([600, *x.shape], x.dtype) * v, x),
}


def grad_of(function, x):
    x = x.detach()
    x.stop_gradient = False
    return paddle.grad(function(x).sum(), x)[0]


def values(dtype):
    """Numbers of which a sum of half precision loses most: 600 times some around 0.3."""
    x = np.random.default_rng(0).uniform(0.25, 0.35, (600, 7)).astype("float32")
    return paddle.to_tensor(x).astype(dtype)


def same(got, want, dtype):
    want = want.astype(dtype).astype("float64").numpy()
    step = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    np.testing.assert_allclose(got.astype("float64").numpy(), want, rtol=1.01 * step)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", GATHERED)
@pytest.mark.parametrize("mode", ["off", "eager"])
def test_many_terms_are_gathered_in_float32(name, dtype, mode):
    x = values(dtype)
    want = GATHERED[name](x.astype("float32"))
    with flags(COMPILE=mode):
        got = GATHERED[name](x)
        same(got, want, dtype)
        if name in ("tiles", "repeats", "bias"):
            return
        static = paddle.jit.to_static(GATHERED[name])
        same(static(x), want, dtype)


@pytest.mark.parametrize("mode", ["off", "eager"])
def test_terms_are_of_the_type_that_is_asked_for(mode):
    halves = paddle.full([4], 0.5).astype("bfloat16")
    apart = paddle.to_tensor(np.array([2.0**-30, 1.0], "float32")).astype("bfloat16")
    ones = paddle.ones([600], "int32")
    with flags(COMPILE=mode):
        for function in (paddle.sum, paddle.jit.to_static(paddle.sum)):
            assert function(halves, dtype="int64").item() == 0
            assert function(apart, dtype="float64").item() == 1 + 2.0**-30
            assert function(ones, dtype="bfloat16").astype("float32").item() == 600
