"""`scull decompile`: the source of a saved model, on the screen or in a file."""

import ast

import pytest

import scull as paddle
from scull.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Where a saved model is, without suffix."""
    path = str(tmp_path_factory.mktemp("model") / "tiny")
    spec = [paddle.static.InputSpec([None, 6], "float32", "x")]
    paddle.jit.save(paddle.nn.Linear(6, 3), path, spec)
    return path


def test_the_source_is_printed(model, capsys):
    assert main(["decompile", f"{model}.pdmodel"]) == 0
    shown = capsys.readouterr().out
    assert ast.parse(shown) and "nn.Linear(6, 3)" in shown


def test_the_source_is_written_into_a_file(model, tmp_path, capsys):
    path = tmp_path / "tiny.py"
    assert main(["decompile", model, "-o", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    assert "class Model(nn.Layer):" in path.read_text()


def test_what_is_no_model_is_said(tmp_path, capsys):
    assert main(["decompile", str(tmp_path / "nothing")]) == 1
    assert "nothing" in capsys.readouterr().err
