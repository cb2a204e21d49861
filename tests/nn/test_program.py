"""Networks in Programs: operators, names and shapes as PaddlePaddle 2.6.2 records them."""

import re
from pathlib import Path

import numpy as np
import pytest

from scull import nn
from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.interpreter import base, set_base
from scull.core.meta import Meta, sized
from scull.executor.executor import Executor
from scull.ir.mode import disable_static, enable_static
from scull.ir.program import Program, main_program, program_guard
from scull.nn import functional as F
from scull.runtime.scope import Scope
from scull.tensor import multiply, to_tensor

PROGRAMS = Path(__file__).parent.parent / "data" / "reference" / "programs"


@pytest.fixture
def static():
    before = base[-1]
    enable_static()
    with session.guarded(names=session.Names()), program_guard(Program(), Program()):
        yield main_program().global_block()
    disable_static()
    set_base(before)


def data(name, shape, dtype="float32"):
    meta = Meta(sized(shape), dtype_of(dtype))
    return main_program().global_block().variable(name, meta, is_data=True, stop_gradient=True)


def recorded(block):
    """One line an operator: results, type and operands."""
    return [f"{op.output_arg_names} = {op.type}({op.input_arg_names})" for op in block.ops]


def reference(name, count):
    """The same of the first operators of a Program that PaddlePaddle printed."""
    lines = re.findall(
        r"^ +\{(.*?)\} = (\w+)\(inputs=\{(.*?)\}", (PROGRAMS / name).read_text(), re.M
    )
    quoted = re.compile("'(.*?)'")
    return [
        f"{quoted.findall(outs)} = {type}({quoted.findall(ins)})"
        for outs, type, ins in lines[:count]
    ]


def test_a_linear_layer_and_its_loss_are_recorded_as_five_operators(static):
    nn.MSELoss()(nn.Linear(16, 1)(data("data", [16, 16])), data("label", [16, 1]))
    assert recorded(static) == reference("regression.main.txt", 5)


def test_a_small_network_is_recorded_as_paddle_does(static):
    net = nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1),
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    logits = net(data("image", [-1, 1, 8, 8]))
    F.softmax_with_cross_entropy(logits, data("label", [-1, 1], "int64"))
    assert recorded(static) == reference("convolutional_network.main.txt", 11)


def test_embeddings_are_recorded_as_paddle_does(static):
    words, places = data("words", [4], "int64"), data("places", [4], "int64")
    F.relu(multiply(nn.Embedding(10, 3)(words), nn.Embedding(6, 3, sparse=True)(places)))
    assert recorded(static) == reference("two_embeddings.main.txt", 4)


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (
            lambda x, y: F.linear(x, data("w", [6, 3]), data("b", [3]), name="lin"),
            ["['lin.tmp_0'] = matmul_v2(['x', 'w'])",
             "['lin.tmp_1'] = elementwise_add(['lin.tmp_0', 'b'])"],
        ),
        (
            lambda x, y: F.softmax(x, 0, "float64"),
            ["['softmax_0.tmp_0'] = cast(['x'])",
             "['softmax_0.tmp_1'] = softmax(['softmax_0.tmp_0'])"],
        ),
        (lambda x, y: F.hardswish(x), ["['hardswish_0.tmp_0'] = hard_swish(['x'])"]),
        (lambda x, y: F.relu(x, name="r"), ["['r.tmp_0'] = relu(['x'])"]),
        (lambda x, y: F.relu_(x), ["['relu_0.tmp_0'] = relu(['x'])"]),
        (
            lambda x, y: F.mse_loss(x, y, "sum"),
            ["['elementwise_sub_0'] = elementwise_sub(['x', 'y'])",
             "['square_0.tmp_0'] = square(['elementwise_sub_0'])",
             "['sum_0.tmp_0'] = reduce_sum(['square_0.tmp_0'])"],
        ),
        (
            lambda x, y: F.cross_entropy(x, data("ids", [4], "int64"), reduction="none"),
            ["['unsqueeze2_0.tmp_0', 'unsqueeze2_0.tmp_1'] = unsqueeze2(['ids'])",
             "['softmax_with_cross_entropy_0.tmp_1', 'softmax_with_cross_entropy_0.tmp_0'] = "
             "softmax_with_cross_entropy(['unsqueeze2_0.tmp_0', 'x'])",
             "['squeeze_0.tmp_0', 'squeeze_0.tmp_1'] = "
             "squeeze2(['softmax_with_cross_entropy_0.tmp_1'])"],
        ),
        (
            lambda x, y: F.square_error_cost(x, y),
            ["['square_error_cost_0.tmp_0'] = elementwise_sub(['x', 'y'])",
             "['square_error_cost_0.tmp_1'] = square(['square_error_cost_0.tmp_0'])"],
        ),
        (
            lambda x, y: F.layer_norm(x, 6),
            ["['layer_norm_0.tmp_0', 'layer_norm_0.tmp_1', 'layer_norm_0.tmp_2'] = "
             "layer_norm(['x'])"],
        ),
        (lambda x, y: F.dropout(x, 0), []),
    ],
)  # fmt: skip
def test_a_function_is_recorded_under_paddles_names(call, lines, static):
    call(data("x", [4, 6]), data("y", [4, 6]))
    assert recorded(static) == lines


def test_unknown_sizes_pass_through_a_network(static):
    x = data("x", [-1, 4, 8, 8])
    assert F.conv2d(x, data("w", [5, 4, 3, 3]), data("b", [5]), 2, 1).shape == (-1, 5, 4, 4)
    assert F.dropout2d(x).shape == (-1, 4, 8, 8)
    assert F.pad(x, [1, 1, 2, 2]).shape == (-1, 4, 12, 10)
    assert F.adaptive_avg_pool2d(x, [2, None]).shape == (-1, 4, 2, 8)
    assert F.nll_loss(F.log_softmax(x, 1), data("l", [-1, 8, 8], "int64")).shape == ()


def network():
    return nn.Sequential(
        nn.Conv2D(1, 3, 3, padding=1),
        nn.BatchNorm2D(3),
        nn.GELU(),
        nn.AvgPool2D(2),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.LayerNorm(48),
        nn.Linear(48, 5),
    )


def test_both_modes_compute_the_same_network_from_a_seed(static):
    images = np.random.default_rng(1).standard_normal((6, 1, 8, 8)).astype("float32")
    labels = np.array([0, 1, 2, 3, 4, 0])
    session.generator().manual_seed(4)
    main, startup, scope = Program(), Program(), Scope()
    with program_guard(main, startup):
        net = network()
        logits = net(data("image", [-1, 1, 8, 8]))
        loss = F.cross_entropy(logits, data("label", [-1], "int64"))
    executor = Executor()
    executor.run(startup, scope=scope)
    feed = {"image": images, "label": labels}
    found = executor.run(main, feed=feed, fetch_list=[logits, loss], scope=scope)
    mean = np.asarray(scope.find_var(net[1]._mean.name).value)
    disable_static()
    session.generator().manual_seed(4)
    with session.guarded(names=session.Names()):
        eager = network()
    out = eager(to_tensor(images))
    assert found[0].tobytes() == out.numpy().tobytes()
    assert found[1].tobytes() == F.cross_entropy(out, to_tensor(labels)).numpy().tobytes()
    assert mean.tobytes() == eager[1]._mean.numpy().tobytes()


def test_a_state_is_put_into_the_global_scope_in_static_mode(static):
    scope = Scope()
    with session.guarded(scope=scope):
        layer = nn.Linear(2, 1)
        state = {"weight": np.ones([2, 1], "float32"), "bias": np.zeros(1, "float32")}
        assert layer.set_state_dict(state) == ([], [])
        found = np.asarray(scope.find_var(layer.weight.name).value)
    assert found.tolist() == [[1.0], [1.0]]
