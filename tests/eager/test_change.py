"""Changes in place: the same memory, the right gradients, and a refusal where those cannot be."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, InPlaceError, ShapeError

# name: how it is called
CHANGES = {
    "add_": lambda x: x.add_(paddle.to_tensor([3.0, 4.0])),
    "subtract_": lambda x: x.subtract_(paddle.to_tensor([3.0, 4.0])),
    "multiply_": lambda x: x.multiply_(paddle.to_tensor([3.0, 4.0])),
    "divide_": lambda x: x.divide_(paddle.to_tensor([3.0, 4.0])),
    "scale_": lambda x: x.scale_(2.0, 1.0),
    "clip_": lambda x: x.clip_(0.0, 1.0),
    "exp_": lambda x: x.exp_(),
    "tanh_": lambda x: x.tanh_(),
    "sqrt_": lambda x: x.sqrt_(),
    "sigmoid_": lambda x: x.sigmoid_(),
    "square_": lambda x: x.square_(),
    "reciprocal_": lambda x: x.reciprocal_(),
    "cumsum_": lambda x: x.cumsum_(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_result_is_written_into_the_same_memory(name):
    x = paddle.to_tensor([0.5, 2.0])
    alias = x.detach()
    assert CHANGES[name](x) is x
    assert x.inplace_version == 1
    assert alias.tolist() == x.tolist()


@pytest.mark.parametrize("name", CHANGES)
def test_the_gradient_is_that_of_the_function_out_of_place(name):
    start = np.array([0.5, 2.0])
    x = paddle.to_tensor(start, stop_gradient=False)
    y = x * 1.0
    CHANGES[name](y).sum().backward()
    step = 1e-6
    numeric = [
        float(
            CHANGES[name](paddle.to_tensor(start + d)).sum()
            - CHANGES[name](paddle.to_tensor(start - d)).sum()
        )
        / (2 * step)
        for d in np.eye(2) * step
    ]
    np.testing.assert_allclose(x.grad.numpy(), numeric, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", CHANGES)
def test_a_leaf_that_needs_a_gradient_is_refused(name):
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    with pytest.raises(ArgumentError, match="can't use inplace strategy"):
        CHANGES[name](x)
    with paddle.no_grad():
        CHANGES[name](x)
    assert x.is_leaf
    assert not x.stop_gradient


def test_both_operands_of_a_product_in_place_get_gradients():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    y = x * 2.0
    y.multiply_(w)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 8.0]
    assert w.grad.tolist() == [2.0, 4.0]


def test_backward_names_the_operation_that_changed_what_it_needs():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * 1.0
    z = y * y
    y.add_(paddle.to_tensor([1.0]))
    with pytest.raises(InPlaceError, match="`add_` changed in place"):
        z.backward()


def test_a_change_nobody_needs_does_not_matter():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * 3.0
    z = y + 1.0
    y.zero_()
    z.backward()
    assert x.grad.tolist() == [3.0]


@pytest.mark.parametrize(
    "view_of",
    [
        lambda x: x[1:],
        lambda x: x.reshape([2, 2]),
        lambda x: x.flatten(),
        lambda x: x.unsqueeze(0),
        lambda x: x.detach(),
        lambda x: x.unbind()[0],
    ],
)
def test_a_view_shares_changes_and_their_count_with_its_base(view_of):
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    view = view_of(x)
    view.fill_(0.0)
    assert x.inplace_version == 1
    assert x.tolist().count(0.0) == view.size


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda x: x.reshape_([4]), [4]),
        (lambda x: x.flatten_(), [4]),
        (lambda x: x.unsqueeze_(0), [1, 2, 2]),
        (lambda x: x.unsqueeze_(0).squeeze_(0), [2, 2]),
        (lambda x: x.transpose_([1, 0]), [2, 2]),
    ],
)
def test_a_new_shape_in_place_keeps_memory_and_gradient(change, shape):
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    y = x * 2.0
    alias = y.detach()
    assert change(y) is y
    assert y.shape == shape
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with paddle.no_grad():
        y.zero_()
    assert alias.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_another_element_type_in_place_replaces_the_memory():
    x = paddle.to_tensor([1.7])
    alias = x.detach()
    x.cast_("int32")
    assert x.dtype is paddle.int32
    assert alias.item() == pytest.approx(1.7)


def test_a_result_of_another_shape_is_refused():
    x = paddle.ones([2])
    with pytest.raises(ShapeError, match="different from that of inplace tensor"):
        x.add_(paddle.ones([2, 2]))
    assert x.tolist() == [1.0, 1.0]


def test_filled_tensors_pass_no_gradient_on():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2.0
    y.fill_(3.0)
    assert not y.stop_gradient
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_random_fills_come_from_the_generator():
    paddle.seed(3)
    x = paddle.zeros([1000])
    first = x.uniform_(2.0, 3.0).numpy()
    paddle.seed(3)
    assert (x.zero_().uniform_(2.0, 3.0).numpy() == first).all()
    assert first.min() >= 2.0 and first.max() < 3.0
    assert abs(x.normal_(5.0, 2.0).numpy().mean() - 5.0) < 0.3
    assert x.exponential_(2.0).numpy().min() >= 0.0


def test_values_are_set_whatever_the_tape_says():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x.set_value(np.array([3.0, 4.0], "float32"))
    assert x.tolist() == [3.0, 4.0]
    x.copy_(paddle.to_tensor([5.0, 6.0]), False)
    assert x.tolist() == [5.0, 6.0]
    with pytest.raises(ArgumentError, match="need tensor with shape"):
        x.set_value(np.ones(3, "float32"))
    with pytest.raises(ArgumentError, match="need tensor with dtype"):
        x.set_value(np.ones(2, "float64"))


@pytest.mark.parametrize(("offset", "wrap"), [(0, False), (1, False), (-1, False), (0, True)])
def test_a_diagonal_is_filled_within_the_first_square_unless_it_wraps(offset, wrap):
    x = paddle.zeros([7, 3]).fill_diagonal_(2.0, offset, wrap)
    expected = np.zeros((7, 3), "float32")
    if offset == 0:
        np.fill_diagonal(expected, 2.0, wrap)
    else:
        expected[:3][np.eye(3, 3, offset) == 1] = 2.0
    np.testing.assert_array_equal(x.numpy(), expected)


def test_adding_with_an_assignment_makes_a_new_tensor():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x
    y += 1.0
    assert y is not x
    assert x.tolist() == [1.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y.reshape_([2, 1]),
        lambda y: y.squeeze_(),
        lambda y: y.unsqueeze_(0),
        lambda y: y.flatten_(),
        lambda y: y.t_(),
        lambda y: y.transpose_([1, 0]),
    ],
)
def test_a_shape_changed_in_place_is_a_change_like_any_other(change):
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    y = x * 2.0
    z = y * y
    change(y)
    assert y.inplace_version == 1
    with pytest.raises(InPlaceError, match="received tensor_version:1 != wrapper_version_snap"):
        z.sum().backward()


def test_what_transposing_leaves_alone_is_not_changed():
    x = paddle.ones([2])
    assert x.t_() is x
    assert x.inplace_version == 0


UNDIFFERENTIABLE = {
    "equal_": lambda x: x.equal_(paddle.ones([2])),
    "less_than_": lambda x: x.less_than_(paddle.ones([2])),
    "logical_and_": lambda x: x.logical_and_(paddle.ones([2])),
    "logical_not_": lambda x: x.logical_not_(),
    "floor_divide_": lambda x: x.floor_divide_(paddle.ones([2])),
    "remainder_": lambda x: x.remainder_(paddle.ones([2])),
}


@pytest.mark.parametrize("name", UNDIFFERENTIABLE)
def test_a_function_without_a_gradient_leaves_the_place_on_the_tape(name):
    leaf = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    assert UNDIFFERENTIABLE[name](leaf) is leaf
    assert leaf.is_leaf and not leaf.stop_gradient
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    y = x * 2.0
    UNDIFFERENTIABLE[name](y)
    assert not y.is_leaf and not y.stop_gradient
    if y.dtype is paddle.float32:
        (y * 3.0).sum().backward()
        assert x.grad.tolist() == [6.0, 6.0]


DRAWS = {
    "uniform_": lambda x: x.uniform_(),
    "normal_": lambda x: x.normal_(),
    "exponential_": lambda x: x.exponential_(),
    "cauchy_": lambda x: x.cauchy_(),
    "geometric_": lambda x: x.geometric_(0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_pass_no_gradient_on(name):
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    y = x * 2.0
    DRAWS[name](y)
    assert not y.stop_gradient
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_are_no_leaf_that_needs_a_gradient(name):
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    if name == "exponential_":
        assert not DRAWS[name](x).is_leaf
        return
    with pytest.raises(ArgumentError, match="can't use inplace strategy"):
        DRAWS[name](x)


@pytest.mark.parametrize(
    ("change", "count"),
    [
        (lambda x: paddle.hypot_(x, x * 2.0), 3),
        (lambda x: paddle.ldexp_(x, paddle.ones([2])), 2),
        (lambda x: paddle.nan_to_num_(x), 3),
        (lambda x: x.masked_fill_(x > 0.0, 3.0), 2),
        (lambda x: x.geometric_(0.5), 3),
        (lambda x: x.cauchy_(), 6),
        (lambda x: paddle.where_(x > 0.0, x, x * 2.0), 1),
        (lambda x: paddle.where_(x > 0.0, x, paddle.ones([1])), 2),
    ],
)
def test_a_change_in_several_writes_counts_each(change, count):
    x = paddle.ones([2])
    change(x)
    assert x.inplace_version == count


def test_new_memory_goes_on_counting():
    x = paddle.ones([2]).fill_(3.0)
    assert x.cast_("float64").inplace_version == 2


def test_the_operands_of_a_change_in_place_may_be_named():
    x, y = paddle.ones([2, 2]), paddle.full([2, 2], 3.0)
    assert paddle.addmm_(paddle.zeros([2, 2]), x=x, y=y).tolist() == [[6.0, 6.0], [6.0, 6.0]]
    assert paddle.addmm_(input=paddle.zeros([2, 2]), x=x, y=y).tolist()[0] == [6.0, 6.0]
    assert paddle.add_(x=paddle.ones([1]), y=paddle.ones([1])).item() == 2.0
    assert paddle.Tensor.fill_(x=paddle.zeros([1]), value=4.0).item() == 4.0


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: paddle.multiply_(x, y),
        lambda x, y: paddle.gcd_(x, y),
        lambda x, y: paddle.less_than_(x, y),
        lambda x, y: paddle.where_(x > 0, x, y),
    ],
)
def test_a_result_with_more_axes_is_refused_and_changes_nothing(change):
    x = paddle.to_tensor([4, 6])
    with pytest.raises(
        ShapeError, match=r"\[1, 2\] is different from that of inplace tensor \[2\]"
    ):
        change(x, paddle.to_tensor([[6, 3]]))
    assert x.shape == [2]
    assert x.tolist() == [4, 6]


def test_products_in_place_of_another_element_type_keep_their_gradient():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    y = x * 1.0
    paddle.cumprod_(y, 0, dtype="float64")
    assert y.dtype is paddle.float64
    assert y.inplace_version == 1
    y.sum().backward()
    assert x.grad.tolist() == [[4.0, 5.0], [1.0, 2.0]]


def test_what_the_gradient_of_a_result_of_another_element_type_needs_is_still_guarded():
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    y = x * 1.0
    paddle.cumprod_(y, 0, dtype="float64")
    y.zero_()
    with pytest.raises(InPlaceError, match="which `__setitem__` changed in place"):
        y.sum().backward()
