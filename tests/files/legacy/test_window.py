"""Assignments to windows are read and written as Programs before Paddle 2.5 spell them."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import UnsupportedError
from scull.files import proto
from scull.files.legacy.table import modernised
from scull.files.legacy.window import LISTS, legacy
from scull.files.program import message_of, program_of
from scull.files.wire import attribute_value


def assigning(values, dtype):
    """A Program that puts `values` into a row of ones."""
    paddle.enable_static()
    program = static.Program()
    with static.program_guard(program):
        x = static.setitem(paddle.ones([2, 2], dtype), (0,), np.array(values, dtype))
    paddle.disable_static()
    return program, x.name


def attributes(message):
    (operator,) = [o for o in message.blocks[0].ops if o.type == "set_value"]
    return {a.name: a for a in operator.attrs}


@pytest.mark.parametrize(
    ("dtype", "values", "name"),
    [
        ("int32", [4, -5], "int64_values"),
        ("int64", [2**62, -(2**62)], "int64_values"),
        ("bool", [True, False], "bool_values"),
        ("float32", [0.5, -2.0], "fp64_values"),
        ("float64", [1e300, -0.1], "fp64_values"),
    ],
)
def test_values_go_to_the_list_of_their_type_and_come_back(dtype, values, name):
    program, fetched = assigning(values, dtype)
    now = attributes(message_of(program))
    assert "values" in now and not now.keys() & LISTS.keys()
    old = legacy(message_of(program))
    then = attributes(old)
    assert "values" not in then and LISTS.keys() <= then.keys()
    assert [n for n in LISTS if attribute_value(then[n])[1]] == [name]
    assert program._get_desc().serialize_to_string(legacy_format=True) == old.SerializeToString()
    loaded = program_of(old.SerializeToString())
    (found,) = static.Executor().run(loaded, fetch_list=[fetched])
    assert found.dtype == dtype and found[0].tolist() == values and found[1].tolist() == [1, 1]


def test_halves_and_singles_of_older_files_are_read():
    program, fetched = assigning([0.5, 2.0], "float32")
    message = legacy(message_of(program))
    then = attributes(message)
    del then["fp64_values"].float64s[:]
    then["fp32_values"].floats.extend([3.0, 4.0])
    loaded = program_of(message.SerializeToString())
    assert static.Executor().run(loaded, fetch_list=[fetched])[0][0].tolist() == [3.0, 4.0]


def test_complex_values_have_no_older_form():
    program, _ = assigning([1j, 2], "complex64")
    with pytest.raises(UnsupportedError, match="Invalid data type"):
        legacy(message_of(program))


def test_other_operators_are_left_alone():
    message = proto.ProgramDesc()
    operator = message.blocks.add(idx=0, parent_idx=-1).ops.add(type="scale")
    operator.attrs.add(name="fp32_values", type=proto.FLOATS)
    assert modernised(message) is message
