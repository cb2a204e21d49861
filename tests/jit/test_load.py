"""Models that PaddlePaddle 2.6.2 saved by `jit.save`, loaded: what they compute, hold and learn."""

import copy
import doctest
import importlib
import io
import pickle
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    FileError,
    ShapeError,
    UninitializedError,
    UnknownOpError,
    UnsafeFileError,
)
from scull.jit import TranslatedLayer
from scull.jit.layer import Layer

DATA = Path(__file__).parents[1] / "data" / "jit"
MODELS = sorted(path.stem for path in DATA.glob("*.npz"))
METHODS = [(name, "forward") for name in MODELS] + [("methods", "infer")]


def loaded(name: str) -> TranslatedLayer:
    return paddle.jit.load(str(DATA / name))


def known(name: str, kind: str) -> list[np.ndarray]:
    """The arrays that stand beside a model under names of one kind, in their order."""
    with np.load(DATA / f"{name}.npz") as arrays:
        return [arrays[n] for n in sorted(arrays.files) if n.startswith(kind + "_")]


def listed(value) -> list:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_loaded_model_computes_what_paddle_did(name, method):
    found = listed(getattr(loaded(name), method)(*known(name, "in")))
    expected = known(name, f"{method}_out")
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.numpy().dtype == y.dtype and x.stop_gradient
        np.testing.assert_allclose(x.numpy(), y, atol=1e-5)


def test_values_are_called_and_train_as_in_paddle():
    layer = loaded("network")
    assert list(layer.state_dict()) == [*(f"param_{i}" for i in range(8)), "buffer_0", "buffer_1"]
    assert [p.stop_gradient for p in layer.parameters()] == [
        *(False, False, True, True),  # batch norm: bias, scale, mean, variance
        *(False, False, True, False),  # the layers, the last one's bias frozen
    ]
    assert [b.tolist() for b in layer.buffers()] == [[2.0], [3.0]]
    assert not layer.training
    assert [s.name for s in layer._input_spec()] == ["x"]
    assert layer._output_spec()[0].shape == (-1, 2)


def test_two_layers_of_one_model_have_values_of_different_names():
    names = [t.name for layer in (loaded("tuned"), loaded("tuned")) for t in layer.parameters()]
    assert len(set(names)) == len(names) == 16


def test_training_it_further_gives_the_values_that_paddle_found():
    layer = loaded("tuned")
    layer.train()
    optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters())
    for _ in range(3):
        (layer(*known("tuned", "in")) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    names = list(paddle.load(str(DATA / "tuned")))
    with np.load(DATA / "tuned.npz") as arrays:
        for name, value in zip(names, layer.state_dict().values(), strict=True):
            np.testing.assert_allclose(value.numpy(), arrays[f"after_{name}"], atol=2e-5)


def test_in_train_mode_dropout_drops_and_in_eval_mode_it_does_not():
    layer = loaded("network")
    x = known("network", "in")
    before = [t.numpy() for t in layer(*x)]
    layer.train()
    first, second = layer(*x)[0].numpy(), layer(*x)[0].numpy()
    assert (first != second).any()
    layer.eval()
    assert (layer(*x)[0].numpy() != before[0]).any()  # batch norm has counted


def test_gradients_of_first_and_second_order_reach_inputs_and_values():
    layer = loaded("tuned")
    layer.train()
    x = paddle.to_tensor(known("tuned", "in")[0], stop_gradient=False)
    (dx,) = paddle.grad((layer(x) ** 3).sum(), [x], create_graph=True)
    (dx**2).sum().backward()
    for tensor in (x, *(p for p in layer.parameters() if not p.stop_gradient)):
        if tensor.name.startswith("linear_1.b"):
            continue
        assert tensor.grad is not None and np.isfinite(tensor.grad.numpy()).all()
    assert np.abs(x.grad.numpy()).max() > 0


def test_a_frozen_value_that_is_to_train_trains():
    layer = loaded("network")
    layer.train()
    x = known("network", "in")
    frozen = [p for p in layer.parameters() if p.stop_gradient and p.shape == [2]]
    layer(*x)[0].sum().backward()
    assert frozen[0].grad is None
    frozen[0].stop_gradient = False
    layer(*x)[0].sum().backward()
    assert frozen[0].grad.tolist() == [10.0, 10.0]  # five rows, twice as large


def test_a_loop_with_a_branch_takes_any_number_of_rows_and_turns():
    layer, x = loaded("flow"), known("flow", "in")[0]
    values = paddle.load(str(DATA / "flow"))
    for rows, turns in ((x, 0), (x[:2], 4), (-x, 2)):
        expected = rows
        for _ in range(turns):
            if expected.sum() > 0:
                expected = expected @ values["a.weight"] + values["a.bias"]
            else:
                expected = expected @ values["b.weight"] + values["b.bias"] - 1
        found = layer(rows, np.array([turns]))
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_gradients_pass_a_loop_with_a_branch():
    class Flow(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)

        def forward(self, x, n):
            for _ in range(int(n)):
                x = self.a(x) if x.sum() > 0 else self.b(x) - 1.0
            return x

    layer, net = loaded("flow"), Flow()
    state = paddle.load(str(DATA / "flow"))
    net.set_state_dict(state)
    layer.train()
    data, turns = known("flow", "in")
    for sign in (1, -1):
        inputs = [paddle.to_tensor(sign * data, stop_gradient=False) for _ in range(2)]
        for part, x in zip((layer, net), inputs, strict=True):
            (part(x, paddle.to_tensor(turns)) ** 2).sum().backward()
        np.testing.assert_allclose(inputs[0].grad.numpy(), inputs[1].grad.numpy(), atol=1e-4)
    own = net.state_dict()
    for name, value in zip(state, layer.parameters(), strict=True):
        np.testing.assert_allclose(value.grad.numpy(), own[name].grad.numpy(), atol=1e-4)


def test_methods_share_their_values():
    layer = loaded("methods")
    assert len(layer.parameters()) == 4
    x = known("methods", "in")[0]
    layer.train()
    layer.infer(x).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    for p in layer.parameters():
        p.set_value(paddle.zeros_like(p))
    assert not layer(x).numpy().any() and not layer.infer(x).numpy().any()


def test_properties_are_methods_that_return_them():
    layer = loaded("properties")
    assert (layer.rate(), layer.sizes(), layer.words()) == (0.5, [3, -4], ["a", "b"])
    assert {"forward", "rate", "sizes", "words"} <= set(dir(layer))


def test_sizes_that_were_fixed_when_it_was_saved_may_differ():
    layer = loaded("function")
    assert layer._input_spec()[0].shape == (5, 3)
    for shape in ((2, 3), (7, 1), (5, 3)):
        x = paddle.rand(shape)
        np.testing.assert_allclose(layer(x).numpy(), np.tanh(x.numpy()), rtol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "error", "law"),
    [
        ((), ArgumentTypeError, r"takes 1 tensor, and 0 were given"),
        ((np.ones((2, 3), "float32"),) * 2, ArgumentTypeError, "takes 1 tensor, and 2 were given"),
        (("text",), ArgumentTypeError, "received str for `x` of `forward`"),
        ((np.ones((2, 3)),), DtypeError, "`x` is of float32, and float64 was given: cast it"),
        ((np.ones(3, "float32"),), ShapeError, r"`x` has 2 axes, and \[3\] was given"),
        ((np.ones((2, 4), "float32"),), ShapeError, "given other sizes"),
    ],
)
def test_wrong_inputs_are_errors_that_say_what_was_expected(inputs, error, law):
    with pytest.raises(error, match=law) as caught:
        loaded("tuned")(*inputs)
    assert "`forward` of the loaded model (x: float32[-1, 3])" in str(caught.value)


def test_names_of_inputs_are_refused():
    with pytest.raises(TypeError):
        loaded("tuned")(x=np.ones((2, 3), "float32"))


def test_the_program_of_a_method_is_a_copy():
    layer = loaded("methods")
    program = layer.program("infer")
    assert isinstance(program, paddle.static.Program)
    assert [o.type for o in program.global_block().ops][-1] == "scale"
    assert not {"feed", "fetch"} & {o.type for o in program.global_block().ops}
    program.global_block().ops.clear()
    assert layer.program("infer").global_block().ops
    with pytest.raises(ArgumentError, match=r"`nothing` does not exist .* `forward`, `infer`"):
        layer.program("nothing")


def test_a_copy_has_values_of_its_own():
    layer = loaded("tuned")
    other = copy.deepcopy(layer)
    x = known("tuned", "in")
    before = layer(*x).numpy()
    for p in other.parameters():
        p.set_value(paddle.zeros_like(p))
    assert not other(*x).numpy().any()
    np.testing.assert_array_equal(layer(*x).numpy(), before)


def test_state_of_another_layer_can_be_taken_over():
    layer, other = loaded("tuned"), loaded("tuned")
    for p in other.parameters():
        p.set_value(paddle.full_like(p, 0.5))
    layer.set_state_dict(other.state_dict())
    x = known("tuned", "in")
    np.testing.assert_array_equal(layer(*x).numpy(), other(*x).numpy())


def test_several_threads_call_one_layer():
    layer, found = loaded("tuned"), {}
    inputs = [np.full((i + 1, 3), i, "float32") for i in range(6)]

    def call(i):
        found[i] = [layer(inputs[i]).numpy() for _ in range(20)]

    threads = [threading.Thread(target=call, args=(i,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for i, x in enumerate(inputs):
        for y in found[i]:
            np.testing.assert_array_equal(y, layer(x).numpy())


def test_it_is_a_part_of_what_is_recorded():
    class Whole(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = loaded("methods"), loaded("methods")
            self.back = paddle.nn.Linear(2, 3)

        def forward(self, x):
            return self.second.infer(self.back(self.first(x)))

    whole = Whole()
    whole.train()
    static = paddle.jit.to_static(copy.deepcopy(whole), full_graph=True)
    x = paddle.to_tensor(known("methods", "in")[0])
    np.testing.assert_allclose(static(x).numpy(), whole(x).numpy(), atol=1e-6)
    for layer in (whole, static):
        layer(x).sum().backward()
    for p, q in zip(whole.parameters(), static.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), atol=1e-5)


def test_loading_the_path_gives_the_state_of_the_layer_that_was_saved():
    state = paddle.load(str(DATA / "network"))
    assert sorted(state) == [
        *("first.bias", "first.weight", "last.bias", "last.weight"),
        *("norm._mean", "norm._variance", "norm.bias", "norm.weight", "scale", "shift"),
    ]
    assert all(type(v) is np.ndarray for v in state.values())
    assert sorted(paddle.load(str(DATA / "methods"))) == [
        *("own.bias", "own.weight", "shared.bias", "shared.weight")
    ]
    assert paddle.load(str(DATA / "function")) == {}


def test_functions_of_a_loaded_model_return_lists():
    layer = Layer()
    layer.load(str(DATA / "methods"), paddle.CPUPlace())
    assert sorted(layer.functions) == ["forward", "infer"]
    (found,) = layer.infer(*known("methods", "in"))
    np.testing.assert_allclose(found.numpy(), known("methods", "infer_out")[0], atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        *("jit.layer", "jit.loading", "jit.saving", "jit.translated_layer"),
        *("framework.property", "framework.storage"),
    ],
)
def test_the_examples_print_what_they_say(name):
    results = doctest.testmod(importlib.import_module(f"scull.{name}"))
    assert results.attempted and not results.failed


# ---- files ----


@pytest.fixture
def files(tmp_path) -> Path:
    """The files of a model, for changing."""
    for path in DATA.glob("tuned.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "tuned"


def test_without_a_description_values_train_where_a_gradient_reaches_them(files):
    (files.parent / "tuned.pdiparams.info").unlink()
    layer = paddle.jit.load(str(files))
    assert [p.stop_gradient for p in layer.parameters()] == [False, False, True, True] + [False] * 4


def test_a_model_of_an_older_folder_is_loaded_by_the_names_of_its_files(files):
    folder = files.parent / "model"
    folder.mkdir()
    shutil.move(f"{files}.pdmodel", folder / "__model__")
    shutil.move(f"{files}.pdiparams", folder / "values")
    layer = paddle.jit.load(str(folder), params_filename="values")
    found = layer(*known("tuned", "in"))
    np.testing.assert_allclose(found.numpy(), known("tuned", "forward_out")[0], atol=1e-6)


@pytest.mark.parametrize("name", ["nothing", "folder/nothing"])
def test_a_model_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(ArgumentError, match=r"nothing.*\) to load model not exists"):
        paddle.jit.load(str(tmp_path / name))
    with pytest.raises(ArgumentError, match=r"nothing.*\) to load model not exists"):
        paddle.load(str(tmp_path / name))


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({"separate_params": True}, r"config \(separate_params\) of `paddle.jit.load`"),
        ({"model_filename": ""}, "`model_filename` is empty"),
        ({"params_filename": 3}, "`params_filename` should be str, but received int"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, law):
    with pytest.raises(ValueError, match=law):
        paddle.jit.load(str(DATA / "tuned"), **settings)


def test_values_that_are_missing_are_told(files):
    (files.parent / "tuned.pdiparams").unlink()
    with pytest.raises(FileError, match="needs the values of 8 variables"):
        paddle.jit.load(str(files))


@pytest.mark.parametrize(
    ("description", "error", "law"),
    [
        ({}, UninitializedError, "nothing describes its variable"),
        ([], FileError, "is a list, no dictionary"),
        ({"w": 3}, FileError, "says 3 of 'w'"),
        ({"w": {}}, FileError, "not told whether `w` stops gradients"),
        ({"w": {"stop_gradient": True, "structured_name": 3}}, FileError, "calls `w` by 3"),
    ],
)
def test_a_description_that_is_none_is_refused(files, description, error, law):
    Path(f"{files}.pdiparams.info").write_bytes(pickle.dumps(description, 2))
    with pytest.raises(error, match=law):
        paddle.jit.load(str(files))


def test_a_description_that_would_run_code_is_refused(files):
    class Evil:
        def __reduce__(self):
            return print, ("run",)

    Path(f"{files}.pdiparams.info").write_bytes(pickle.dumps(Evil(), 2))
    with pytest.raises(UnsafeFileError):
        paddle.jit.load(str(files))


@pytest.mark.parametrize("suffix", [".pdmodel", ".pdiparams", ".pdiparams.info"])
def test_every_way_to_cut_a_file_gives_a_typed_error(files, suffix):
    path = Path(f"{files}{suffix}")
    whole = path.read_bytes()
    for size in {0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1}:
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError) as caught:
            paddle.jit.load(str(files))
        assert type(caught.value).__module__ == "scull.errors"


def test_an_operator_that_nobody_knows_is_named(files):
    program = Path(f"{files}.pdmodel")
    program.write_bytes(program.read_bytes().replace(b"relu", b"rely"))
    layer = paddle.jit.load(str(files))
    with pytest.raises(UnknownOpError, match="no operator of type `rely` is declared"):
        layer(*known("tuned", "in"))


def test_state_saved_by_itself_is_named_when_its_suffix_is_missing(tmp_path):
    paddle.save({"w": paddle.ones([1])}, str(tmp_path / "net.pdparams"))
    with pytest.raises(ArgumentError, match=r"net.pdparams`: name the whole file"):
        paddle.load(str(tmp_path / "net"))
    assert isinstance(paddle.load(io.BytesIO((tmp_path / "net.pdparams").read_bytes())), dict)
