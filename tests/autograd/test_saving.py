"""Hooks on what the tape saves."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import TapeError


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


class Store:
    """What was saved and asked for, kept outside the tape."""

    def __init__(self):
        self.kept, self.asked = [], 0

    def pack(self, tensor):
        self.kept.append(tensor.numpy().copy())
        return len(self.kept) - 1

    def unpack(self, place):
        self.asked += 1
        return paddle.to_tensor(self.kept[place])

    def hooks(self):
        return paddle.autograd.saved_tensors_hooks(self.pack, self.unpack)


def test_what_is_saved_is_packed_and_unpacked_when_a_gradient_needs_it():
    store, x, y = Store(), leaf(2.0, 3.0), leaf(5.0, 7.0)
    with store.hooks():
        z = x * y
    assert [k.tolist() for k in store.kept] == [[2.0, 3.0], [5.0, 7.0]]
    assert store.asked == 0
    z.sum().backward()
    assert store.asked == 2
    assert (x.grad.tolist(), y.grad.tolist()) == ([5.0, 7.0], [2.0, 3.0])


def test_the_hook_sees_saved_tensors_where_they_are_on_the_tape():
    seen, x, constant = [], leaf(1.0, 2.0), paddle.to_tensor([3.0, 4.0])

    def pack(tensor):
        seen.append((tensor.stop_gradient, tensor.is_leaf))
        return tensor

    with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
        (x + 1.0) * constant
        paddle.exp(x)
        paddle.gather(x, paddle.to_tensor([0, 1]))
    assert seen == [(False, False), (True, True), (False, False), (True, True)]


def test_gradients_use_what_the_hook_gives_back():
    x = leaf(2.0)
    with paddle.autograd.saved_tensors_hooks(lambda t: t, lambda t: t * 10.0):
        y = paddle.exp(x)
    y.backward()
    np.testing.assert_allclose(x.grad, 10 * np.exp([2.0]), rtol=1e-6)


def test_shapes_alone_and_what_nobody_differentiates_are_not_packed():
    store, x = Store(), leaf(1.0, 2.0)
    with store.hooks():
        (x.reshape([2, 1]).sum()).backward()
        paddle.ones([2]) * paddle.ones([2])
        with paddle.no_grad():
            x * x
    assert store.kept == []
    assert x.grad.tolist() == [1.0, 1.0]


def test_operators_before_and_after_the_block_are_left_alone():
    store, x = Store(), leaf(3.0)
    a = x * x
    with store.hooks():
        b = a.exp()
        assert paddle.in_dynamic_mode()
        assert paddle.is_grad_enabled()
    c = b * b
    c.backward()
    assert len(store.kept) == 1
    np.testing.assert_allclose(x.grad, 12 * np.exp([18.0]), rtol=1e-5)


def test_a_packed_tape_can_be_kept_freed_and_differentiated_again():
    store, x = Store(), leaf(3.0)
    with store.hooks():
        y = x * x * x
    (dx,) = paddle.grad(y, x, create_graph=True)
    assert paddle.grad(dx, x, retain_graph=True)[0].tolist() == [18.0]
    y.backward()
    with pytest.raises(TapeError, match="freed"):
        y.backward()


def test_a_py_layer_packs_what_it_saves():
    class Scale(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, dy):
            x, w = ctx.saved_tensor()
            return dy * w, dy * x

    store, x, w = Store(), leaf(2.0), leaf(5.0)
    with store.hooks():
        y = Scale.apply(x, w)
    y.backward()
    assert [k.tolist() for k in store.kept] == [[2.0], [5.0]]
    assert (x.grad.tolist(), w.grad.tolist()) == ([5.0], [2.0])


def test_a_change_in_place_within_the_block_is_on_the_tape():
    store, x = Store(), leaf(1.0, 2.0)
    with store.hooks():
        y = x * 2.0
        y[0] = 5.0
        z = (y * y).sum()
    z.backward()
    assert x.grad.tolist() == [0.0, 16.0]


def test_casts_go_on_where_what_is_saved_is_packed():
    x = paddle.to_tensor([[2.0]], stop_gradient=False)
    kept = []
    with paddle.amp.auto_cast(dtype="bfloat16"):
        with paddle.autograd.saved_tensors_hooks(lambda t: kept.append(t.dtype) or t, lambda t: t):
            y = x @ x
        assert (x @ x).dtype == y.dtype == paddle.bfloat16
    assert kept == [paddle.bfloat16] * 2
    y.backward()
    assert x.grad.item() == 4.0
