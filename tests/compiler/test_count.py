"""Numbers that are known before anything runs."""

import pytest

from scull import lang
from scull.compiler.act import Demand
from scull.compiler.count import MOST, known
from scull.compiler.flow import Branch, Carry, Choice, Loop
from scull.compiler.trace import Statement
from scull.lang.body import Map
from scull.lang.expression import Array


def number(name, dtype="int64"):
    return Array(name, (1,), dtype)


def statement(name, value, dtype="int64"):
    out = number(name, dtype)
    value = value if not isinstance(value, int | bool) else lang.constant(value, dtype)
    return Statement(out, Map((lang.axis(1),), value), "test")


def counting(most):
    """Rounds as long as `i` is below a number; in odd ones `n` grows by two, else by one."""
    i, n, goes = number("i"), number("n"), number("goes", "bool")
    odd, grown = number("odd", "bool"), number("grown")
    branch = Branch(
        "test",
        odd,
        (Choice(grown, number("two"), number("one")),),
        (statement("two", n[0] + 2),),
        (statement("one", n[0] + 1),),
    )
    body = (
        statement("odd", lang.equal(i[0] % 2, 1), "bool"),
        Demand("test", odd),  # how a run ends is nobody's business here
        branch,
        statement("next", grown[0] * 1),
        statement("following", i[0] + 1),
        statement("more", i[0] + 1 < most, "bool"),
    )
    carries = (
        Carry(i, number("zero"), number("following")),
        Carry(n, number("zero"), number("next")),
        Carry(goes, number("first", "bool"), number("more", "bool")),
    )
    return [
        statement("zero", 0),
        statement("first", lang.constant(0, "int64") < most, "bool"),
        Loop("test", carries, body, condition=goes),
    ]


@pytest.mark.parametrize("most", [0, 1, 7])
def test_rounds_are_counted_with_what_branches_choose(most):
    assert known(counting(most), number("n")).item() == most + most // 2
    assert known(counting(most), number("i")).item() == most


def test_what_is_fed_is_not_known():
    fed = number("fed")
    assert known(counting(fed[0]), number("i")) is None
    assert known([*counting(3), statement("sum", number("i")[0] + fed[0])], number("sum")) is None
    assert known([*counting(3), statement("sum", fed[0] + 1)], number("i")).item() == 3


def test_a_loop_without_end_is_given_up():
    assert known(counting(MOST + 1), number("i")) is None


def test_large_arrays_are_not_looked_at():
    x = Array("x", (1000,), "int64")
    made = Statement(x, Map((lang.axis(1000),), lang.constant(1, "int64")), "test")
    assert known([made, statement("first", x[0])], number("first")) is None
