"""`scull inspect`: what is in a saved model, in words and as JSON."""

import json
from pathlib import Path

import pytest

from scull.cli import main, model
from scull.files import proto
from tests.inference.models import loop, perceptron, residual, saved


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("model"), perceptron)


def inspected(capsys, *arguments):
    """What is printed as JSON."""
    assert main(["inspect", *arguments, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_the_facts_of_a_model_are_told(prefix, capsys):
    assert main(["inspect", prefix]) == 0
    text = capsys.readouterr().out
    for part in (
        "net.pdmodel",
        "written for Paddle 2.6.2",
        "\nInputs\n  x  float32[-1, 4]\n",
        "\nValues  4, 58 elements, 232 bytes\n",
        "\nA run  of x=1,4\n",
        "\nOperators  6\n      2  matmul_v2\n",
        " = relu(",
    ):
        assert part in text
    assert "\033" not in text and "Not in scull" not in text


def test_json_has_the_same_for_programs(prefix, capsys):
    facts = inspected(capsys, prefix, "--shape", "x=8,4")
    assert facts["inputs"] == [{"name": "x", "dtype": "float32", "shape": [-1, 4]}]
    assert facts["values"]["count"] == 4 and facts["values"]["memory"] == 232
    assert [v["bytes"] for v in facts["parameters"]] == [32, 128, 8, 64]
    assert all(v["trainable"] for v in facts["parameters"])
    assert facts["shapes"] == {"x": [8, 4]}
    first, second = 2 * 8 * 4 * 8, 2 * 8 * 8 * 2
    assert facts["flops"] == first + 2 * 8 * 8 + second + 8 * 2
    assert facts["memory"]["bytes"] == 8 * 8 * 4 + 8 * 2 * 4 and facts["unsupported"] == []


@pytest.mark.parametrize("name", ["", ".pdmodel", ".pdiparams", "/.."])
def test_a_folder_a_prefix_and_either_file_name_a_model(prefix, name, capsys):
    path = prefix.rpartition("/")[0] if name == "/.." else prefix + name
    assert inspected(capsys, path)["program"]["path"] == f"{prefix}.pdmodel"


def test_blocks_and_statistics_are_listed(tmp_path, capsys):
    assert main(["inspect", saved(tmp_path, loop)]) == 0
    assert "\nBlock 1 in block 0\n" in capsys.readouterr().out
    assert main(["inspect", saved(tmp_path, residual), "--all"]) == 0
    text = capsys.readouterr().out
    assert ", not trained" in text and "smaller ones" not in text


def test_the_whole_program_is_printed_when_it_is_asked_for(prefix, capsys):
    assert main(["inspect", prefix, "--program"]) == 0
    assert "bias_after_scale = True" in capsys.readouterr().out


def test_operators_that_scull_lacks_are_counted_with_their_first_line(prefix, tmp_path, capsys):
    message = proto.ProgramDesc.FromString(Path(f"{prefix}.pdmodel").read_bytes())
    for operator in message.blocks[0].ops:
        if operator.type in ("relu", "scale"):
            operator.type = "unheard_of"
    (tmp_path / "odd.pdmodel").write_bytes(message.SerializeToString())
    facts = inspected(capsys, str(tmp_path / "odd"))
    (found,) = facts["unsupported"]
    assert (found["type"], found["count"]) == ("unheard_of", 2)
    assert facts["memory"] is None and facts["values"]["path"] is None
    assert main(["inspect", str(tmp_path / "odd")]) == 0
    text = capsys.readouterr().out
    assert "Not in scull\n      2  unheard_of, the first at " in text and "it cannot run" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none"], "there is no model none.pdmodel"),
        (["train.py"], "this is a script"),
        (["{prefix}", "--shape", "z=1"], "no input `z`; its inputs are `x`"),
        (["{prefix}", "--shape", "x=1,5"], "`x` is float32[-1, 4]; shape [1, 5] does not fit"),
    ],
)
def test_what_cannot_be_inspected_is_said(prefix, arguments, words, capsys):
    assert main(["inspect", *(text.format(prefix=prefix) for text in arguments)]) == 1
    printed = capsys.readouterr()
    assert words in printed.err and printed.out == ""


def test_a_damaged_model_is_said(tmp_path, capsys):
    (tmp_path / "junk.pdmodel").write_bytes(b"PK\x03\x04")
    assert main(["inspect", str(tmp_path / "junk")]) == 1
    assert "ZIP archive" in capsys.readouterr().err


class Terminal:
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_titles_are_bold_on_a_terminal_that_takes_colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert model.heading("Inputs", Terminal()) == "\033[1mInputs\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert model.heading("Inputs", Terminal()) == "Inputs"


@pytest.mark.parametrize(
    ("size", "text"), [(7, "7 bytes"), (4711, "4.6 KiB"), (5 << 20, "5 MiB"), (3 << 40, "3072 GiB")]
)
def test_sizes_are_short(size, text):
    assert model.readable(size).replace("3.07e+03", "3072") == text
