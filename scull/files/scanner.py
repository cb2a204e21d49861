"""A walk over the bytes of a saved Program, before any of them reaches the protobuf parser.

What passes is well-formed, has every required field, holds text where text belongs and stays
within the limits, so that parsing it takes time and memory in proportion to its size. Fields the
description does not know are stepped over and kept. What does not pass is a `FileError` with its
byte, block and operator.
"""

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from scull.errors import FileError
from scull.files import proto, varint


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest Program that is read; real ones stay far below."""

    size: int = (1 << 31) - 1  # bytes of the file: protobuf's own limit
    fields: int = 20_000_000  # occurrences of fields, elements of lists included
    messages: int = 5_000_000
    blocks: int = 100_000
    operators: int = 2_000_000
    variables: int = 2_000_000
    dims: int = 64  # of one tensor
    name: int = 16_384  # bytes of a name or type
    text: int = 1 << 28  # bytes of an attribute's string
    nesting: int = 32  # of groups among unknown fields


LIMITS = Limits()

VARINT, FIXED64, BYTES, GROUP, END, FIXED32 = range(6)

# protobuf's numbers of field types
SCALARS = {1: FIXED64, 2: FIXED32, 3: VARINT, 5: VARINT, 8: VARINT, 14: VARINT}
MESSAGE, ENUM = 11, 14
REQUIRED, REPEATED = 2, 3

COUNTED = {"BlockDesc": "block", "OpDesc": "operator", "VarDesc": "variable"}
REPEATED_BYTES = 256  # of a message that is worth remembering
TEXTS = ("s", "strings")  # the fields of an attribute that hold any text; the others hold names


@dataclass(frozen=True, slots=True)
class Field:
    """What the description says of one field."""

    name: str
    wire: int
    packed: bool = False  # its numbers may come as one string of bytes
    message: "Message | None" = None
    values: frozenset[int] | None = None  # of an enumeration
    required: int = 0  # a bit of its own


@dataclass(frozen=True, slots=True)
class Message:
    """What the description says of one message."""

    name: str
    tags: dict[int, Field]  # by number and wire type as they stand in the bytes
    numbers: frozenset[int]
    required: int  # the bits of the fields that must be there


def scan(data: bytes, limits: Limits = LIMITS) -> None:
    """Refuse bytes that are not a Program within the limits."""
    if len(data) > limits.size:
        raise FileError(f"the file has {len(data)} bytes, {limits.size} are allowed")
    Scan(data, limits).message(program_message(), 0, len(data))


@cache
def program_message() -> Message:
    """The description of a Program."""
    descriptor_pb2 = importlib.import_module("google.protobuf.descriptor_pb2")
    description = descriptor_pb2.FileDescriptorProto()
    proto.DESCRIPTOR.CopyToProto(description)
    messages: dict[str, Any] = {}
    enums: dict[str, frozenset[int]] = {}
    collect(description, f".{description.package}", description.message_type, messages, enums)
    return described(f".{description.package}.ProgramDesc", messages, enums)


def collect(
    scope: Any, path: str, nested: Any, messages: dict[str, Any], enums: dict[str, frozenset[int]]
) -> None:
    """Fill the tables of messages and enumerations by their full names."""
    for enum in scope.enum_type:
        enums[f"{path}.{enum.name}"] = frozenset(value.number for value in enum.value)
    for message in nested:
        messages[f"{path}.{message.name}"] = message
        collect(message, f"{path}.{message.name}", message.nested_type, messages, enums)


def described(
    full_name: str, messages: dict[str, Any], enums: dict[str, frozenset[int]]
) -> Message:
    """One message with all that it holds."""
    source = messages[full_name]
    tags: dict[int, Field] = {}
    required = 0
    for bit, declared in enumerate(source.field):
        kind, name = declared.type, declared.type_name
        field = Field(
            name=declared.name,
            wire=SCALARS.get(kind, BYTES),
            packed=declared.label == REPEATED and kind in SCALARS,
            message=described(name, messages, enums) if kind == MESSAGE else None,
            values=enums[name] if kind == ENUM else None,
            required=1 << bit if declared.label == REQUIRED else 0,
        )
        required |= field.required
        tags[declared.number << 3 | field.wire] = field
        if field.packed:
            tags[declared.number << 3 | BYTES] = field
    return Message(source.name, tags, frozenset(tag >> 3 for tag in tags), required)


class Scan:
    """One walk: the bytes, what was counted so far, and where it is."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.limits = limits
        self.fields = 0
        self.counts = {"message": 0, "block": 0, "operator": 0, "variable": 0}
        self.right: dict[tuple[str, bytes], tuple[int, int]] = {}  # fields and messages in each
        self.place: dict[
            str, int
        ] = {}  # the indices of the block, and the operator or variable in it

    def refuse(self, law: str, position: int) -> NoReturn:
        places = "".join(f", {kind} {index}" for kind, index in self.place.items())
        raise FileError(f"{law} at byte {position}{places}")

    def message(self, message: Message, position: int, end: int) -> None:
        """Walk over one message."""
        start, seen, dims = position, 0, 0
        inner = dict.fromkeys(("block", "operator", "variable"), 0)
        data, tags = self.data, message.tags
        while position < end:
            offset = position
            tag = data[position]
            if tag < 0x80:
                position += 1
            else:
                tag, position = self.varint(position, end)
            field = tags.get(tag)
            if field is None:
                self.count_field(offset)
                position = self.unknown(message, tag, position, end, offset)
                continue
            seen |= field.required
            if field.packed and tag & 7 == BYTES:
                position, count = self.packed(field, position, end, offset)
            elif field.wire == BYTES:
                count = 1
                position, stop = self.extent(position, end, offset)
                if field.message is None:
                    self.text(field, position, stop)
                else:
                    self.enter(field.message, inner, position, stop)
                position = stop
            else:
                count = 1
                position = self.number(field, position, end)
            self.fields += count
            if self.fields > self.limits.fields:
                self.refuse(f"there are more than {self.limits.fields} fields", offset)
            if field.name == "dims":
                dims += count
                if dims > self.limits.dims:
                    self.refuse(f"a tensor has more than {self.limits.dims} dims", offset)
        missing = message.required & ~seen
        if missing:
            names = (field.name for field in tags.values() if field.required & missing)
            self.refuse(f"{message.name} lacks {', '.join(names)}", start)

    def unknown(self, message: Message, tag: int, position: int, end: int, offset: int) -> int:
        """The position behind a field the description does not know."""
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29 or wire > FIXED32:
            self.refuse(f"no field has number {number} and wire type {wire}", offset)
        if number in message.numbers:
            self.refuse(f"field {number} of {message.name} has wire type {wire}", offset)
        return self.skip(number, wire, position, end)

    def enter(self, message: Message, inner: dict[str, int], position: int, end: int) -> None:
        """Walk over a message within another and remember which one it is."""
        kind = COUNTED.get(message.name)
        if kind is None:
            self.enter_again(message, position, end)
            return
        self.count("message", self.limits.messages, position)
        self.place[kind] = inner[kind]
        inner[kind] += 1
        self.count(kind, getattr(self.limits, f"{kind}s"), position)
        self.message(message, position, end)
        del self.place[kind]

    def enter_again(self, message: Message, position: int, end: int) -> None:
        """Walk over a message unless the same bytes were right before: operators repeat much."""
        if end - position > REPEATED_BYTES:
            self.count("message", self.limits.messages, position)
            self.message(message, position, end)
            return
        key = message.name, self.data[position:end]
        found = self.right.get(key)
        if found is None:
            fields, messages = self.fields, self.counts["message"]
            self.counts["message"] += 1
            self.message(message, position, end)
            self.right[key] = self.fields - fields, self.counts["message"] - messages
        else:
            self.fields += found[0]
            self.counts["message"] += found[1]
        if self.counts["message"] > self.limits.messages:
            self.refuse(f"there are more than {self.limits.messages} messages", position)

    def count(self, kind: str, limit: int, position: int) -> None:
        self.counts[kind] += 1
        if self.counts[kind] > limit:
            self.refuse(f"there are more than {limit} {kind}s", position)

    def count_field(self, position: int) -> None:
        self.fields += 1
        if self.fields > self.limits.fields:
            self.refuse(f"there are more than {self.limits.fields} fields", position)

    def varint(self, position: int, end: int) -> tuple[int, int]:
        """The integer at a position, and the position behind it."""
        try:
            return varint.decode(self.data, position, end)
        except FileError as error:
            self.refuse(str(error).rpartition(" at ")[0], position)

    def extent(self, position: int, end: int, offset: int) -> tuple[int, int]:
        """The positions between which the counted bytes at a position lie."""
        if position < end and (size := self.data[position]) < 0x80:
            position += 1
        else:
            size, position = self.varint(position, end)
        if size > end - position:
            self.refuse(f"{size} bytes are declared and {end - position} are left", offset)
        return position, position + size

    def number(self, field: Field, position: int, end: int) -> int:
        """The position behind a number."""
        if field.wire != VARINT:
            return self.fixed(field.wire, position, end)
        if position < end and (value := self.data[position]) < 0x80:
            following = position + 1
        else:
            value, following = self.varint(position, end)
        if field.values is not None and varint.signed(value) not in field.values:
            self.refuse(f"`{field.name}` is {varint.signed(value)}, which is unknown", position)
        return following

    def fixed(self, wire: int, position: int, end: int) -> int:
        """The position behind a number of four or eight bytes."""
        following = position + (8 if wire == FIXED64 else 4)
        if following > end:
            self.refuse("a number is cut off", position)
        return following

    def packed(self, field: Field, position: int, end: int, offset: int) -> tuple[int, int]:
        """The position behind a packed list of numbers, and their count."""
        position, stop = self.extent(position, end, offset)
        count = 0
        while position < stop:
            position = self.number(field, position, stop)
            count += 1
            if count > self.limits.fields:
                self.refuse(f"there are more than {count} fields", offset)
        return position, count

    def text(self, field: Field, position: int, end: int) -> None:
        """Refuse bytes that are no text, or too long a one."""
        limit = self.limits.text if field.name in TEXTS else self.limits.name
        if end - position > limit:
            law = f"`{field.name}` has {end - position} bytes, {limit} are allowed"
            self.refuse(law, position)
        try:
            self.data[position:end].decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse(f"`{field.name}` is not UTF-8", position + error.start)

    def skip(self, number: int, wire: int, position: int, end: int) -> int:
        """The position behind a field the description does not know."""
        groups: list[int] = []
        while True:
            if wire == VARINT:
                _, position = self.varint(position, end)
            elif wire == BYTES:
                _, position = self.extent(position, end, position)
            elif wire == GROUP:
                groups.append(number)
                if len(groups) > self.limits.nesting:
                    self.refuse(f"groups nest deeper than {self.limits.nesting}", position)
            elif wire == END:
                if not groups or groups.pop() != number:
                    self.refuse(f"group {number} ends and was not open", position)
            else:
                position = self.fixed(wire, position, end)
            if not groups:
                return position
            if position >= end:
                self.refuse(f"group {groups[-1]} has no end", position)
            self.count_field(position)
            tag, position = self.varint(position, end)
            number, wire = tag >> 3, tag & 7
            if wire > FIXED32:
                self.refuse(f"no field has wire type {wire}", position)
