"""Operators by their functional names, and by their types."""

import inspect

import numpy as np
import pytest

import scull
from scull import _C_ops, _legacy_C_ops
from scull.core.op import by_name, by_type
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, SlotError

x = Tensor(np.arange(6, dtype="float32").reshape(2, 3))


def values(tensor):
    return tensor.array.tolist()


def test_inputs_then_attributes_are_given_by_position():
    assert _C_ops.matmul(x, x, False, True).shape == [2, 2]
    assert values(_C_ops.add(x, x)) == values(Tensor(x.array * 2))
    assert _C_ops.transpose(x, [1, 0]).shape == [3, 2]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("sum", (x, [1], None, True), [[3.0], [12.0]]),
        ("mean", (x, [0], False), [1.5, 2.5, 3.5]),
        ("max", (x, [1], False), [2.0, 5.0]),
        ("scale", (x, 2.0, 1.0, True), (x.array * 2 + 1).tolist()),
        ("concat", ([x, x], 0), np.concatenate([x.array, x.array]).tolist()),
        ("reshape", (x, [3, 2]), x.array.reshape(3, 2).tolist()),
        ("expand", (Tensor(np.ones((1, 2), "float32")), [2, 2]), [[1.0, 1.0], [1.0, 1.0]]),
        ("cast", (x, "int32"), x.array.astype(int).tolist()),
        ("full", ([2], 3.0, "float32", None), [3.0, 3.0]),
        ("full_like", (x, 1.0, "float32", None), np.ones((2, 3)).tolist()),
        ("gather", (x, Tensor(np.array([1])), 0), [[3.0, 4.0, 5.0]]),
        ("slice", (x, [0], [1], [2], [1], [0]), [3.0, 4.0, 5.0]),
        ("tile", (Tensor(np.ones(1, "float32")), [2]), [1.0, 1.0]),
        ("one_hot", (Tensor(np.array([1])), 2), [[0.0, 1.0]]),
        ("mean_all", (x,), 2.5),
    ],
)
def test_a_functional_name_takes_its_own_order(name, arguments, expected):
    assert values(getattr(_C_ops, name)(*arguments)) == expected


def test_several_results_come_as_a_tuple():
    found, places = _C_ops.topk(x, 1, 1, True, True)
    assert values(found) == [[2.0], [5.0]] and values(places) == [[2], [2]]
    parts = _C_ops.split_with_num(x, 3, 1)
    assert [p.shape for p in parts] == [[2, 1]] * 3


def test_an_attribute_may_come_as_a_tensor():
    assert values(_C_ops.sum(x, Tensor(np.array([0, 1])), None, False)) == 15.0


def test_too_many_arguments_are_counted():
    with pytest.raises(ArgumentTypeError, match=r"relu\(\) takes 1 arguments, 2 were given"):
        _C_ops.relu(x, 1)


def test_every_order_names_what_its_operator_has():
    for name, order in _C_ops.ORDERS.items():
        op = _C_ops.operator(name)
        assert set(order.split()) - {"_"} <= {*op.inputs, *op.kinds}, name
    assert all(by_type().get(t) for t in _C_ops.TYPES.values())


def test_every_operator_has_a_function_with_its_name_and_documentation():
    for name in by_name():
        function = getattr(_C_ops, name)
        assert function.__name__ == name
        assert inspect.getdoc(function) == inspect.getdoc(_C_ops.operator(name).body)


def test_an_operator_nobody_declared_is_no_attribute():
    for module in (_C_ops, _legacy_C_ops):
        with pytest.raises(AttributeError, match="has no attribute 'nope'"):
            _ = module.nope
    with pytest.raises(AttributeError, match="has no attribute 'nope_'"):
        _ = _C_ops.nope_


def test_by_type_attributes_are_names_and_values_in_turn():
    found = _legacy_C_ops.matmul_v2(x, x, "trans_y", True, "op_role", 0)
    assert found.shape == [2, 2]
    with pytest.raises(SlotError, match="has no value"):
        _legacy_C_ops.matmul_v2(x, x, "trans_y")


def test_an_underscore_writes_the_result_of_an_older_operator_in_place():
    changed = Tensor(np.array([1.0, 2.0], "float32"))
    assert _legacy_C_ops.scale_(changed, "scale", 0.5) is changed
    assert changed.array.tolist() == [0.5, 1.0]
    with pytest.raises(AttributeError, match="no attribute 'nope_'"):
        _ = _legacy_C_ops.nope_


def test_both_modules_load_by_their_names_in_paddle():
    assert scull.__getattr__("_C_ops") is _C_ops
    assert scull.__getattr__("_legacy_C_ops") is _legacy_C_ops
