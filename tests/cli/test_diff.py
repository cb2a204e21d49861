"""`scull diff`: what differs between two saved models, with the exit codes of diff."""

from pathlib import Path

import pytest

import scull as paddle
from scull.cli import main
from scull.files import proto
from scull.files.tensor_stream import read_combined, write_combined
from tests.inference.models import data, loop, perceptron, saved


@pytest.fixture
def prefix(tmp_path):
    return saved(tmp_path, perceptron)


def compared(capsys, *arguments):
    """The exit code, and the lines that are printed."""
    code = main(["diff", *map(str, arguments)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out.splitlines()


def changed(prefix, tmp_path, change):
    """The same model after `change` of its message."""
    message = proto.ProgramDesc.FromString(Path(f"{prefix}.pdmodel").read_bytes())
    change(message.blocks[0])
    (tmp_path / "other.pdmodel").write_bytes(message.SerializeToString())
    (tmp_path / "other.pdiparams").write_bytes(Path(f"{prefix}.pdiparams").read_bytes())
    return tmp_path / "other"


@pytest.mark.parametrize("make", [perceptron, loop])
def test_a_model_is_like_itself(tmp_path, make, capsys):
    path = saved(tmp_path, make)
    assert compared(capsys, path, f"{path}.pdmodel") == (0, [])


def test_an_attribute_is_told_with_its_operator(prefix, tmp_path, capsys):
    def change(block):
        (scale,) = (o for o in block.ops if o.type == "scale")
        next(a for a in scale.attrs if a.name == "scale").f = 2.0

    code, lines = compared(capsys, prefix, changed(prefix, tmp_path, change))
    assert code == 1 and lines == ["operator 5 (`scale`): scale 1.0 -> 2.0"]


def test_an_operator_is_told_that_is_there_once_and_who_reads_another_value(tmp_path, capsys):
    def longer():
        x = data("x", [None, 4])
        hidden = paddle.nn.functional.relu(paddle.nn.Linear(4, 8)(x))
        return [x], [paddle.tanh(paddle.nn.Linear(8, 2)(hidden))]

    code, lines = compared(
        capsys, saved(tmp_path, perceptron, "a"), saved(tmp_path, longer, "b"), "--no-values"
    )
    assert code == 1
    assert len(lines) == 2 and lines[0].startswith("+ operator 5: ") and "tanh(" in lines[0]
    assert lines[1].startswith("operator 5 (`scale`): X is ")


def test_an_input_is_told_with_what_it_is(tmp_path, capsys):
    def wider():
        x = data("x", [None, 4], "float64")
        return [x], [x * 2.0]

    def narrow():
        x = data("x", [None, 4])
        return [x], [x * 2.0]

    code, lines = compared(
        capsys, saved(tmp_path, narrow, "a"), saved(tmp_path, wider, "b"), "--no-values"
    )
    assert code == 1
    assert lines[0] == "input: `x` float32[-1, 4] -> `x` float64[-1, 4]"


def test_blocks_are_compared_too(tmp_path, capsys):
    code, lines = compared(
        capsys, saved(tmp_path, loop, "a"), saved(tmp_path, perceptron, "b"), "--no-values"
    )
    assert code == 1 and any(line.startswith("- block 1 with ") for line in lines)


def test_values_are_told_with_how_far_they_are_apart(prefix, tmp_path, capsys):
    other = changed(prefix, tmp_path, lambda block: None)
    names = sorted(v for v in ("linear_0.w_0", "linear_0.b_0", "linear_1.w_0", "linear_1.b_0"))
    with open(f"{prefix}.pdiparams", "rb") as stream:
        values = read_combined(stream, names)
    values[names[0]][0] += 0.5
    with open(f"{other}.pdiparams", "wb") as stream:
        write_combined(stream, values)
    code, lines = compared(capsys, prefix, other)
    assert code == 1 and len(lines) == 1
    assert lines[0].endswith(": 1 of 8 elements differ, by 0.5 at most")
    assert compared(capsys, prefix, other, "--no-values") == (0, [])


def test_values_of_other_names_and_shapes_are_told(tmp_path, capsys):
    def other():
        x = data("x", [None, 4])
        weight = paddle.ParamAttr(name="own")
        hidden = paddle.nn.functional.relu(paddle.nn.Linear(4, 16, weight_attr=weight)(x))
        return [x], [paddle.nn.Linear(16, 2)(hidden)]

    code, lines = compared(capsys, saved(tmp_path, perceptron, "a"), saved(tmp_path, other, "b"))
    assert code == 1
    assert any("-> `own`: float32[4, 8] -> float32[4, 16]" in line for line in lines)


@pytest.mark.parametrize("places", [("none", "{}"), ("{}", "none")])
def test_a_model_that_cannot_be_read_is_trouble(prefix, places, capsys):
    assert main(["diff", *(place.format(prefix) for place in places)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "scull diff: none: there is no model none.pdmodel" in printed.err
