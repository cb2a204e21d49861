"""Jacobians and Hessians: shapes, indices, mistakes, arithmetic, Programs."""

import numpy as np
import pytest

import scull as paddle
from scull.autograd.matrix import Hessian, Jacobian
from scull.errors import ArgumentError, RangeError


def leaf(values):
    return paddle.to_tensor(values, dtype="float64", stop_gradient=False)


def test_a_jacobian_has_a_row_an_element_of_the_result():
    x, y = leaf([1.0, 2.0, 3.0]), leaf([2.0, 5.0, 7.0])
    by_x, by_y = paddle.autograd.jacobian((x * y)[:2], (x, y))
    assert type(by_x) is Jacobian
    assert by_x.shape == [2, 3]
    np.testing.assert_array_equal(by_x[:], [[2, 0, 0], [0, 5, 0]])
    np.testing.assert_array_equal(by_y[1], [0, 2, 0])
    np.testing.assert_array_equal(by_y[-1, 1:], [2, 0])
    assert by_x[0, 0].item() == 2.0


def test_rows_are_evaluated_once_and_only_when_named():
    x = leaf([1.0, 2.0, 3.0])
    found = paddle.autograd.jacobian(x * x, x)
    assert found.rows == {}
    assert found[1:, 1].tolist() == [4.0, 0.0]
    assert sorted(found.rows) == [1, 2]
    row = found.rows[1]
    assert found[:].shape == [3, 3]
    assert found.rows[1] is row


def test_a_batch_has_a_matrix_an_entry():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = paddle.autograd.jacobian(x * x, x, batch_axis=0)
    assert found.shape == [3, 2, 2]
    np.testing.assert_array_equal(found[1], [[6, 0], [0, 8]])
    np.testing.assert_array_equal(found[:, 1, 1], [4, 8, 12])
    sums = paddle.autograd.jacobian(x.sum(1), x, batch_axis=0)
    assert sums.shape == [3, 2]
    assert sums[:].shape == [3, 2]


def test_scalars_leave_their_axis_out():
    x, s = leaf([1.0, 2.0]), leaf(3.0)
    assert paddle.autograd.jacobian((x * x).sum(), x)[:].tolist() == [2.0, 4.0]
    assert paddle.autograd.jacobian(x * s, s)[1].item() == 2.0
    both = paddle.autograd.jacobian(s * s, s)
    assert (both.shape, both.numpy().item()) == ([], 6.0)
    with pytest.raises(RangeError, match="0-D"):
        both[:]


def test_a_hessian_is_differentiable_again():
    x = leaf([1.0, 2.0])
    found = paddle.autograd.hessian((x * x * x).sum(), x)
    assert type(found) is Hessian
    assert found[:].tolist() == [[6.0, 0.0], [0.0, 12.0]]
    (third,) = paddle.grad(found[:].sum(), x)
    assert third.tolist() == [6.0, 6.0]


def test_hessians_of_several_arguments_are_blocks():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    blocks = paddle.autograd.hessian((x * x * y).sum(), (x, y))
    assert [[b.shape for b in row] for row in blocks] == [[[2, 2], [2, 1]], [[1, 2], [1, 1]]]
    assert blocks[0][1][:].tolist() == [[2.0], [4.0]]
    assert blocks[1][1][:].tolist() == [[0.0]]


def test_matrices_calculate_as_the_tensors_they_stand_for():
    x = leaf([1.0, 2.0])
    found = paddle.autograd.jacobian(x * x, x)
    assert (found + 1.0).tolist() == [[3.0, 1.0], [1.0, 5.0]]
    assert (found @ found).tolist() == [[4.0, 0.0], [0.0, 16.0]]
    assert (found == found).all().item()
    assert (found % 3.0).tolist() == [[2.0, 0.0], [0.0, 1.0]]
    assert found.sum().item() == 6.0


@pytest.mark.parametrize(
    ("wrong", "kind", "law"),
    [
        (lambda x: paddle.autograd.jacobian(x * x, x), ArgumentError, "xs.ndim should be 0 or 1"),
        (lambda x: paddle.autograd.jacobian(x.sum(), x[0], 1), ArgumentError, "None or 0, but got"),
        (lambda x: paddle.autograd.jacobian(x.sum(), x[0], "0"), ArgumentError, "got '0'"),
        (lambda x: paddle.autograd.hessian(x[0], x[0]), ArgumentError, "only one element"),
        (lambda x: paddle.autograd.hessian(x.sum(), x, 0), RangeError, "no axis for the batch"),
        (lambda x: paddle.autograd.jacobian(x[0], x[1])[..., 1], RangeError, "Ellipsis"),
        (lambda x: paddle.autograd.jacobian(x[0], x[1])[2], RangeError, "row 2 is outside"),
        (lambda x: paddle.autograd.jacobian(x[0], x[1])[0, 0, 0], RangeError, "3 indices"),
    ],
)
def test_what_has_no_matrix_is_refused_with_its_law(wrong, kind, law):
    with pytest.raises(kind, match=law):
        wrong(leaf([[1.0, 2.0], [3.0, 4.0]]))


def test_a_program_computes_the_same_matrices():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [3], "float64")
            x.stop_gradient = False
            fetched = [
                paddle.autograd.jacobian(x * x, x)[1:],
                paddle.autograd.hessian((x * x * x).sum(), x)[:],
            ]
            found = paddle.static.Executor().run(
                feed={"x": np.array([1.0, 2.0, 3.0])}, fetch_list=fetched
            )
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(found[0], [[0, 4, 0], [0, 0, 6]])
    np.testing.assert_array_equal(found[1], np.diag([6.0, 12.0, 18.0]))
