"""What a Tensor says of itself, converts to, and keeps of its gradient."""

import copy
import pickle

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError, TapeError


def test_a_tensor_describes_itself():
    x = paddle.to_tensor([[1.0, 2.0, 3.0]])
    assert (x.shape, x.dtype, x.ndim, x.dim(), x.size) == ([1, 3], paddle.float32, 2, 2, 3)
    assert (x.element_size(), x.strides, x.is_contiguous()) == (4, [3, 1], True)
    assert x.place.is_cpu_place()
    assert (x.persistable, x.is_leaf, x.stop_gradient, x.grad_fn) == (False, True, True, None)
    assert not x.T[:1].is_sparse()
    assert not paddle.ones([2, 2]).t().is_contiguous()
    assert paddle.ones([2, 2]).t().contiguous().is_contiguous()


def test_a_view_says_how_far_into_its_memory_it_begins():
    x = paddle.to_tensor([[1, 2], [3, 4]])
    assert [v.offset for v in (x, x[1], x[1, 1:], x.t())] == [0, 16, 24, 0]


def test_a_tensor_becomes_another_and_keeps_its_name():
    x, y = paddle.to_tensor([[1.0]], stop_gradient=False), paddle.to_tensor(2.0, "float64")
    y.stop_gradient = False
    name = x.name
    assert x.reconstruct_from_(y * 3.0) is None
    assert (x.name, x.shape, x.dtype, x.is_leaf) == (name, [], paddle.float64, False)
    x.backward()
    assert y.grad.item() == 3.0
    x.reconstruct_from_(paddle.to_tensor([2.0]))
    assert (x.stop_gradient, x.grad, x.tolist()) == (True, None, [2.0])


def test_the_kind_of_a_tensor_is_printed_as_paddle_prints_it():
    x = paddle.ones([2])
    kind = paddle.base.core.VarDesc.VarType.LOD_TENSOR
    assert (x.type, str(x.type), f"{x.type}") == (kind, "VarType.LOD_TENSOR", "VarType.LOD_TENSOR")


def test_names_count_up_and_can_be_changed():
    x, y = paddle.to_tensor(1.0), paddle.to_tensor(1.0)
    assert int(y.name.removeprefix("generated_tensor_")) == 1 + int(
        x.name.removeprefix("generated_tensor_")
    )
    result = x + y
    assert result.name == result.name
    assert result.name.startswith("eager_tmp_")
    x.name = "mine"
    assert x.name == "mine"
    with pytest.raises(ArgumentTypeError, match="a name is a string"):
        x.name = 3


def test_arrays_are_copies_and_memory_is_shared_by_dlpack():
    x = paddle.to_tensor([1.0, 2.0])
    x.numpy()[0] = 9.0
    np.asarray(x)[0] = 9.0
    assert x.tolist() in ([1.0, 2.0], [9.0, 2.0])
    assert x.numpy()[1] == 2.0
    np.from_dlpack(x)
    assert np.array(x, dtype="float64").dtype == np.float64
    assert (np.array([2.0], "float32") * x).tolist() == (x * 2.0).tolist()


def test_numbers_of_one_element_are_numbers_of_python():
    assert float(paddle.to_tensor([1.5])) == 1.5
    assert int(paddle.to_tensor(2.7)) == 2
    assert [0, 1, 2][paddle.to_tensor(1)] == 1
    assert bool(paddle.to_tensor([3]))
    assert paddle.to_tensor([[1, 2], [3, 4]]).item(1, 0) == 3
    assert type(paddle.to_tensor(1.0, dtype="bfloat16").item()) is float
    with pytest.raises(ArgumentError, match="only one element"):
        paddle.ones([2]).item()
    with pytest.raises(ArgumentError, match="out of bounds for size 2"):
        paddle.ones([2]).item(2)


def test_a_tensor_is_iterated_along_its_first_axis():
    a, b = paddle.to_tensor([[1, 2], [3, 4]])
    assert (a.tolist(), b.tolist()) == ([1, 2], [3, 4])
    assert 3 in paddle.to_tensor([1, 3])
    assert 2 not in paddle.to_tensor([1, 3])
    assert len(paddle.ones([4, 2])) == 4


def test_a_deep_copy_is_a_leaf_of_its_own():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = copy.deepcopy(x)
    y.set_value(paddle.to_tensor([5.0]))
    assert x.tolist() == [1.0]
    assert not y.stop_gradient and y.is_leaf
    assert y.name.startswith(x.name + "_deepcopy")


def test_copies_are_counted_together():
    x, y = paddle.to_tensor([1.0]), paddle.to_tensor([2.0])
    with paddle.utils.unique_name.guard():
        names = [copy.deepcopy(t).name for t in (x, y, x)]
    assert names == [f"{t.name}_deepcopy_{i}" for i, t in enumerate((x, y, x))]


def test_a_tensor_is_not_pickled():
    with pytest.raises(TypeError, match="cannot pickle 'Tensor' object"):
        pickle.dumps(paddle.ones([1]))


def test_to_changes_element_type_and_place():
    x = paddle.to_tensor([1.5])
    assert x.to("float64").dtype is paddle.float64
    assert x.to("cpu", "int32").dtype is paddle.int32
    assert x.to(paddle.to_tensor(1)).dtype is paddle.int64
    assert x.to(dtype=paddle.float32) is x
    with pytest.raises(ArgumentError, match="no device gpu"):
        x.to("gpu:0")
    with pytest.raises(ArgumentTypeError, match="no parameter there"):
        x.to(there=1)


def test_a_tensor_that_is_frozen_and_thawed_keeps_its_gradient():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    (x * x).backward()
    x.stop_gradient = True
    assert (x * 2.0).stop_gradient
    assert x.grad.tolist() == [4.0]
    x.stop_gradient = False
    (x * x).backward()
    assert x.grad.tolist() == [8.0]


def test_a_gradient_is_cleared_to_zeros_or_to_nothing():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    x.clear_grad()
    assert x.grad is None
    (x * x).backward()
    x.clear_grad()
    assert x.grad.tolist() == [0.0]
    x.clear_gradient(False)
    assert x.grad is None and x.gradient() is None
    x.grad = paddle.to_tensor([3.0])
    (x * x).backward()
    assert x.gradient().tolist() == [7.0]
    assert x._grad_value().tolist() == x._grad_ivar().tolist() == [7.0]
    assert x._grad_name() == x.name + "@GRAD"
    with pytest.raises(ArgumentError, match="gradient has shape"):
        x.grad = paddle.ones([2])


def test_hooks_change_gradients_until_they_are_removed():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x * 3.0
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 2.0)
    x.register_hook(lambda g: g + 1.0)
    y.backward(retain_graph=True)
    assert seen == [[1.0]]
    assert x.grad.tolist() == [7.0]
    assert handle.remove() and not handle.remove()
    y.backward()
    assert seen == [[1.0]]
    with pytest.raises(TapeError, match="Cannot register hook on a tensor that stop gradient"):
        paddle.ones([1]).register_hook(print)
    with pytest.raises(ArgumentTypeError, match="a hook is called"):
        x.register_hook(3)


def test_a_retained_gradient_is_kept_of_what_is_no_leaf():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * x
    first, second = y.split(1)[0], y * 3.0
    second.retain_grads()
    (first + second).backward()
    assert second.grad.tolist() == [1.0]
    assert y.grad is None
    assert x.grad.tolist() == [16.0]


def test_a_retained_gradient_does_not_keep_its_tensor_alive():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * 2.0
    y.retain_grads()
    z = y * 2.0
    del y
    z.backward()
    assert x.grad.tolist() == [4.0]


def test_detached_tensors_share_memory_and_not_the_tape():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = (x * 1.0).detach()
    assert y.stop_gradient
    clone = x.clone()
    clone.sum().backward()
    assert x.grad.tolist() == [1.0]
    z = x * 2.0
    assert z.detach_() is z and z.stop_gradient


def test_a_parameter_says_so():
    p = paddle.create_parameter([1], "float32")
    assert repr(p).startswith("Parameter containing:\nTensor(shape=[1]")
    p.trainable = False
    assert p.stop_gradient


def test_what_a_tensor_holds_is_read_and_replaced_behind_it():
    x = paddle.ones([2, 3])
    held = x.get_tensor()
    assert isinstance(held, paddle.base.core.LoDTensor)
    assert held.shape() == [2, 3]
    assert held._dtype() is paddle.float32
    assert held.lod() == []
    assert np.array(held).tolist() == x.tolist()
    held.set(np.zeros([3], "float32"), paddle.CPUPlace())
    assert x.tolist() == [0.0, 0.0, 0.0]
    held.set_recursive_sequence_lengths([[1, 2]])
    assert x.value().get_tensor().lod() == [[0, 1, 3]]
    held._clear()
    assert x.size == 0


def test_places_compare():
    assert paddle.CPUPlace()._equals(paddle.CPUPlace())
    assert not paddle.CPUPlace()._equals(paddle.CUDAPlace(0))


@pytest.mark.parametrize(
    ("dtype", "other"),
    [("float32", "int32"), ("int32", "int16"), ("uint8", "int32"), ("uint8", "bool")],
)
def test_memory_is_read_as_another_element_type(dtype, other):
    x = paddle.arange(8).reshape([2, 4]).astype(dtype)
    view = x.view(other)
    assert np.array_equal(view.numpy(), x.numpy().view(other))
    x.zero_()
    assert not view.numpy().any()


def test_memory_of_no_whole_elements_is_not_read_as_them():
    with pytest.raises(ShapeError, match="is not read as int16"):
        paddle.ones([3], "uint8").view("int16")
    with pytest.raises(TypeError, match="neither a shape nor an element type"):
        paddle.ones([3]).view(3)


@pytest.mark.parametrize("data", [1.1, [1.1, 1e300], (1, 2.3), [np.float64(1.1)], 1.1 + 1e-9j])
def test_numbers_keep_the_digits_that_the_element_type_asked_for_has(data):
    dtype = "complex128" if isinstance(data, complex) else "float64"
    np.testing.assert_array_equal(paddle.to_tensor(data, dtype).numpy(), np.array(data, dtype))
    recorded = paddle.jit.to_static(lambda: paddle.to_tensor(data, dtype), full_graph=True)
    np.testing.assert_array_equal(recorded().numpy(), np.array(data, dtype))


def test_whole_numbers_told_with_a_fraction_are_exact():
    assert paddle.to_tensor([float(2**53 - 1)], "int64").tolist() == [2**53 - 1]


def test_a_gradient_of_some_rows_is_looked_at_like_any_other():
    table = paddle.nn.Embedding(4, 2, sparse=True)
    table(paddle.to_tensor([1, 3, 1])).sum().backward()
    gradient = table.weight.grad
    assert gradient.is_selected_rows()
    assert gradient[1].tolist() == [2.0, 2.0] and gradient.sum().item() == 6.0
    assert paddle.norm(gradient).item() == pytest.approx(10**0.5)
    assert gradient.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]
