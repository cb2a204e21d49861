"""Two Programs are the same graph, or what differs is said."""

import pytest

import scull as paddle
from scull.passes.isomorphism import isomorphic


def recorded(make, *shapes):
    """A Program of `make`, the names of its inputs and of its results."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            inputs = [paddle.static.data(f"x{len(s)}", s, "float32") for s in shapes]
            found = make(*inputs)
    finally:
        paddle.disable_static()
    results = found if isinstance(found, tuple) else (found,)
    return main, [v.name for v in inputs], [v.name for v in results]


def differences(first, second, *shapes):
    """What is said of the Programs of two functions."""
    (a, *edges), (b, *others) = recorded(first, *shapes), recorded(second, *shapes)
    return isomorphic(a, b, tuple(edges), tuple(others)).differences


def chosen(swapped):
    """A branch, its condition written one way or the other."""

    def make(x):
        holds = x.sum() > 0.0
        if swapped:
            denied = paddle.logical_not(holds)
            return paddle.static.nn.cond(denied, lambda: x - 1.0, lambda: x * 2.0)
        return paddle.static.nn.cond(holds, lambda: x * 2.0, lambda: x - 1.0)

    return make


def looped(copied):
    """A loop, its first values copied before it or not."""

    def make(x):
        i = paddle.full([1], 0, "int64")
        first = [paddle.assign(i), paddle.assign(x)] if copied else [i, x + 0.0]
        return paddle.static.nn.while_loop(
            lambda i, x: i < 3, lambda i, x: [i + 1, x * 2.0], first
        )[1]

    return make


def test_the_order_of_what_is_independent_does_not_matter():
    def one(x):
        a = x * 2.0
        b = x + 1.0
        return a - b

    def other(x):
        b = x + 1.0
        a = x * 2.0
        return a - b

    assert differences(one, other, [3]) == []


def test_a_condition_may_be_denied_when_the_branches_are_swapped():
    assert differences(chosen(False), chosen(True), [3]) == []


def test_what_nobody_reads_does_not_count():
    def other(x):
        paddle.exp(x)
        return x * 2.0

    assert differences(lambda x: x * 2.0, other, [3]) == []


@pytest.mark.parametrize(
    ("first", "second", "law"),
    [
        (lambda x: x * 2.0, lambda x: x * 3.0, "scale is 2.0 and 3.0"),
        (lambda x: x + 0.0, lambda x: x - 0.0, "bias is 0.0 and -0.0"),
        (lambda x: x + x, lambda x: x * x, "`elementwise_add` and `elementwise_mul`"),
        (lambda x: paddle.exp(x), lambda x: x + 1.0, "`exp` and `scale`"),
        (lambda x: (x + 1.0, x * 2.0), lambda x: x + 1.0, "results: 2 and 1"),
        (looped(False), chosen(False), "a value of a loop and a result of branches"),
        (chosen(False), lambda x: x * 2.0, "a result of branches and a result of `scale`"),
        (
            lambda x: paddle.rand([3]) + x,
            lambda x: paddle.rand([3]) + paddle.rand([3]) * 0.0 + x,
            "1 and 2 operators that draw or act",
        ),
    ],
)
def test_what_differs_is_said(first, second, law):
    assert any(law in line for line in differences(first, second, [3]))


def test_operands_keep_their_places():
    assert differences(lambda x, y: x - y, lambda x, y: y - x, [3], [2, 3])


def test_a_name_may_be_another_and_is_told():
    first, second = recorded(lambda x: x * 2.0, [3]), recorded(lambda x: x * 2.0, [2, 3])
    found = isomorphic(first[0], second[0], first[1:], second[1:])
    assert found and found.names() == {"x1": "x2"}
