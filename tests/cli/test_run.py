"""`scull run`: a saved model on arrays from files."""

import numpy as np
import pytest

import scull as paddle
from scull.cli import main
from scull.inference import Config, create_predictor
from tests.inference.models import data, loop, perceptron, saved

X = np.arange(12, dtype="float32").reshape(3, 4)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("model"), perceptron)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where arrays are."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("n.npy", np.array([3]))
    np.savez("both.npz", x=X[:, :3], n=np.array([3]))
    (tmp_path / "text.npy").write_text("text")
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    return tmp_path


@pytest.mark.parametrize("given", ["x.npy", "x=x.npy"])
def test_outputs_are_printed_and_written(prefix, folder, given, capsys):
    assert main(["run", prefix, "--input", given, "--output", "out/deep"]) == 0
    text = capsys.readouterr().out
    (path,) = (folder / "out/deep").iterdir()
    assert text.startswith("save_infer_model/scale_0.tmp_0  float32[3, 2]  [[")
    assert text.rstrip().endswith(path.name)
    np.testing.assert_array_equal(np.load(path), create_predictor(Config(prefix))(X))


@pytest.mark.parametrize(
    "given", [["x=y.npy", "n=n.npy"], ["y.npy", "n.npy"], ["n=n.npy", "y.npy"], ["both.npz"]]
)
def test_inputs_come_in_order_by_name_or_together(folder, given, capsys):
    np.save("y.npy", X[:, :3])
    path = saved(folder, loop)
    assert main(["run", path, *(word for text in given for word in ("--input", text))]) == 0
    assert capsys.readouterr().out.split("  ")[2] == "least 0, mean 40, greatest 80\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the model takes 1 input, `x` (float32[-1, 4]); `x` did not come"),
        (["--input", "z=x.npy"], "`z` is no input"),
        (["--input", "x.npy", "--input", "x.npy"], "one input more than the 1 of the model"),
        (["--input", "x.npy", "--input", "x=x.npy"], "two values for the input `x`"),
        (["--input", "n.npy"], "is declared float32[-1, 4], the fed value is int64"),
        (["--input", "none.npy"], "none.npy"),
        (["--input", "text.npy"], "text.npy is no array"),
        (["--input", "objects.npy"], "objects.npy is no array"),
        (["--input", "x.npy", "--max-memory", "9"], "max_memory is 9 bytes"),
        (["--input", "x.npy", "--output", "x.npy"], "x.npy"),
    ],
)
def test_what_cannot_be_run_is_said(prefix, folder, arguments, words, capsys):
    assert main(["run", prefix, *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"scull run: {prefix}: ") and words in error


def test_a_model_that_is_not_there_is_said(folder, capsys):
    assert main(["run", "none", "--input", "x.npy"]) == 1
    assert "there is no model none.pdmodel" in capsys.readouterr().err


def printing():
    x = data("x", [None, 4])
    return [x], [paddle.static.Print(x, message="seen") + 1.0]


def test_what_reaches_outside_is_refused_unless_it_is_allowed(folder, capsys):
    path = saved(folder, printing)
    assert main(["run", path, "--input", "x.npy"]) == 1
    assert "(`print`) would print" in capsys.readouterr().err
    assert main(["inspect", path]) == 0 and main(["diff", path, path]) == 0
    assert "  print\n" in capsys.readouterr().out
    assert main(["run", path, "--input", "x.npy", "--allow-op", "print"]) == 0
    assert "seen" in "".join(capsys.readouterr())
