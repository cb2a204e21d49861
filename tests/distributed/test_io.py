"""Whole Programs saved and loaded under the name they have for training in processes."""

import numpy as np
import pytest

import scull as paddle
from scull.distributed import io
from scull.errors import ArgumentError, ArgumentTypeError

X = np.ones((2, 3), "float32")


@pytest.fixture
def model(tmp_path):
    """A trained Program's executor, its loss, and what it gives."""
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        x = paddle.static.data("x", [-1, 3])
        loss = paddle.mean(paddle.static.nn.fc(x, 2))
        paddle.optimizer.SGD(0.0).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        expected = exe.run(feed={"x": X}, fetch_list=[loss])[0].item()
        paddle.static.save_inference_model(str(tmp_path / "m"), [x], [loss], exe)
        yield exe, loss, expected
    paddle.disable_static()


def pruned(loss):
    """What `loss` needs of a copy of the Program."""
    return paddle.static.default_main_program().clone()._prune_with_input(["x"], [loss])


def given(exe, found):
    program, feeds, fetches = found
    return exe.run(program, feed={feeds[0]: X}, fetch_list=fetches)[0].item()


def test_a_model_loads_from_its_files_and_from_bytes(model, tmp_path):
    exe, loss, expected = model
    values = io.save_persistables(exe, None, pruned(loss))
    program = (tmp_path / "m.pdmodel").read_bytes()
    for where in (
        (str(tmp_path), exe, "m.pdmodel", "m.pdiparams"),
        (None, exe, program, values),
    ):
        with paddle.static.scope_guard(paddle.static.Scope()):
            assert given(exe, io.load_inference_model_distributed(*where)) == expected


@pytest.mark.parametrize("filename", [None, "all"])
def test_values_load_into_another_scope(model, tmp_path, filename):
    exe, loss, expected = model
    folder = str(tmp_path / "values")
    assert io.save_persistables(exe, folder, filename=filename) is None
    with paddle.static.scope_guard(paddle.static.Scope()):
        io.load_persistables(exe, folder, filename=filename)
        assert exe.run(feed={"x": X}, fetch_list=[loss])[0].item() == expected


def test_a_model_in_a_folder_has_a_file_a_value(model, tmp_path):
    exe, loss, expected = model
    folder = tmp_path / "values"
    io.save_persistables(exe, str(folder), pruned(loss))
    (folder / "__model__").write_bytes((tmp_path / "m.pdmodel").read_bytes())
    with paddle.static.scope_guard(paddle.static.Scope()):
        assert given(exe, io.load_inference_model_distributed(str(folder), exe)) == expected


def test_what_is_not_there_is_refused(model, tmp_path):
    exe = model[0]
    with pytest.raises(ArgumentError, match="no directory named"):
        io.load_inference_model_distributed(str(tmp_path / "nobody"), exe)
    with pytest.raises(ArgumentError, match="params cannot be None"):
        io.load_inference_model_distributed(None, exe, b"")


@pytest.mark.parametrize(
    ("call", "law"),
    [
        (lambda s, exe, v, path: s.save_inference_model(path + "/", [], v, exe), "directory"),
        (lambda s, exe, v, path: s.save_inference_model(path, "x", v, exe), "takes Variables"),
        (lambda s, exe, v, path: s.serialize_program(["x"], v), "takes Variables"),
        (lambda s, exe, v, path: s.load_inference_model(None, exe), "cannot be None"),
        (lambda s, exe, v, path: s.load_inference_model([path], exe), "should be a string"),
        (lambda s, exe, v, path: s.load_inference_model(path + "/", exe), "directory"),
        (lambda s, exe, v, path: s.load_inference_model(path, exe, other=1), "takes no `other`"),
    ],
)
def test_mistakes_of_saving_are_of_values(model, tmp_path, call, law):
    with pytest.raises(ArgumentError, match=law):
        call(paddle.static, model[0], [model[1]], str(tmp_path / "n"))
    with pytest.raises(ArgumentTypeError, match="program type must be"):
        paddle.static.deserialize_persistables(None, b"", None)


def test_a_folder_in_the_place_of_a_file_is_named(model, tmp_path):
    (tmp_path / "n.pdmodel").mkdir()
    with pytest.raises(ArgumentError, match=r"n.pdmodel' is an existing directory"):
        paddle.static.save_inference_model(str(tmp_path / "n"), [], [model[1]], model[0])


def test_a_model_that_counts_for_an_area_is_saved_with_a_warning(model, tmp_path):
    exe = model[0]
    x, label = paddle.static.data("scores", [-1, 2]), paddle.static.data("label", [-1, 1], "int64")
    area = paddle.static.auc(x, label)[0]
    exe.run(paddle.static.default_startup_program())
    with pytest.warns(UserWarning, match="set auc states to 0"):
        paddle.static.save_inference_model(str(tmp_path / "n"), [x, label], [area], exe)
