"""What stands in Paddle's modules beside its public names, as PaddlePaddle 2.6.2 has it."""

import doctest
import hashlib
import logging

import numpy as np
import pytest

import scull as paddle
from scull.base import backward
from scull.errors import ArgumentTypeError
from scull.ir.variable import ParameterVariable
from scull.static import log_helper
from scull.static.nn import convolution


@pytest.fixture
def block():
    paddle.enable_static()
    program = paddle.static.Program()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(program, paddle.static.Program()),
    ):
        yield program.global_block()
    paddle.disable_static()


def ran(block, fetch, **feed):
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return [exe.run(block.program, feed=feed, fetch_list=fetch) for _ in range(3)]


def test_a_block_is_shown_as_its_program_shows_it(block):
    x = paddle.static.data("x", [2])
    paddle.exp(x)
    text = block._to_readable_code()
    assert text == str(block) and f"{text}\n" == block.program._to_readable_code()
    assert "exp(inputs={X=['x']}" in text


def test_an_operator_without_results_begins_with_its_type(block):
    x = paddle.static.data("x", [2])
    made = paddle.static.nn.control_flow.Assert(x.sum() > 1, [x])
    text = (
        "assert(inputs={Cond=['tmp_1'], Data=['x']}, op_device = , op_namescope = /, op_role = 0,"
        " op_role_var = [], summarize = 20, with_quant_attr = False)"
    )
    assert str(made) == text
    assert str(block.program).splitlines()[-2] == f"    {text}"


def test_a_step_counter_grows_in_every_run(block):
    count = paddle.optimizer.lr.autoincreased_step_counter(begin=3, step=2)
    assert paddle.optimizer.lr.autoincreased_step_counter() is count
    assert count.name == "@STEP_COUNTER@" and count.stop_gradient and count.persistable
    (fill,) = paddle.static.default_startup_program().global_block().ops
    assert fill.attr("value") == 2.0 and fill.attr("force_cpu")
    assert [op.type for op in block.ops] == ["increment"] and block.ops[0].attr("op_role") == 0
    assert [values[0].tolist() for values in ran(block, [count])] == [[4], [6], [8]]


def test_a_program_is_differentiated_and_its_parameters_are_updated(block):
    x = paddle.static.data("x", [None, 4])
    loss = paddle.static.nn.fc(x, 2, activation="relu").mean()
    updates, pairs = backward.gradients_with_optimizer(block.program, paddle.optimizer.SGD(0.1))
    assert [(p.name, d.name) for p, d in pairs] == [
        ("fc_0.b_0", "fc_0.b_0@GRAD"),
        ("fc_0.w_0", "fc_0.w_0@GRAD"),
    ]
    assert [op.output("ParamOut") for op in updates] == [["fc_0.b_0"], ["fc_0.w_0"]]
    assert not block.has_var("x@GRAD")
    losses = [values[0].item() for values in ran(block, [loss], x=np.ones([2, 4], "float32"))]
    assert losses == sorted(losses, reverse=True)


def test_parameters_that_are_no_inputs_are_not_updated(block):
    x = paddle.static.data("x", [None, 4])
    out = paddle.static.nn.fc(x, 2)
    optimizer = paddle.optimizer.SGD(0.1)
    assert backward.gradients_with_optimizer(block.program, optimizer, [x], [out]) == ([], [])


@pytest.mark.parametrize(("modulated", "type"), [(True, "deformable_conv"), (False, None)])
def test_windows_move_under_the_older_name_too(block, modulated, type):
    x, moves = paddle.static.data("x", [None, 3, 6, 6]), paddle.static.data("o", [None, 18, 6, 6])
    mask = paddle.static.data("k", [None, 9, 6, 6])
    out = paddle.static.nn.common.deformable_conv(
        x, moves, mask, 2, 3, padding=1, modulated=modulated, bias_attr=False
    )
    (op,) = block.ops
    assert op.type == (type or "deformable_conv_v1") and op.attr("im2col_step") == 64
    assert out.shape == (-1, 2, 6, 6)
    feed = {"x": np.ones([1, 3, 6, 6]), "o": np.zeros([1, 18, 6, 6]), "k": np.ones([1, 9, 6, 6])}
    weight = block.all_parameters()[0]
    feed = {name: value.astype("float32") for name, value in feed.items()}
    if not modulated:
        del feed["k"]
    found, filters = ran(block, [out, weight], **feed)[0]
    assert np.allclose(found[0, :, 2, 2], filters.sum((1, 2, 3)), atol=1e-5)


def test_a_mask_is_needed_where_it_is_used(block):
    x, moves = paddle.static.data("x", [None, 3, 6, 6]), paddle.static.data("o", [None, 18, 6, 6])
    for mask, modulated in ((None, True), (3, True), (3, False)):
        with pytest.raises(ArgumentTypeError, match="'mask' in deformable_conv"):
            paddle.static.nn.common.deformable_conv(x, moves, mask, 2, 3, modulated=modulated)


def test_a_tensor_tells_the_sum_of_its_bytes():
    for value in (np.array([1, 2, 3]), np.array(1.5, "float32"), np.zeros([0], "float32")):
        found = paddle.to_tensor(value)._md5sum()
        assert found == hashlib.md5(value.tobytes(), usedforsecurity=False).hexdigest()
    assert paddle.to_tensor([1, 2, 3])._md5sum() == "aa341a15f5ade44faafbe190f98c2587"


def test_a_tensor_becomes_a_variable_of_its_name():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.ones([3, 4])
        x.stop_gradient, x.persistable = False, True
        made = x._to_static_var()
        assert (made.name, made.shape, made.dtype) == (x.name, (3, 4), x.dtype)
        assert made.persistable and not made.stop_gradient
        assert made.block is paddle.static.default_main_program().global_block()
        other = x._to_static_var(name="q", dtype="float64", persistable=False)
        assert other.name == "q" and other.dtype == paddle.float64 and not other.persistable
        weight = paddle.nn.Linear(2, 3).weight
        assert isinstance(weight._to_static_var(), ParameterVariable)
        assert isinstance(paddle.ones([2])._to_static_var(to_parameter=True), ParameterVariable)


def test_numbers_are_drawn_into_a_tensor():
    x = paddle.zeros([1000])
    assert paddle.tensor.random.gaussian_(x, mean=5.0, std=2.0) is x
    assert abs(x.mean().item() - 5.0) < 0.4 and abs(x.std().item() - 2.0) < 0.3
    first, second = (paddle.tensor.random.gaussian_(paddle.zeros([4]), seed=3) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_a_logger_prints_by_itself():
    logger = paddle.static.log_helper.get_logger("scull.tests", logging.INFO, fmt="%(message)s")
    assert logger is paddle.base.log_helper.get_logger("scull.tests", logging.INFO)
    assert (logger.level, len(logger.handlers), logger.propagate) == (logging.INFO, 1, False)


def test_a_network_shows_what_its_layers_return():
    getter = paddle.vision.models._utils.IntermediateLayerGetter
    inner = getter(paddle.vision.models.LeNet(), {"features": "maps"})
    assert [(n, v.shape) for n, v in inner(paddle.ones([1, 1, 28, 28])).items()] == [
        ("maps", [1, 16, 5, 5])
    ]


@pytest.mark.parametrize("module", [backward, log_helper, convolution])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


def test_a_program_is_recorded_of_a_layer_of_eager_mode():
    net = paddle.nn.Linear(2, 3)
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4, 2])
        guard = paddle.base.dygraph.base._to_static_mode_guard_
        with guard(is_to_static=True), paddle.base.framework._stride_in_no_check_dy2st_diff():
            y = net(x)
        with guard(is_to_static=False):
            y = y + 1.0
    paddle.disable_static()
    names = [p.name for p in main.all_parameters()]
    assert names == [net.weight.name, net.bias.name]
    assert [op.type for op in main.global_block().ops] == [
        "matmul_v2",
        "elementwise_add",
        "scale",
    ]
    assert tuple(y.shape) == (4, 3)
