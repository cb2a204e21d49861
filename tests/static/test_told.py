"""Attributes that Variables hold: printed, run, differentiated, copied and saved."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError, ShapeError
from scull.files.program import bytes_of, program_of

X = np.arange(24, dtype="float32").reshape(2, 3, 4) % 7


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield
    paddle.disable_static()


def one():
    """A Variable that holds the axis 1."""
    return paddle.full([1], 1, "int32")


CALLS = [
    (lambda x: paddle.max(x, one()), X, X.max(1)),
    (lambda x: paddle.min(x, one(), keepdim=True), X, X.min(1, keepdims=True)),
    (lambda x: paddle.sum(x, [one(), 0]), X, X.sum((0, 1))),
    (lambda x: paddle.mean(x, one()), X, X.mean(1)),
    (lambda x: paddle.prod(x, paddle.assign(np.array([0, -1]))), X, X.prod((0, 2))),
    (lambda x: paddle.cumsum(x, one()), X, X.cumsum(1)),
    (lambda x: paddle.squeeze(x, [one()]), X[:, :1], X[:, 0]),
    (lambda x: paddle.unsqueeze(x, one()), X, X[:, None]),
    (lambda x: paddle.unsqueeze(x, [one(), 0]), X, X[None, :, None]),
    (lambda x: paddle.split(x, 3, one())[1], X, X[:, 1:2]),
    (lambda x: paddle.argmax(x, one()), X, X.argmax(1)),
    (lambda x: x + paddle.uniform([2, 3, 1], min=one(), max=one()), X, X + 1),
]


@pytest.mark.parametrize(("function", "given", "expected"), CALLS)
def test_an_axis_that_a_variable_holds_is_read_when_run(function, given, expected):
    x = paddle.static.data("x", list(given.shape))
    x.stop_gradient = False
    y = function(x)
    fetched = [y.name]
    if not y.dtype.is_integer:
        fetched += [v.name for v in paddle.static.gradients([y], [x])]
    program = paddle.static.default_main_program()
    first = None
    for each in (program, program.clone(), program_of(bytes_of(program))):
        found = paddle.static.Executor().run(each, feed={"x": given}, fetch_list=fetched)
        np.testing.assert_allclose(found[0], expected, rtol=1e-6)
        first = first or found
        for a, b in zip(found, first, strict=True):
            np.testing.assert_array_equal(a, b)
    assert all(g.shape == given.shape for g in first[1:])


def test_a_program_says_which_variables_hold_an_attribute():
    x = paddle.static.data("x", [2, 3, 4])
    a, b = one(), one()
    paddle.max(x, a)
    paddle.max(x, [a, b])
    made = [o for o in paddle.static.default_main_program().global_block().ops if "max" in o.type]
    assert f"dim = Var['{a.name}']" in str(made[0])
    assert f"dim = Vars['{a.name}','{b.name}']" in str(made[1])
    assert [o.attr_type("dim").name for o in made] == ["VAR", "VARS"]
    assert made[0].operands() == [x, a]


def test_what_no_variable_can_hold_is_refused():
    x = paddle.static.data("x", [2, 3])
    law = "`keepdim` of `reduce_max` is no Variable's to hold"
    with pytest.raises(ArgumentTypeError, match=law):
        paddle.max(x, 0, keepdim=[one()])
    unknown = paddle.static.data("axes", [-1], "int32")
    with pytest.raises(ShapeError, match="has itself an unknown size"):
        paddle.max(x, unknown)
