"""Saving while the program goes on, and of single tensors."""

import doctest
import io

import numpy as np
import pytest

import scull as paddle
from scull import framework
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError


def test_the_examples_print_what_they_say():
    results = doctest.testmod(framework.io)
    assert results.attempted and not results.failed


def test_what_is_saved_meanwhile_is_what_it_was(tmp_path):
    layer = paddle.nn.Linear(2, 3)
    before, path = layer.weight.numpy().copy(), str(tmp_path / "a.pdparams")
    paddle.async_save({"state": layer.state_dict(), "epoch": 3}, path, sync_other_task=True)
    layer.weight.set_value(np.zeros((2, 3), "float32"))
    paddle.clear_async_save_task_queue()
    found = paddle.load(path)
    assert found["epoch"] == 3 and found["state"]["weight"].numpy().tolist() == before.tolist()
    assert found["state"]["weight"].name == layer.weight.name


def test_only_tensors_and_dictionaries_are_saved_meanwhile(tmp_path):
    path = str(tmp_path / "a")
    with pytest.raises(ArgumentTypeError, match="does not support this type: <class 'tuple'>"):
        paddle.async_save((1, 2), path)
    with pytest.warns(UserWarning, match="not supported in async mode"):
        paddle.async_save({}, path, use_binary_format=True)
    paddle.clear_async_save_task_queue()
    paddle.enable_static()
    with pytest.raises(ArgumentError, match="static mode"):
        paddle.async_save({}, path)
    paddle.disable_static()


def test_older_state_dictionaries_are_written_and_read(tmp_path):
    layer, path = paddle.nn.Linear(2, 3), str(tmp_path / "new" / "a.pdparams")
    framework.io._legacy_save(layer.state_dict(), path)
    found = framework.io._legacy_load(path)
    assert {n: v.tolist() for n, v in found.items()} == {
        n: v.tolist() for n, v in layer.state_dict().items()
    }


def test_a_tensor_is_written_to_a_file_or_to_memory_and_nowhere_else():
    stream, tensor = io.BytesIO(), paddle.ones([2])
    framework.io._save_lod_tensor(tensor, stream)
    stream.seek(0)
    assert framework.io._load_lod_tensor(stream).tolist() == [1, 1]
    with pytest.raises(UnsupportedError, match="saving objects to file or BytesIO"):
        framework.io._save_lod_tensor(tensor, 1)
    with pytest.raises(UnsupportedError, match="load tensor file from disk"):
        framework.io._load_selected_rows(1)


def test_the_older_name_of_the_protocol_is_known():
    stream = io.BytesIO()
    paddle.save({}, stream, pickle_protocol=2)
    assert stream.getvalue()[1] == 2
    for wrong in ("3", 5):
        with pytest.raises(ArgumentError, match="protocol"):
            paddle.save({}, stream, pickle_protocol=wrong)


def test_the_whole_name_of_a_file_is_asked_for(tmp_path):
    paddle.save({}, str(tmp_path / "a.pdparams"))
    with pytest.raises(ArgumentError, match=r"not exists. There is `.*a.pdparams`: name the whole"):
        paddle.load(str(tmp_path / "a"))


def test_variables_are_told_apart():
    kinds = framework.io_utils
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [2, 2]), 1))
        paddle.optimizer.Momentum(0.1).minimize(loss)
        found = {
            v.name: (
                kinds.is_parameter(v),
                kinds.is_persistable(v),
                kinds.is_belong_to_optimizer(v),
            )
            for v in paddle.static.default_main_program().list_vars()
        }
    paddle.disable_static()
    by_kind = {kind: [n for n, k in found.items() if k == kind] for kind in set(found.values())}
    assert all(n.startswith("fc") for n in by_kind[True, True, False])
    assert any("velocity" in n for n in by_kind[False, True, True])
