"""Half-precision elements added to places: as exact as float32 makes it, rounded once."""

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core.tensor import Rows
from scull.flags import flags

N = 600
ZEROS = paddle.zeros([N], "int64")
ONES = paddle.nn.initializer.Constant(1.0)


def column(x):
    """The numbers of `x` as one place for each: all are the first."""
    return paddle.zeros_like(x).astype("int64")


# What adds numbers to places itself.
FORWARD = {
    "scatter": lambda x: paddle.scatter(x[:3], ZEROS, x, overwrite=False),
    "scatter_nd": lambda x: paddle.scatter_nd(ZEROS.reshape([-1, 1]), x, [3, 7]),
    "scatter_nd_add": lambda x: paddle.scatter_nd_add(x[:3], ZEROS.reshape([-1, 1]), x),
    "all of it": lambda x: paddle.scatter_nd_add(x[0], paddle.zeros([N, 0], "int64"), x),
    "index_add": lambda x: paddle.index_add(x[:3], ZEROS, 0, x),
    "index_put": lambda x: paddle.index_put(x[:3], (ZEROS,), x, accumulate=True),
    "put_along_axis": lambda x: paddle.put_along_axis(x, column(x), x, 0, reduce="add"),
    "put_along_axis, mul": lambda x: paddle.put_along_axis(
        paddle.ones_like(x), column(x), paddle.full_like(x, 1.0078125), 0, reduce="mul"
    ),
    "add_n": lambda x: paddle.add_n(list(x)),
    "segment_sum": lambda x: paddle.geometric.segment_sum(x, ZEROS),
    "segment_mean": lambda x: paddle.geometric.segment_mean(x, ZEROS),
    "send_u_recv": lambda x: paddle.geometric.send_u_recv(x, ZEROS, ZEROS),
    "fold": lambda x: F.fold(x.reshape([1, 60, 70]), [1, 129], [1, 60]),
    "overlap_add": lambda x: paddle.signal.overlap_add(x.reshape([70, 60]), 1),
}


def image(w):
    """Numbers as an image of one row."""
    return w.reshape([1, 1, 1, -1])


def peaked(w):
    """The same with its largest number in all windows of 300."""
    place = np.arange(N) == 300
    return image(w + paddle.to_tensor(place.astype("float32")).astype(w.dtype))


# What reads places again and again: their gradients add to them. A function, and of which shape.
READ = {
    "embedding": (lambda w: F.embedding(ZEROS, w), [3, 7]),
    "embedding in a tall table": (lambda w: F.embedding(ZEROS, w), [5000, 7]),
    "embedding with padding": (lambda w: F.embedding(ZEROS, w, padding_idx=1), [3, 7]),
    "gather": (lambda w: paddle.gather(w, ZEROS), [3, 7]),
    "gather columns": (lambda w: paddle.gather(w, ZEROS, axis=1), [7, 3]),
    "gather_nd": (lambda w: paddle.gather_nd(w, ZEROS.reshape([-1, 1])), [3, 7]),
    "index_select": (lambda w: paddle.index_select(w, ZEROS, 1), [7, 3]),
    "index_sample": (lambda w: paddle.index_sample(w, paddle.zeros([7, N], "int64")), [7, 3]),
    "take_along_axis": (
        lambda w: paddle.take_along_axis(w, paddle.zeros([N, 7], "int64"), 0),
        [3, 7],
    ),
    "getitem": (lambda w: w[ZEROS], [3, 7]),
    "getitem of columns": (lambda w: w[:, ZEROS], [7, 3]),
    "repeats": (lambda w: paddle.repeat_interleave(w, paddle.to_tensor([N, 1]), 0), [2, 7]),
    "pad": (lambda w: F.pad(w, [300, 300, 0, 0], mode="replicate"), [1, 1, 1, 2]),
    "tensor_unfold": (lambda w: w.unfold(0, 300, 1), [600]),
    "unfold": (lambda w: F.unfold(image(w), [1, 300]), [600]),
    "frame": (lambda w: paddle.signal.frame(w, 300, 1), [600]),
    "max_pool": (lambda w: F.max_pool2d(peaked(w), [1, 300], 1), [600]),
    "max_pool and where": (
        lambda w: F.max_pool2d(peaked(w), [1, 300], 1, return_mask=True)[0],
        [600],
    ),
    "avg_pool": (lambda w: F.avg_pool2d(image(w), [1, 300], 1) * 300.0, [600]),
    "adaptive_max_pool": (lambda w: F.adaptive_max_pool2d(image(w), [1, 601]), [2]),
    "adaptive_avg_pool": (lambda w: F.adaptive_avg_pool2d(image(w), [1, 601]), [2]),
    "interpolate": (lambda w: F.interpolate(image(w), [1, N], mode="bilinear"), [2]),
    "nearest": (lambda w: F.interpolate(image(w), [1, N], mode="nearest"), [2]),
    "grid_sample": (
        lambda w: F.grid_sample(image(w), paddle.zeros([1, 1, N, 2], w.dtype)),
        [3],
    ),
    "send_u_recv": (
        lambda w: paddle.geometric.send_u_recv(w, ZEROS, paddle.arange(N), out_size=N),
        [3, 7],
    ),
    "roi_pool": (
        lambda w: paddle.vision.ops.roi_pool(
            image(w), paddle.zeros([N, 4], w.dtype), paddle.full([1], N, "int32"), 1
        ),
        [3],
    ),
}
STEP = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def numbers(shape, dtype, seed=0):
    """Of many around 0.3 a sum of half precision loses most."""
    x = np.random.default_rng(seed).uniform(0.25, 0.35, shape).astype("float32")
    return paddle.to_tensor(x).astype(dtype)


def gradient(function, shape, dtype, wide):
    """The gradient of what `function` reads of a tensor, of as many numbers around 0.3."""
    w = numbers(shape, dtype, 1).astype("float32" if wide else dtype)
    w.stop_gradient = False
    found = function(w)
    given = numbers(found.shape, dtype).astype(found.dtype)
    return paddle.grad(found, w, given)[0]


def same(got, want, dtype):
    assert str(got.dtype).endswith(dtype)
    want = want.astype(dtype).astype("float64").numpy()
    np.testing.assert_allclose(got.astype("float64").numpy(), want, rtol=1.01 * STEP[dtype])


@pytest.mark.parametrize("dtype", STEP)
@pytest.mark.parametrize("mode", ["off", "eager"])
@pytest.mark.parametrize("name", FORWARD)
def test_what_is_added_to_places_is_rounded_once(name, mode, dtype):
    x = numbers([N, 7], dtype)
    want = FORWARD[name](x.astype("float32"))
    with flags(COMPILE=mode):
        same(FORWARD[name](x), want, dtype)
        same(paddle.jit.to_static(FORWARD[name])(x), want, dtype)


@pytest.mark.parametrize("dtype", STEP)
@pytest.mark.parametrize("mode", ["off", "eager"])
@pytest.mark.parametrize("name", READ)
def test_gradients_of_what_is_read_often_are_rounded_once(name, mode, dtype):
    function, shape = READ[name]
    want = gradient(function, shape, dtype, True)
    with flags(COMPILE=mode):
        same(gradient(function, shape, dtype, False), want, dtype)
        if name != "tensor_unfold":  # a Program has no views
            same(gradient(paddle.jit.to_static(function), shape, dtype, False), want, dtype)


@pytest.mark.parametrize("dtype", STEP)
def test_rows_that_are_named_again_are_rounded_once(dtype):
    x = numbers([N, 7], dtype)
    want = paddle.sum(x.astype("float32"), 0)
    rows = Rows(np.zeros(N, "int64"), x.array, 3)
    same(paddle.to_tensor(rows.dense()[0]), want, dtype)
    same(paddle.to_tensor(rows.merged().values[0]), want, dtype)
    dense = numbers([3, 7], dtype)
    same(paddle.to_tensor((rows + dense.array)[0]), want + dense[0].astype("float32"), dtype)


@pytest.mark.parametrize("dtype", STEP)
@pytest.mark.parametrize("mode", ["off", "eager"])
@pytest.mark.parametrize("decay", [None, 0.5])
def test_row_sparse_gradients_are_rounded_once(decay, mode, dtype):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            ids = paddle.static.data("ids", [N], "int64")
            w = paddle.create_parameter([3000, 7], dtype, default_initializer=ONES)
            loss = paddle.sum(F.embedding(ids, w, sparse=True))
            if decay:
                loss = loss + paddle.sum(w) * decay  # the sum of both gradients is dense
            paddle.optimizer.SGD(1.0).minimize(loss)
        exe = paddle.static.Executor()
        with flags(COMPILE=mode):
            scope = paddle.static.Scope()
            exe.run(startup, scope=scope)
            feed = {"ids": np.zeros(N, "int64")}
            (found,) = exe.run(main, feed, [w], scope=scope)
    finally:
        paddle.disable_static()
    want = paddle.to_tensor([1.0 - N - (decay or 0), 1.0 - (decay or 0)])
    same(paddle.to_tensor(found[:2, 0]), want, dtype)
