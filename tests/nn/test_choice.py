"""Activations that choose, grids, alignments and trees: in both modes, and how they print."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError

F = paddle.nn.functional
RANDOM = np.random.default_rng(2)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype("float32")


LABEL, ONE = np.array([[1, 2]], "int32"), np.array([2], "int64")

CALLS = {
    "maxout": (lambda x: F.maxout(x, 2, axis=-1), normal(2, 3, 3, 4)),
    "rrelu": (lambda x: F.rrelu(x, training=False), normal(2, 3)),
    "grid_sample": (lambda x, g: F.grid_sample(x, g, "bilinear", "border", False),
                    normal(1, 2, 4, 4), normal(1, 2, 3, 2)),
    "affine_grid": (lambda t: F.affine_grid(t, [1, 1, 3, 4]), normal(1, 2, 3)),
    "temporal_shift": (lambda x: F.temporal_shift(x, 2), normal(4, 4, 1, 2)),
    "bilinear": (F.bilinear, normal(2, 3), normal(2, 4), normal(5, 3, 4), normal(1, 5)),
    "ctc_loss": (F.ctc_loss, normal(5, 1, 4), LABEL, np.array([5], "int64"), ONE),
    "rnnt_loss": (F.rnnt_loss, normal(1, 3, 3, 4), LABEL, np.array([3], "int32"),
                  np.array([2], "int32")),
    "hsigmoid_loss": (lambda x, y, w: F.hsigmoid_loss(x, y, 6, w), normal(2, 3),
                      np.array([[1], [5]]), normal(5, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_program_gives_the_numbers_and_gradients_of_eager_mode(name):
    call, *arrays = CALLS[name]
    first = paddle.to_tensor(arrays[0], stop_gradient=False)
    out = call(first, *map(paddle.to_tensor, arrays[1:]))
    (out * out).sum().backward()
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            given = [
                paddle.static.data(f"x{i}", x.shape, str(x.dtype)) for i, x in enumerate(arrays)
            ]
            given[0].stop_gradient = False
            result = call(*given)
            (slope,) = paddle.static.gradients([(result * result).sum()], [given[0]])
        feed = {f"x{i}": x for i, x in enumerate(arrays)}
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=[result, slope])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found[0], out.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], first.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_a_drawn_class_has_the_gradient_of_its_chances():
    x = paddle.to_tensor(normal(4, 3), stop_gradient=False)
    paddle.seed(3)
    weights = paddle.to_tensor([1.0, 2.0, 4.0])
    hard = F.gumbel_softmax(x, 0.5, hard=True)
    (slope,) = paddle.grad((hard * weights).sum(), x)
    paddle.seed(3)
    soft = F.gumbel_softmax(x, 0.5)
    (expected,) = paddle.grad((soft * weights).sum(), x)
    np.testing.assert_allclose(hard.numpy(), soft.numpy() == soft.numpy().max(1, keepdims=True))
    np.testing.assert_allclose(slope.numpy(), expected.numpy(), rtol=1e-6)


def test_hard_choices_are_as_frequent_as_the_softmax_says():
    paddle.seed(4)
    x = paddle.to_tensor(np.tile(np.log([0.1, 0.6, 0.3]), (8000, 1)).astype("float32"))
    for temperature in (0.5, 2.0):
        found = F.gumbel_softmax(x, temperature, hard=True).numpy().mean(0)
        np.testing.assert_allclose(found, [0.1, 0.6, 0.3], atol=0.03)


def test_layers_print_what_they_are():
    nn = paddle.nn
    assert repr(nn.Maxout(2)) == "Maxout(groups=2, axis=1)"
    slopes = "lower=0.125, upper=0.3333333333333333"
    assert repr(nn.RReLU()) == f"RReLU({slopes}, training=True, dtype=float32)"
    assert repr(nn.Unflatten(1, [2, 3])) == "Unflatten(axis=1, shape=[2, 3])"
    sizes = "in1_features=3, in2_features=4, out_features=5"
    assert repr(nn.Bilinear(3, 4, 5)) == f"Bilinear({sizes}, dtype=float32)"
    shapes = {n: p.shape for n, p in nn.HSigmoidLoss(3, 6).named_parameters()}
    assert shapes == {"weight": [5, 3], "bias": [5, 1]}


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ArgumentTypeError, lambda: F.rrelu(paddle.ones([2]), 1, 2)),
        (ArgumentError, lambda: F.rrelu(paddle.ones([2]), 0.5, 0.1)),
        (ArgumentTypeError, lambda: F.maxout(1, 2)),
        (ArgumentError, lambda: F.grid_sample(*[paddle.ones([1, 1, 2, 2])] * 2, mode="cubic")),
        (ArgumentError, lambda: F.affine_grid([[1.0]], [1, 1, 2, 2])),
        (ShapeError, lambda: paddle.nn.Softmax2D()(paddle.ones([2, 2]))),
        (ArgumentError, lambda: paddle.nn.HSigmoidLoss(3, 1)),
        (ArgumentTypeError, lambda: paddle.nn.PixelShuffle(3.5)),
    ],
)
def test_a_mistake_is_refused(error, call):
    with pytest.raises(error):
        call()
