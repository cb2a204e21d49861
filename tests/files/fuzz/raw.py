"""Bytes changed at random, of any file; and what is known of tensors, pickles and records."""

import json
import pickletools
import struct
from random import Random
from typing import Any

from scull.files.record import checksum_of

NUMBERS = (0, 1, 7, 8, 64, 65, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
LONG = (*NUMBERS, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TEXTS = ("", "x", "../x", "/x", "a\0b", "\ud800", "n" * 5000, "linear.pdmodel", "linear" * 999)


def raw(random: Random, data: bytes, others: tuple[bytes, ...] = ()) -> bytes:
    """Some bytes with bits flipped, cut, grown, doubled, filled, or spliced with another file."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(made) + 1)
        size = random.choice((1, 1, 4, 8, 40))
        how = random.randrange(8)
        if how <= 1 and at < len(made):
            made[at] ^= 1 << random.randrange(8)
        elif how == 2:
            made[at : at + size] = random.randbytes(size)
        elif how == 3:
            del made[at : at + size]
        elif how == 4:
            made[at:at] = made[max(0, at - size) : at] * random.choice((1, 3, 50))
        elif how == 5:
            made[at : at + size] = random.choice((b"\xff", b"\0", b"\x80", b"\x7f")) * size
        elif how == 6:
            del made[at:]
        elif others:
            other = random.choice(others)
            made[at:] = other[random.randrange(len(other) + 1) :]
    return bytes(made)


def tensors(random: Random, data: bytes) -> bytes:
    """Tensors whose numbers say something else, or that are cut or too long."""
    made = bytearray(data)
    heads = [at for at in range(len(made) - 20) if not any(made[at : at + 16])] or [0]
    at = random.choice(heads)
    layout, offset = random.choice((("<I", 0), ("<Q", 4), ("<I", 12), ("<I", 16), ("<B", 21)))
    number = random.choice(LONG) & ((1 << 8 * struct.calcsize(layout)) - 1)
    how = random.randrange(4)
    if how <= 1 and at + offset + 8 <= len(made):
        struct.pack_into(layout, made, at + offset, number)
    elif how == 2:
        del made[random.randrange(len(made) + 1) :]
    else:
        made += random.randbytes(random.choice((1, 4, 16, 1000)))
    return bytes(made)


def pickled(random: Random, data: bytes) -> bytes:
    """A pickle whose opcodes are missing, doubled, moved, exchanged, or have other arguments."""
    places = [at for _, _, at in pickletools.genops(data)]
    parts = [data[at:end] for at, end in zip(places, [*places[1:], len(data)], strict=True)]
    for _ in range(random.choice((1, 1, 2, 4))):
        at, other = (random.randrange(len(parts)) for _ in range(2))
        how = random.randrange(6)
        if how == 0 and len(parts) > 1:
            del parts[at]
        elif how == 1:
            parts.insert(at, parts[other])
        elif how == 2:
            parts[at], parts[other] = parts[other], parts[at]
        elif how == 3:
            code = random.choice(pickletools.opcodes).code.encode("latin1")
            parts[at] = code + parts[at][1:]
        elif how == 4 and len(parts[at]) > 1:
            parts[at] = parts[at][:1] + raw(random, parts[at][1:])
        else:
            parts[at:at] = parts[other : other + 8] * random.choice((1, 2, 200))
    return b"".join(parts)


def record(random: Random, data: bytes) -> bytes:
    """The text of a record in which one value is another, often with the checksum it needs."""
    whole = json.loads(data)
    found = whole["record"]
    places = list(spots(found))
    holder, key = random.choice(places)
    how = random.randrange(5)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[random.choice(TEXTS)] = holder.pop(key)
    else:
        holder[key] = random.choice(
            (None, True, -1, 1 << 70, 1.5, random.choice(TEXTS), [], {}, [[]], {"x": 1})
        )
    if random.random() < 0.9:
        whole["crc32"] = checksum_of(found)
    return json.dumps(whole).encode()


def spots(value: Any) -> Any:
    """Every place in nested dictionaries and lists."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from spots(inner)
