"""Saved Programs as protobuf messages, and the values of their attributes as plain Python."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeAlias

from scull.errors import ArgumentError, ArgumentTypeError, FileError
from scull.files import proto
from scull.files.scanner import LIMITS, Limits, scan
from scull.ir.depth import DEEPEST

ProgramMessage: TypeAlias = Any  # proto.ProgramDesc, whose class is made at run time
AttributeMessage: TypeAlias = Any  # proto.OpDesc.Attr or proto.VarDesc.Attr

Scalar: TypeAlias = bool | int | float | complex
AttributeValue: TypeAlias = Scalar | str | list[Any]


class AttributeKind(IntEnum):
    """The types an attribute of an operator can have, numbered as in the files."""

    INT = 0
    FLOAT = 1
    STRING = 2
    INTS = 3
    FLOATS = 4
    STRINGS = 5
    BOOLEAN = 6
    BOOLEANS = 7
    BLOCK = 8
    LONG = 9
    BLOCKS = 10
    LONGS = 11
    FLOAT64S = 12
    VAR = 13
    VARS = 14
    FLOAT64 = 15
    SCALAR = 16
    SCALARS = 17


# The field that holds the value.
SINGLE = {
    AttributeKind.INT: "i",
    AttributeKind.FLOAT: "f",
    AttributeKind.STRING: "s",
    AttributeKind.BOOLEAN: "b",
    AttributeKind.BLOCK: "block_idx",
    AttributeKind.LONG: "l",
    AttributeKind.VAR: "var_name",
    AttributeKind.FLOAT64: "float64",
}
LISTS = {
    AttributeKind.INTS: "ints",
    AttributeKind.FLOATS: "floats",
    AttributeKind.STRINGS: "strings",
    AttributeKind.BOOLEANS: "bools",
    AttributeKind.BLOCKS: "blocks_idx",
    AttributeKind.LONGS: "longs",
    AttributeKind.FLOAT64S: "float64s",
    AttributeKind.VARS: "vars_name",
}


def read_program(data: bytes, limits: Limits = LIMITS) -> ProgramMessage:
    """The message a file holds, checked before and after parsing."""
    data = bytes(data)
    scan(data, limits)
    message = proto.ProgramDesc.FromString(data)
    check_blocks(message)
    return message


def write_program(message: ProgramMessage) -> bytes:
    """The bytes of a message, fields the description does not know included."""
    return bytes(message.SerializeToString())


def check_blocks(message: ProgramMessage) -> None:
    """Refuse blocks that are not a tree under block 0, and attributes that name no block."""
    count = len(message.blocks)
    if not count:
        raise FileError("the Program has no block")
    depths: list[int] = []
    for position, block in enumerate(message.blocks):
        if block.idx != position:
            raise FileError(f"block {position} calls itself {block.idx}")
        lowest = 0 if position else -1
        if not lowest <= block.parent_idx < position:
            raise FileError(f"block {position} has parent {block.parent_idx}")
        depths.append(1 + depths[block.parent_idx] if position else 0)
        if depths[-1] > DEEPEST:
            raise FileError(f"block {position} lies within more than {DEEPEST} others")
        if not -1 <= block.forward_block_idx < count:
            raise FileError(f"block {position} has forward block {block.forward_block_idx}")
        for index, op in enumerate(block.ops):
            for attribute in op.attrs:
                check_block_attribute(attribute, count, f"block {position}, operator {index}")


def check_block_attribute(attribute: AttributeMessage, count: int, place: str) -> None:
    if attribute.type == AttributeKind.BLOCK:
        indices = [attribute.block_idx]
    elif attribute.type == AttributeKind.BLOCKS:
        indices = list(attribute.blocks_idx)
    else:
        return
    for index in indices:
        if not 0 <= index < count:
            law = f"`{attribute.name}` is block {index} and the Program has {count}"
            raise FileError(f"{law}, in {place}")


def attribute_value(attribute: AttributeMessage) -> tuple[AttributeKind, AttributeValue]:
    """The kind of an attribute and its value: a number, a string, or a list of them."""
    kind = AttributeKind(attribute.type)
    if kind in SINGLE:
        return kind, getattr(attribute, SINGLE[kind])
    if kind in LISTS:
        return kind, list(getattr(attribute, LISTS[kind]))
    if kind is AttributeKind.SCALAR:
        return kind, scalar_value(attribute.scalar)
    return kind, [scalar_value(message) for message in attribute.scalars]


def set_attribute(
    attribute: AttributeMessage, name: str, kind: AttributeKind, value: AttributeValue
) -> None:
    """Make the message say that the attribute `name` of this kind has this value."""
    kind = AttributeKind(kind)
    attribute.Clear()
    attribute.name, attribute.type = name, kind
    try:
        if kind in SINGLE:
            setattr(attribute, SINGLE[kind], value)
        elif kind is AttributeKind.SCALAR:
            set_scalar(attribute.scalar, value)
        else:
            fill(attribute, kind, value)
    except TypeError as error:
        raise ArgumentTypeError(f"`{name}` is {kind.name} and {value!r} is not") from error
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"`{name}` is {kind.name}: {error}") from error


def fill(attribute: AttributeMessage, kind: AttributeKind, values: AttributeValue) -> None:
    """Put the elements of a list into the message."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise TypeError("not a list")
    if kind is AttributeKind.SCALARS:
        for value in values:
            set_scalar(attribute.scalars.add(), value)
    else:
        getattr(attribute, LISTS[kind]).extend(values)


def scalar_value(message: Any) -> Scalar:
    """The number a Scalar message holds, of the Python type that says which."""
    scalar = proto.Scalar
    if message.type == scalar.BOOLEAN:
        return bool(message.b)
    if message.type == scalar.LONG:
        return int(message.i)
    if message.type == scalar.FLOAT64:
        return float(message.r)
    return complex(message.c.r, message.c.i)


def set_scalar(message: Any, value: AttributeValue) -> None:
    """Make a Scalar message hold a number; its Python type decides the type in the file."""
    scalar = proto.Scalar
    if isinstance(value, bool):
        message.type, message.b = scalar.BOOLEAN, value
    elif isinstance(value, int):
        message.type, message.i = scalar.LONG, value
    elif isinstance(value, float):
        message.type, message.r = scalar.FLOAT64, value
    elif isinstance(value, complex):
        message.type, message.c.r, message.c.i = scalar.COMPLEX128, value.real, value.imag
    else:
        raise TypeError("not a number")
