"""Operators by their functional names, and by their types."""

import inspect

import numpy as np
import pytest

import scull as paddle
from scull import _C_ops, _legacy_C_ops
from scull._C_ops import beside
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
        ("unsqueeze", (x, [0]), [x.array.tolist()]),
        ("squeeze", (Tensor(x.array[None]), [0]), x.array.tolist()),
        ("roll", (x, [1], [1]), np.roll(x.array, 1, 1).tolist()),
        ("repeat_interleave", (x, 2, 1), np.repeat(x.array, 2, 1).tolist()),
        ("arange", (0, 3, 1, "int64", None), [0, 1, 2]),
        ("eye", (2, 2, "float32", None), [[1.0, 0.0], [0.0, 1.0]]),
        ("randperm", (1, "int64", None), [0]),
        (
            "pool2d",
            (
                Tensor(x.array[None, None]),
                [2, 3],
                [1, 1],
                [0, 0],
                False,
                True,
                "NCHW",
                "max",
                False,
                False,
                "EXPLICIT",
            ),
            [[[[5.0]]]],
        ),
        ("triu", (x, 1), np.triu(x.array, 1).tolist()),
        ("tril", (x, 0), np.tril(x.array).tolist()),
        ("zeros", ([2], "int32", None), [0, 0]),
        ("ones_like", (x, None, None), np.ones((2, 3)).tolist()),
        ("full_int_array", ([2, 3], "int64", None), [2, 3]),
        ("full_with_tensor", (Tensor(np.array([3.0], "float32")), [2], "float32"), [3.0, 3.0]),
        ("shape64", (x,), [2, 3]),
        (
            "masked_fill",
            (x, Tensor(x.array > 2), Tensor(np.float32(9))),
            [[0.0, 1.0, 2.0], [9.0, 9.0, 9.0]],
        ),
        ("view_shape", (x, [3, 2]), x.array.reshape(3, 2).tolist()),
        (
            "set_value",
            (x, [0], [1], [1], [0], [0], [], [1], [7.0]),
            [[7.0, 7.0, 7.0], [3.0, 4.0, 5.0]],
        ),
        (
            "set_value_with_tensor",
            (x, Tensor(np.float32([8])), [1], [2], [1], [0], [0], []),
            [[0.0, 1.0, 2.0], [8.0, 8.0, 8.0]],
        ),
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


@pytest.mark.parametrize("number", [2.0, Tensor(np.float32(2)), Tensor(np.float32([2]))])
def test_a_number_may_come_as_a_tensor_of_one_element(number):
    assert values(_C_ops.scale(x, number, 0.0, True)) == (x.array * 2).tolist()


def test_batch_norm_gives_all_results_and_overwrites_the_statistics():
    image = Tensor(np.float32([[1.0], [3.0]]))
    mean, variance, ones, zeros = (Tensor(np.full(1, v, "float32")) for v in (0, 1, 1, 0))
    found = _C_ops.batch_norm(
        image, mean, variance, ones, zeros, False, 0.5, 0.0, "NCHW", False, False
    )
    assert len(found) == 6 and values(found[0]) == [[-1.0], [1.0]]
    assert values(found[1]) == values(mean) == [1.0]


def test_convolutions_take_groups_and_dilations_each_in_its_place():
    image, window = paddle.ones([1, 2, 5, 5]), paddle.ones([2, 1, 3, 3])
    flat = [[1, 1], [0, 0], "EXPLICIT"]
    plain = _C_ops.conv2d(image, window, *flat, [2, 2], 2, "NCHW")
    grouped = _C_ops.depthwise_conv2d(image, window, *flat, 2, [2, 2], "NCHW")
    assert plain.tolist() == grouped.tolist() == [[[[9.0]], [[9.0]]]]
    image, window = paddle.ones([1, 2, 1, 5, 5]), paddle.ones([2, 1, 1, 3, 3])
    solid = [[1, 1, 1], [0, 0, 0], "EXPLICIT"]
    deep = _C_ops.conv3d(image, window, *solid, 2, [1, 2, 2], "NCDHW")
    assert deep.tolist() == [[[[[9.0]]], [[[9.0]]]]]


def test_images_are_resized_by_the_functional_name():
    image = paddle.to_tensor([[[[1.0, 2.0]]]])
    options = ["NCHW", -1, 2, 4, [], "nearest", False, 0]
    found = _C_ops.nearest_interp(image, None, None, None, *options)
    assert found.tolist() == [[[[1.0, 1.0, 2.0, 2.0]] * 2]]


def test_results_come_in_paddles_order():
    found, caches, operands = _C_ops.einsum([x, x], "ij,kj->ik")
    assert values(found) == (x.array @ x.array.T).tolist()
    assert len(caches) == 2 and operands[1] is x
    found = _C_ops.svd(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]]), False)
    assert found[1].tolist() == pytest.approx([4.0, 3.0])
    levels, counts, order = _C_ops.distribute_fpn_proposals(
        paddle.to_tensor([[0.0, 0.0, 9.0, 9.0]]), paddle.to_tensor([1], "int32"), 2, 3, 4, 224, True
    )
    assert len(levels) == len(counts) == 2 and order.shape == [1, 1]


def test_an_underscore_writes_in_place():
    changed = Tensor(np.float32([-1, 2]))
    assert _C_ops.leaky_relu_(changed, 0.5) is changed and values(changed) == [-0.5, 2.0]
    assert _C_ops.assign_value_(changed, [2], "float32", [4.0, 5.0], None) is changed
    assert values(changed) == [4.0, 5.0]
    _C_ops.set_value_(changed, [0], [1], [1], [0], [], [], [1], [9.0])
    assert values(changed) == [9.0, 5.0]
    _C_ops.full_(changed, [2], 1.0, None, None)
    assert values(changed) == [1.0, 1.0]


@pytest.fixture
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_in_a_program_a_number_that_is_filled_in_is_an_attribute(static_mode):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        data = paddle.static.data("data", [2, 3])
        axis = _C_ops.full([1], 1, "int32", None)
        assert _C_ops.concat([data, data], axis).shape == (2, 6)
        assert _C_ops.unsqueeze(data, _C_ops.full_int_array([0], "int64")).shape == (1, 2, 3)
        rows = _C_ops.slice(_C_ops.shape64(data), [0], [0], [1], [1], [0])
        assert _C_ops.reshape(data, [rows, -1]).shape == (-1, -1)
    assert [op.type for op in main.global_block().ops].count("concat") == 1


def test_too_many_arguments_are_counted():
    with pytest.raises(ArgumentTypeError, match=r"relu\(\) takes 1 arguments, 2 were given"):
        _C_ops.relu(x, 1)


def test_every_order_names_what_its_operator_has():
    for name, order in _C_ops.ORDERS.items():
        op = _C_ops.operator(name)
        assert set(order.split()) - {"_"} <= {*op.inputs, *op.kinds}, name
    for name, results in _C_ops.RESULTS.items():
        assert set(results.split()) - {"_"} <= set(_C_ops.operator(name).outputs), name
    assert all(by_type().get(t) for t in _C_ops.TYPES.values())


def test_every_operator_has_a_function_with_its_name_and_documentation():
    for name in by_name():
        function = getattr(_C_ops, name)
        assert function.__name__ == name
        if name not in beside.__all__:
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


def test_paddles_compiled_core_is_found_under_its_short_name_too():
    assert paddle.core.CPUPlace is paddle.base.core.CPUPlace
    assert paddle.framework._current_expected_place() == paddle.CPUPlace()
    assert paddle._legacy_C_ops is _legacy_C_ops
    with pytest.raises(AttributeError, match=r"scull.core.*nope"):
        _ = paddle.core.nope
