"""Errors that come up while a Program runs end at the user's line."""

import traceback

import pytest

import scull as paddle
from scull.errors import RangeError, ShapeError
from scull.jit.site import Site, called, parsed, site_of, traceback_at

TEXT = "x = f(g(a, 1), b)\ny = a.g(1) + (\n    2)\n"


@paddle.jit.to_static(full_graph=True)
def picked(x, i):
    y = x * 2.0
    while y.sum() < 100.0:
        y = y + 1.0
    return (paddle.gather(y, i) + 1.0).sum()


def test_the_last_frame_is_the_call_of_the_operator_that_failed():
    with pytest.raises(RangeError) as caught:
        picked(paddle.ones([3, 2]), paddle.to_tensor([0, 5]))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "picked")
    assert last.line == "return (paddle.gather(y, i) + 1.0).sum()"
    assert (last.colno, last.end_colno) == (12, 31)
    assert str(caught.value).endswith(f"at {__file__}:{last.lineno}")


def test_the_call_of_the_operator_is_marked_or_else_the_expression(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(TEXT)
    tree = parsed(str(file))
    places = [called(tree, Site(*s)) for s in (("g", "", 1), ("relu", "", 1), ("g", "", 2))]
    assert [(n.col_offset, n.end_col_offset) for n in places] == [(6, 13), (4, 17), (4, 10)]


def test_a_file_that_is_gone_or_changed_gives_no_frame(tmp_path):
    assert traceback_at(Site("relu", str(tmp_path / "gone.py"), 1)) is None
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    assert traceback_at(Site("relu", str(broken), 1)) is None


def test_a_line_beyond_the_file_has_no_carets(tmp_path):
    file = tmp_path / "short.py"
    file.write_text("x = 1\n")
    (frame,) = traceback.extract_tb(traceback_at(Site("relu", str(file), 7)))
    assert (frame.lineno, frame.name, frame.colno, frame.end_colno) == (7, "<module>", 0, 0)


def test_the_place_is_read_from_the_text_of_the_error():
    with pytest.raises(ShapeError) as caught:
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    assert site_of(caught.value)[:2] == ("matmul", __file__)
    assert site_of(ValueError("no place")) is None
