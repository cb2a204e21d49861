"""What a converted function shares with the one it was made of, and what is left as it is."""

import gc
import inspect
import math
import sys
import types
import weakref

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from scull.jit import convert
from scull.jit.convert import converted, ignore_module, leave, set_code_level, set_verbosity, text
from scull.jit.convert.function import known
from tests.jit.convert.ways import recorded

ONES = np.ones(2, "float32")
OFFSET = 1


def shifted(x, by=2, *, twice: bool = False):
    """Shift."""
    if twice:
        by = by * 2
    return x + by + OFFSET


def test_name_signature_defaults_and_docstring_stay():
    made = converted(shifted)
    assert made is not shifted
    assert (made.__name__, made.__qualname__, made.__doc__) == ("shifted", "shifted", "Shift.")
    assert inspect.signature(made) == inspect.signature(shifted)
    assert (made(1), made(1, 3), made(1, twice=True)) == (4, 5, 6)


def test_globals_are_those_of_the_module(monkeypatch):
    made = converted(shifted)
    monkeypatch.setattr(sys.modules[__name__], "OFFSET", 10)
    assert made(1) == 13


def test_cells_are_shared_both_ways():
    count = 0

    def step():
        nonlocal count
        if count is not None:
            count += 1
        return count

    made = converted(step)
    assert (made(), step(), made(), count) == (1, 2, 3, 3)


def test_a_converted_function_is_not_converted_again():
    made = converted(shifted)
    assert converted(made) is made


def test_the_code_is_made_once():
    assert converted(shifted).__code__ is converted(shifted).__code__


def test_what_was_made_goes_with_the_code():
    space = {}
    source = "def temporary(x):\n    if x:\n        return 1\n    return 2\n"
    with pytest.warns(UserWarning, match="`temporary` runs as it is: the source"):
        exec(compile(source, "<nowhere>", "exec"), space)
        converted(space["temporary"])
    gone = weakref.ref(space["temporary"].__code__)
    key = id(space["temporary"].__code__)
    assert key in known
    space.clear()
    gc.collect()
    assert gone() is None and key not in known


def test_a_missing_source_is_told_once(recwarn):
    space = {"__name__": "elsewhere"}
    exec("def plain(x):\n    return x if x else 0\n", space)
    assert converted(space["plain"]) is space["plain"]
    assert converted(space["plain"]) is space["plain"]
    assert len(recwarn) == 1


def test_lambdas_in_one_line_are_told_apart():
    first, second = (lambda x: 1 if x else 2), (lambda x: 3 if x else 4)
    assert [converted(f)(0) for f in (first, second)] == [2, 4]
    nested = lambda x: lambda y: (x, y) if y else x  # noqa: E731
    assert converted(nested)(1)(2) == (1, 2)
    assert converted(nested(1))(0) == 1


def test_what_needs_nothing_is_returned_itself():
    def plain(x):
        return x + 1

    assert converted(plain) is plain


def test_library_functions_are_left():
    for function in (np.mean, math.sqrt, paddle.add, inspect.signature, print, paddle.nn.Linear):
        assert converted(function) is function


def test_a_left_function_is_left():
    @leave
    def plain(x):
        return 1 if x else 2

    class Kind:
        def method(self, x):
            return 1 if x else 2

    assert converted(plain) is plain
    leave(Kind().method)
    assert converted(Kind.method) is Kind.method


def test_an_ignored_module_is_left(monkeypatch):
    monkeypatch.setattr(convert.convertible, "IGNORED", [])
    assert converted(shifted) is not shifted
    ignore_module([sys.modules[__name__]])
    assert converted(shifted) is shifted


def test_coroutines_are_left():
    async def waiting(x):
        return 1 if x else 2

    assert converted(waiting) is waiting


def test_the_function_within_a_librarys_decorator_is_converted():
    @paddle.no_grad()
    def chosen(x):
        if x.sum() > 0:
            return x * 2
        return x

    results, _, _ = recorded(converted(chosen), [ONES])
    np.testing.assert_array_equal(results[0], ONES * 2)


def test_the_text_is_the_converted_source():
    assert text(shifted).startswith("def shifted(x, by=2, *, twice=False):")
    assert "_jst.if_else(twice, then_1, None, ('by',))" in text(shifted)
    compile(text(shifted), "<text>", "exec")


def test_a_method_is_converted_by_its_function():
    class Kind:
        def __init__(self):
            self.__secret = 3

        def method(self, x):
            if x:
                self.__secret += 1
            return self.__secret

    kind = Kind()
    assert types.MethodType(converted(Kind.method), kind)(True) == 4
    assert "self._Kind__secret" in text(kind.method)


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


class Node:
    def __init__(self, depth):
        self.below = Node(depth - 1) if depth else None

    def depth(self):
        if self.below is None:
            return 0
        return 1 + Node.depth(self.below)


def test_functions_and_classes_know_themselves_by_name():
    assert converted(factorial)(5) == 120
    assert converted(Node.depth)(Node(3)) == 3


def test_levels_print_what_is_converted(capsys):
    def first(x):
        return 1 if x else 2

    def second(x):
        return 1 if x else 2

    set_verbosity(1, also_to_stdout=True)
    set_code_level(100)
    try:
        converted(first)
    finally:
        set_verbosity(None, None)
        set_code_level(None, None)
    converted(second)
    printed = capsys.readouterr()
    assert "converted `" in printed.err and "_jst.if_expression" in printed.err
    assert "first" in printed.err and "second" not in printed.err
    assert "converted `" in printed.out and "_jst.if_expression" not in printed.out


def test_levels_are_integers():
    with pytest.raises(ArgumentTypeError, match="not an integer"):
        set_verbosity("high")
    with pytest.raises(ArgumentTypeError, match="also_to_stdout"):
        set_code_level(1, also_to_stdout=1)


def test_printing_a_tensor_prints_it_when_the_program_runs(capfd):
    def shown(x):
        print("value:", x)
        return x

    recorded(converted(shown), [ONES])
    out = capfd.readouterr().out
    assert "value:" in out and "data: [1 1]" in out


def test_code_can_ask_whether_it_is_recorded():
    asked = []

    @paddle.jit.to_static
    def asking(x):
        asked.append(paddle.base.dygraph.base.in_to_static_mode())
        return x

    asking(paddle.ones([2]))
    assert asked == [True] and not paddle.base.dygraph.base.in_to_static_mode()
