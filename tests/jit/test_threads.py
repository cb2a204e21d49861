"""Static functions whose layers change, or that other threads call meanwhile."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import scull as paddle
from scull.jit.function import StaticFunction


def test_a_call_that_records_while_a_layer_changes_is_not_kept_for_later_calls(monkeypatch):
    net = paddle.nn.Dropout(1.0)
    static = paddle.jit.to_static(lambda x: net(x), full_graph=True)
    x, real, begun, changed = paddle.ones([3]), StaticFunction.order, [], threading.Event()

    def waiting(self, args, kwargs):
        found = real(self, args, kwargs)
        if not begun:
            begun.append(True)
            other = threading.Thread(target=after_eval)
            other.start()
            other.join()
        return found

    def after_eval():
        net.eval()
        assert static(x).tolist() == [1, 1, 1]
        changed.set()

    monkeypatch.setattr(StaticFunction, "order", waiting)
    assert static(x).tolist() == [0, 0, 0]  # it began to train
    assert changed.is_set()
    assert static(x).tolist() == [1, 1, 1]
    net.train()
    assert static(x).tolist() == [0, 0, 0]


def test_settings_and_layers_change_between_calls_of_eight_threads():
    net = paddle.nn.Linear(3, 3)
    static = paddle.jit.to_static(lambda x, k: net(x) * k, full_graph=True)
    x = np.random.RandomState(0).rand(8, 3).astype("float32")
    expected = [net(paddle.to_tensor(row[None])).numpy() for row in x]
    wrong = []

    def calls(i):
        row = paddle.to_tensor(x[i][None])
        for n in range(40):
            if i == 0 and n % 8 == 0:
                (net.eval if n % 16 else net.train)()
            if i == 1 and n % 8 == 0:
                paddle.set_flags({"FLAGS_call_stack_level": 1})
            with paddle.no_grad() if n % 3 else paddle.enable_grad():
                found = static(row, float(i % 2 + 1)).numpy()
            if not np.allclose(found, expected[i] * (i % 2 + 1), rtol=1e-6):
                wrong.append((i, n))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(calls, range(8)))
    assert not wrong


def test_a_call_within_no_grad_is_kept_apart_from_one_on_the_tape():
    static = paddle.jit.to_static(lambda x: x * x, full_graph=True)
    x = paddle.to_tensor([3.0], stop_gradient=False)
    for _ in range(3):
        with paddle.no_grad():
            assert static(x).stop_gradient
        static(x).backward()
    assert x.grad.tolist() == [18.0]
    with paddle.no_grad():
        silent = static(x)
    x.stop_gradient = True
    assert static(x).stop_gradient and silent.tolist() == [9.0]


def test_a_captured_tensor_that_wants_gradients_later_gets_them():
    weight = paddle.to_tensor([2.0])
    static = paddle.jit.to_static(lambda x: x * weight, full_graph=True)
    x = paddle.to_tensor([3.0])
    assert [static(x).tolist() for _ in range(3)] == [[6.0]] * 3
    weight.stop_gradient = False
    static(x).backward()
    assert weight.grad.tolist() == [3.0]
    weight.array = np.array([5.0], "float32")
    assert static(x).tolist() == [15.0]


def test_functions_are_switched_off_and_on_between_calls():
    static = paddle.jit.to_static(lambda x: type(x).__name__, full_graph=True)
    x = paddle.ones([1])
    assert [static(x), static(x)] == ["Variable"] * 2
    paddle.jit.enable_to_static(False)
    try:
        assert [static(x), static(x)] == ["Tensor"] * 2
    finally:
        paddle.jit.enable_to_static(True)
    assert static(x) == "Variable"


def test_what_records_a_gradient_goes_with_its_function():
    def made():
        class Double(paddle.autograd.PyLayer):
            @staticmethod
            def forward(context, x):
                return x * 2

            @staticmethod
            def backward(context, dout):
                return dout * 3

        static = paddle.jit.to_static(lambda x: Double.apply(x), full_graph=True)
        x = paddle.to_tensor([1.0], stop_gradient=False)
        static(x).backward()
        assert x.grad.tolist() == [3.0]
        return weakref.ref(static), weakref.ref(Double)

    function, layer = made()
    gc.collect()
    assert function() is None and layer() is None
