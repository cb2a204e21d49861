"""`scull explain`: a page for each saved model, and what cannot be explained is said."""

import re

import numpy as np
import pytest

import scull as paddle
from scull.cli import main
from tests.profiler.programs import described


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Where a saved model is, without suffix."""
    path = str(tmp_path_factory.mktemp("model") / "tiny")

    def make():
        x = paddle.static.data("x", [None, 6])
        count = paddle.static.data("count", [None], "int64")
        return [x, count], paddle.nn.Linear(6, 3)(x).sum() + count.astype("float32").sum()

    program, startup, (feeds, out) = described(make)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    paddle.enable_static()
    with paddle.static.scope_guard(scope):
        executor.run(startup)
        paddle.static.save_inference_model(path, feeds, [out], executor, program=program)
    paddle.disable_static()
    return path


def text_of(path):
    return path.read_text(encoding="utf-8")


def metas(page, name):
    """The sizes of a variable's buffer, as the page has them."""
    return re.findall(rf'"name":"{name}","key":"{name}","meta":"([^"]*)"', page)


@pytest.mark.parametrize("suffix", ["", ".pdmodel"])
def test_a_model_gets_a_page_of_its_name_in_this_folder(
    model, suffix, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", model + suffix]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (f"{model}{suffix}: tiny.html\n", "")
    page = text_of(tmp_path / "tiny.html")
    assert "<title>tiny</title>" in page and '"type":"matmul_v2"' in page
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.html"]


def test_machine_code_is_shown_where_it_is_asked_for(model, tmp_path):
    path = tmp_path / "page.html"
    for more, shown in (((), '"code":null'), (("--machine-code",), '"because":[')):
        assert main(["explain", model, "--output", str(path), *more]) == 0
        assert shown in text_of(path)


def test_the_values_of_the_process_stay_its_own(model, tmp_path):
    before = dict(paddle.static.global_scope().cells)
    assert main(["explain", model, "--output", str(tmp_path / "page.html")]) == 0
    assert paddle.static.global_scope().cells == before


def test_shapes_are_those_given(model, tmp_path):
    path = tmp_path / "page.html"
    arguments = ["explain", model, "--shape", "x=64,6", "--shape", "count=1", "--output", str(path)]
    assert main(arguments) == 0
    sizes = [int(size) for size in re.findall(r'"size":(\d+),"born"', text_of(path))]
    assert 64 * 3 * np.dtype(np.float32).itemsize in sizes
    assert metas(text_of(path), "x") == ["float32[-1, 6]"]


def test_what_cannot_be_explained_is_said_and_the_others_are_explained(
    model, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junk.pdmodel").write_bytes(b"PK\x03\x04")
    assert main(["explain", "none.pdmodel", "train.py", "junk", model]) == 1
    printed = capsys.readouterr()
    none, script, junk = printed.err.splitlines()
    assert none == "scull explain: none.pdmodel: there is no model none.pdmodel"
    assert "Executor.explain" in script and "ZIP archive" in junk
    assert printed.out == f"{model}: tiny.html\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "z=1"], "no input `z`; its inputs are `x`, `count`"),
        (["--shape", "x=1,7"], "`x` is float32[-1, 6]; shape [1, 7] does not fit"),
        (["--shape", "x="], "shape [] does not fit"),
        (["--output", "."], "not an ordinary file"),
    ],
)
def test_a_wrong_shape_or_place_is_named(model, arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", model, *arguments]) == 1
    assert words in capsys.readouterr().err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [[], ["a", "--shape", "x"], ["a", "--shape", "x=1,a"], ["a", "b", "--output", "c"]]
)
def test_a_wrong_argument_is_refused(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["explain", *arguments])
    assert "usage: scull explain" in capsys.readouterr().err
