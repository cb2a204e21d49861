"""What cannot stand in a Program is refused in the user's line, with a rewrite where certain."""

import traceback

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError, ScullError
from scull.jit.convert import converted
from tests.jit.convert.ways import recorded

ONES = np.ones(2, "float32")


def other_kinds(x):
    if x.sum() > 0:
        y = x
    else:
        y = [x, x]
    return y


def other_texts(x):
    if x.sum() > 0:
        mode = "a"
    else:
        mode = "b"
    return mode


def growing_text(x):
    s = "a"
    while x.sum() < 3:
        s = s + "b"
        x = x + 1
    return s


def comprehension(x):
    return {n: v for n, v in enumerate([x]) if v.sum() > 0}


def generator(x):
    def found():
        if x.sum() > 0:
            yield x

    return list(found())


def several_conditions(x):
    if x > 0:
        return x
    return x * 2


def endless_recursion(x):
    if x.sum() > 0:
        return endless_recursion(x - 1)
    return x


def items_without_end(x):
    return {i for i in range(paddle.shape(x)[0])}


CASES = [
    (other_kinds, "`y` is float32[2] where the condition holds and list of 2 where it does not"),
    (other_texts, "`mode` is str 'a' where the condition holds and str 'b' where it does not"),
    (growing_text, "`s` is str 'a' before the loop and str 'ab' after a round"),
    (comprehension, "a Tensor decides in a comprehension or a generator"),
    (comprehension, "write a function with `for` and `if` statements that fills a list"),
    (generator, "a Tensor decides in a comprehension or a generator"),
    (several_conditions, "is bool[2]"),
    (several_conditions, "use paddle.all or paddle.any"),
    (endless_recursion, "a function calls itself where a Tensor decides"),
    (items_without_end, "how many items there are is known only when the Program runs"),
]


@pytest.mark.parametrize(("function", "said"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_what_cannot_be_recorded_says_why(function, said):
    with pytest.raises(ScullError) as caught:
        recorded(converted(function), [ONES])
    assert isinstance(caught.value, ArgumentTypeError)
    assert said in str(caught.value)


@pytest.mark.parametrize("function", [other_kinds, growing_text, comprehension])
def test_the_error_names_the_line_of_the_user(function):
    with pytest.raises(ScullError) as caught:
        recorded(converted(function), [ONES])
    first = function.__code__.co_firstlineno
    lines = range(first, first + 5)
    assert any(f"{__file__}:{line}" in str(caught.value) for line in lines)


def test_a_traceback_has_the_lines_of_the_user_and_marks_them():
    def broken(x):
        for _ in range(2):
            if x.sum() > 0:
                x = x.reshape([7])
        return x

    with pytest.raises(ScullError) as caught:
        recorded(converted(broken), [ONES])
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [f for f in frames if f.name == "broken"]
    assert {f.filename for f in own} == {__file__}
    assert own[-1].line == "x = x.reshape([7])"
    assert own[-1].line[own[-1].colno - 16 : own[-1].end_colno - 16] == "x.reshape([7])"


def test_an_exception_in_a_branch_is_told_with_a_note():
    def guarded(x):
        return {}["missing"] if x.sum() > 100 else x

    with pytest.raises(KeyError, match="missing") as caught:
        recorded(converted(guarded), [ONES])
    assert "both branches run" in caught.value.__notes__[0]
    assert f"{__file__}:" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "ask", ["{:.2f}".format, round, complex, float], ids=["format", "round", "complex", "float"]
)
def test_a_number_of_python_is_refused_by_its_law(ask):
    @paddle.jit.not_to_static
    def asked(x):
        return ask(x)

    with pytest.raises(ScullError, match="known only when the Program runs"):
        recorded(lambda x: asked(x.sum()), [ONES])


def test_an_assertion_is_checked_when_the_program_runs():
    def checked(x):
        assert x.sum() < 1, "too large"
        return x

    with pytest.raises(AssertionError, match="too large"):
        converted(checked)(paddle.to_tensor(ONES))
    with pytest.raises(AssertionError, match="too large:\n  bool"):
        recorded(converted(checked), [ONES])


@pytest.mark.parametrize(("message", "said"), [(lambda x: x * 2, "float32"), (lambda x: 7, "7:")])
def test_the_message_of_an_assertion_may_be_no_text(message, said):
    def checked(x):
        assert x.sum() < 1, message(x)
        return x

    with pytest.raises(AssertionError, match=said):
        recorded(converted(checked), [ONES])


def test_a_name_without_a_value_is_pythons_error():
    def unset(x):
        if x is None:
            y = x
        return y

    with pytest.raises(NameError, match="y"):
        converted(unset)(paddle.to_tensor(ONES))
