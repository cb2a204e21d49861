"""A value that is None in one branch, or before a loop, and a Tensor elsewhere."""

import warnings

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]
NOTED = "Set var to 'None' in ifelse block might lead to error."


def in_branch(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = None
    return y


def returned(x):
    if x.sum() > 0:
        return x * 2
    return None


def one_of_two(x):
    if x.sum() > 0:
        return x, None
    return x, x * 2


def pair_or_nothing(x):
    found = None
    if x.sum() > 0:
        found = (x * 2, x * 3)
    return found


def never_read(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = None  # noqa: F841
    return x


def first_round_apart(x):
    h = None
    i = paddle.zeros([], "int64")
    while i < 3:
        h = x if h is None else h * x
        i = i + 1
    return h


def cache_of_a_walk(x):
    cache = None
    for i in range(paddle.to_tensor(3)):
        cache = (x, x * i) if cache is None else (cache[0] + x, cache[1] * x)
    return cache


def told(function, x):
    """What a function gives as one Program, and its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(x))
    return result, [str(w.message) for w in found if NOTED in str(w.message)]


@pytest.mark.parametrize("function", [in_branch, returned, pair_or_nothing])
def test_where_one_branch_leaves_none_a_program_has_zeros_and_a_warning_says_so(function):
    result, notes = told(function, UP)
    wanted = function(paddle.to_tensor(UP))
    first, second = (v if isinstance(v, tuple) else (v,) for v in (result, wanted))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    nothing, _ = told(function, DOWN)
    for v in nothing if isinstance(nothing, tuple) else (nothing,):
        assert v.tolist() == [0.0, 0.0]
    assert "and None where it does not" in notes[0] or "is None where" in notes[0]
    assert f"{__file__}:" in notes[0]


def test_the_same_holds_of_a_part_of_what_is_returned():
    assert [v.tolist() for v in told(one_of_two, UP)[0]] == [UP, [0.0, 0.0]]
    assert [v.tolist() for v in told(one_of_two, DOWN)[0]] == [DOWN, [-2.0, -4.0]]


def test_a_name_that_nobody_reads_later_is_told_too():
    result, notes = told(never_read, DOWN)
    assert result.tolist() == DOWN
    assert len(notes) == 1


@pytest.mark.parametrize("function", [in_branch, returned, pair_or_nothing, one_of_two])
def test_in_pieces_of_graph_none_is_none(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (UP, DOWN):
            wanted = function(paddle.to_tensor(x))
            found = paddle.jit.to_static(function, full_graph=False)(paddle.to_tensor(x))
            assert str(found) == str(wanted)


REASONS = {
    in_branch: "where the condition holds and None where it does not",
    returned: "where the condition holds and None where it does not",
    first_round_apart: "`h` is None before the loop and float32[2]",
}


@pytest.mark.parametrize("function", REASONS)
def test_the_report_of_pieces_says_where_none_stands_in_the_way(function):
    made = paddle.jit.to_static(function, full_graph=False)
    with pytest.warns(UserWarning, match="no one Program"):
        made(paddle.to_tensor(UP))
    assert REASONS[function] in made.report()


@pytest.mark.filterwarnings("ignore:.*might lead to error")
@pytest.mark.parametrize("function", [first_round_apart, cache_of_a_walk])
def test_a_first_round_that_finds_none_is_recorded_apart(function):
    x = paddle.to_tensor([3.0, 2.0], stop_gradient=False)
    y = paddle.to_tensor([3.0, 2.0], stop_gradient=False)
    found = paddle.jit.to_static(function, full_graph=True)(x)
    wanted = function(y)
    pairs = list(zip(*(v if isinstance(v, tuple) else (v,) for v in (found, wanted)), strict=True))
    for a, b in pairs:
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    sum([a.sum() for a, _ in pairs]).backward()
    sum([b.sum() for _, b in pairs]).backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)


def test_none_beside_a_text_is_refused():
    def function(x):
        return "a" if x.sum() > 0 else None

    with pytest.raises(ArgumentTypeError, match="and None where it does not"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(UP))


def test_cond_with_names_has_zeros_for_none_and_warns():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2])
            with pytest.warns(UserWarning, match="might lead to error"):
                found = paddle.static.nn.cond(
                    x.sum() > 0, lambda: [x, [x * 2]], lambda: [x, [None]], return_names=["a", "b"]
                )
            run = paddle.static.Executor().run
            assert run(feed={"x": np.float32(UP)}, fetch_list=found[1])[0].tolist() == [2.0, 4.0]
            assert run(feed={"x": np.float32(DOWN)}, fetch_list=found[1])[0].tolist() == [0.0, 0.0]
    finally:
        paddle.disable_static()
