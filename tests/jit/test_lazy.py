"""Functions that are no one Program: pieces of graph with Python between them."""

import pytest

import scull as paddle
from tests.jit.models import assert_equal, buffers, copied_state, gradients, small_net, started


def in_pieces(function):
    """`function` made static where a warning says that it is no one Program."""
    return paddle.jit.to_static(function, full_graph=False)


def asks(net):
    """A function that looks at a value in the middle."""

    def function(x):
        h = net(x)
        h = h + 1.0 if float(h.numpy().sum()) > 0.0 else h * 2.0
        y = paddle.concat([h, h * 3.0], axis=1)
        return y.mean(), h

    return function


def test_pieces_give_the_numbers_gradients_and_buffers_of_eager_mode():
    net = small_net()
    state, x = copied_state(net), paddle.rand([5, 3])
    x.stop_gradient = False

    def run(call):
        started(net, state)
        x.clear_grad()
        loss, h = call(x)
        loss.backward()
        return [loss.numpy(), h.numpy(), *gradients(net, x), *buffers(net)]

    static = in_pieces(asks(net))
    with pytest.warns(UserWarning, match="is no one Program: `numpy` asks"):
        found = run(static)
    assert_equal(found, run(asks(net)))
    assert_equal(run(static), run(asks(net)))


def test_the_report_tells_the_reason_and_each_piece_with_its_size():
    function = in_pieces(lambda x: (x + 1.0) * float((x * 2.0).sum().numpy()))
    with pytest.warns(UserWarning, match=r"test_lazy.py:\d+"):
        function(paddle.ones([3]))
    lines = function.report().splitlines()
    assert "no one Program" in lines[0]
    assert lines[1] == "2 pieces of graph"
    assert "3 operators, until" in lines[2] and "test_lazy.py" in lines[2] and "(new)" in lines[2]
    assert "1 operators, until its end" in lines[3]
    function(paddle.ones([3]))
    assert "(new)" not in function.report()


def test_operators_of_two_operands_wait_too():
    def function(x):
        y = paddle.matmul(x, x)
        z = (y @ y) * y + x
        return z if z.numpy().any() else x

    static = in_pieces(function)
    with pytest.warns(UserWarning, match="in pieces of graph"):
        static(paddle.ones([2, 2]))
    assert "4 operators, until" in static.report()


def test_a_whole_function_is_one_piece():
    function = in_pieces(lambda x: x + 1.0)
    function(paddle.ones([1]))
    assert function.report() == "1 piece of graph: the whole function"


def test_the_same_is_an_error_at_that_line_with_full_graph():
    function = paddle.jit.to_static(lambda x: x.tolist(), full_graph=True)
    with pytest.raises(TypeError, match="`tolist` asks for the values of"):
        function(paddle.ones([1]))


def test_numpy_of_a_variable_is_the_variable_with_full_graph_as_in_paddle():
    def function(x):
        if x.numpy()[0] > 0.0:
            return x + 1.0
        return x - 1.0

    static = paddle.jit.to_static(function, full_graph=True)
    assert static(paddle.ones([1])).item() == 2.0
    assert static(-paddle.ones([1])).item() == -2.0
    assert len(static.program_cache) == 1


def test_a_value_written_in_place_is_read_as_it_was_before():
    def function(x):
        w = paddle.ones([2])
        before = w * 3.0
        w.set_value(paddle.zeros([2]))
        x.numpy()
        return before + w

    with pytest.warns(UserWarning):
        assert in_pieces(function)(paddle.ones([1])).tolist() == [3.0, 3.0]


def test_random_numbers_come_in_the_order_of_eager_mode():
    def function(x):
        a = paddle.rand([3]) + x
        float(a.sum().numpy())
        return a + paddle.nn.functional.dropout(x * 2.0, 0.5)

    x = paddle.ones([3])
    paddle.seed(7)
    expected = function(x).tolist()
    with pytest.warns(UserWarning):
        static = in_pieces(function)
        paddle.seed(7)
        assert static(x).tolist() == expected
    paddle.seed(7)
    assert static(x).tolist() == expected


def test_no_grad_holds_for_operators_that_wait():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def function(x):
        with paddle.no_grad():
            still = x * w
        x.numpy()
        return still * w

    with pytest.warns(UserWarning):
        in_pieces(function)(paddle.to_tensor([3.0])).backward()
    assert w.grad.tolist() == [6.0]


def test_sizes_that_depend_on_values_are_looked_up():
    def function(x):
        found = paddle.nonzero(x > 0.0)
        return found.shape[0] + x.numpy().sum()

    with pytest.warns(UserWarning):
        assert in_pieces(function)(paddle.to_tensor([1.0, -1.0, 2.0])) == 4.0


def test_a_whole_training_step_runs_in_pieces():
    net = small_net()
    state, x = copied_state(net), paddle.rand([5, 3])

    def run(static):
        started(net, state)
        optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())

        def step(x):
            loss = (net(x) ** 2).mean()
            if loss.numpy() < 0.0:
                return loss
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        call = in_pieces(step) if static else step
        return [call(x).numpy() for _ in range(4)] + [p.numpy() for p in net.parameters()]

    with pytest.warns(UserWarning):
        found = run(True)
    assert_equal(found, run(False))


def test_a_mistake_in_one_call_does_not_let_later_calls_run_in_pieces():
    function = in_pieces(lambda x: paddle.matmul(x, x))
    with pytest.raises(ValueError):
        function(paddle.ones([2, 3]))
    function(paddle.ones([2, 2]))
    assert function.report() == "1 piece of graph: the whole function"


def test_what_runs_in_pieces_has_no_program():
    function = in_pieces(lambda x: x * len(str(x.sum().tolist())))
    with pytest.warns(UserWarning, match="no one Program"):
        function(paddle.ones([1]))
    with pytest.raises(RuntimeError, match="no one Program"):
        _ = function.main_program
