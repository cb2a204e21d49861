"""What is said of inputs and results when a model is saved."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError
from scull.files.program import program_of
from scull.static import InputSpec
from tests.jit.saving import ROWS, Network, Pair, X, again, same, static


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        ([InputSpec([None, 3])], ["x"]),
        ([InputSpec([None, 3], name="q")], ["q"]),
        ([InputSpec([None, 3]), True], ["x"]),
        ((InputSpec([None, 3]),), ["x"]),
    ],
)
def test_inputs_are_called_as_was_said_or_as_the_parameters(tmp_path, specs, names):
    layer = again(Network(), tmp_path, specs)
    assert [s.name for s in layer._input_spec()] == names
    assert layer._input_spec()[0].shape == (-1, 3)


def test_descriptions_of_other_names_differ_and_have_one_hash():
    x, y, row = InputSpec([2, 3], name="x"), InputSpec([2, 3], name="y"), InputSpec([3], name="x")
    assert x == InputSpec([2, 3], name="x") and x != y != row
    assert hash(x) == hash(y) != hash(row)


def test_an_example_gives_sizes_and_a_name(tmp_path):
    x = paddle.to_tensor(X)
    x.name = "example"
    (spec,) = again(Network(), tmp_path, [x])._input_spec()
    assert (spec.name, spec.shape) == ("example", (5, 3))


def test_what_was_called_last_is_saved(tmp_path):
    net = static(Network())
    net(paddle.to_tensor(X))
    net(paddle.to_tensor(X[:2]), doubled=True)
    layer = again(net, tmp_path)
    assert layer._input_spec()[0].name == "_jst.0.x.0"
    net.eval()
    same(layer(X), net(paddle.to_tensor(X), doubled=True))


def test_a_layer_called_on_data_lets_gradients_pass_to_inputs(tmp_path):
    net = static(paddle.nn.ReLU())
    net(paddle.to_tensor(X))
    layer = again(net, tmp_path)
    layer.train()
    x = paddle.to_tensor(X, stop_gradient=False)
    layer(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), X > 0)


def test_inputs_in_dictionaries_come_in_the_order_of_their_keys(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, given):
            return given["b"] - given["a"] * 2.0

    specs = {"b": InputSpec([None, 3]), "a": InputSpec([None, 3], name="first")}
    layer = again(Net(), tmp_path, [specs])
    assert [s.name for s in layer._input_spec()] == ["first", "b"]
    same(layer(X, 3 * X), [paddle.to_tensor(X)])


def test_inputs_and_results_that_are_not_wanted_are_left_out(tmp_path):
    net = Pair()
    x, y = paddle.to_tensor(X), paddle.to_tensor(X * 2)
    layer = again(net, tmp_path, output_spec=net.forward.outputs[:2])
    same(layer(x, y), net(x, y)[:2])
    spec = InputSpec([None, 3], name="x")
    layer = again(net, tmp_path, [spec], output_spec=net.forward.outputs[:1])
    same(layer(x), net(x, y)[0])
    assert len(layer.parameters()) == 2
    layer = again(
        net,
        tmp_path,
        net.forward.inputs,
        output_spec=net.forward.outputs[:1],
        input_names_after_prune=["x"],
    )
    same(layer(x), net(x, y)[0])


def test_a_result_of_a_call_names_what_is_wanted(tmp_path):
    net = Pair()
    x, y = paddle.to_tensor(X), paddle.to_tensor(X * 2)
    for _ in range(2):
        _, b, loss = net(x, y)
        loss.backward()
    layer = again(net, tmp_path, output_spec=[b])
    same(layer(x, y), b)
    with pytest.raises(ArgumentTypeError, match="`output_spec` holds a int"):
        paddle.jit.save(net, str(tmp_path / "net"), output_spec=[3])


def test_operators_that_the_results_do_not_need_stay_if_asked(tmp_path):
    net = Pair()
    few, all_ = (
        again(net, tmp_path, output_spec=net.forward.outputs[:1], skip_prune_program=skip)
        for skip in (False, True)
    )
    counts = [len(layer.program().global_block().ops) for layer in (few, all_)]
    assert counts[0] < counts[1]


def test_names_that_do_not_fit_are_told_by_a_warning_or_refused(tmp_path):
    net, path = Pair(), str(tmp_path / "net")
    two = [InputSpec([None, 3], name="x"), InputSpec([None, 3], name="z")]
    with pytest.warns(UserWarning, match="describes `z`, and the inputs are called `x`, `y`"):
        paddle.jit.save(net, path, two)
    with pytest.raises(ArgumentError, match="tensor `z` does not exists"):
        paddle.jit.save(net, path, two[1:])
    with pytest.raises(ArgumentError, match="tensor `None` does not exists"):
        paddle.jit.save(net, path, [InputSpec([None, 3])])
    other = [paddle.ones([1])]
    with pytest.raises(ArgumentError, match="does not exists; the results are"):
        paddle.jit.save(net, path, output_spec=other)
    with pytest.warns(UserWarning, match="`output_spec` names"):
        paddle.jit.save(paddle.nn.ReLU(), path, ROWS, output_spec=other)


@pytest.mark.parametrize(
    "spec",
    [
        InputSpec([None, 3], "float64", "x"),
        InputSpec([None, 3, 1], "float32", "x"),
        InputSpec([None, 4], "float32", "x"),
    ],
)
def test_descriptions_that_conflict_with_those_of_to_static_are_refused(tmp_path, spec):
    with pytest.raises(ArgumentError, match="they conflict"):
        paddle.jit.save(static(Network(), input_spec=ROWS), str(tmp_path / "net"), [spec])


def test_other_values_than_those_of_to_static_are_refused(tmp_path):
    def function(x, scale, words):
        return x * scale if "twice" in words else x

    known, path = [*ROWS, 2.0, ["twice"]], str(tmp_path / "net")
    for other in ([*ROWS, 3.0, ["twice"]], [*ROWS, 2.0, ["once"]], [*ROWS, ROWS[0], ["twice"]]):
        with pytest.raises(ArgumentError, match="they conflict"):
            paddle.jit.save(static(function, input_spec=known), path, other)
    paddle.jit.save(static(function, input_spec=known), path, [*ROWS, 2.0, ["twice"]])
    assert np.array_equal(paddle.jit.load(path)(paddle.to_tensor(X)).numpy(), 2.0 * X)


def test_feed_operators_stand_as_paddle_counts_them_and_truth_values_are_fetched_as_they_are(
    tmp_path,
):
    @static(input_spec=[InputSpec([None, 3], name="x"), InputSpec([None, 3], name="y")])
    def function(x, y):
        return x > y, x - y

    paddle.jit.save(function, str(tmp_path / "net"))
    operators = program_of((tmp_path / "net.pdmodel").read_bytes()).global_block().ops
    feeds = [(o.attr("col"), o.results()[0].name) for o in operators if o.type == "feed"]
    assert feeds == [(1, "y"), (0, "x")]
    fetched = [o.operands()[0] for o in operators if o.type == "fetch"]
    assert [v.name.startswith("save_infer_model/scale_") for v in fetched] == [False, True]
    x, y = paddle.to_tensor(X), paddle.to_tensor(X[::-1].copy())
    for found, expected in zip(
        paddle.jit.load(str(tmp_path / "net"))(x, y), function(x, y), strict=True
    ):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_result_that_is_an_input_or_a_value_is_saved(tmp_path):
    held = paddle.to_tensor([1.0, 2.0])
    x, value = again(lambda x: (x, held), tmp_path, ROWS)(X)
    np.testing.assert_array_equal(x.numpy(), X)
    assert value.tolist() == [1.0, 2.0]
