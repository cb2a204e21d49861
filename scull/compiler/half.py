"""float16 as it lies in memory, and as the float32 that computes with it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scull.compiler.lanes import Lanes


def widened(lanes: "Lanes", x: str) -> str:
    """float16 as float32."""
    wide, half, t = lanes.type("float"), lanes.type("half"), lanes.type("i32")
    if lanes.function.has_half:
        return lanes.value(f"fpext {half} {x} to {wide}")
    bits = lanes.value(f"bitcast {half} {x} to {lanes.type('i16')}")
    bits = lanes.value(f"zext {lanes.type('i16')} {bits} to {t}")
    size = lanes.i32("shl", lanes.i32("and", bits, 0x7FFF), 13)
    scaled = lanes.value(f"bitcast {t} {size} to {wide}")
    power = lanes.literal(2.0**112, "float32")
    scaled = lanes.value(f"fmul {wide} {scaled}, {power}")
    scaled = lanes.value(f"bitcast {wide} {scaled} to {t}")
    least = lanes.number("i32", 0x7C00 << 13)
    special = lanes.value(f"icmp uge {t} {size}, {least}")
    chosen = lanes.select(special, t, lanes.i32("or", size, 0x7F800000), scaled)
    sign = lanes.i32("shl", lanes.i32("and", bits, 0x8000), 16)
    return lanes.value(f"bitcast {t} {lanes.value(f'or {t} {chosen}, {sign}')} to {wide}")


def halved(lanes: "Lanes", x: str) -> str:
    """float32 as float16, to nearest and ties to even."""
    wide, half, t = lanes.type("float"), lanes.type("half"), lanes.type("i32")
    if lanes.function.has_half:
        return lanes.value(f"fptrunc {wide} {x} to {half}")
    value = lanes.value
    bits = value(f"bitcast {wide} {x} to {t}")
    size = lanes.i32("and", bits, 0x7FFFFFFF)
    odd = lanes.i32("and", lanes.i32("lshr", size, 13), 1)
    near = value(f"add {t} {lanes.i32('add', size, 0xFFF - (112 << 23))}, {odd}")
    near = lanes.i32("lshr", near, 13)
    magnitude = value(f"bitcast {t} {size} to {wide}")
    base = lanes.literal(0.5, "float32")  # whose last bit is the least float16
    tiny = value(f"bitcast {wide} {value(f'fadd {wide} {magnitude}, {base}')} to {t}")
    tiny = lanes.i32("sub", tiny, 126 << 23)
    is_tiny = value(f"icmp ult {t} {size}, {lanes.number('i32', 113 << 23)}")
    found = lanes.select(is_tiny, t, tiny, near)
    large = value(f"icmp uge {t} {size}, {lanes.number('i32', 0x477FF000)}")  # 65520
    found = lanes.select(large, t, lanes.number("i32", 0x7C00), found)
    nan = value(f"fcmp uno {wide} {x}, {x}")
    found = lanes.select(nan, t, lanes.number("i32", 0x7E00), found)
    sign = lanes.i32("and", lanes.i32("lshr", bits, 16), 0x8000)
    short = value(f"trunc {t} {value(f'or {t} {found}, {sign}')} to {lanes.type('i16')}")
    return value(f"bitcast {lanes.type('i16')} {short} to {half}")
