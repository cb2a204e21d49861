"""Mistakes with branches, loops and lists: each is told in words, with the line that made it."""

import re

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    RangeError,
    RunError,
    ShapeError,
    UninitializedError,
)
from scull.flags import flags
from scull.passes.dataflow import lowered

nn, arrays = paddle.static.nn, paddle.tensor
FEED = {"x": np.array([1.0, 2.0], "float32")}
CASES = {}


def case(name, kind):
    """Note a function that makes a mistake, and of which kind the error is."""

    def noted(function):
        CASES[name] = kind, function
        return function

    return noted


def holds(x):
    return paddle.sum(x) > 1.0


def loop(x, i, body, before=None):
    start = x * 1.0 if before is None else before
    return nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, body(y)], [i, start])


@case("a branch asks a number", DtypeError)
def _(x, i):
    return nn.cond(i, lambda: x, lambda: -x)


@case("a branch asks Python's truth", ArgumentTypeError)
def _(x, i):
    return nn.cond(True, lambda: x, lambda: -x)


@case("a branch asks two truth values", ArgumentTypeError)
def _(x, i):
    return nn.cond(x > 1.0, lambda: x, lambda: -x)


@case("branches return another number of results", ArgumentError)
def _(x, i):
    return nn.cond(holds(x), lambda: [x, x], lambda: [x])


@case("branches return another structure", ArgumentError)
def _(x, i):
    return nn.cond(holds(x), lambda: {"a": x}, lambda: [x + 1.0])


@case("one branch returns nothing", ArgumentError)
def _(x, i):
    return nn.cond(holds(x), lambda: x, lambda: None)


@case("one branch returns a list of tensors", ArgumentTypeError)
def _(x, i):
    return nn.cond(holds(x), lambda: arrays.array_write(x, i), lambda: x * 2.0)


@case("a loop asks a number", DtypeError)
def _(x, i):
    return nn.while_loop(lambda i: i, lambda i: [i + 1], [i])


@case("a loop asks Python's truth", ArgumentTypeError)
def _(x, i):
    return nn.while_loop(lambda i: True, lambda i: [i + 1], [i])


@case("a loop asks two truth values", ArgumentTypeError)
def _(x, i):
    return nn.while_loop(lambda y: y < 3.0, lambda y: [y + 1.0], [x])


@case("a body returns another number of values", ArgumentError)
def _(x, i):
    return nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1], [i, x])


@case("a body returns another structure", ArgumentError)
def _(x, i):
    return loop(x, i, lambda y: {"y": y * 2.0})


@case("a body returns another element type", DtypeError)
def _(x, i):
    return loop(x, i, lambda y: paddle.cast(y, "int64"))


@case("a body returns a fraction for a whole number", DtypeError)
def _(x, i):
    return loop(x, i, lambda y: 0.5, before=i + 1)


@case("a body returns another number of axes", ShapeError)
def _(x, i):
    return loop(x, i, lambda y: paddle.unsqueeze(y, 0))


@case("a body returns a list for a tensor", ArgumentTypeError)
def _(x, i):
    return loop(x, i, lambda y: arrays.array_write(y, i))


@case("a body returns a tensor for a list", ArgumentTypeError)
def _(x, i):
    return loop(x, i, lambda y: x * 2.0, before=arrays.array_write(x, i))


@case("a body returns text", ArgumentTypeError)
def _(x, i):
    return loop(x, i, lambda y: "text")


@case("a list is read behind its end", RangeError)
def _(x, i):
    return arrays.array_read(arrays.array_write(x, i), i + 5)


@case("a list is read before its beginning", RangeError)
def _(x, i):
    return arrays.array_read(arrays.array_write(x, i), i - 1)


@case("a loop reads a list behind its end", RangeError)
def _(x, i):
    kept = arrays.array_write(x, i)
    return nn.while_loop(
        lambda i, y: i < 3, lambda i, y: [i + 1, y + arrays.array_read(kept, i)], [i, x * 1.0]
    )


@case("a variable has a value in one branch alone", UninitializedError)
def _(x, i):
    later = paddle.static.default_main_program().global_block().create_var(
        name="later", shape=[2], dtype="float32"
    )  # fmt: skip

    def write():
        paddle.assign(x * 2.0, later)

    nn.cond(paddle.sum(x) > 9.0, write, None)
    return later + 1.0


@case("a value of a branch is read outside it", UninitializedError)
def _(x, i):
    seen = []

    def branch():
        seen.append(x * 2.0)
        return seen[0]

    nn.cond(holds(x), branch, lambda: x)
    return seen[0] + 1.0


@pytest.fixture
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def operands():
    return paddle.static.data("x", [2]), paddle.full([1], 0, "int64")


def told(error):
    """The text of an error; lines of this file without their numbers."""
    return re.sub(r"\S*(test_bad_input\.py):\d+", r"\1", str(error.value))


def mistake(name, main):
    """The error that a case raises."""
    kind, function = CASES[name]
    with pytest.raises(kind) as error:
        found = function(*operands())
        fetches = found if isinstance(found, list) else [found]
        paddle.static.Executor().run(main, feed=FEED, fetch_list=fetches)
    return error


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_has_a_kind_and_a_line_of_the_user(name, main):
    error = mistake(name, main)
    frames = [str(frame.path) for frame in error.traceback]
    assert any("test_bad_input.py" in text for text in [*frames[1:], str(error.value)])


def test_mistakes_with_control_flow_are_told_in_words(golden):
    lines = []
    for name, (kind, _) in CASES.items():
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
            lines.append(f"{name}\n{kind.__name__}: {told(mistake(name, main))}\n")
        paddle.disable_static()
    assert "\n".join(lines) == golden


def endless():
    return nn.while_loop(lambda i: i >= 0, lambda i: [i + 1], [operands()[1]])


def test_a_loop_without_an_end_is_stopped_where_rounds_are_limited(main):
    (i,) = endless()
    with flags(MAX_ROUNDS=20), pytest.raises(RunError, match="more than MAX_ROUNDS=20") as error:
        paddle.static.Executor().run(main, feed=FEED, fetch_list=[i])
    assert told(error).endswith("in while\n  reads: bool[1], int64[1]\n  at test_bad_input.py")


def test_a_loop_of_primitives_without_an_end_is_stopped_too(main):
    (i,) = endless()
    flat = lowered(main)
    with flags(MAX_ROUNDS=20), pytest.raises(RunError, match="more than MAX_ROUNDS=20") as error:
        paddle.static.Executor().run(flat, feed=FEED, fetch_list=[i.name])
    assert "test_bad_input.py" in str(error.value)


def test_a_loop_in_eager_mode_without_an_end_is_stopped_too():
    i = paddle.full([1], 0, "int64")
    with flags(MAX_ROUNDS=20), pytest.raises(RunError, match="more than MAX_ROUNDS=20"):
        nn.while_loop(lambda i: i >= 0, lambda i: [i + 1], [i])
    with flags(MAX_ROUNDS=20):
        (found,) = nn.while_loop(lambda i: i < 20, lambda i: [i + 1], [i])
    assert found.item() == 20


def test_a_loop_variable_may_grow(main):
    x, i = operands()
    start = [i, x * 1.0]
    _, y = nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, paddle.concat([y, x])], start)
    (found,) = paddle.static.Executor().run(main, feed=FEED, fetch_list=[y])
    assert found.tolist() == [1.0, 2.0] * 4
