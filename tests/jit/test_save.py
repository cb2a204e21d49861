"""What `jit.save` writes of layers and functions, loaded again."""

import copy
import os
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.files import file_set
from scull.files.pickles import load as load_pickle
from scull.jit.saving import _clear_save_pre_hooks, _register_save_pre_hook
from scull.static import InputSpec
from tests.jit.saving import ROWS, Methods, Network, X, again, same, saved, static

# ---- layers ----


def test_a_layer_is_three_files_and_computes_in_eval_mode_what_it_did(tmp_path):
    net = Network()
    for _ in range(3):
        net(paddle.to_tensor(X))
    layer = again(net, tmp_path, ROWS)
    assert saved(tmp_path) == ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]
    assert net.training  # saving changes nothing
    net.eval()
    same(layer(X), net(paddle.to_tensor(X)))
    same(layer(X[:2]), net(paddle.to_tensor(X[:2])))


def test_what_is_said_of_values_are_their_names_and_whether_they_train(tmp_path):
    net = Network()
    paddle.jit.save(net, str(tmp_path / "net"), ROWS)
    with open(tmp_path / "net.pdiparams.info", "rb") as stream:
        found = load_pickle(stream)
    state = net.to_static_state_dict()
    assert {v["structured_name"] for v in found.values()} == set(state)
    assert found[net.first.weight.name] == {
        "structured_name": "first.weight",
        "stop_gradient": False,
        "trainable": True,
    }
    assert found[net.last.bias.name]["trainable"] is False
    assert found[net.scale.name] == {"structured_name": "scale", "stop_gradient": True}
    assert set(paddle.load(str(tmp_path / "net"))) == {n for n in state if "unused" not in n}


def test_only_reshapes_are_saved_with_the_shape_that_their_gradient_needs(tmp_path):
    def turned(x):
        return paddle.reshape(paddle.squeeze(paddle.transpose(x, [1, 0, 2]), 0), [-1])

    def slots(**settings):
        paddle.jit.save(turned, path, [InputSpec([2, 1, 3])], **settings)
        block = paddle.static.Program.parse_from_string(
            Path(path + ".pdmodel").read_bytes()
        ).global_block()
        return {o.type: o.output_names for o in block.ops if o.type.endswith("2")}

    path = str(tmp_path / "turned")
    assert slots() == {"transpose2": ["Out"], "squeeze2": ["Out"], "reshape2": ["Out", "XShape"]}
    assert all(names == ["Out", "XShape"] for names in slots(clip_extra=False).values())
    copy = paddle.jit.load(path)
    copy.train()
    x = paddle.ones([2, 1, 3])
    x.stop_gradient = False
    copy(x).sum().backward()
    assert x.grad.tolist() == [[[1.0] * 3]] * 2


def test_a_copy_trains_further_as_the_layer_itself_does(tmp_path):
    def trained(layer):
        layer.train()
        optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
        losses = []
        for _ in range(4):
            loss = (layer(paddle.to_tensor(X)) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        layer.eval()
        return [*losses, layer(paddle.to_tensor(X)).sum().item()]

    net = paddle.nn.Sequential(
        paddle.nn.Linear(3, 8), paddle.nn.BatchNorm1D(8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1)
    )
    layer = again(net, tmp_path, ROWS)
    np.testing.assert_allclose(trained(layer), trained(net), rtol=1e-5)


@pytest.mark.parametrize("combined", [False, True])
def test_every_static_method_has_a_file_and_properties_have_one(tmp_path, combined):
    net = Methods()
    layer = again(net, tmp_path, combine_params=combined)
    values = ["net.pdiparams"] if combined else ["net.infer.pdiparams", "net.pdiparams"]
    programs = ["net.infer.pdmodel", "net.pdmodel"]
    assert saved(tmp_path) == sorted([*values, *programs, "net.meta", "net.pdiparams.info"])
    same(layer(X), net(paddle.to_tensor(X)))
    same(layer.infer(X), net.infer(paddle.to_tensor(X)))
    assert layer.rates() == [0.5, 1.5]
    assert len(layer.parameters()) == 4


def test_a_set_of_fewer_files_leaves_none_of_the_old_one(tmp_path):
    again(Methods(), tmp_path)
    layer = again(paddle.nn.Linear(3, 2), tmp_path, ROWS)
    assert saved(tmp_path) == ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]
    assert not hasattr(layer, "infer")


def test_a_name_that_begins_like_another_is_another_model(tmp_path):
    again(Methods(), tmp_path)
    paddle.jit.save(paddle.nn.Linear(3, 2), str(tmp_path / "net_v2"), ROWS)
    assert list(paddle.jit.load(str(tmp_path / "net"))._methods) == ["forward", "infer"]
    assert list(paddle.jit.load(str(tmp_path / "net_v2"))._methods) == ["forward"]


def test_a_loaded_layer_is_saved_with_its_methods_and_properties(tmp_path):
    net = Methods()
    layer = again(again(net, tmp_path), tmp_path / "second")
    same(layer(X), net(paddle.to_tensor(X)))
    same(layer.infer(X), net.infer(paddle.to_tensor(X)))
    assert layer.rates() == [0.5, 1.5]
    for value in layer.parameters():
        value.set_value(value + 1.0)
    third = again(layer, tmp_path, [InputSpec([None, 3], name="x")])
    same(third.infer(X), layer.infer(X))


def test_a_layer_that_may_run_in_pieces_is_saved_whole(tmp_path):
    net = paddle.jit.to_static(paddle.nn.Linear(3, 2))
    net(paddle.to_tensor(X))
    same(again(net, tmp_path)(X), net(paddle.to_tensor(X)))


def test_control_flow_is_saved(tmp_path):
    class Flow(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)

        def forward(self, x, n):
            i = paddle.zeros([1], "int64")
            while i < n:
                if x.sum() > 0:
                    x = self.a(x)
                else:
                    x = self.b(x) - 1.0
                i = i + 1
            return x

    net = Flow()
    layer = again(net, tmp_path, [InputSpec([None, 3]), InputSpec([1], "int64")])
    for x in (X, -X, X[:2]):
        for n in (0, 1, 3):
            same(layer(x, np.array([n])), net(paddle.to_tensor(x), paddle.to_tensor([n])))


def test_a_model_with_a_loaded_part_is_saved(tmp_path):
    class Whole(paddle.nn.Layer):
        def __init__(self, part):
            super().__init__()
            self.part, self.last = part, paddle.nn.Linear(2, 2)

        def forward(self, x):
            return self.last(self.part(x)) + self.part.infer(x)

    net = Whole(again(Methods(), tmp_path))
    layer = again(net, tmp_path / "whole", ROWS)
    same(layer(X), net(paddle.to_tensor(X)))
    assert len(layer.parameters()) == 6


def test_hooks_of_the_layer_are_saved(tmp_path):
    net = paddle.nn.Linear(3, 2)
    net.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2.0)
    net.register_forward_post_hook(lambda layer, inputs, outputs: outputs + 1.0)
    same(again(net, tmp_path, ROWS)(X), net(paddle.to_tensor(X)))
    same(again(static(net, input_spec=ROWS), tmp_path)(X), net(paddle.to_tensor(X)))
    with pytest.raises(RunError, match="hooks replace these"):
        paddle.jit.save(net, str(tmp_path / "net"), ROWS, output_spec=[])


def test_a_layer_whose_forward_is_left_out_has_no_file(tmp_path):
    paddle.jit.save(paddle.nn.Linear(3, 2), str(tmp_path / "net"), skip_forward=True)
    assert saved(tmp_path) == []


def test_a_tensor_that_no_layer_holds_is_saved(tmp_path):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.held = [paddle.to_tensor([1.0, 2.0, 3.0])]

        def forward(self, x):
            return x + self.held[0]

    layer = again(Net(), tmp_path, ROWS)
    same(layer(X), Net()(paddle.to_tensor(X)))
    assert list(layer.state_dict()) == ["buffer_0"]


# ---- functions ----


def test_a_function_is_saved_without_values(tmp_path):
    @static
    def function(x):
        return paddle.tanh(x)

    function(paddle.to_tensor(X))
    same(again(function, tmp_path)(X), function(paddle.to_tensor(X)))
    assert saved(tmp_path) == ["net.pdmodel"]


def test_a_plain_function_is_made_static_and_its_values_are_saved(tmp_path):
    w = paddle.create_parameter([3], "float32")
    layer = again(lambda x: x * w, tmp_path, ROWS)
    same(layer(X), paddle.to_tensor(X) * w)
    layer.train()
    layer(X).sum().backward()
    np.testing.assert_allclose(layer.param_0.grad.numpy(), X.sum(0), rtol=1e-5)


def test_a_method_brings_the_names_of_its_layer(tmp_path):
    net = Methods()
    layer = again(net.infer, tmp_path)
    same(layer(X), net.infer(paddle.to_tensor(X)))
    assert sorted(paddle.load(str(tmp_path / "net"))) == sorted(net.state_dict())


# ---- what is refused ----


def test_a_layer_nothing_is_known_of_is_refused(tmp_path):
    for net in (Network(), static(Network())):
        with pytest.raises(ArgumentError, match="No valid transformed program for `forward`"):
            paddle.jit.save(net, str(tmp_path / "net"))
    assert saved(tmp_path) == []


@pytest.mark.parametrize(
    ("layer", "path", "options", "error", "law"),
    [
        (3, "net", {}, ArgumentTypeError, "should be 'Layer' or 'Function'"),
        (Network, "", {}, ArgumentError, "file_prefix is empty string"),
        (Network, "net", {"model_filename": "m"}, ArgumentError, r"config \(model_filename\)"),
        (Network, "net", {"input_spec": ROWS[0]}, ArgumentTypeError, "should be 'list'"),
        (Network, "net", {"input_spec": ROWS, "output_spec": 3}, ArgumentTypeError, "'list'"),
        (Methods, "net", {"input_spec": ROWS}, ArgumentError, "`infer` is saved as well"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, layer, path, options, error, law):
    layer = layer() if isinstance(layer, type) else layer
    with pytest.raises(error, match=law):
        paddle.jit.save(layer, f"{tmp_path}/{path}", **options)
    assert saved(tmp_path) == []


def test_a_property_that_cannot_be_saved_is_refused_and_nothing_written(tmp_path):
    class Net(Methods):
        @paddle.jit.to_static(property=True, full_graph=True)
        def table(self):
            return {}

    with pytest.raises(ArgumentError, match=r"property `Net\.table` is {}"):
        paddle.jit.save(Net(), str(tmp_path / "net"))
    assert saved(tmp_path) == []


def test_a_function_that_returns_no_tensor_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="returns no tensor"):
        paddle.jit.save(lambda x: 3, str(tmp_path / "net"), ROWS)


def test_saving_needs_to_static(tmp_path):
    paddle.jit.enable_to_static(False)
    try:
        with pytest.raises(RunError, match="enable_to_static"):
            paddle.jit.save(Network(), str(tmp_path / "net"), ROWS)
    finally:
        paddle.jit.enable_to_static(True)


# ---- files ----


def test_a_folder_is_made_and_a_path_without_one_is_here(tmp_path, monkeypatch):
    paddle.jit.save(Network(), str(tmp_path / "a" / "b" / "net"), ROWS)
    assert (tmp_path / "a" / "b" / "net.pdmodel").exists()
    monkeypatch.chdir(tmp_path)
    paddle.jit.save(Network(), "net", ROWS)
    assert "net.pdmodel" in os.listdir(tmp_path)
    assert paddle.jit.load("net")(X)


def test_a_save_that_breaks_off_leaves_the_old_model_whole(tmp_path, monkeypatch):
    net = Methods()
    layer = again(net, tmp_path)
    expected = layer.infer(X).numpy()
    other = copy.deepcopy(net)
    for p in other.parameters():
        p.set_value(p + 1.0)
    calls, replace, stop = [], os.replace, 0

    def broken(*args):
        calls.append(args)
        if len(calls) == stop:
            raise OSError("no space")
        return replace(*args)

    monkeypatch.setattr(file_set.os, "replace", broken)
    for last in range(1, 9):
        stop = last
        calls.clear()
        with suppress(OSError):
            paddle.jit.save(other, str(tmp_path / "net"))
        found = paddle.jit.load(str(tmp_path / "net"))
        new = other.infer(paddle.to_tensor(X)).numpy()
        got = found.infer(X).numpy(), found(X).numpy()
        old_one = np.allclose(got[0], expected)
        assert old_one or np.allclose(got[0], new)
        owner = net if old_one else other
        np.testing.assert_allclose(got[1], owner(paddle.to_tensor(X)).numpy(), atol=1e-6)
        monkeypatch.setattr(file_set.os, "replace", replace)
        paddle.jit.save(net, str(tmp_path / "net"))
        monkeypatch.setattr(file_set.os, "replace", broken)


def test_what_is_called_before_saving_sees_everything_and_can_be_taken_back(tmp_path):
    seen = []
    helper = _register_save_pre_hook(lambda layer, specs, configs: seen.append((layer, configs)))
    net = Network()
    try:
        paddle.jit.save(net, str(tmp_path / "net"), ROWS, clip_extra=False)
        helper.remove()
        paddle.jit.save(net, str(tmp_path / "net"), ROWS)
    finally:
        _clear_save_pre_hooks()
    assert seen == [(net, {"clip_extra": False})]


def test_saving_says_nothing_when_all_is_well(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again(Methods(), tmp_path)
        again(lambda x: x + 1.0, tmp_path, ROWS)


def test_an_inference_model_gives_the_same(tmp_path):
    net = Network()
    paddle.jit.save(net, str(tmp_path / "net"), ROWS)
    net.eval()
    config = paddle.inference.Config(str(tmp_path / "net.pdmodel"), str(tmp_path / "net.pdiparams"))
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(X)
    predictor.run()
    found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(found, net(paddle.to_tensor(X))[0].numpy(), atol=1e-6)


def test_a_choice_is_saved_between_operands_of_one_shape(tmp_path):
    def chosen(picks, x, y):
        low = paddle.where(picks, x, y)
        return low if low.sum() > 100.0 else paddle.masked_fill(low, picks, 0.5)

    specs = [InputSpec([2, 1], "bool"), InputSpec([2]), InputSpec([1, 2])]
    path = str(tmp_path / "chosen")
    paddle.jit.save(chosen, path, specs)
    program = paddle.static.Program.parse_from_string(Path(path + ".pdmodel").read_bytes())
    found = [(b, o) for b in program.blocks for o in b.ops if o.type == "where"]
    assert len(found) == 2
    for block, o in found:
        assert [list(block._var_recursive(n).shape) for n in o.input_arg_names] == [[2, 2]] * 3
    picks, x, y = paddle.to_tensor([[True], [False]]), paddle.ones([2]), paddle.zeros([1, 2])
    assert paddle.jit.load(path)(picks, x, y).tolist() == [[0.5, 0.5], [0.0, 0.0]]
