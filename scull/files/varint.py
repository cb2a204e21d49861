"""Protobuf's integers of variable length: seven bits a byte, the lowest first."""

from scull.errors import FileError

MASK = (1 << 64) - 1


def encode(value: int) -> bytes:
    """The bytes of an integer of 64 bits; a negative one takes ten."""
    value &= MASK
    output = bytearray()
    while value > 0x7F:
        output.append(value & 0x7F | 0x80)
        value >>= 7
    output.append(value)
    return bytes(output)


def decode(data: bytes, position: int, end: int) -> tuple[int, int]:
    """The unsigned integer at a position, and the position behind it."""
    start, value, shift = position, 0, 0
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & MASK, position
        shift += 7
        if shift == 70:
            raise FileError(f"an integer is longer than ten bytes at byte {start}")
    raise FileError(f"an integer is cut off at byte {start}")


def signed(value: int) -> int:
    """The signed integer that 64 unsigned bits stand for."""
    return value - (1 << 64) if value >> 63 else value
