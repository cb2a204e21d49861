"""Programs as messages, and the values of their attributes."""

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull.errors import ArgumentError, ArgumentTypeError, FileError
from scull.files import proto, wire
from scull.files.wire import AttributeKind

DATA = Path(__file__).parents[1] / "data" / "files"


def float32(value: float) -> float:
    """The nearest number of 32 bits, as a file holds it."""
    message = proto.OpDesc.Attr(name="x", type=AttributeKind.FLOAT, f=value)
    return proto.OpDesc.Attr.FromString(message.SerializeToString()).f


def test_the_kinds_are_numbered_as_in_the_files():
    assert {kind.name: kind.value for kind in AttributeKind} == dict(proto.AttrType.items())


def test_every_kind_of_attribute_is_read_as_the_reference_wrote_it():
    expected = json.loads((DATA / "attributes.json").read_text(encoding="utf-8"))
    message = wire.read_program((DATA / "attributes.program").read_bytes())
    (op,) = message.blocks[0].ops
    assert {attribute.name for attribute in op.attrs} == set(expected)
    for attribute in op.attrs:
        kind, value = wire.attribute_value(attribute)
        name, wanted = expected[attribute.name]
        if name in ("FLOAT", "FLOATS"):
            wanted = float32(wanted) if name == "FLOAT" else [float32(item) for item in wanted]
        if attribute.name == "scalar_complex":
            wanted = complex(wanted)
        assert (kind.name, value) == (name, wanted)
        assert type(value) is type(wanted)


def test_every_kind_of_attribute_is_written_as_the_reference_wrote_it():
    message = wire.read_program((DATA / "attributes.program").read_bytes())
    for attribute in message.blocks[0].ops[0].attrs:
        again = proto.OpDesc.Attr()
        wire.set_attribute(again, attribute.name, *wire.attribute_value(attribute))
        assert again.SerializeToString() == attribute.SerializeToString()


def test_setting_an_attribute_forgets_its_value_before():
    attribute = proto.OpDesc.Attr()
    wire.set_attribute(attribute, "x", AttributeKind.INTS, [1, 2])
    wire.set_attribute(attribute, "x", AttributeKind.STRING, "text")
    assert wire.attribute_value(attribute) == (AttributeKind.STRING, "text")
    assert not attribute.ints


def test_an_attribute_of_a_variable_is_set_and_read():
    attribute = proto.VarDesc.Attr()
    wire.set_attribute(attribute, "axes", AttributeKind.INTS, [0, -1])
    assert wire.attribute_value(attribute) == (AttributeKind.INTS, [0, -1])


scalars = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
)
int32 = st.integers(-(1 << 31), (1 << 31) - 1)
values = {
    AttributeKind.INT: int32,
    AttributeKind.STRING: st.text(),
    AttributeKind.BOOLEAN: st.booleans(),
    AttributeKind.BLOCK: int32,
    AttributeKind.LONG: st.integers(-(1 << 63), (1 << 63) - 1),
    AttributeKind.VAR: st.text(),
    AttributeKind.FLOAT64: st.floats(allow_nan=False),
    AttributeKind.FLOAT: st.floats(width=32, allow_nan=False),
    AttributeKind.SCALAR: scalars,
}
LIST_OF = {
    AttributeKind.INTS: AttributeKind.INT,
    AttributeKind.STRINGS: AttributeKind.STRING,
    AttributeKind.BOOLEANS: AttributeKind.BOOLEAN,
    AttributeKind.BLOCKS: AttributeKind.BLOCK,
    AttributeKind.LONGS: AttributeKind.LONG,
    AttributeKind.VARS: AttributeKind.VAR,
    AttributeKind.FLOAT64S: AttributeKind.FLOAT64,
    AttributeKind.FLOATS: AttributeKind.FLOAT,
    AttributeKind.SCALARS: AttributeKind.SCALAR,
}


@pytest.mark.parametrize("kind", AttributeKind)
@given(data=st.data())
def test_what_is_set_is_read_back(kind, data):
    strategy = st.lists(values[LIST_OF[kind]]) if kind in LIST_OF else values[kind]
    value = data.draw(strategy)
    attribute = proto.OpDesc.Attr()
    wire.set_attribute(attribute, "x", kind, value)
    again = proto.OpDesc.Attr.FromString(attribute.SerializeToString())
    assert wire.attribute_value(again) == (kind, value)
    assert repr(wire.attribute_value(again)[1]) == repr(value)


@pytest.mark.parametrize(
    "kind, value, error",
    [
        (AttributeKind.INT, "text", ArgumentTypeError),
        (AttributeKind.INT, 1 << 31, ArgumentError),
        (AttributeKind.LONG, -(1 << 63) - 1, ArgumentError),
        (AttributeKind.STRING, 3, ArgumentTypeError),
        (AttributeKind.STRINGS, "text", ArgumentTypeError),
        (AttributeKind.INTS, 3, ArgumentTypeError),
        (AttributeKind.INTS, [None], ArgumentTypeError),
        (AttributeKind.SCALAR, "text", ArgumentTypeError),
        (AttributeKind.SCALARS, [1, "text"], ArgumentTypeError),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(kind, value, error):
    with pytest.raises(error, match=f"`axis` is {kind.name}"):
        wire.set_attribute(proto.OpDesc.Attr(), "axis", kind, value)


def test_a_float_beyond_its_range_becomes_infinite():
    attribute = proto.OpDesc.Attr()
    wire.set_attribute(attribute, "x", AttributeKind.FLOAT, 1e300)
    assert math.isinf(wire.attribute_value(attribute)[1])


def program(*blocks: tuple[int, int, int]) -> bytes:
    message = proto.ProgramDesc()
    for index, parent, forward in blocks:
        message.blocks.add(idx=index, parent_idx=parent, forward_block_idx=forward)
    return message.SerializeToString()


@pytest.mark.parametrize(
    "blocks, law",
    [
        ([], "the Program has no block"),
        ([(1, -1, -1)], "block 0 calls itself 1"),
        ([(0, 0, -1)], "block 0 has parent 0"),
        ([(0, -1, -1), (1, -1, -1)], "block 1 has parent -1"),
        ([(0, -1, -1), (1, 1, -1)], "block 1 has parent 1"),
        ([(0, -1, -1), (1, 0, 2)], "block 1 has forward block 2"),
    ],
)
def test_blocks_that_are_no_tree_are_refused(blocks, law):
    with pytest.raises(FileError, match=law):
        wire.read_program(program(*blocks))


@pytest.mark.parametrize("kind, value", [("BLOCK", 2), ("BLOCK", -1), ("BLOCKS", [0, 2])])
def test_an_attribute_that_names_no_block_is_refused(kind, value):
    message = proto.ProgramDesc.FromString(program((0, -1, -1), (1, 0, -1)))
    attribute = message.blocks[1].ops.add(type="while").attrs.add()
    wire.set_attribute(attribute, "sub_block", AttributeKind[kind], value)
    law = "and the Program has 2, in block 1, operator 0"
    with pytest.raises(FileError, match=re.escape(law)):
        wire.read_program(message.SerializeToString())
