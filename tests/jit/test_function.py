"""Functions made static: the same numbers, gradients and buffers as in eager mode."""

import copy
import gc
import threading
import warnings
import weakref

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError
from scull.jit.function import StaticFunction
from tests.jit.models import (
    assert_equal,
    buffers,
    copied_state,
    gradients,
    small_net,
    started,
)


def test_forward_and_backward_are_those_of_eager_mode_bit_for_bit():
    net = small_net()
    state, x = copied_state(net), paddle.rand([5, 3])
    x.stop_gradient = False

    def function(x):
        h = net(x)
        return h, (h * h).sum()

    def run(call):
        started(net, state)
        x.clear_grad()
        h, loss = call(x)
        (loss + h.mean()).backward()
        return [h.numpy(), loss.numpy(), *gradients(net, x), *buffers(net)]

    assert_equal(run(paddle.jit.to_static(function)), run(function))


def test_training_and_testing_are_two_programs():
    net = small_net()
    function = paddle.jit.to_static(net.forward)
    x = paddle.rand([5, 3])
    function(x)
    net.eval()
    np.testing.assert_array_equal(function(x).numpy(), net(x).numpy())
    net.train()
    function(x)
    assert len(function.program_cache) == 2


def test_double_gradients_are_close_to_those_of_eager_mode():
    net = small_net()
    state, x = copied_state(net), paddle.rand([5, 3], "float32")
    x.stop_gradient = False

    def run(call):
        started(net, state)
        x.clear_grad()
        (g,) = paddle.grad([call(x).sum()], [x], create_graph=True)
        (g * g).sum().backward()
        return [g.numpy(), *gradients(net, x)[:1], *buffers(net)]

    def function(x):
        return net(x) ** 2

    for found, expected in zip(run(paddle.jit.to_static(function)), run(function), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_function_called_twice_before_one_backward_keeps_both_runs_apart():
    w = paddle.to_tensor([2.0], stop_gradient=False)
    function = paddle.jit.to_static(lambda x: x * w * x)
    a, b = paddle.to_tensor([3.0]), paddle.to_tensor([5.0])
    (function(a) + function(b)).backward()
    assert w.grad.tolist() == [34.0]


def test_calls_from_several_threads_do_not_mix():
    function = paddle.jit.to_static(lambda x: paddle.tanh(x) * 2.0 + x)
    inputs = [paddle.full([50], float(i)) for i in range(8)]
    found = [None] * 8

    def work(i):
        for _ in range(50):
            found[i] = function(inputs[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for x, y in zip(inputs, found, strict=True):
        np.testing.assert_array_equal(y.numpy(), (paddle.tanh(x) * 2.0 + x).numpy())


def test_results_come_in_the_structure_the_function_returns():
    @paddle.jit.to_static
    def function(x, k=2, *, other=None):
        return {"first": x * k, "rest": [other, (x, "text")]}

    x = paddle.ones([2])
    found = function(x)
    assert found["first"].tolist() == [2.0, 2.0]
    assert found["rest"][0] is None
    assert found["rest"][1][1] == "text"
    assert function(other=x * 3.0, x=x)["rest"][0].tolist() == [3.0, 3.0]
    assert function(x, 5)["first"].tolist() == [5.0, 5.0]
    assert len(function.program_cache) == 3


def test_numbers_of_differing_types_are_differing_arguments():
    function = paddle.jit.to_static(lambda x, k: x * 0 + (1.0 if isinstance(k, bool) else 2.0))
    x = paddle.ones([1])
    assert [function(x, k).item() for k in (1, True, 1.0)] == [2.0, 1.0, 2.0]


def test_arguments_by_name_may_come_in_any_order():
    function = paddle.jit.to_static(lambda a, b: a - b)
    a, b = paddle.to_tensor([5.0]), paddle.to_tensor([2.0])
    assert function(b=b, a=a).item() == 3.0
    assert function(a, b=b).item() == 3.0


def test_arrays_of_numpy_become_tensors():
    function = paddle.jit.to_static(lambda a: a + 1.0)
    found = function(np.zeros(2, "float32"))
    assert isinstance(found, paddle.Tensor)
    assert found.tolist() == [1.0, 1.0]


def test_one_program_serves_every_size_that_input_spec_leaves_open():
    spec = [paddle.static.InputSpec([None, 3])]
    function = paddle.jit.to_static(lambda x: x.sum(axis=1), input_spec=spec)
    for n in (1, 4, 7):
        assert function(paddle.ones([n, 3])).tolist() == [3.0] * n
    assert len(function.program_cache) == 1
    assert function.concrete_program.inputs[0].shape == (-1, 3)
    assert [v.shape for v in function.concrete_program.outputs] == [(-1,)]


def test_what_input_spec_does_not_describe_has_a_program_of_its_own():
    spec = [paddle.static.InputSpec([None, 3], name="a")]
    function = paddle.jit.to_static(lambda x: x + x, input_spec=spec, full_graph=True)
    assert function(paddle.ones([2, 4])).tolist() == [[2.0] * 4] * 2
    assert function(paddle.ones([3])).tolist() == [2.0] * 3
    assert function(paddle.ones([1, 3], "int64")).dtype == paddle.int64
    assert function(paddle.ones([2, 3])).shape == [2, 3]
    assert len(function.program_cache) == 4
    assert function.concrete_program.inputs[0].shape == (-1, 3)


def test_a_parameter_frozen_and_freed_again_is_seen():
    net = paddle.nn.Linear(2, 1)
    function = paddle.jit.to_static(net.forward)
    net.weight.stop_gradient = True
    function(paddle.ones([1, 2])).backward()
    assert net.weight.grad is None
    net.weight.stop_gradient = False
    function(paddle.ones([1, 2])).backward()
    assert net.weight.grad.tolist() == [[1.0], [1.0]]


def test_a_parameter_put_in_the_place_of_another_is_seen():
    net = paddle.nn.Linear(2, 1, bias_attr=False)
    function = paddle.jit.to_static(net.forward)
    function(paddle.ones([1, 2]))
    net.weight = paddle.create_parameter(
        [2, 1], "float32", default_initializer=paddle.nn.initializer.Constant(4.0)
    )
    assert function(paddle.ones([1, 2])).item() == 8.0


def test_methods_of_two_objects_have_programs_of_their_own():
    class Scaled(paddle.nn.Layer):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        @paddle.jit.to_static
        def forward(this, x):
            return x * this.factor

    one, two = Scaled(2.0), Scaled(3.0)
    x = paddle.ones([1])
    assert (one(x).item(), two(x).item()) == (2.0, 3.0)
    assert one.forward is one.forward
    assert len(one.forward.program_cache) == 1


def test_a_layer_made_static_can_be_copied():
    net = paddle.jit.to_static(paddle.nn.Linear(2, 2))
    x = paddle.ones([1, 2])
    net(x)
    twin = copy.deepcopy(net)
    twin.weight.set_value(twin.weight * 0.0)
    twin.bias.set_value(twin.bias * 0.0)
    assert twin(x).tolist() == [[0.0, 0.0]]
    assert net(x).tolist() != [[0.0, 0.0]]


def test_gradients_stop_within_no_grad():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    @paddle.jit.to_static
    def function(x):
        with paddle.no_grad():
            still = x * w
        return still * w

    function(paddle.to_tensor([3.0])).backward()
    assert w.grad.tolist() == [6.0]


def test_many_programs_of_one_function_are_told_with_the_argument_that_asks_for_them():
    function = paddle.jit.to_static(lambda x, k: x * k)
    with pytest.warns(UserWarning, match="recorded 8 times: its argument `k` came in 8 forms"):
        for k in range(8):
            function(paddle.ones([1]), k)


def test_statistics_count_calls_and_programs(monkeypatch):
    monkeypatch.setattr("scull.jit.program_cache.MOST_PROGRAMS", 3)
    layer = paddle.nn.Linear(2, 2)
    layer.weight.stop_gradient = True

    @paddle.jit.to_static(full_graph=True)
    def function(x, k=1):
        return layer(x) * k

    x = paddle.ones([1, 2])
    for _ in range(4):
        function(x)
    found = function.statistics()
    assert (found.calls, found.recorded, found.kept) == (4, 1, 1)
    for k in (2, 3, 4):
        function(x, k)
    layer.weight.stop_gradient = False  # the Program was recorded without it
    function(x, 4)
    found = function.statistics()
    assert (found.calls, found.kept, found.dropped) == (8, 3, 1)
    assert found.recorded == found.kept + found.stale + found.dropped
    assert found.stale == 1
    assert str(found).startswith("8 calls, 5 Programs recorded: 3 kept, 1 stale, 1 dropped; ")
    assert found.converted > 0
    assert function.statistics() == found


def test_a_call_that_goes_on_in_pieces_counts_once():
    @paddle.jit.to_static
    def function(x):
        return paddle.tanh(x) * len(str(x.sum().tolist()))

    with pytest.warns(UserWarning, match="is no one Program"):
        function(paddle.ones([3]))
    function(paddle.ones([3]))
    assert function.statistics().calls == 2


def test_plain_python_runs_while_to_static_is_switched_off():
    function = paddle.jit.to_static(lambda x: type(x).__name__)
    paddle.jit.enable_to_static(False)
    try:
        assert function(paddle.ones([1])) == "Tensor"
    finally:
        paddle.jit.enable_to_static(True)


def test_wrong_arguments_are_refused_as_python_does():
    function = paddle.jit.to_static(lambda x: x)
    with pytest.raises(ArgumentTypeError, match="missing a required argument: 'x'"):
        function()
    with pytest.raises(ArgumentError, match="'CINN' or None"):
        paddle.jit.to_static(lambda x: x, backend="other")
    with pytest.raises(ArgumentTypeError, match="BuildStrategy"):
        paddle.jit.to_static(lambda x: x, build_strategy=1)


def test_a_frame_of_the_framework_is_not_in_the_traceback():
    @paddle.jit.to_static(full_graph=True)
    def function(x):
        return paddle.matmul(x, x)

    with pytest.raises(ValueError) as caught:
        function(paddle.ones([2, 3]))
    inside = [str(entry.path) for entry in caught.traceback][1:]
    assert [path == __file__ for path in inside] == [False, True]  # the call itself, and the line


def test_no_warning_comes_of_a_function_that_is_one_program():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paddle.jit.to_static(lambda x: x + 1.0)(paddle.ones([1])).item() == 2.0


def test_a_layer_with_a_gradient_of_its_own_keeps_it():
    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * x * x * factor

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensor()
            return dy * x * 100.0 * ctx.factor

    def function(x):
        return (Cube.apply(x * 2.0, 3.0) + x).sum()

    found = []
    for call in (function, paddle.jit.to_static(function, full_graph=True)):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = call(x)
        y.backward()
        found.append((y.item(), x.grad.tolist()))
    assert found[0] == found[1] == (219.0, [1201.0, 2401.0])


def test_an_input_that_is_written_over_is_so_for_the_caller_too():
    def function(x, w):
        x.add_(paddle.ones([2]))
        return x * w

    found = []
    for call in (function, paddle.jit.to_static(function, full_graph=True)):
        for stop in (True, False):
            w = paddle.to_tensor([3.0, 4.0], stop_gradient=stop)
            x = paddle.zeros([2])
            y = call(x, w)
            if not stop:
                y.sum().backward()
            found.append((x.tolist(), y.tolist(), None if stop else w.grad.tolist()))
    assert found[:2] == found[2:]
    assert found[0][0] == [1.0, 1.0]


def test_an_array_of_numpy_is_never_written_over():
    array = np.zeros(2, "float32")
    function = paddle.jit.to_static(lambda x: x.add_(paddle.ones([2])), full_graph=True)
    assert function(array).tolist() == [1.0, 1.0]
    assert array.tolist() == [0.0, 0.0]


def test_lists_that_grow_in_loops_of_a_program_are_extended_and_inserted_into():
    def function(x, n):
        items = [x]
        for _k in range(n):
            items.append(items[-1] + 1.0)
        items.extend([x * 10.0, x * 20.0])
        items.insert(1, x * 5.0)
        return paddle.stack(items)

    x, n = paddle.ones([2]), paddle.to_tensor(3)
    static = paddle.jit.to_static(function, full_graph=True)
    assert static(x, n).tolist() == function(x, n).tolist()


def test_the_same_tensor_given_twice_does_not_stand_for_two_later():
    function = paddle.jit.to_static(lambda a, b: a - 2.0 * b)
    x, y = paddle.to_tensor([7.0]), paddle.to_tensor([1.0])
    assert [function(x, x).item(), function(x, y).item(), function(b=x, a=y).item()] == [-7, 5, -13]


def test_layers_of_a_closure_or_an_argument_are_seen_to_train_or_test():
    net = paddle.nn.Dropout(0.5)
    x = paddle.ones([64])
    held, named = [[net]], {"net": net}
    functions = (
        *(lambda x: net(x), lambda x, n=net: n(x)),
        *(lambda x: held[0][0](x), lambda x: named["net"](x)),
    )
    for call in map(paddle.jit.to_static, functions):
        net.train()
        assert (call(x).numpy() != 1.0).any()
        net.eval()
        assert (call(x).numpy() == 1.0).all()


def test_layers_taken_away_are_seen():
    net = paddle.nn.Sequential(*[paddle.nn.Linear(2, 2) for _ in range(3)])
    function = paddle.jit.to_static(net.forward)
    x = paddle.ones([1, 2])
    function(x)
    net[0].bias = None
    np.testing.assert_array_equal(function(x).numpy(), net(x).numpy())


def test_objects_with_static_methods_are_not_kept_alive():
    class Net(paddle.nn.Layer):
        @paddle.jit.to_static
        def forward(self, x):
            return x + 1.0

    net = Net()
    net(paddle.ones([1]))
    seen = weakref.ref(net)
    del net
    gc.collect()
    assert seen() is None


def test_zeros_of_differing_sign_are_differing_arguments():
    function = paddle.jit.to_static(lambda x, k: x * k)
    x = paddle.ones([1])
    assert [np.signbit(function(x, k).item()) for k in (0.0, -0.0)] == [False, True]


def test_a_list_of_a_program_is_true_where_something_is_in_it():
    def function(x):
        outs = []
        while x.sum() > 1.0:
            outs.append(x)
            x = x / 2.0
        if outs:
            return paddle.stack(outs).sum()
        return x.sum()

    static = paddle.jit.to_static(function, full_graph=True)
    for value in (4.0, 0.5):
        x = paddle.to_tensor([value])
        assert static(x).item() == function(x).item()


def test_a_method_made_static_in_its_class_is_rolled_back_for_one_object():
    class Net(paddle.nn.Layer):
        @paddle.jit.to_static
        def double(self, x):
            return x * 2.0

    net, other = Net(), Net()
    net.double(paddle.ones([1]))
    plain = net.double.rollback()
    assert not isinstance(net.double, StaticFunction)
    assert plain(paddle.ones([1])).item() == net.double(paddle.ones([1])).item() == 2.0
    assert isinstance(other.double, StaticFunction)


def test_a_layer_whose_forward_cannot_be_called_is_refused():
    net = paddle.nn.Layer()
    net.forward = "no function"
    function = paddle.jit.to_static(lambda x: net(x), full_graph=True)
    with pytest.raises(AttributeError, match="`forward` of Layer is str, and cannot be called"):
        function(paddle.ones([1]))


def test_a_second_derivative_begins_with_the_buffer_of_the_first_run_and_leaves_it_alone():
    class Counting(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.ones([1]))

        def forward(self, x):
            y = x * x * self.count
            self.count = self.count + 1.0
            return y

    def run(function, net):
        x = paddle.to_tensor([3.0], stop_gradient=False)
        (g,) = paddle.grad(function(x), [x], create_graph=True)
        (second,) = paddle.grad(g * g, [x])
        return g.tolist(), second.tolist(), net.count.tolist()

    net, other = Counting(), Counting()
    static = paddle.jit.to_static(other, full_graph=True)
    for _ in range(2):
        assert run(net, net) == run(static, other)
