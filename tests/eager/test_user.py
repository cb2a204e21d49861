"""What users of Paddle do, in small."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, DtypeError, MissingFileError

F = paddle.nn.functional


@pytest.mark.parametrize("retain", [None, False, True])
def test_a_gradient_leaves_the_tape_for_a_later_backward(retain):
    x = paddle.to_tensor([3.0], stop_gradient=False)
    out = x * x
    found = [paddle.grad(out, x, retain_graph=retain)[0].item() for _ in range(2)]
    out.backward()
    assert (found, x.grad.item()) == ([6.0, 6.0], 6.0)


def test_a_tensor_without_axes_is_no_sequence():
    with pytest.raises(TypeError, match="len\\(\\) of a 0-D tensor is wrong"):
        list(paddle.to_tensor(1.0))


def test_a_size_below_minus_1_is_refused():
    with pytest.raises(ArgumentError, match="leaves more open than one size"):
        paddle.ones([4]).reshape([-2, 2])


@pytest.mark.parametrize("product", [paddle.matmul, paddle.mm])
def test_a_product_does_not_cast_its_factors_and_the_operator_does(product):
    whole, real = paddle.ones([2, 2], "int64"), paddle.ones([2, 2])
    with pytest.raises(DtypeError, match="x is int64 and y is float32; cast one"):
        product(whole, real)
    assert (whole @ real).tolist() == [[2, 2], [2, 2]]


def test_labels_may_be_whole_numbers_in_floating_point():
    scores = paddle.to_tensor(np.float32([[1, 2, 3], [4, 1, 1]]))
    labels = paddle.to_tensor([0.0, 2.0])
    expected = F.cross_entropy(scores, labels.astype("int64"))
    assert F.cross_entropy(scores, labels).item() == expected.item()
    each = F.cross_entropy(scores, labels, reduction="none")
    assert np.isclose(each.numpy().mean(), expected.item())


def test_a_model_that_is_not_there_is_a_missing_file(tmp_path):
    paddle.enable_static()
    try:
        exe = paddle.static.Executor()
        for load in (
            lambda: paddle.static.load(paddle.static.Program(), str(tmp_path / "m"), exe),
            lambda: paddle.static.load_inference_model(str(tmp_path / "m"), exe),
        ):
            with pytest.raises(MissingFileError, match="there is no") as caught:
                load()
            assert isinstance(caught.value, FileNotFoundError)
    finally:
        paddle.disable_static()


def test_only_a_loss_of_one_element_is_minimized():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [-1, 4])
            out = paddle.matmul(x, paddle.static.create_parameter([4, 2], "float32"))
            with pytest.raises(ArgumentError, match=r"shape is \(-1, 2\).*paddle.mean"):
                paddle.optimizer.SGD(0.1).minimize(out)
            assert out.sum().item().shape == ()
    finally:
        paddle.disable_static()
