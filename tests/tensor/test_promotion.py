"""The element type of `x op y` for every pair of types and for numbers, as in the reference."""

import json
import operator
from pathlib import Path

import numpy as np
import pytest

import scull as paddle

FACTS = json.loads(
    (Path(__file__).parents[1] / "data/reference/eager.json").read_text(encoding="utf-8")
)
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DTYPES = FACTS["promotion: dtypes"]
NUMBERS = dict(zip(("bool", "int", "float"), (True, 3, 2.5), strict=True))


def rows(pattern):
    """The recorded results of each operator; a number in place of a type is an error there."""
    for sign in OPERATORS:
        found = FACTS["promotion: " + pattern.format(sign)]
        yield pytest.param(sign, found, id=sign)


def dtype_of(sign, left, right):
    """The element type of the result, by its name."""
    return OPERATORS[sign](left, right).dtype.name


@pytest.mark.parametrize(("sign", "table"), list(rows("tensor {} tensor")))
def test_two_tensors_meet_at_the_type_of_the_reference(sign, table):
    tensors = {name: paddle.to_tensor([2], dtype=name) for name in DTYPES}
    wrong = {
        (left, right): expected
        for left, row in table.items()
        for right, expected in zip(DTYPES, row, strict=True)
        if isinstance(expected, str) and dtype_of(sign, tensors[left], tensors[right]) != expected
    }
    assert wrong == {}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("sign", OPERATORS)
def test_a_number_beside_a_tensor_gives_the_type_of_the_reference(sign, kind):
    number = NUMBERS[kind]
    for pattern, reverse in ((f"tensor {sign} {kind}", False), (f"{kind} {sign} tensor", True)):
        row = FACTS["promotion: " + pattern]
        for name, expected in zip(DTYPES, row, strict=True):
            if isinstance(expected, str) and (sign, name) != ("-", "bool"):  # NumPy refuses it
                x = paddle.to_tensor([2], dtype=name)
                pair = (number, x) if reverse else (x, number)
                assert (name, dtype_of(sign, *pair)) == (name, expected)


def test_whole_numbers_beside_a_fraction_are_float32_whatever_the_default():
    paddle.set_default_dtype("float64")
    try:
        assert (paddle.to_tensor([1]) + 1.5).dtype == paddle.float32
    finally:
        paddle.set_default_dtype("float32")


def test_a_tensor_decides_beside_an_array_on_either_side():
    x = paddle.to_tensor([0.5, 1.5])
    for found in (np.array([2, 2]) * x, x * np.array([2, 2])):
        assert (found.dtype, found.tolist()) == (paddle.float32, [1.0, 3.0])
    assert (np.array([3.0, 6.0]) / x).dtype == paddle.float32
    assert (np.array([3, 6]) - x).tolist() == [2.5, 4.5]


def test_a_whole_number_over_a_complex_one_is_complex():
    found = paddle.divide(paddle.to_tensor([1]), paddle.to_tensor([2j]))
    assert (found.dtype, found.tolist()) == (paddle.complex64, [-0.5j])


def test_types_of_python_are_as_wide_as_those_of_numpy():
    assert paddle.zeros([1], dtype=float).dtype == paddle.float64
    x = paddle.ones([1])
    found = [x.astype(kind).dtype for kind in (float, int, bool, complex)]
    assert found == [paddle.float64, paddle.int64, paddle.bool, paddle.complex128]


def test_a_complex_number_makes_real_tensors_complex():
    assert (paddle.ones([1]) + 1j).tolist() == [1 + 1j]
    assert (paddle.ones([1], "float64") * 1j).dtype is paddle.complex128


def test_a_number_that_is_compared_is_not_rounded_to_the_tensor():
    assert (paddle.to_tensor([1]) < 1.5).item()
    assert not (paddle.to_tensor([1]) < paddle.to_tensor([1.5])).item()


def test_gradients_come_back_in_the_type_of_each_operand():
    x = paddle.to_tensor([1.0], dtype="float32", stop_gradient=False)
    y = paddle.to_tensor([2.0], dtype="float64", stop_gradient=False)
    (x * y).backward()
    assert (x.grad.dtype, y.grad.dtype) == (paddle.float32, paddle.float64)


def test_what_is_neither_tensor_nor_number_is_refused():
    for other in (None, [1.0], object()):
        with pytest.raises(ValueError, match="an operand must be int, float, bool or Tensor"):
            paddle.ones([1]) + other
