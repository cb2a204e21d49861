"""`raise` where a Tensor decides, `try` around what is recorded, and guards of `case`."""

import traceback

import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]
static = paddle.jit.to_static(full_graph=True)


class TooLarge(RuntimeError):
    """An exception of a user, with a value of its own."""

    def __init__(self, limit, why="too large"):
        super().__init__(limit, why)
        self.limit = limit


def check(x, limit=10.0):
    if x.sum() > limit:
        raise TooLarge(limit)


@alike((P,), (N,))
def test_what_does_not_raise_goes_on(x):
    check(x)
    if x.sum() > 0.0:
        y = x * 2.0
    elif x.sum() < -100.0:
        raise ValueError("too small")
    else:
        y = -x
        assert y.shape[0] == 2, "two are wanted"
    return y


@alike((P,), (N,))
def test_a_round_of_a_loop_may_raise(x):
    i = paddle.zeros([], "int64")
    while i < 3:
        x = x * 1.5
        if x.sum() > 100.0:
            raise KeyError("too large")
        i = i + 1
    return x


def test_the_exception_is_the_users_at_the_users_line():
    @static
    def function(x):
        if paddle.isnan(x).any():
            raise FloatingPointError(f"not a number in {list(x.shape)}")
        check(x)
        return x * 2.0

    assert function(paddle.ones([2])).tolist() == [2.0, 2.0]
    with pytest.raises(TooLarge, match="too large") as caught:
        function(paddle.ones([2]) * 9.0)
    assert caught.value.limit == 10.0
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "raise TooLarge(limit)"
    with pytest.raises(FloatingPointError, match=r"not a number in \[2\]"):
        function(paddle.full([2], float("nan")))
    assert len(function.program_cache) == 1


def test_what_a_branch_does_before_it_raises_is_done(capfd):
    @static
    def function(x):
        if x.sum() > 0.0:
            print(x)
            raise ValueError("positive")
        return x

    function(-paddle.ones([2]))
    assert capfd.readouterr().out == ""
    with pytest.raises(ValueError, match="positive"):
        function(paddle.ones([2]))
    assert "1 1" in capfd.readouterr().out


def test_a_program_says_what_would_be_raised(tmp_path):
    def function(x):
        check(x)
        return x * 2.0

    spec = [paddle.static.InputSpec([2], "float32")]
    saved = paddle.jit.to_static(function, input_spec=spec, full_graph=True)
    paddle.jit.save(saved, str(tmp_path / "model"))
    loaded = paddle.jit.load(str(tmp_path / "model"))
    assert loaded(paddle.ones([2])).tolist() == [2.0, 2.0]


def test_gradients_pass_by_what_may_raise():
    @static
    def function(x):
        check(x)
        return (x * x).sum()

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    function(x).backward()
    assert x.grad.tolist() == [2.0, 4.0]


@alike((P,), (N,))
def test_an_exception_that_python_alone_raises_is_caught(x):
    try:
        {}["missing"]
    except KeyError:
        x = x + 1.0
    else:
        x = x * 100.0
    finally:
        x = x * 2.0
    try:
        if x.sum() > 0.0:
            x = x - 1.0
        raise ValueError(3)
    except ValueError as error:
        x = x + error.args[0]
    return x


def caught_outside(x):
    try:
        check(x, 0.0)
    except Exception:
        x = x * 2.0
    return x


def value_or_default(x):
    try:
        scale = len(str(x.tolist()))
    except:  # noqa: E722
        scale = 100
    return x * scale


@pytest.mark.parametrize("function", [caught_outside, value_or_default])
def test_a_handler_catches_no_refusal(function):
    pieces = paddle.jit.to_static(function, full_graph=False)
    for x in (paddle.ones([2]), -paddle.ones([2])):
        if not pieces.broken:
            with pytest.warns(UserWarning, match="is no one Program"):
                pieces(x)
        assert pieces(x).tolist() == function(x).tolist()
    with pytest.raises((TooLarge, ArgumentTypeError)):
        static(function)(paddle.ones([2]))


def test_a_law_that_eager_mode_knows_is_caught():
    @static
    def function(x):
        try:
            return x.reshape([7])
        except ValueError:
            return x * 3.0

    assert function(paddle.ones([2])).tolist() == [3.0, 3.0]


@alike((P,), (N,))
def test_a_case_with_a_guard_on_a_tensor(x):
    for word in ("first", "second", "third", 4):
        match word:
            case "third":
                x = x * 5.0
            case "first" if x.sum() > 0.0:
                x = x * 2.0
            case "first":
                x = x * 3.0
            case str(other) if x.max() > 1.0 and len(other) > 3:
                x = x + len(other)
            case int(n) if n > 3:
                x = x - n
            case _:
                x = x - 1.0
    return x


@alike((P,), (N,))
def test_a_case_with_a_guard_leaves_a_loop(x):
    for step in range(5):
        match step:
            case 3:
                break
            case 1 if x.sum() > 3.0:
                return x
            case n if x.min() < -1.0:
                x = x + n
                continue
        x = x * 2.0
    return x
