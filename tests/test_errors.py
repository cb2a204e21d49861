"""What an error says: the law that was broken, the operator, its operands, the user's line."""

import pickle
import subprocess
import sys
import traceback

import numpy as np
import pytest

import scull as paddle
from scull.errors import RunError, ShapeError, is_located, located

UNCAUGHT = """
import scull as paddle
paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
"""
WHERE = """in matmul
  x: float32[2, 3]
  y: float32[2, 3]
  at """


@pytest.fixture
def main():
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program), paddle.utils.unique_name.guard():
        yield program
    paddle.disable_static()


def test_what_users_catch_and_print_names_the_operator_its_operands_and_their_line(main):
    x, y = paddle.static.data("x", [-1, -1]), paddle.static.data("y", [-1, -1])
    z = paddle.matmul(x, y)
    feed = dict.fromkeys("xy", np.ones((2, 3), "float32"))
    with pytest.raises(ShapeError) as caught:
        paddle.static.Executor().run(main, feed=feed, fetch_list=[z])
    law, *where = str(caught.value).splitlines()
    assert law == "(InvalidArgument) x has 3 columns and y has 2 rows"
    assert "\n".join(where).startswith(WHERE)
    assert "test_errors.py:" in where[-1]


def test_an_eager_error_says_the_same():
    with pytest.raises(ShapeError) as caught:
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    assert f"\n{WHERE}" in str(caught.value)
    assert caught.value.args == ("(InvalidArgument) x has 3 columns and y has 2 rows",)


def test_an_uncaught_error_says_each_thing_once():
    found = subprocess.run([sys.executable, "-c", UNCAUGHT], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.count("\nin matmul\n") == found.stderr.count("<string>:3") == 1
    assert found.stderr.endswith(f"x has 3 columns and y has 2 rows\n{WHERE}<string>:3\n")


def test_an_error_of_the_users_own_gets_where_as_a_note():
    error = KeyError("k")
    assert located(error, "in py_func") is error
    assert str(error) == "'k'"
    assert error.__notes__ == ["in py_func"]
    assert is_located(error)
    assert not is_located(RunError("law"))


def test_an_error_that_travels_says_as_much():
    error = located(RunError("law"), "in exp")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "law\nin exp"
    assert is_located(again)


def test_an_error_with_a_note_of_its_own_names_operator_and_line_too(main):
    x = paddle.static.data("x", [2])
    out = main.current_block().create_var("out", shape=[2], dtype="float32")

    def failing(array):
        error = LookupError("nothing there")
        error.add_note("a note of the user's")
        raise error

    paddle.static.py_func(failing, x, out)
    with pytest.raises(LookupError) as caught:
        feed = {"x": np.ones(2, "float32")}
        paddle.static.Executor().run(main, feed=feed, fetch_list=[out])
    text = "".join(traceback.format_exception_only(caught.value))
    assert text.splitlines()[:3] == [
        "LookupError: nothing there",
        "a note of the user's",
        "in py_func",
    ]
    assert text.count("test_errors.py:") == 1
