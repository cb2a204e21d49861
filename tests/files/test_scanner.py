"""What the scanner lets through, and what it says of the rest."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull.errors import FileError
from scull.files import varint, wire
from scull.files.scanner import LIMITS, Limits, scan

DATA = Path(__file__).parents[1] / "data" / "files"
PROGRAMS = sorted([*DATA.glob("*.program"), *DATA.glob("*.pdmodel")])
LINEAR = (DATA / "linear.pdmodel").read_bytes()


def counted(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return varint.encode(number << 3 | 2) + varint.encode(len(data)) + data


def number(field: int, value: int) -> bytes:
    """A field with an integer."""
    return varint.encode(field << 3) + varint.encode(value)


def block(*parts: bytes) -> bytes:
    """A Program of one block."""
    return counted(1, number(1, 0) + number(2, -1) + b"".join(parts))


def op(*parts: bytes) -> bytes:
    return counted(4, counted(3, b"relu") + b"".join(parts))


def variable(*dims: int) -> bytes:
    tensor = number(1, 5) + b"".join(number(2, size) for size in dims)
    return counted(3, counted(1, b"x") + counted(2, number(1, 7) + counted(3, counted(1, tensor))))


AXES = counted(1, b"axes") + number(2, 3) + counted(6, b"\x01" * 10)  # a packed list


def refused(data: bytes, law: str, limits: Limits = LIMITS) -> None:
    with pytest.raises(FileError, match=re.escape(law)):
        scan(data, limits)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_of_the_reference_passes_and_is_written_as_it_was(path):
    data = path.read_bytes()
    assert wire.write_program(wire.read_program(data)) == data


def test_unknown_fields_survive_a_round_trip():
    unknown = number(50, 7) + counted(51, b"text") + b"\x85\x04abcd" + b"\x81\x04abcdefgh"
    group = b"\x83\x04" + number(3, 1) + b"\x8b\x04\x8c\x04" + b"\x84\x04"
    data = block(variable(2, -1), op(unknown), group) + unknown
    assert wire.write_program(wire.read_program(data)) == data


def test_packed_numbers_are_read_as_single_ones_are():
    message = wire.read_program(block(op(counted(4, AXES))))
    assert list(message.blocks[0].ops[0].attrs[0].ints) == [1] * 10


def test_a_cut_name_is_told_with_its_byte_block_and_operator():
    data = block(op(), op())
    refused(data[:-2], "29 bytes are declared and 27 are left at byte 0")
    broken = block(op(), counted(4, counted(3, b"relu") + b"\x0a\x7f"))
    refused(broken, "127 bytes are declared and 0 are left at byte 31, block 0, operator 1")


@pytest.mark.parametrize(
    "data, law",
    [
        (b"\x0f", "no field has number 1 and wire type 7 at byte 0"),
        (b"\x00\x00", "no field has number 0 and wire type 0 at byte 0"),
        (b"\x80" * 9, "an integer is cut off at byte 0"),
        (b"\x80" * 20, "an integer is longer than ten bytes at byte 0"),
        (number(1, 5), "field 1 of ProgramDesc has wire type 0 at byte 0"),
        (b"\x83\x04", "group 64 has no end at byte 2"),
        (b"\x84\x04", "group 64 ends and was not open at byte 2"),
        (b"\x83\x04" * 33, "groups nest deeper than 32 at byte 66"),
        (b"\x85\x04a", "a number is cut off at byte 2"),
        (counted(1, number(1, 0)), "BlockDesc lacks parent_idx at byte 2, block 0"),
        (block(counted(4, b"")), "OpDesc lacks type at byte 17, block 0, operator 0"),
        (block(counted(4, counted(3, b"\xff"))), "`type` is not UTF-8 at byte 19"),
        (block(counted(3, counted(2, number(1, 99)))), "`type` is 99, which is unknown"),
    ],
)
def test_what_is_no_program_is_told_with_its_byte(data, law):
    refused(data, law)


@pytest.mark.parametrize(
    "limits, data, law",
    [
        ({"size": 10}, LINEAR, f"the file has {len(LINEAR)} bytes, 10 are allowed"),
        ({"fields": 100}, LINEAR, "there are more than 100 fields"),
        ({"messages": 20}, LINEAR, "there are more than 20 messages"),
        ({"blocks": 1}, block() + block(), "there are more than 1 blocks at byte 17, block 1"),
        ({"operators": 3}, LINEAR, "there are more than 3 operators"),
        ({"variables": 2}, LINEAR, "there are more than 2 variables"),
        ({"dims": 3}, block(variable(1, 2, 3, 4)), "a tensor has more than 3 dims"),
        ({"name": 3}, block(op()), "`type` has 4 bytes, 3 are allowed at byte 19"),
        ({"fields": 9}, block(op(counted(4, AXES))), "there are more than 10 fields"),
        ({"nesting": 0}, b"\x83\x04\x84\x04", "groups nest deeper than 0"),
    ],
)
def test_each_limit_holds(limits, data, law):
    scan(data)
    refused(data, law, Limits(**limits))


def test_a_text_attribute_may_be_longer_than_a_name():
    attribute = counted(1, b"code") + number(2, 2) + counted(5, b"x" * 20_000)
    scan(block(op(counted(4, attribute))))
    refused(block(op(counted(4, attribute))), "`s` has 20000 bytes", Limits(text=19_999))


def check(data: bytes) -> None:
    """The bytes give a Program that can be written and read again, or a typed error."""
    try:
        message = wire.read_program(data)
    except FileError:
        return
    again = wire.read_program(wire.write_program(message))
    assert again == message
    for operator in (operator for part in message.blocks for operator in part.ops):
        for attribute in operator.attrs:
            wire.attribute_value(attribute)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_program_or_a_typed_error(data):
    check(data)


@settings(max_examples=300)
@given(st.data())
def test_flipped_bits_give_a_program_or_a_typed_error(data):
    source = bytearray(data.draw(st.sampled_from(PROGRAMS)).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(source) - 1))
        source[position] ^= 1 << data.draw(st.integers(0, 7))
    check(bytes(source))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_truncated_program_is_a_program_or_a_typed_error(path):
    source = path.read_bytes()
    for size in range(0, len(source), max(1, len(source) // 100)):
        check(source[:size])


def test_a_cut_within_the_only_block_is_always_an_error():
    for size in range(1, len(LINEAR) - 60, 7):
        with pytest.raises(FileError, match="at byte"):
            scan(LINEAR[:size])
