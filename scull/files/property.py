"""Properties of a saved model (`.meta`): names with numbers, texts, or lists of either."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from scull.errors import ArgumentError, FileError
from scull.files.varint import decode, encode, signed

ENTRY, NAME, TYPE = 1, 1, 2
FLOAT, INT, STRING, FLOATS, INTS, STRINGS = 1, 2, 3, 6, 7, 8  # what TYPE may say
FIELDS = {FLOAT: 3, INT: 4, STRING: 5, FLOATS: 7, INTS: 8, STRINGS: 9}
ONE, MANY = {float: FLOAT, int: INT, str: STRING}, {float: FLOATS, int: INTS, str: STRINGS}
VARINT, BYTES, FIXED = 0, 2, 5  # how the bytes of a field are laid out


def property_bytes(values: Mapping[str, Any]) -> bytes:
    """The bytes of properties; ArgumentError for a value that cannot be one."""
    return b"".join(
        chunk(ENTRY, chunk(NAME, name.encode()) + value_bytes(name, value))
        for name, value in values.items()
    )


def value_bytes(name: str, value: Any) -> bytes:
    """The kind of a value, and the value."""
    many = isinstance(value, list | tuple)
    items = list(value) if many else [value]
    types = {next((t for t in ONE if isinstance(v, t)), None) for v in items}
    found = types.pop() if len(types) == 1 else None
    if found is None:
        raise ArgumentError(
            f"the property `{name}` is {value!r}: only a number, a text, or a list of numbers or "
            "of texts that is not empty can be saved"
        )
    kind = (MANY if many else ONE)[found]
    field = FIELDS[kind]
    return key(TYPE, VARINT) + encode(kind) + b"".join(item_bytes(field, v) for v in items)


def item_bytes(field: int, value: Any) -> bytes:
    """One value as a field."""
    if isinstance(value, str):
        return chunk(field, value.encode())
    if isinstance(value, float):
        return key(field, FIXED) + struct.pack("<f", value)
    return key(field, VARINT) + encode(int(value))


def key(field: int, layout: int) -> bytes:
    """What stands before the bytes of a field."""
    return encode(field << 3 | layout)


def chunk(field: int, data: bytes) -> bytes:
    """A field that says how long it is."""
    return key(field, BYTES) + encode(len(data)) + data


def properties_of(data: bytes) -> dict[str, Any]:
    """The properties that some bytes describe; FileError when they describe none."""
    found: dict[str, Any] = {}
    for field, entry in fields(data):
        if field == ENTRY and isinstance(entry, bytes):
            name, value = property_of(entry)
            found[name] = value
    return found


def property_of(entry: bytes) -> tuple[str, Any]:
    """The name and the value of one property."""
    held: dict[int, list[Any]] = {}
    for field, value in fields(entry):
        held.setdefault(field, []).append(value)
    kind = held.get(TYPE, [0])[-1]
    name = held.get(NAME, [b""])[-1]
    if kind not in FIELDS or not isinstance(name, bytes):
        raise FileError(f"a property is of the unknown kind {kind}")
    items = [item for v in held.get(FIELDS[kind], []) for item in items_of(kind, v)]
    if kind in MANY.values():
        return text(name), items
    if not items:
        raise FileError(f"the property `{text(name)}` has no value")
    return text(name), items[-1]


def items_of(kind: int, value: Any) -> list[Any]:
    """The values in one field: a text, a number, or several numbers packed."""
    if kind in (STRING, STRINGS):
        return [text(value)] if isinstance(value, bytes) else []
    packed = value if isinstance(value, bytes) else None
    if kind in (FLOAT, FLOATS):
        if packed is not None and len(packed) % 4 == 0:
            return list(struct.unpack(f"<{len(packed) // 4}f", packed))
        return [value] if isinstance(value, float) else []
    if packed is None:
        return [signed(value)] if isinstance(value, int) else []
    found, position = [], 0
    while position < len(packed):
        number, position = decode(packed, position, len(packed))
        found.append(signed(number))
    return found


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The number and the value of each field: an integer, a float or bytes."""
    position, end = 0, len(data)
    while position < end:
        start = position
        tag, position = decode(data, position, end)
        layout = tag & 7
        if layout == VARINT:
            value, position = decode(data, position, end)
            yield tag >> 3, value
            continue
        length = 4
        if layout == BYTES:
            length, position = decode(data, position, end)
        elif layout != FIXED:
            raise FileError(
                f"a property has a field of the unknown layout {layout} at byte {start}"
            )
        if position + length > end:
            raise FileError(f"a property is cut off at byte {start}")
        part = data[position : position + length]
        position += length
        yield tag >> 3, part if layout == BYTES else struct.unpack("<f", part)[0]


def text(data: bytes) -> str:
    """The text that bytes spell."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileError(f"a property holds a text that is no UTF-8: {error}") from None
