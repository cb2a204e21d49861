"""Derivatives of functions, eagerly and in Programs."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError, TapeError

autograd = paddle.incubate.autograd


def product(x, y):
    return paddle.matmul(x, y)


def test_vjp_is_the_gradient_for_the_vector_given():
    x, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 10.0])
    y, found = autograd.vjp(lambda x: x * x, x, v)
    assert (y.tolist(), found.tolist()) == ([1.0, 4.0], [2.0, 40.0])
    assert x.grad is None
    _, (dx, dy) = autograd.vjp(product, [paddle.ones([2, 3]), paddle.ones([3, 2])])
    assert (dx.shape, dy.tolist()) == ([2, 3], [[2.0, 2.0]] * 3)


def test_jvp_is_the_change_along_the_direction_given():
    x, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 10.0])
    assert autograd.jvp(lambda x: x * x, x, v)[1].tolist() == [2.0, 40.0]
    _, (total, double) = autograd.jvp(lambda x: (x.sum(), x * 2.0), x)
    assert (total.item(), double.tolist()) == (2.0, [2.0, 2.0])


def test_only_the_paths_within_the_function_count():
    x = paddle.to_tensor([3.0], stop_gradient=False)
    assert autograd.vjp(lambda y: x * y, x)[1].tolist() == [3.0]


def test_a_jacobian_puts_arguments_and_results_in_line():
    x, y = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])
    found = autograd.Jacobian(product, [x, y])
    assert (found.shape, found[:].tolist()) == ((1, 4), [[3.0, 4.0, 1.0, 2.0]])
    batch = autograd.Jacobian(lambda x: x * x, paddle.ones([3, 2]), is_batched=True)
    assert (batch.shape, batch[:, 0].tolist()) == ((3, 2, 2), [[2.0, 0.0]] * 3)


def test_an_argument_that_is_not_used_has_zeros():
    x, y = paddle.ones([2]), paddle.ones([2])
    found = autograd.Hessian(lambda x, y: (x * x).sum(), [x, y])[:]
    assert found.tolist() == np.diag([2.0, 2.0, 0.0, 0.0]).tolist()


def test_a_batch_of_hessians():
    found = autograd.Hessian(lambda x: (x * x).sum(1), paddle.ones([3, 2]), is_batched=True)
    assert (found.shape, found[2].tolist()) == ((3, 2, 2), [[2.0, 0.0], [0.0, 2.0]])


@pytest.mark.parametrize(
    ("wrong", "kind", "law"),
    [
        (lambda x: autograd.vjp(3, x), ArgumentTypeError, "`func` is called"),
        (lambda x: autograd.vjp(paddle.tanh, 3.0), ArgumentTypeError, "`xs` takes"),
        (lambda x: autograd.vjp(paddle.tanh, x, 1.0), ArgumentTypeError, "`v` takes"),
        (lambda x: autograd.jvp(paddle.tanh, x, [x, x]), TapeError, "`v` has 2 tensors, and 1"),
        (lambda x: autograd.vjp(paddle.tanh, x, x[0]), TapeError, r"v\[0\] has shape \[\]"),
        (lambda x: autograd.Hessian(paddle.tanh, x), TapeError, "returned 2 elements"),
        (lambda x: autograd.grad(x, x), ArgumentTypeError, "in static mode"),
        (lambda x: autograd.prim2orig(x), ArgumentTypeError, "takes a Block"),
    ],
)
def test_a_mistake_is_refused_with_its_law(wrong, kind, law):
    with pytest.raises(kind, match=law):
        wrong(paddle.ones([2]))


def test_a_program_has_derivatives_in_both_directions():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [2])
            x.stop_gradient = False
            y = x * x
            fetched = [
                autograd.forward_grad(y, x),
                autograd.grad([y], x),
                autograd.vjp(paddle.exp, x)[1],
                autograd.jvp(lambda a: a * a * a, [x], [x])[1],
                autograd.Hessian(lambda a: (a * a).sum(), x)[:],
            ]
            given = np.array([1.0, 2.0], "float32")
            found = paddle.static.Executor().run(feed={"x": given}, fetch_list=fetched)
            with pytest.raises(TapeError, match="2 grad_inputs were given for 1 inputs"):
                autograd.forward_grad(y, x, [x, x])
    finally:
        paddle.disable_static()
    expected = [2 * given, 2 * given, np.exp(given), 3 * given**3, 2 * np.eye(2)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_asking_for_primitive_operators_is_remembered():
    assert not autograd.prim_enabled()
    autograd.enable_prim()
    assert autograd.prim_enabled()
    autograd.disable_prim()
    assert not autograd.prim_enabled()
