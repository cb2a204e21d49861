"""Derivatives that once were wrong, in eager mode and in Programs."""

import numpy as np
import pytest

import scull as paddle

X = np.array([[1.0 + 2.0j, -0.5 + 1.0j], [0.3 - 0.7j, 2.0 + 0.1j]])
Y = np.array([[0.2 - 1.0j, 1.5 + 0.5j], [-1.0 + 0.4j, 0.6 + 0.9j]])
W = np.array([[1.0, -2.0], [0.5, 3.0]])


@pytest.fixture
def static():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield
    paddle.disable_static()


def size(function, *arrays):
    """A number that depends on both parts of what a function gives."""
    out = function(*arrays)
    return (paddle.real(out) * W[: out.shape[0], : out.shape[-1]]).sum() - paddle.imag(out).sum()


def slopes(function, *arrays, step=1e-6):
    """The steepest ascent of the number, by small steps of both parts of each element."""
    found = []
    for i, x in enumerate(arrays):
        slope = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            for unit in (1, 1j):
                ends = []
                for sign in (1, -1):
                    moved = [a.copy() for a in arrays]
                    moved[i][place] += sign * step * unit
                    ends.append(size(function, *map(paddle.to_tensor, moved)).item())
                slope[place] += unit * (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (paddle.matmul, 2),
        (lambda x, y: paddle.matmul(x, y, True, True), 2),
        (lambda x, y: x**y, 2),
        (lambda x, y: paddle.addmm(x, x, y), 2),
        (paddle.rsqrt, 1),
        (paddle.reciprocal, 1),
        (paddle.log2, 1),
        (paddle.nn.functional.sigmoid, 1),
        (paddle.nn.functional.silu, 1),
        (lambda x: paddle.cumprod(x, 0), 1),
        (lambda x: paddle.prod(x, 1, keepdim=True), 1),
        (lambda x: paddle.linalg.eig(x)[0].reshape([1, 2]), 1),
        (lambda x: paddle.abs(paddle.linalg.eig(x)[1]) + 0j * x, 1),
    ],
)
def test_the_gradient_of_a_complex_function_leads_upwards(function, count):
    arrays = [X, Y][:count]
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    size(function, *leaves).backward()
    for leaf, slope in zip(leaves, slopes(function, *arrays), strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), slope, rtol=1e-6, atol=1e-8)


def test_the_eigenvalues_of_a_real_matrix_have_a_real_gradient():
    x = paddle.to_tensor([[2.0, 1.0], [3.0, 4.0]], dtype="float64", stop_gradient=False)
    paddle.real(paddle.linalg.eig(x)[0]).sum().backward()
    assert x.grad.dtype is paddle.float64
    np.testing.assert_allclose(x.grad.numpy(), np.eye(2), atol=1e-12)


def test_running_products_through_zeros_are_differentiated_twice():
    x = paddle.to_tensor([2.0, 0.0, 3.0], stop_gradient=False)
    (dx,) = paddle.grad(paddle.cumprod(x, 0)[2], x, create_graph=True)
    assert dx.tolist() == [0.0, 6.0, 0.0]
    (again,) = paddle.grad(dx[0], x)
    assert again.tolist() == [0.0, 3.0, 0.0]


def test_a_second_gradient_that_nothing_depends_on_is_none(static):
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    for y in (paddle.clip(x, 0.0, 1.0), paddle.nn.functional.relu(x)):
        (dx,) = paddle.static.gradients([y], [x])
        assert paddle.static.gradients([dx], [x]) in ([None], [])


def test_a_number_to_the_power_of_a_variable_takes_its_shape(static):
    for shape, kind in (([2, 3], "fill_constant"), ([-1, 3], "fill_constant_batch_size_like")):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", shape)
            found = [2.0**x, 3.0 / x]
            made = paddle.static.default_main_program().global_block().ops
            assert [o.type for o in made[::2]] == [kind, kind]
            assert made[0].attr("shape") == shape
            given = np.full((2, 3), 3.0, "float32")
            powers, parts = paddle.static.Executor().run(feed={"x": given}, fetch_list=found)
            assert (powers == 8).all() and (parts == 1).all()


def test_true_writes_everything_and_false_nothing(static):
    x = paddle.static.data("x", [2, 3])
    found = [paddle.static.setitem(x, chosen, 5.0) for chosen in (True, False)]
    found += [x[True], x[False]]
    given = np.ones((2, 3), "float32")
    whole, nothing, same, none = paddle.static.Executor().run(feed={"x": given}, fetch_list=found)
    assert (whole == 5).all() and (nothing == 1).all()
    assert same.shape == (1, 2, 3) and none.shape == (0, 2, 3)


def test_static_mode_begins_where_no_gradients_are_wanted():
    with paddle.set_grad_enabled(False):
        paddle.enable_static()
        assert not paddle.in_dynamic_mode()
        paddle.disable_static()
        assert paddle.in_dynamic_mode() and not paddle.is_grad_enabled()


def test_zero_keeps_its_sign_as_an_attribute():
    signs = [np.signbit(paddle.full_like(paddle.ones([]), v).item()) for v in (-0.0, 0.0)]
    assert signs == [True, False]
