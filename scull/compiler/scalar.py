"""LLVM instructions for the basic operations: a table, and what a table cannot say.

float16 and bfloat16 are held as the float32 of the same value and rounded after each operation. No
fast-math flag is ever given; what LLVM leaves undefined (shifts by too much, division by 0, casts
out of range) is spelt out.
"""

import struct

from scull.compiler.assembly import Function
from scull.lang.dtype import HALF, Element, element

FLOATS = {
    "add": "fadd {t} {0}, {1}",
    "subtract": "fsub {t} {0}, {1}",
    "multiply": "fmul {t} {0}, {1}",
    "divide": "fdiv {t} {0}, {1}",
    "negative": "fneg {t} {0}",
    "absolute": "call {t} @llvm.fabs.{m}({t} {0})",
    "minimum": "call {t} @llvm.minimum.{m}({t} {0}, {t} {1})",
    "maximum": "call {t} @llvm.maximum.{m}({t} {0}, {t} {1})",
    "multiply_add": "call {t} @llvm.fma.{m}({t} {0}, {t} {1}, {t} {2})",
    "sqrt": "call {t} @llvm.sqrt.{m}({t} {0})",
    "floor": "call {t} @llvm.floor.{m}({t} {0})",
    "ceil": "call {t} @llvm.ceil.{m}({t} {0})",
    "round": "call {t} @llvm.roundeven.{m}({t} {0})",
    "trunc": "call {t} @llvm.trunc.{m}({t} {0})",
    "less": "fcmp olt {t} {0}, {1}",
    "less_equal": "fcmp ole {t} {0}, {1}",
    "equal": "fcmp oeq {t} {0}, {1}",
    "not_equal": "fcmp une {t} {0}, {1}",
}

INTEGERS = {
    "add": "add {t} {0}, {1}",
    "subtract": "sub {t} {0}, {1}",
    "multiply": "mul {t} {0}, {1}",
    "negative": "sub {t} 0, {0}",
    "minimum": "call {t} @llvm.{s}min.{t}({t} {0}, {t} {1})",
    "maximum": "call {t} @llvm.{s}max.{t}({t} {0}, {t} {1})",
    "less": "icmp {s}lt {t} {0}, {1}",
    "less_equal": "icmp {s}le {t} {0}, {1}",
    "equal": "icmp eq {t} {0}, {1}",
    "not_equal": "icmp ne {t} {0}, {1}",
    "and": "and {t} {0}, {1}",
    "or": "or {t} {0}, {1}",
    "xor": "xor {t} {0}, {1}",
    "not": "xor {t} {0}, -1",
}

REMAINDER = """
; by long division: as many steps as the exponents differ
define internal double @truncated_remainder(double %x, double %y) nounwind {
entry:
  %a = call double @llvm.fabs.f64(double %x)
  %b = call double @llvm.fabs.f64(double %y)
  %zero = fcmp oeq double %b, 0.0
  %number = fcmp one double %a, 0x7FF0000000000000
  %valid.y = fcmp ord double %b, %b
  %valid = and i1 %number, %valid.y
  %not.zero = xor i1 %zero, true
  %proper = and i1 %valid, %not.zero
  br i1 %proper, label %compare, label %undefined
undefined:
  ret double 0x7FF8000000000000
compare:
  %within = fcmp olt double %a, %b
  br i1 %within, label %whole, label %divide
whole:
  ret double %x
divide:
  %a.lifted = call {i64, i64} @significand(double %a)
  %b.lifted = call {i64, i64} @significand(double %b)
  %m = extractvalue {i64, i64} %a.lifted, 0
  %e = extractvalue {i64, i64} %a.lifted, 1
  %n = extractvalue {i64, i64} %b.lifted, 0
  %f = extractvalue {i64, i64} %b.lifted, 1
  br label %loop
loop:
  %rest = phi i64 [%m, %divide], [%doubled, %next]
  %place = phi i64 [%e, %divide], [%lower, %next]
  %fits = icmp uge i64 %rest, %n
  %less = sub i64 %rest, %n
  %kept = select i1 %fits, i64 %less, i64 %rest
  %more = icmp sgt i64 %place, %f
  br i1 %more, label %next, label %end
next:
  %doubled = shl i64 %kept, 1
  %lower = sub i64 %place, 1
  br label %loop
end:
  %deep = sub i64 1, %f
  %drop = call i64 @llvm.smax.i64(i64 %deep, i64 0)
  %left = lshr i64 %kept, %drop
  %least = call i64 @llvm.smax.i64(i64 %f, i64 1)
  %none = icmp eq i64 %left, 0
  %zeros = call i64 @llvm.ctlz.i64(i64 %left, i1 false)
  %lift = sub i64 %zeros, 11
  %room = sub i64 %least, 1
  %short = icmp slt i64 %lift, %room
  %shift.some = select i1 %short, i64 %lift, i64 %room
  %shift = select i1 %none, i64 0, i64 %shift.some
  %placed = shl i64 %left, %shift
  %exponent = sub i64 %least, %shift
  %normal = icmp uge i64 %placed, 4503599627370496
  %written = select i1 %normal, i64 %exponent, i64 0
  %fraction = and i64 %placed, 4503599627370495
  %field = shl i64 %written, 52
  %bits = or i64 %fraction, %field
  %result = bitcast i64 %bits to double
  %signed = call double @llvm.copysign.f64(double %result, double %x)
  ret double %signed
}

; a positive number as m * 2**e of one scale, m from 2**52 up to 2**53
define internal {i64, i64} @significand(double %x) nounwind {
  %bits = bitcast double %x to i64
  %field = lshr i64 %bits, 52
  %fraction = and i64 %bits, 4503599627370495
  %tiny = icmp eq i64 %field, 0
  %full = or i64 %fraction, 4503599627370496
  %zeros = call i64 @llvm.ctlz.i64(i64 %fraction, i1 false)
  %lift = sub i64 %zeros, 11
  %safe = select i1 %tiny, i64 %lift, i64 0
  %lifted = shl i64 %fraction, %safe
  %below = sub i64 1, %safe
  %m = select i1 %tiny, i64 %lifted, i64 %full
  %e = select i1 %tiny, i64 %below, i64 %field
  %first = insertvalue {i64, i64} undef, i64 %m, 0
  %both = insertvalue {i64, i64} %first, i64 %e, 1
  ret {i64, i64} %both
}
"""

EXACT = ("negative", "absolute", "minimum", "maximum", "floor", "ceil", "round", "trunc")


def held_type(dtype: str) -> str:
    """The type of a value while computing."""
    if dtype in HALF:
        return "float"
    if dtype == "bool":
        return "i1"
    return {"float32": "float", "float64": "double"}.get(dtype, f"i{element(dtype).bits}")


def stored_type(dtype: str) -> str:
    """The type of an element in memory."""
    return {"bool": "i8", "float16": "half", "bfloat16": "i16"}.get(dtype, held_type(dtype))


def literal(value: float | int, dtype: str) -> str:
    """A constant."""
    if element(dtype).kind == "float":
        bits = 0x7FF8000000000000
        if value == value:
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"0x{bits:016X}"
    return str(bool(value)).lower() if dtype == "bool" else str(int(value))


def rounded(f: Function, x: str, dtype: str) -> str:
    """A float as a value of float16 or bfloat16; other dtypes are left alone."""
    if dtype == "float16":
        return f.value(f"fpext half {f.value(f'fptrunc float {x} to half')} to float")
    if dtype != "bfloat16":
        return x
    bits = f.value(f"bitcast float {x} to i32")
    odd = f.value(f"and i32 {f.value(f'lshr i32 {bits}, 16')}, 1")
    raised = f.value(f"add i32 {f.value(f'add i32 {bits}, 32767')}, {odd}")
    quiet = f.value(f"or i32 {bits}, 4194304")
    chosen = f.value(f"select i1 {f.value(f'fcmp uno float {x}, {x}')}, i32 {quiet}, i32 {raised}")
    return f.value(f"bitcast i32 {f.value(f'and i32 {chosen}, -65536')} to float")


def loaded(f: Function, x: str, dtype: str) -> str:
    """An element from memory as a value."""
    if dtype == "bool":
        return f.value(f"icmp ne i8 {x}, 0")
    if dtype == "float16":
        return f.value(f"fpext half {x} to float")
    if dtype == "bfloat16":
        wide = f.value(f"shl i32 {f.value(f'zext i16 {x} to i32')}, 16")
        return f.value(f"bitcast i32 {wide} to float")
    return x


def stored(f: Function, x: str, dtype: str) -> str:
    """A value as an element in memory."""
    if dtype == "bool":
        return f.value(f"zext i1 {x} to i8")
    if dtype == "float16":
        return f.value(f"fptrunc float {x} to half")
    if dtype == "bfloat16":
        high = f.value(f"lshr i32 {f.value(f'bitcast float {x} to i32')}, 16")
        return f.value(f"trunc i32 {high} to i16")
    return x


def applied(f: Function, operation: str, operands: list[str], source: str, dtype: str) -> str:
    """A basic operation; `source` is the dtype of the last operand, `dtype` that of the result."""
    kind = held_type(source)
    if operation == "cast":
        return _cast(f, operands[0], element(source), element(dtype))
    if operation == "bitcast":
        return _bitcast(f, operands[0], source, dtype)
    if operation == "select":
        condition, x, y = operands
        return f.value(f"select i1 {condition}, {kind} {x}, {kind} {y}")
    if element(source).kind == "float":
        if operation == "truncated_remainder":
            return _remainder(f, operands, kind)
        text = FLOATS[operation].format(*operands, t=kind, m={"float": "f32"}.get(kind, "f64"))
        exact = dtype not in HALF or operation in EXACT
        return f.value(text) if exact else rounded(f, f.value(text), dtype)
    special = SPECIAL.get(operation)
    if special is not None:
        return special(f, operands, element(source))
    signed = "s" if element(source).signed else "u"
    return f.value(INTEGERS[operation].format(*operands, t=kind, s=signed))


def _remainder(f: Function, operands: list[str], kind: str) -> str:
    if kind == "float":
        operands = [f.value(f"fpext float {x} to double") for x in operands]
    x, y = operands
    result = f.value(f"call double @truncated_remainder(double {x}, double {y})")
    return f.value(f"fptrunc double {result} to float") if kind == "float" else result


def _absolute(f: Function, operands: list[str], facts: Element) -> str:
    if not facts.signed:
        return operands[0]
    return f.value(
        f"call i{facts.bits} @llvm.abs.i{facts.bits}(i{facts.bits} {operands[0]}, i1 false)"
    )


def _multiply_high(f: Function, operands: list[str], facts: Element) -> str:
    narrow, wide = f"i{facts.bits}", f"i{facts.bits * 2}"
    x, y = (f.value(f"zext {narrow} {each} to {wide}") for each in operands)
    product = f.value(f"mul {wide} {x}, {y}")
    return f.value(f"trunc {wide} {f.value(f'lshr {wide} {product}, {facts.bits}')} to {narrow}")


def _shift_left(f: Function, operands: list[str], facts: Element) -> str:
    return _shifted(f, "shl", operands, facts.bits, "0")


def _shift_right(f: Function, operands: list[str], facts: Element) -> str:
    x, _ = operands
    if not facts.signed:
        return _shifted(f, "lshr", operands, facts.bits, "0")
    if _is_shift(operands[1], facts.bits):
        return f.value(f"ashr i{facts.bits} {x}, {operands[1]}")
    return _shifted(
        f, "ashr", operands, facts.bits, f.value(f"ashr i{facts.bits} {x}, {facts.bits - 1}")
    )


def _is_shift(amount: str, bits: int) -> bool:
    return amount.isdigit() and int(amount) < bits


def _shifted(f: Function, name: str, operands: list[str], bits: int, out: str) -> str:
    """A shift; where the amount is too large the result is `out`."""
    x, amount = operands
    if _is_shift(amount, bits):
        return f.value(f"{name} i{bits} {x}, {amount}")
    fits = f.value(f"icmp ult i{bits} {amount}, {bits}")
    safe = f.value(f"select i1 {fits}, i{bits} {amount}, i{bits} 0")
    shifted = f.value(f"{name} i{bits} {x}, {safe}")
    return f.value(f"select i1 {fits}, i{bits} {shifted}, i{bits} {out}")


def _floor_divide(f: Function, operands: list[str], facts: Element) -> str:
    quotient, _ = _division(f, operands, facts)
    return quotient


def _floor_remainder(f: Function, operands: list[str], facts: Element) -> str:
    _, rest = _division(f, operands, facts)
    return rest


def _division(f: Function, operands: list[str], facts: Element) -> tuple[str, str]:
    """Quotient, rounded down, and remainder; both 0 for a divisor of 0."""
    x, y = operands
    t = f"i{facts.bits}"
    if not facts.signed:
        zero = f.value(f"icmp eq {t} {y}, 0")
        safe = f.value(f"select i1 {zero}, {t} 1, {t} {y}")
        results = [f.value(f"{name} {t} {x}, {safe}") for name in ("udiv", "urem")]
        quotient, rest = (f.value(f"select i1 {zero}, {t} 0, {t} {each}") for each in results)
        return quotient, rest
    special = f.value(f"icmp ult {t} {f.value(f'add {t} {y}, 1')}, 2")  # -1 or 0
    safe = f.value(f"select i1 {special}, {t} 1, {t} {y}")
    quotient, rest = (f.value(f"{name} {t} {x}, {safe}") for name in ("sdiv", "srem"))
    opposite = f.value(f"icmp slt {t} {f.value(f'xor {t} {rest}, {safe}')}, 0")
    left = f.value(f"icmp ne {t} {rest}, 0")
    down = f.value(f"and i1 {left}, {opposite}")
    lower = f.value(f"sub {t} {quotient}, {f.value(f'zext i1 {down} to {t}')}")
    moved = f.value(f"select i1 {down}, {t} {f.value(f'add {t} {rest}, {safe}')}, {t} {rest}")
    negated = f.value(f"mul {t} {x}, {y}")  # x times -1 or 0
    return (
        f.value(f"select i1 {special}, {t} {negated}, {t} {lower}"),
        f.value(f"select i1 {special}, {t} 0, {t} {moved}"),
    )


SPECIAL = {
    "absolute": _absolute,
    "multiply_high": _multiply_high,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "floor_divide": _floor_divide,
    "remainder": _floor_remainder,
}


def _bitcast(f: Function, x: str, source: str, dtype: str) -> str:
    inner, outer = stored_type(source), stored_type(dtype)
    bits = stored(f, x, source)
    if inner != outer:
        bits = f.value(f"bitcast {inner} {bits} to {outer}")
    return loaded(f, bits, dtype)


def _cast(f: Function, x: str, source: Element, target: Element) -> str:
    """A value in another dtype."""
    inner, outer = held_type(source.name), held_type(target.name)
    signed = "s" if source.signed and source.kind == "integer" else "u"
    match source.kind, target.kind:
        case "float", "bool":
            return f.value(f"fcmp une {inner} {x}, 0.0")
        case _, "bool":
            return f.value(f"icmp ne {inner} {x}, 0")
        case "float", "integer":
            name = f"llvm.fpto{'s' if target.signed else 'u'}i.sat.{outer}"
            suffix = "f64" if inner == "double" else "f32"
            return f.value(f"call {outer} @{name}.{suffix}({inner} {x})")
        case "float", "float":
            return _resized(f, x, inner, outer, source.name, target.name)
        case _, "float":
            return f.value(f"{signed}itofp {inner} {x} to {outer}")
    if source.kind == "bool" or source.bits < target.bits:
        return f.value(f"{'sext' if signed == 's' else 'zext'} {inner} {x} to {outer}")
    return x if inner == outer else f.value(f"trunc {inner} {x} to {outer}")


def _resized(f: Function, x: str, inner: str, outer: str, source: str, target: str) -> str:
    if inner != outer:
        name = "fpext" if outer == "double" else "fptrunc"
        x = f.value(f"{name} {inner} {x} to {outer}")
    return x if source == target else rounded(f, x, target)
