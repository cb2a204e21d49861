"""Layers as functions: the Programs of the reference, and its mistakes refused."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, UnsupportedError
from tests.tensor.test_static import (
    RECORDS,
    plain,
    program,  # noqa: F401  a fixture
    spelt,
    variables,
)

LAYERS = ("conv3d", "conv3d_transpose", "conv2d_transpose", "group_norm", "instance_norm")
LAYERS += ("prelu", "row_conv", "data_norm", "bilinear_tensor_product")
CALLS = [r["call"] for name in LAYERS for r in RECORDS[name] if r["call"].startswith("static.nn.")]


def recorded(call):
    """What the reference put into a Program."""
    return next(r for name in LAYERS for r in RECORDS[name] if r["call"] == call)


def shown(type_, inputs, outputs, attributes):
    """An operator as it is compared; scales of quantization are added when it is saved."""
    kept = {n: v for n, v in attributes.items() if not n.startswith("Scale_")}
    return spelt(type_, inputs, outputs, kept)


@pytest.mark.parametrize("call", CALLS)
def test_a_layer_records_the_operators_of_the_reference(call, program):  # noqa: F811
    record = recorded(call)
    scope = dict(variables(program.global_block(), record["inputs"]))
    out = eval(call, {"paddle": paddle, "static": paddle.static}, scope)
    ours = program.global_block().ops
    ours = [shown(o.type, o.input_slots(), o.output_slots(), o.spelt()) for o in ours]
    theirs = record["forward"]
    for own, o in zip(ours, theirs["operators"], strict=True):
        attributes = {n: plain(v) for n, v in o["attributes"].items()}
        assert own == shown(o["type"], o["inputs"], o["outputs"], attributes)
    assert list(out.shape) == theirs["variables"][out.name][1]


@pytest.fixture
def nn(program):  # noqa: F811
    """`static.nn`, while a Program is being built."""
    return paddle.static.nn


def data(*shape, dtype="float32"):
    return paddle.static.data("x", list(shape), dtype)


def test_volumes_with_channels_last_are_said_as_the_reference_says_them(nn, program):  # noqa: F811
    nn.conv3d_transpose(data(1, 2, 2, 2, 3), 2, filter_size=2, data_format="NDHWC")
    first, bias = program.global_block().ops
    assert (first.attr("data_format"), bias.attr("axis")) == ("NHWC", 4)


def test_the_size_of_filters_follows_from_that_of_the_output(nn, program):  # noqa: F811
    x = data(1, 3, 4, 4)
    out = nn.conv2d_transpose(x, 2, output_size=[9, 8], stride=2, padding=[1, 0, 1, 0])
    assert list(out.shape) == [1, 2, 9, 8]
    assert list(program.all_parameters()[0].shape) == [3, 2, 4, 3]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (lambda: paddle.assign(np.array([9])), [9, 9]),
        (lambda: paddle.assign(np.array([9, 10])), [9, 10]),
        (lambda: [10, paddle.assign(np.array([9]))], [10, 9]),
    ],
)
def test_variables_may_hold_the_size_of_the_output(nn, program, size, expected):  # noqa: F811
    startup = paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        x = data(1, 3, 4, 4)
        by_layer = nn.conv2d_transpose(x, 2, size(), filter_size=3, stride=2)
        w = program.all_parameters()[0]
        by_function = paddle.nn.functional.conv2d_transpose(x, w, stride=2, output_size=size())
        with pytest.raises(ArgumentError, match="filter_size must be set"):
            nn.conv2d_transpose(x, 2, size(), stride=2)
    assert list(by_layer.shape) == [1, 2, -1, -1]
    exe = paddle.static.Executor()
    exe.run(startup)
    feed = {x.name: np.ones((1, 3, 4, 4), "float32")}
    for found in exe.run(program, feed=feed, fetch_list=[by_layer, by_function]):
        assert list(found.shape) == [1, 2, *expected]


def test_channels_with_filters_of_their_own_have_an_operator(nn, program):  # noqa: F811
    x = data(1, 3, 4, 4)
    nn.conv2d(x, 6, 3, groups=3, use_cudnn=False, bias_attr=False)
    nn.conv2d_transpose(x, 3, filter_size=2, groups=3, use_cudnn=False, bias_attr=False)
    assert [o.type for o in program.global_block().ops] == [
        "depthwise_conv2d",
        "depthwise_conv2d_transpose",
    ]


def test_a_weight_divided_by_its_largest_singular_value_has_norm_one(nn, program):  # noqa: F811
    startup = paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        out = nn.spectral_norm(data(4, 3, 2), dim=1, power_iters=50)
    weight = np.random.default_rng(0).standard_normal((4, 3, 2)).astype("float32")
    executor = paddle.static.Executor()
    executor.run(startup)
    (found,) = executor.run(program, feed={"x": weight}, fetch_list=[out])
    norm = np.linalg.norm(np.moveaxis(found, 1, 0).reshape(3, 8), 2)
    np.testing.assert_allclose(norm, 1.0, rtol=1e-4)


def test_training_adds_its_rows_to_the_sums_of_a_data_norm(nn, program):  # noqa: F811
    startup = paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        out = nn.data_norm(data(-1, 2), name="n", param_attr={"batch_size": 4.0})
        paddle.optimizer.SGD(-1.0).minimize(paddle.mean(out))
    rows = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 0.0]], "float32")
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        executor.run(startup)
        executor.run(program, feed={"x": rows}, fetch_list=[out])
    found = {
        n: np.array(scope.find_var(f"n.{n}").get_tensor()) for n in ("batch_size", "batch_sum")
    }
    np.testing.assert_array_equal(found["batch_size"], [7, 7])
    np.testing.assert_array_equal(found["batch_sum"], [9, 0])


MISTAKES = {
    "a number as input": (ArgumentTypeError, lambda nn: nn.conv3d(1, 4, 3)),
    "axes": (ShapeError, lambda nn: nn.conv3d(data(1, 3, 5, 5), 4, 3)),
    "unknown channels": (ArgumentError, lambda nn: nn.conv2d(data(1, -1, 5, 5), 4, 3)),
    "groups": (ArgumentError, lambda nn: nn.conv3d(data(1, 3, 5, 5, 5), 4, 3, groups=2)),
    "no group": (ArgumentError, lambda nn: nn.conv2d(data(1, 3, 5, 5), 4, 3, groups=0)),
    "no filter": (ArgumentError, lambda nn: nn.conv2d_transpose(data(1, 3, 4, 4), 0, 3)),
    "order": (
        ArgumentError,
        lambda nn: nn.conv3d(data(1, 3, 5, 5, 5), 4, 3, data_format="NCHW"),
    ),
    "use_cudnn": (ArgumentError, lambda nn: nn.conv3d(data(1, 3, 5, 5, 5), 4, 3, use_cudnn=1)),
    "no parameter": (ArgumentError, lambda nn: nn.conv2d(data(1, 3, 5, 5), 4, 3, param_attr=False)),
    "no size": (ArgumentError, lambda nn: nn.conv2d_transpose(data(1, 3, 4, 4), 2)),
    "unknown sizes": (
        ArgumentError,
        lambda nn: nn.conv2d_transpose(data(1, 3, -1, 4), 2, output_size=8),
    ),
    "uneven groups": (ArgumentError, lambda nn: nn.group_norm(data(2, 4, 3), 3)),
    "layout": (ArgumentError, lambda nn: nn.group_norm(data(2, 4, 3), 2, data_layout="X")),
    "a vector": (ShapeError, lambda nn: nn.instance_norm(data(4))),
    "one attribute": (ArgumentError, lambda nn: nn.instance_norm(data(2, 4), param_attr=False)),
    "integers": (DtypeError, lambda nn: nn.batch_norm(data(2, 3, dtype="int32"))),
    "slots": (UnsupportedError, lambda nn: nn.data_norm(data(2, 4), slot_dim=2)),
    "columns": (ShapeError, lambda nn: nn.data_norm(data(4))),
    "an axis": (ArgumentError, lambda nn: nn.spectral_norm(data(2, 3), dim=2)),
    "unknown rows": (ArgumentError, lambda nn: nn.spectral_norm(data(-1, 3))),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_layer_is_refused(mistake, nn):
    error, call = MISTAKES[mistake]
    with pytest.raises(error):
        call(nn)


@pytest.mark.parametrize("layer", ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"])
def test_a_convolution_of_integers_is_refused(layer, program):  # noqa: F811
    x = paddle.static.data("x", [2, 3, 4, 4, 4][: 5 if "3d" in layer else 4], "int32")
    with pytest.raises(
        DtypeError, match=f"input of {layer} is of floating-point elements, not int32"
    ):
        getattr(paddle.static.nn, layer)(x, 2, filter_size=1)
