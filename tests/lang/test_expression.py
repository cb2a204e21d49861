"""Nodes, their dtypes and what may not be mixed."""

import pytest

from scull import lang
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from scull.lang import Array, Axis, Constant, axis, bitcast, cast, constant

x = Array("x", (3, 4), "float32")
n = Array("n", (3, 4), "int32")
i, j = axis(3), axis(4)


def test_an_equal_expression_is_the_same_object():
    assert x[i, j] * 2.0 + 1.0 is x[i, j] * 2 + 1
    assert lang.sum(x[i, j], over=j) is lang.sum(x[i, j], over=(j,))
    assert x[i, j] * 2.0 is not x[i, j] * 3.0


def test_zeros_of_both_signs_are_different_constants():
    assert constant(0.0, "float32") is not constant(-0.0, "float32")
    assert constant(float("nan"), "float32") is constant(float("nan"), "float32")


def test_two_axes_of_one_size_are_different():
    assert axis(3) is not axis(3)
    assert x[axis(3), j] is not x[axis(3), j]


def test_an_expression_knows_the_axes_it_varies_with():
    assert x[i, j].free == {i, j}
    assert lang.sum(x[i, j], over=j).free == {i}
    assert constant(1.0, "float32").free == frozenset()


def test_a_number_takes_the_dtype_of_its_neighbour():
    third = x[i, j] + 1 / 3
    assert third.dtype == "float32"
    assert third.operands[1].value == 0.3333333432674408
    assert (n[i, j] + 1).operands[1].dtype == "int32"


@pytest.mark.parametrize(
    ("value", "dtype", "kept"),
    [
        (0.1, "float16", 0.0999755859375),
        (0.1, "bfloat16", 0.10009765625),
        (1e39, "float32", float("inf")),
        (1 + 2**-8 + 2**-40, "bfloat16", 1.0078125),
        (1 + 2**-8, "bfloat16", 1.0),
        (3, "float64", 3.0),
    ],
)
def test_a_constant_is_rounded_once_to_its_dtype(value, dtype, kept):
    assert constant(value, dtype).value == kept


def test_dtypes_are_never_mixed():
    with pytest.raises(DtypeError, match="add of float32 and int32: `cast` one of them"):
        x[i, j] + n[i, j]
    with pytest.raises(DtypeError, match=r"0\.5 is no int32"):
        n[i, j] * 0.5
    with pytest.raises(DtypeError, match="True is a bool"):
        n[i, j] + True
    with pytest.raises(DtypeError, match="select chooses by a bool, not by int32"):
        lang.select(n[i, j], x[i, j], x[i, j])


def test_each_operation_names_the_kinds_it_takes():
    with pytest.raises(DtypeError, match="divide takes float operands, not int32"):
        n[i, j] / 2
    with pytest.raises(DtypeError, match="and takes bool or integer operands, not float32"):
        x[i, j] & x[i, j]
    with pytest.raises(DtypeError, match="multiply_high takes uint32 or uint64, not int32"):
        lang.multiply_high(n[i, j], n[i, j])
    with pytest.raises(DtypeError, match="any takes bool elements"):
        lang.any(x[i, j], over=j)
    with pytest.raises(DtypeError, match="the loop language has no `complex64`"):
        cast(x[i, j], "complex64")


def test_a_number_outside_its_dtype_is_refused():
    with pytest.raises(ArgumentError, match="300 is outside uint8"):
        constant(300, "uint8")


def test_an_expression_is_neither_true_nor_false():
    with pytest.raises(ArgumentTypeError, match="write `&`"):
        0 <= i < 3  # noqa: B015


def test_two_numbers_make_no_expression():
    with pytest.raises(ArgumentTypeError, match="one of the operands has to be an expression"):
        lang.maximum(1.0, 2.0)


def test_an_index_is_an_integer_for_each_axis():
    with pytest.raises(ShapeError, match="`x` has 2 axes and the index 1"):
        x[i]
    with pytest.raises(DtypeError, match="an index is an integer, not float32"):
        x[i, x[i, j]]
    assert x[i, n[i, j]].operands[1] is cast(n[i, j], "int64")


def test_positions_with_constants_are_made_short():
    assert i + 0 is i
    assert i * 1 is i
    assert (i * 0) is constant(0, "int64")
    assert isinstance(constant(3, "int8") * 100, Constant)
    assert (constant(3, "int8") * 100).value == 44
    assert x[i, j] + 0 is not x[i, j]  # -0 + 0 is 0


def test_bits_are_read_only_at_the_same_size():
    assert bitcast(x[i, j], "int32").dtype == "int32"
    with pytest.raises(DtypeError, match="the bits of float32 are no int64"):
        bitcast(x[i, j], "int64")


def test_strides_are_those_of_rows():
    assert Array("a", (2, 3, 4), "int8").strides == (12, 4, 1)
    assert Array("a", (), "int8").strides == ()
    assert Array("a", (5,), "int8").strides == (1,)


def test_broadcasting_aligns_the_last_axes_and_reads_size_1_at_0():
    wide = Array("wide", (4, 1), "float32")
    assert lang.at(wide, (axis(2), j, i)) is wide[j, 0]
    assert lang.at(Array("one", (), "float32"), (i, j)).operands == ()
    with pytest.raises(ShapeError, match="`x` has 2 axes, more than the 1"):
        lang.at(x, (i,))


def test_an_empty_maximum_has_no_position():
    with pytest.raises(ArgumentError, match="argmax over an axis without elements"):
        lang.argmax(Array("e", (0,), "float32")[axis(0)], over=Axis("int64", (), 0, -1))


def test_an_axis_is_reduced_once():
    with pytest.raises(ArgumentError, match="an axis is reduced twice"):
        lang.sum(x[i, j], over=(j, j))
