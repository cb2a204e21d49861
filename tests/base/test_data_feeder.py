"""Checks of arguments, and batches made of samples."""

import numpy as np
import pytest

from scull.base import create_lod_tensor, create_random_int_lodtensor, default_scope_funcs
from scull.base.data_feeder import (
    DataFeeder,
    check_dtype,
    check_shape,
    check_type,
    check_variable_and_dtype,
    convert_dtype,
)
from scull.core.dtype import bfloat16, float32
from scull.core.place import CPUPlace
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import Program, program_guard
from scull.ir.variable import Variable
from scull.static import data


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (float32, "float32"),
        ("int64", "int64"),
        (np.int8, "int8"),
        (np.dtype("float16"), "float16"),
        (bool, "bool"),
        (bfloat16, "uint16"),
        ("bfloat16", "uint16"),
    ],
)
def test_an_element_type_has_the_name_arrays_carry_it_by(given, name):
    assert convert_dtype(given) == name


@pytest.mark.parametrize("given", ["foo", 3, int, float, None])
def test_what_is_no_element_type_is_refused(given):
    with pytest.raises(ArgumentTypeError, match="dtype must be any of"):
        convert_dtype(given)


def test_a_wrong_type_is_named_with_its_place():
    with pytest.raises(TypeError, match=r"The type of 'x' in op must be <class 'str'>, but rece"):
        check_type(3, "x", str, "op", "because")


def test_a_tensor_goes_for_a_variable():
    check_type(Tensor(np.ones(1)), "x", Variable, "op")
    check_variable_and_dtype(Tensor(np.ones(1, "int32")), "x", ["int32"], "op")


def test_a_wrong_element_type_is_named_with_its_place():
    message = r"The data type of 'x' in op must be \['int32'\], but received int8\. m"
    with pytest.raises(TypeError, match=message):
        check_dtype("int8", "x", ["int32"], "op", "m")


def test_a_shape_holds_integers():
    check_shape([2, 3], "op")
    with pytest.raises(TypeError, match="The type of 'element of shape' in op must be"):
        check_shape([2, 3.0], "op")
    with pytest.raises(TypeError, match="The type of 'shape' in op must be"):
        check_shape(3, "op")


def test_a_feeder_stacks_the_fields_of_samples():
    with program_guard(Program()):
        image, label = data("image", [None, 2, 2], "float32"), data("label", [None, 1], "int64")
        feeder = DataFeeder([image, "label"], CPUPlace(), image.block.program)
    fed = feeder.feed([([0, 1, 2, 3], 7), ([4, 5, 6, 7], 8)])
    image = np.array(fed["image"])
    assert image.shape == (2, 2, 2) and image.dtype == np.float32
    assert np.array(fed["label"]).tolist() == [[7], [8]]
    with pytest.raises(ArgumentError, match="number of fields"):
        feeder.feed([(1,)])
    with pytest.raises(ArgumentTypeError, match="list of variable"):
        DataFeeder([3], CPUPlace())
    with pytest.raises(ArgumentError, match=r"defined in data layer is \[-1, 1\]"):
        DataFeeder([label], CPUPlace()).feed([([1, 2],)])


def test_a_feeder_puts_sequences_end_to_end():
    with program_guard(Program()):
        words = data("words", [None, 1], "int64", lod_level=2)
    fed = DataFeeder([words], CPUPlace()).feed([([[1, 2, 3], [4, 5]],), ([[6, 7, 8, 9]],)])
    assert fed["words"].shape() == [9, 1]
    assert fed["words"].recursive_sequence_lengths() == [[2, 1], [3, 2, 4]]


def test_sequences_keep_their_lengths():
    made = create_lod_tensor(np.arange(6).reshape(6, 1), [[2, 4]], CPUPlace())
    assert made.shape() == [6, 1] and made.lod() == [[0, 2, 6]]
    assert made.recursive_sequence_lengths() == [[2, 4]]
    made = create_lod_tensor([[1, 2], [3]], [[2, 1]], CPUPlace())
    assert np.array(made).tolist() == [[1], [2], [3]]


def test_lengths_that_do_not_add_up_are_refused():
    with pytest.raises(ArgumentError, match=r"\[2, 3\] adds up to 5, not to 6"):
        create_lod_tensor(np.arange(6), [[2, 3]], CPUPlace())
    with pytest.raises(ArgumentError, match="do not match"):
        create_lod_tensor([[1, 2], [3]], [[1, 2]], CPUPlace())
    with pytest.raises(ArgumentTypeError, match="should be either"):
        create_lod_tensor(3, [[1]], CPUPlace())


def test_random_sequences_are_within_their_bounds():
    made = np.array(create_random_int_lodtensor([[2, 3]], [4], CPUPlace(), 1, 2))
    assert made.shape == (5, 4) and set(made.ravel().tolist()) <= {1, 2}


def test_a_local_scope_sees_the_one_around_and_is_forgotten():
    outer = default_scope_funcs.var("outer")

    def inside():
        default_scope_funcs.var("inner")
        assert default_scope_funcs.find_var("outer") is outer

    default_scope_funcs.scoped_function(inside)
    assert default_scope_funcs.find_var("inner") is None
