"""The tape: gradients, order, hooks, versions, mistakes, its text."""

import threading

import numpy as np
import pytest

import scull as paddle
from scull.autograd import tape_text
from scull.errors import ArgumentError, InPlaceError, ShapeError, TapeError


def leaf(*values):
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=False)


def test_two_embeddings_multiplied_give_both_tables_their_gradients(golden):
    users, items = paddle.nn.Embedding(4, 3), paddle.nn.Embedding(5, 3)
    product = users(paddle.to_tensor([1, 2])) * items(paddle.to_tensor([0, 4]))
    out = paddle.nn.functional.relu(product)
    total = out.sum()
    assert tape_text(total) == golden
    u, i = users.weight.numpy()[[1, 2]], items.weight.numpy()[[0, 4]]
    total.backward()
    open_ = (u * i > 0).astype("float32")
    np.testing.assert_allclose(users.weight.grad.numpy()[[1, 2]], open_ * i)
    np.testing.assert_allclose(items.weight.grad.numpy()[[0, 4]], open_ * u)
    assert not users.weight.grad.numpy()[[0, 3]].any()


def test_a_gradients_gradient_is_the_second_derivative():
    x = leaf(2.0)
    (dx,) = paddle.grad(x * x * x, x, create_graph=True)
    (ddx,) = paddle.grad(dx, x, create_graph=True)
    (dddx,) = paddle.grad(ddx, x)
    assert (dx.item(), ddx.item(), dddx.item()) == (12.0, 12.0, 6.0)


def test_gradients_add_up_over_passes_until_they_are_cleared():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_the_gradient_of_a_number_is_cleared_after_two_passes_too():
    x = paddle.to_tensor(3.0, stop_gradient=False)
    for _ in range(2):
        (x * x).backward(paddle.to_tensor(2.0))
    assert x.grad.item() == 24.0
    x.clear_gradient()
    assert (x.grad.item(), x.grad.shape) == (0.0, [])
    (x * x).backward()
    assert x.grad.item() == 6.0


def test_a_second_backward_is_refused_and_says_what_to_pass():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(TapeError, match="retain_graph=True"):
        y.backward()
    z = (x * x).sum()
    z.backward(retain_graph=True)
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_a_saved_tensor_changed_in_place_is_named_with_the_operation():
    x = leaf(1.0, 2.0)
    y = x * 1.0
    z = paddle.exp(y)
    z.scale_(2.0)
    law = r"the gradient of `exp` needs its `out`.*changed in place"
    with pytest.raises(InPlaceError, match=law):
        z.sum().backward()


def test_an_error_in_backward_leaves_the_tape_and_the_leaves_usable():
    x = leaf(1.0)

    def refuse(grad):
        raise ValueError("not today")

    y = x * 2.0
    handle = y.register_hook(refuse)
    with pytest.raises(ValueError, match="not today"):
        (y * 3.0).sum().backward()
    handle.remove()
    (x * 5.0).sum().backward()
    assert x.grad.tolist() == [5.0]


def test_hooks_see_the_whole_gradient_once_and_may_replace_it():
    x = leaf(1.0)
    y = x * 1.0
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.register_hook(lambda g: g * 10.0)
    (y * 2.0 + y * 3.0).sum().backward()
    assert seen == [5.0]
    assert x.grad.tolist() == [50.0]


def test_no_grad_records_nothing_in_this_thread_only():
    x = leaf(1.0)
    found = []
    with paddle.no_grad():
        thread = threading.Thread(target=lambda: found.append((x * 2.0).stop_gradient))
        thread.start()
        thread.join()
        assert (x * 2.0).stop_gradient
    assert found == [False]
    assert not (x * 2.0).stop_gradient


def test_an_input_off_the_path_is_refused_or_none():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(ArgumentError, match="allow_unused=True"):
        paddle.grad(x * 2.0, y)
    assert paddle.grad(x * 2.0, y, allow_unused=True) == [None]


def test_grad_leaves_the_leaves_untouched():
    x, w = leaf(1.0), leaf(3.0)
    (dx,) = paddle.grad(x * w, x)
    assert dx.tolist() == [3.0]
    assert x.grad is None
    assert w.grad is None


def test_a_gradient_of_another_shape_is_refused_with_both():
    x = leaf(1.0, 2.0)
    with pytest.raises(ShapeError, match=r"shape \[3\] and the tensor \[2\]"):
        (x * 2.0).backward(paddle.ones([3]))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(AssertionError, match="`outputs`"):
        paddle.grad(3, leaf(1.0))


def test_a_long_chain_needs_no_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + x
    y.sum().backward()
    assert x.grad.tolist() == [20_001.0]


def test_a_user_visible_gradient_shares_no_memory_with_another():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad.numpy()
    assert not np.shares_memory(x.grad.array, y.grad.array)


def test_a_py_layer_is_one_node_with_its_own_rule():
    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, power):
            ctx.save_for_backward(x)
            ctx.power = power
            return x**power

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensor()
            return dy * ctx.power * x ** (ctx.power - 1)

    x = leaf(2.0)
    y = Cube.apply(x, 3)
    (dx,) = paddle.grad(y, x, create_graph=True)
    assert dx.tolist() == [12.0]
    assert paddle.grad(dx, x)[0].tolist() == [12.0]


def test_a_py_layer_that_keeps_its_result_has_a_second_gradient():
    class Tanh(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = paddle.tanh(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, dy):
            (y,) = ctx.saved_tensor()
            return dy * (1 - y * y)

    x = leaf(0.3, 0.5)
    (dx,) = paddle.grad(Tanh.apply(x).sum(), x, create_graph=True)
    (found,) = paddle.grad(dx.sum(), x)
    y = np.tanh(x.numpy())
    np.testing.assert_allclose(found.numpy(), -2 * y * (1 - y * y), rtol=1e-6)


def test_a_py_layer_that_returns_too_few_gradients_says_how_many():
    class Pair(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, dy):
            return dy

    with pytest.raises(ValueError, match="returned 1 gradients for 2 Tensors"):
        Pair.apply(leaf(1.0), leaf(2.0)).sum().backward()
    with pytest.raises(ValueError, match="returned 1 gradients for 2 Tensors"):
        Pair.apply(paddle.ones([1]), leaf(2.0)).sum().backward()
    x = leaf(1.0)
    Pair.apply(x, paddle.ones([1])).sum().backward()  # the last one wants none
    assert x.grad.tolist() == [1.0]


def test_row_sparse_gradients_stay_rows():
    table = paddle.nn.Embedding(100, 2, sparse=True)
    out = table(paddle.to_tensor([3, 3, 7]))
    out.sum().backward()
    grad = table.weight.grad
    assert grad.is_selected_rows()
    assert sorted(grad.array.rows.tolist()) == [3, 3, 7]
    assert grad.array.merged().values.tolist() == [[2.0, 2.0], [1.0, 1.0]]


def test_operators_with_lists_send_each_operand_its_own_gradient():
    x, y = leaf(1.0, 2.0), leaf(3.0)
    a, b, c = paddle.split(paddle.concat([x, y]), 3)
    (a * 2.0 + c * 5.0).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0]
    assert y.grad.tolist() == [5.0]
    assert b is not None


def test_a_hook_records_and_may_run_a_backward_of_its_own():
    x, w = leaf(1.0), leaf(2.0)

    def nested(grad):
        (w * w).sum().backward()

    y = x * 3.0
    y.register_hook(nested)
    y.sum().backward()
    assert w.grad.tolist() == [4.0]
    assert x.grad.tolist() == [3.0]


def test_gradients_with_create_graph_always_want_gradients():
    x = leaf(2.0)
    for output in (x, x * 3.0):
        assert not paddle.grad(output, x, create_graph=True)[0].stop_gradient
        assert paddle.grad(output, x)[0].stop_gradient


def test_one_element_is_a_gradient_of_a_scalar_too():
    x, seed = leaf(1.0, 2.0), leaf(5.0)
    (dx,) = paddle.grad((x * x).sum(), x, seed, create_graph=True)
    assert dx.tolist() == [10.0, 20.0]
    assert paddle.grad(dx.sum(), seed)[0].tolist() == [6.0]


def test_hooks_of_leaves_change_what_backward_leaves_and_not_what_grad_gives():
    x = leaf(2.0)
    x.register_hook(lambda g: g * 5.0)
    y = x * x
    assert paddle.grad(y, x, retain_graph=True)[0].tolist() == [4.0]
    y.backward()
    assert x.grad.tolist() == [20.0]


def test_one_tensor_alone_may_stop_the_gradient():
    x = leaf(2.0, 3.0)
    y = x * x
    assert paddle.grad((y * x).sum(), x, no_grad_vars=y)[0].tolist() == [4.0, 9.0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: paddle.grad(None, x),
        lambda x: paddle.grad(x * x, []),
        lambda x: paddle.grad(x * x, x, [x, x]),
        lambda x: paddle.grad(x * x, x, 1.0),
        lambda x: paddle.grad(x * x, x, no_grad_vars=1),
        lambda x: paddle.grad(x * x, x, only_inputs=False),
        lambda x: paddle.autograd.backward([]),
        lambda x: (x * x).backward(1.0),
    ],
)
def test_arguments_of_another_kind_are_refused_by_an_assertion(wrong):
    with pytest.raises(AssertionError):
        wrong(leaf(1.0))


def test_a_change_in_place_is_told_with_the_versions():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    z = (y * y).sum()
    y[0] = 5.0
    with pytest.raises(InPlaceError, match="tensor_version:1 != wrapper_version_snapshot:0"):
        z.backward()


def test_a_refused_gradient_says_how_often_its_operand_was_changed_before_and_after():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = (x * 2.0).scale_(2.0)
    out = y**2
    y.scale_(3.0)
    y.add_(y)
    with pytest.raises(InPlaceError, match="tensor_version:3 != wrapper_version_snapshot:1"):
        out.sum().backward()


def test_a_backward_hook_is_called_when_the_gradient_has_arrived():
    x, seen = leaf(1.0), []
    x._register_backward_hook(lambda: seen.append(x.grad.tolist()))
    (x * 2.0).backward()
    (x * 3.0).backward()
    assert seen == [[2.0], [5.0]]
    paddle.grad(x * 4.0, x)
    assert len(seen) == 2
    with pytest.raises(TapeError, match="leaf"):
        (x * 2.0)._register_backward_hook(seen.append)


def test_nodes_have_the_names_of_the_reference_and_know_the_next():
    x = leaf(1.0)
    y = x**2.0 + x
    assert y.grad_fn.name() == "AddGradNode"
    assert [n.name() for n in y.grad_fn.next_functions] == ["PowGradNode", "GradNodeAccumulation"]
    assert x.grad_fn == y.grad_fn.next_functions[1]
    assert x.grad_fn.next_functions == [None]
    assert x.sum().grad_fn.name() == "SumGradNode"
    assert x.detach().grad_fn is None


def test_a_py_layer_gets_gradients_of_its_tensors_alone():
    class Mixed(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return 1, x * 2.0, None, "word", x * 3.0

        @staticmethod
        def backward(ctx, da, db):
            return da * 2.0 + db * 3.0

    x = leaf(1.0)
    _, a, nothing, word, b = Mixed.apply(x)
    (a + b).backward()
    assert (nothing, word, x.grad.tolist()) == (None, "word", [5.0])


def test_a_py_layer_may_give_no_gradient_but_nothing_else():
    class Given(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, answer):
            ctx.answer = answer
            return x * 2.0 if answer != "nothing" else None

        @staticmethod
        def backward(ctx, dy):
            return ctx.answer

    x = leaf(1.0)
    Given.apply(x, None).backward()
    assert x.grad is None
    with pytest.raises(ArgumentError, match="a int, not a Tensor"):
        Given.apply(x, 1).backward()
    with pytest.raises(ArgumentError, match="returned no Tensor"):
        Given.apply(x, "nothing")


def test_a_py_layer_that_returns_its_argument_works_in_place():
    class Same(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, dy):
            return dy * 3.0

    x = leaf(2.0)
    with pytest.raises(ArgumentError, match="inplace strategy"):
        Same.apply(x)
    y = x * 1.0
    square = y * y
    assert Same.apply(y) is y
    with pytest.raises(InPlaceError):
        square.backward()
    z = x * 1.0
    (Same.apply(z) * 2.0).backward()
    assert x.grad.tolist() == [6.0]


def test_a_backward_pass_gives_gradients_while_an_error_is_handled():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    try:
        raise ValueError("something else")
    except ValueError:
        (x * 2.0).backward()
    assert x.grad.tolist() == [2.0]


def test_a_gradient_that_is_given_after_clearing_is_added_to():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    (x * 2).backward()
    x.clear_gradient()
    x.grad = paddle.to_tensor([5.0])
    (x * 2).backward()
    assert x.grad.tolist() == [7.0]
