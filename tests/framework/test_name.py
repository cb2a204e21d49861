"""Names of Paddle's that scripts meet beside the documented ones."""

import inspect

import numpy as np
import pytest

import scull as paddle
from scull import framework
from scull.errors import ArgumentError, UnsupportedError


def test_element_types_are_attributes_of_dtype_as_of_vartype():
    kinds = paddle.base.core.VarDesc.VarType
    names = "BOOL UINT8 INT8 INT16 INT32 INT64 FP16 BF16 FP32 FP64 COMPLEX64 COMPLEX128"
    for name in names.split():
        assert getattr(paddle.dtype, name) is getattr(kinds, name)
    assert paddle.dtype.FP32 is paddle.float32


def test_a_layer_has_no_backward_and_a_cell_may_say_its_element_type():
    with pytest.raises(ArgumentError, match="shouldn't implement backward"):
        paddle.nn.Linear(2, 2).backward(paddle.ones([1]))
    with pytest.raises(NotImplementedError, match="of which elements"):
        paddle.nn.LSTMCell(2, 3).state_dtype  # noqa: B018


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("bitwise_and_", ([1, 2], [3, 3]), [1, 2]),
        ("bitwise_not_", ([1, 2],), [-2, -3]),
        ("logical_or_", ([True, False], [False, False]), [True, False]),
        ("logical_not_", ([True, False],), [False, True]),
        ("less_than_", ([1, 5], [3, 3]), [True, False]),
    ],
)
def test_what_writes_into_its_operand_has_no_out_and_takes_a_name_last(name, operands, expected):
    function, tensors = getattr(paddle, name), [paddle.to_tensor(v) for v in operands]
    assert "out" not in inspect.signature(function).parameters
    first = tensors[0]
    assert function(*tensors, "name") is first and first.tolist() == expected
    again = [paddle.to_tensor(v) for v in operands]
    assert getattr(again[0], name)(*again[1:], name="name").tolist() == expected


def test_where_in_place_takes_both_or_says_so():
    for given in ((), (paddle.ones([2]),), (None, paddle.ones([2]))):
        with pytest.raises(ArgumentError, match="either both or neither"):
            paddle.where_(paddle.to_tensor([True, False]), *given)


def test_gradients_get_the_decay_of_their_parameter_else_the_one_that_is_given():
    decay = paddle.regularizer.L2Decay
    own = paddle.create_parameter([2], "float32", attr=paddle.ParamAttr(regularizer=decay(0.5)))
    other = paddle.create_parameter([2], "float32")
    for p in (own, other):
        p.set_value(np.array([1.0, 2.0], "float32"))
    optimizer = paddle.optimizer.SGD(0.1, parameters=[own, other], weight_decay=0.125)
    pairs = [(own, paddle.ones([2])), (other, paddle.ones([2])), (other, None)]
    found = [g for _, g in optimizer.append_regularization_ops(pairs, decay(0.25))]
    assert found[0].tolist() == [1.5, 2.0] and found[1].tolist() == [1.25, 1.5]
    assert found[2] is None
    [(_, plain)] = optimizer.append_regularization_ops(pairs[1:2])
    assert plain.tolist() == [1.0, 1.0]


def test_the_minimize_of_lbfgs_has_the_parameters_of_the_others():
    layer = paddle.nn.Linear(1, 1)
    optimizer = paddle.optimizer.LBFGS(parameters=layer.parameters())
    with pytest.raises(UnsupportedError, match="closure"):
        optimizer.minimize(loss=None, startup_program=None, parameters=None, no_grad_set=None)


def test_accuracy_takes_a_name():
    scores, label = paddle.to_tensor([[0.1, 0.9]]), paddle.to_tensor([[1]])
    assert paddle.metric.accuracy(scores, label, 1, None, None, "acc").item() == 1.0


def test_an_executor_has_nothing_to_flush():
    assert paddle.static.Executor().flush() is None


def test_a_process_is_in_no_group_and_has_names_for_reductions():
    distributed = paddle.distributed
    assert distributed.get_group() is None and distributed.get_group(3) is None
    assert [distributed.ReduceOp.SUM, distributed.ReduceOp.AVG] == [0, 4]
    assert distributed.ParallelMode.SEGMENT_PARALLEL == 4


@pytest.mark.parametrize("name", ["xpu_places", "IpuStrategy", "ipu_shard_guard"])
def test_devices_that_are_not_there_say_so(name):
    with pytest.raises(UnsupportedError, match="no XPUs and no IPUs"):
        getattr(paddle.static, name)()
    with pytest.raises(UnsupportedError, match="Excel"):
        paddle.amp.debugging.compare_accuracy("a", "b", "c.xlsx")


def test_names_that_are_in_no_list_are_found():
    assert paddle.nn.spectral_norm is paddle.nn.utils.spectral_norm
    assert isinstance(paddle.nn.Linear(1, 1).weight, paddle.static.Parameter)
    with pytest.raises(UnsupportedError, match="XPU"):
        paddle.XPUPlace(0)


def test_graphs_and_prototypes_of_operators_are_named_here_too():
    assert framework.IrGraph is paddle.base.framework.IrGraph
    assert framework.OpProtoHolder is paddle.base.framework.OpProtoHolder


def test_a_tensor_is_made_by_its_class_as_in_paddle():
    numbers = np.array([1.0, 2.0], "float32")
    shared = paddle.Tensor(numbers, paddle.CPUPlace(), zero_copy=True)
    copied = paddle.Tensor(value=numbers, zero_copy=False, name="kept", stop_gradient=False)
    numbers[0] = 5.0
    assert shared.tolist() == [5.0, 2.0] and shared.stop_gradient and not shared.persistable
    assert copied.tolist() == [1.0, 2.0] and copied.name == "kept" and not copied.stop_gradient
    assert paddle.Tensor(numbers, paddle.CPUPlace(), True, False, "held").persistable


def test_framework_has_what_lies_deeper_in_paddle():
    assert framework.convert_np_dtype_to_dtype_("float32") == paddle.float32
    assert framework.XPUPlace is paddle.XPUPlace
    assert all(callable(getattr(framework, name)) for name in framework.LATER if name != "ir")
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        framework.nope  # noqa: B018
