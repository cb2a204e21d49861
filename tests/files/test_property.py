"""Properties of saved models, as bytes and back."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull.errors import ArgumentError, FileError
from scull.files.property import properties_of, property_bytes

VALUES = {
    "Net.flag": 1,
    "Net.half": 0.5,
    "Net.ints": [1, -2],
    "Net.rates": [1.5, 2.5],
    "Net.word": "abc",
    "Net.words": ["x", "y"],
}
BYTES = (  # what PaddlePaddle 2.6.2 writes for them
    b"\n\x0e\n\x08Net.flag\x10\x02 \x01\n\x11\n\x08Net.half\x10\x01\x1d\x00\x00\x00?"
    b"\n\x19\n\x08Net.ints\x10\x07@\x01@\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    b"\n\x17\n\tNet.rates\x10\x06=\x00\x00\xc0?=\x00\x00 @"
    b"\n\x11\n\x08Net.word\x10\x03*\x03abc\n\x13\n\tNet.words\x10\x08J\x01xJ\x01y"
)


def test_properties_are_the_bytes_that_paddle_writes_and_come_back():
    assert property_bytes(VALUES) == BYTES
    assert properties_of(BYTES) == VALUES
    assert properties_of(b"") == {}


def test_a_truth_value_is_an_integer():
    assert properties_of(property_bytes({"flag": True, "flags": (False, True)})) == {
        "flag": 1,
        "flags": [0, 1],
    }


def test_numbers_may_be_packed():
    packed = b"\n\x0d\n\x01n\x10\x06\x3a\x08\x00\x00\xc0?\x00\x00 @"
    assert properties_of(packed[:1] + bytes([len(packed) - 2]) + packed[2:]) == {"n": [1.5, 2.5]}
    assert properties_of(b"\n\x09\n\x01n\x10\x07B\x02\x01\x03") == {"n": [1, 3]}


@pytest.mark.parametrize("value", [{}, [], None, [1, "a"], [1, 2.5], b"x", [[1]]])
def test_what_is_no_number_text_or_list_is_refused_by_its_name(value):
    with pytest.raises(ArgumentError, match=r"the property `Net\.it` is"):
        property_bytes({"Net.it": value})


@pytest.mark.parametrize(
    ("data", "law"),
    [
        (b"\n\x05\n\x01n", "cut off"),
        (b"\n\x05\n\x01n\x10\x05", "unknown kind 5"),
        (b"\n\x03\n\x01n", "unknown kind 0"),
        (b"\n\x05\n\x01n\x10\x01", "has no value"),
        (b"\x0b", "unknown layout 3"),
        (b"\n\x07\n\x03\xff\xff\xff\x10\x03", "no UTF-8"),
        (b"\xff", "cut off"),
    ],
)
def test_damaged_properties_are_file_errors(data, law):
    with pytest.raises(FileError, match=law):
        properties_of(data)


@given(st.binary(max_size=60))
def test_any_bytes_are_properties_or_a_file_error(data):
    with suppress(FileError):
        assert isinstance(properties_of(data), dict)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.integers(-(2**63), 2**63 - 1)
        | st.text(max_size=5)
        | st.floats(width=32, allow_nan=False)
        | st.lists(st.text(max_size=3), min_size=1, max_size=3),
        max_size=4,
    )
)
def test_every_property_comes_back(values):
    assert properties_of(property_bytes(values)) == values
