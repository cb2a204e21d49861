"""LLVM instructions for the basic operations, on one element or on several lanes: a table, and what
a table cannot say.

float16 and bfloat16 are held as the float32 of the same value and rounded after each operation. No
fast-math flag is ever given; what LLVM leaves undefined (shifts by too much, division by 0, casts
out of range) is spelt out.
"""

import struct
from collections.abc import Sequence
from functools import cache

import numpy as np

from scull.compiler.assembly import Function
from scull.compiler.half import halved, widened
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
    "negative": "sub {t} {1}, {0}",
    "minimum": "call {t} @llvm.{s}min.{m}({t} {0}, {t} {1})",
    "maximum": "call {t} @llvm.{s}max.{m}({t} {0}, {t} {1})",
    "less": "icmp {s}lt {t} {0}, {1}",
    "less_equal": "icmp {s}le {t} {0}, {1}",
    "equal": "icmp eq {t} {0}, {1}",
    "not_equal": "icmp ne {t} {0}, {1}",
    "and": "and {t} {0}, {1}",
    "or": "or {t} {0}, {1}",
    "xor": "xor {t} {0}, {1}",
    "not": "xor {t} {0}, {1}",
}

BESIDE = {"negative": 0, "not": -1}  # their second operands

EXACT = ("negative", "absolute", "minimum", "maximum", "floor", "ceil", "round", "trunc")
BETTER = {"larger": "ogt", "smaller": "olt"}  # steps of folds, with the test of what is better
SHORT = {"float": "f32", "double": "f64", "half": "f16"}


@cache
def held_scalar(dtype: str) -> str:
    """The type of one value while computing."""
    if dtype in HALF:
        return "float"
    if dtype == "bool":
        return "i1"
    return {"float32": "float", "float64": "double"}.get(dtype, f"i{element(dtype).bits}")


def stored_scalar(dtype: str) -> str:
    """The type of an element in memory."""
    return {"bool": "i8", "float16": "half", "bfloat16": "i16"}.get(dtype, held_scalar(dtype))


def number_text(value: float | int, dtype: str) -> str:
    """A constant of one lane."""
    if element(dtype).kind == "float":
        bits = 0x7FF8000000000000
        if value == value:
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"0x{bits:016X}"
    return str(bool(value)).lower() if dtype == "bool" else str(int(value))


class Lanes:
    """Instructions on `count` lanes at once; with one lane they are scalar."""

    def __init__(self, function: Function, count: int = 1) -> None:
        self.function, self.count = function, count

    def type(self, scalar: str) -> str:
        """The type of all lanes."""
        return scalar if self.count == 1 else f"<{self.count} x {scalar}>"

    def suffix(self, scalar: str) -> str:
        """The type as the names of intrinsic functions spell it."""
        short = SHORT.get(scalar, scalar)
        return short if self.count == 1 else f"v{self.count}{short}"

    def number(self, scalar: str, text: str | int) -> str:
        """A constant in every lane."""
        return str(text) if self.count == 1 else f"splat ({scalar} {text})"

    def held(self, dtype: str) -> str:
        """The type of values while computing."""
        return self.type(held_scalar(dtype))

    def stored_type(self, dtype: str) -> str:
        """The type of elements in memory."""
        return self.type(stored_scalar(dtype))

    def literal(self, value: float | int, dtype: str) -> str:
        """A constant of a dtype."""
        return self.number(held_scalar(dtype), number_text(value, dtype))

    def value(self, instruction: str) -> str:
        """The name of the result of an instruction."""
        return self.function.value(instruction)

    def spread(self, x: str, scalar: str) -> str:
        """One value in every lane."""
        if self.count == 1:
            return x
        kind = self.type(scalar)
        first = self.value(f"insertelement {kind} poison, {scalar} {x}, i64 0")
        return self.value(
            f"shufflevector {kind} {first}, {kind} poison, <{self.count} x i32> zeroinitializer"
        )

    def rounded(self, x: str, dtype: str) -> str:
        """Floats as values of float16 or bfloat16; other dtypes are left alone."""
        wide = self.type("float")
        if dtype == "float16":
            return widened(self, halved(self, x))
        if dtype != "bfloat16":
            return x
        t, number = self.type("i32"), self.number
        bits = self.value(f"bitcast {wide} {x} to {t}")
        odd = self.i32("and", self.i32("lshr", bits, 16), 1)
        raised = self.value(f"add {t} {self.i32('add', bits, 32767)}, {odd}")
        quiet = self.i32("or", bits, 4194304)
        nan = self.value(f"fcmp uno {wide} {x}, {x}")
        chosen = self.select(nan, t, quiet, raised)
        kept = self.value(f"and {t} {chosen}, {number('i32', -65536)}")
        return self.value(f"bitcast {t} {kept} to {wide}")

    def i32(self, name: str, x: str, constant: int) -> str:
        """An operation of integers of 32 bits, one of them a constant."""
        return self.value(f"{name} {self.type('i32')} {x}, {self.number('i32', constant)}")

    def select(self, condition: str, kind: str, x: str, y: str) -> str:
        """`x` in the lanes where the condition holds, `y` elsewhere."""
        return self.value(f"select {self.type('i1')} {condition}, {kind} {x}, {kind} {y}")

    def loaded(self, x: str, dtype: str) -> str:
        """Elements from memory as values."""
        if dtype == "bool":
            return self.value(f"icmp ne {self.type('i8')} {x}, {self.number('i8', 0)}")
        if dtype == "float16":
            return widened(self, x)
        if dtype == "bfloat16":
            wide = self.value(f"zext {self.type('i16')} {x} to {self.type('i32')}")
            return self.value(
                f"bitcast {self.type('i32')} {self.i32('shl', wide, 16)} to {self.type('float')}"
            )
        return x

    def stored(self, x: str, dtype: str) -> str:
        """Values as elements in memory."""
        if dtype == "bool":
            return self.value(f"zext {self.type('i1')} {x} to {self.type('i8')}")
        if dtype == "float16":
            return halved(self, x)
        if dtype == "bfloat16":
            bits = self.value(f"bitcast {self.type('float')} {x} to {self.type('i32')}")
            high = self.i32("lshr", bits, 16)
            return self.value(f"trunc {self.type('i32')} {high} to {self.type('i16')}")
        return x

    def applied(self, operation: str, operands: list[str], source: str, dtype: str) -> str:
        """A basic operation; `source` is the dtype of the last operand, `dtype` of the result."""
        kind = self.held(source)
        if operation == "cast":
            return self._cast(operands[0], element(source), element(dtype))
        if operation == "bitcast":
            return self._bitcast(operands[0], source, dtype)
        if operation == "select":
            condition, x, y = operands
            return self.select(condition, kind, x, y)
        if element(source).kind == "float":
            if operation == "truncated_remainder":
                return self._remainder(operands, held_scalar(source))
            if operation == "pair":
                return self._pair(operands)
            if operation == "scale":
                return self._scaled(operands[0], operands[1], element(source))
            if operation in BETTER:
                return self._better(operands[0], operands[1], BETTER[operation], kind)
            suffix = self.suffix(held_scalar(source))
            text = FLOATS[operation].format(*operands, t=kind, m=suffix)
            exact = dtype not in HALF or operation in EXACT
            return self.value(text) if exact else self.rounded(self.value(text), dtype)
        special = SPECIAL.get(operation)
        if special is not None:
            return special(self, operands, element(source))
        scalar, given = held_scalar(source), list(operands)
        if operation in BESIDE:
            given.append(self.number(scalar, BESIDE[operation]))
        signed = "s" if element(source).signed else "u"
        text = INTEGERS[operation].format(*given, t=kind, s=signed, m=self.suffix(scalar))
        return self.value(text)

    def _better(self, x: str, y: str, test: str, kind: str) -> str:
        """The larger or smaller; NaN if one is, either of two zeros.

        In two instructions of x86, where `maximum` takes six.
        """
        better = self.select(self.value(f"fcmp {test} {kind} {x}, {y}"), kind, x, y)
        return self.select(self.value(f"fcmp ord {kind} {x}, {x}"), kind, better, x)

    def _pair(self, operands: list[str]) -> str:
        wide, t = self.type("float"), self.type("i32")
        low, high = (self.value(f"bitcast {wide} {x} to {t}") for x in operands)
        high = self.i32("and", high, -65536)
        return self.value(f"or {t} {self.i32('lshr', low, 16)}, {high}")

    def pair_dot(self, operands: list[str], facts: Element) -> str:
        """The inner product of two pairs."""
        return self.pair_dot_add(operands, self.literal(-0.0, "float32"))

    def pair_dot_add(self, operands: list[str], total: str) -> str:
        """The inner product of two pairs, added to a total."""
        wide, t, value = self.type("float"), self.type("i32"), self.value
        if self.function.has_pairs and self.count in (4, 8, 16):
            pairs = f"<{2 * self.count} x bfloat>"
            x, y = (value(f"bitcast {t} {each} to {pairs}") for each in operands)
            name = f"llvm.x86.avx512bf16.dpbf16ps.{32 * self.count}"
            return value(f"call {wide} @{name}({wide} {total}, {pairs} {x}, {pairs} {y})")
        for operation, number in (("shl", 16), ("and", -65536)):
            a, b = (self.i32(operation, each, number) for each in operands)
            a, b = (value(f"bitcast {t} {each} to {wide}") for each in (a, b))
            total = self.applied("multiply_add", [a, b, total], "float32", "float32")
        return total

    def unsigned_zero(self, x: str, dtype: str) -> str:
        """Floats as they are, but for -0, which becomes +0."""
        return self.value(f"fadd {self.held(dtype)} {x}, {self.literal(0.0, dtype)}")

    def _scaled(self, x: str, exponent: str, facts: Element) -> str:
        """x * 2**exponent, in two steps where no instruction does it: in one it might overflow."""
        held, count, value, number = self.held(facts.name), self.count, self.value, self.number
        if self.function.has_scale and count * facts.bits == 512:
            name = f"llvm.x86.avx512.mask.scalef.p{'s' if facts.bits == 32 else 'd'}.512"
            mask = f"i{count} -1, i32 4"  # all lanes, rounded as ever
            return value(f"call {held} @{name}({held} {x}, {held} {exponent}, {held} {x}, {mask})")
        bits, shift = f"i{facts.bits}", facts.fraction
        kind, bias = self.type(bits), (1 << (facts.bits - shift - 2)) - 1
        large = 1.5 * 2.0**shift + 2 * bias  # added, it leaves a whole number in the lowest bits
        moved = value(f"fadd {held} {exponent}, {self.literal(large, facts.name)}")
        both = value(f"bitcast {held} {moved} to {kind}")  # the exponents of two powers of 2, added
        first = value(f"ashr {kind} {both}, {number(bits, 1)}")
        for part in (first, value(f"sub {kind} {both}, {first}")):
            power = value(f"shl {kind} {part}, {number(bits, shift)}")  # other bits fall off
            x = value(f"fmul {held} {x}, {value(f'bitcast {kind} {power} to {held}')}")
        return x

    def picked(self, place: str, numbers: Sequence[float]) -> str:
        """One of eight constants in each lane: by the instruction that permutes lanes."""
        texts = [number_text(x, "float32") for x in numbers]
        wide, f = max(8, self.count), self.function
        kind = f"<{wide} x float>"
        table = f"<{', '.join(f'float {x}' for x in texts * (wide // 8))}>"
        if self.count in f.permuted:
            name = {8: "avx2.permps", 16: "avx512.permvar.sf.512"}[self.count]
            return self.value(
                f"call {kind} @llvm.x86.{name}({kind} {table}, {self.type('i32')} {place})"
            )
        spot = self.i32("and", place, 7)
        if self.count == 1:
            return self.value(f"extractelement {kind} {table}, i32 {spot}")
        return self.each("float", [spot], f"extractelement {kind} {table}, i32 {{}}", "i32")

    def each(self, scalar: str, operands: list[str], call: str, given: str = "") -> str:
        """A function of scalars, lane by lane; `call` has a place for each operand.

        `scalar` is the type of the result, and of the operands if none is `given`.
        """
        if self.count == 1:
            return self.value(call.format(*operands))
        kind, taken, made = self.type(scalar), self.type(given or scalar), "poison"
        for lane in range(self.count):
            parts = [self.value(f"extractelement {taken} {x}, i64 {lane}") for x in operands]
            one = self.value(call.format(*parts))
            made = self.value(f"insertelement {kind} {made}, {scalar} {one}, i64 {lane}")
        return made

    def _remainder(self, operands: list[str], scalar: str) -> str:
        narrow, wide = self.type("float"), self.type("double")
        if scalar == "float":
            operands = [self.value(f"fpext {narrow} {x} to {wide}") for x in operands]
        call = "call double @truncated_remainder(double {}, double {})"
        result = self.each("double", operands, call)
        return self.value(f"fptrunc {wide} {result} to {narrow}") if scalar == "float" else result

    def absolute(self, operands: list[str], facts: Element) -> str:
        """The absolute value of integers."""
        if not facts.signed:
            return operands[0]
        kind, suffix = self.type(f"i{facts.bits}"), self.suffix(f"i{facts.bits}")
        return self.value(f"call {kind} @llvm.abs.{suffix}({kind} {operands[0]}, i1 false)")

    def product(self, x: str, y: str) -> tuple[str, str]:
        """The upper and the lower half of products of uint64: lanes multiply words of 32 bits."""
        kind, value = self.type("i64"), self.value
        if self.count == 1:
            wide = [value(f"zext i64 {each} to i128") for each in (x, y)]
            whole = value(f"mul i128 {wide[0]}, {wide[1]}")
            high = value(f"trunc i128 {value(f'lshr i128 {whole}, 64')} to i64")
            return high, value(f"trunc i128 {whole} to i64")
        mask, half = self.number("i64", 0xFFFFFFFF), self.number("i64", 32)
        (a, b), (c, d) = (
            (value(f"lshr {kind} {z}, {half}"), value(f"and {kind} {z}, {mask}")) for z in (x, y)
        )
        least = value(f"mul {kind} {b}, {d}")
        middle = value(f"mul {kind} {b}, {c}")
        middle = value(f"add {kind} {middle}, {value(f'lshr {kind} {least}, {half}')}")
        carried = value(f"mul {kind} {a}, {d}")
        carried = value(f"add {kind} {carried}, {value(f'and {kind} {middle}, {mask}')}")
        high = value(f"mul {kind} {a}, {c}")
        high = value(f"add {kind} {high}, {value(f'lshr {kind} {middle}, {half}')}")
        high = value(f"add {kind} {high}, {value(f'lshr {kind} {carried}, {half}')}")
        upper = value(f"shl {kind} {carried}, {half}")
        return high, value(f"or {kind} {upper}, {value(f'and {kind} {least}, {mask}')}")

    def multiply_high(self, operands: list[str], facts: Element) -> str:
        """The upper half of products."""
        if facts.bits == 64:
            return self.product(*operands)[0]
        narrow, wide = self.type(f"i{facts.bits}"), self.type(f"i{facts.bits * 2}")
        x, y = (self.value(f"zext {narrow} {each} to {wide}") for each in operands)
        product = self.value(f"mul {wide} {x}, {y}")
        amount = self.number(f"i{facts.bits * 2}", facts.bits)
        return self.value(
            f"trunc {wide} {self.value(f'lshr {wide} {product}, {amount}')} to {narrow}"
        )

    def shift_left(self, operands: list[str], facts: Element) -> str:
        """A shift to the left."""
        return self._shifted("shl", operands, facts.bits, self.number(f"i{facts.bits}", 0))

    def shift_right(self, operands: list[str], facts: Element) -> str:
        """A shift to the right, which keeps the sign."""
        scalar, x = f"i{facts.bits}", operands[0]
        if not facts.signed:
            return self._shifted("lshr", operands, facts.bits, self.number(scalar, 0))
        if self._is_shift(operands[1], facts.bits):
            return self.value(f"ashr {self.type(scalar)} {x}, {operands[1]}")
        most = self.number(scalar, facts.bits - 1)
        out = self.value(f"ashr {self.type(scalar)} {x}, {most}")
        return self._shifted("ashr", operands, facts.bits, out)

    def _is_shift(self, amount: str, bits: int) -> bool:
        text = amount.removeprefix(f"splat (i{bits} ").removesuffix(")")
        return text.isdigit() and int(text) < bits

    def _shifted(self, name: str, operands: list[str], bits: int, out: str) -> str:
        """A shift; where the amount is too large the result is `out`."""
        x, amount = operands
        kind = self.type(f"i{bits}")
        if self._is_shift(amount, bits):
            return self.value(f"{name} {kind} {x}, {amount}")
        fits = self.value(f"icmp ult {kind} {amount}, {self.number(f'i{bits}', bits)}")
        safe = self.select(fits, kind, amount, self.number(f"i{bits}", 0))
        return self.select(fits, kind, self.value(f"{name} {kind} {x}, {safe}"), out)

    def floor_divide(self, operands: list[str], facts: Element) -> str:
        """The quotient, rounded down."""
        return self._division(operands, facts)[0]

    def floor_remainder(self, operands: list[str], facts: Element) -> str:
        """What division leaves."""
        return self._division(operands, facts)[1]

    def _division(self, operands: list[str], facts: Element) -> tuple[str, str]:
        """Quotient, rounded down, and remainder; both 0 for a divisor of 0."""
        x, y = operands
        scalar = f"i{facts.bits}"
        t, zero, one = self.type(scalar), self.number(scalar, 0), self.number(scalar, 1)
        value = self.value
        if not facts.signed:
            nought = value(f"icmp eq {t} {y}, {zero}")
            safe = self.select(nought, t, one, y)
            results = [value(f"{name} {t} {x}, {safe}") for name in ("udiv", "urem")]
            quotient, rest = (self.select(nought, t, zero, each) for each in results)
            return quotient, rest
        two = self.number(scalar, 2)
        special = value(f"icmp ult {t} {value(f'add {t} {y}, {one}')}, {two}")  # -1 or 0
        safe = self.select(special, t, one, y)
        quotient, rest = (value(f"{name} {t} {x}, {safe}") for name in ("sdiv", "srem"))
        opposite = value(f"icmp slt {t} {value(f'xor {t} {rest}, {safe}')}, {zero}")
        left = value(f"icmp ne {t} {rest}, {zero}")
        down = value(f"and {self.type('i1')} {left}, {opposite}")
        one_less = value(f"zext {self.type('i1')} {down} to {t}")
        lower = value(f"sub {t} {quotient}, {one_less}")
        moved = self.select(down, t, value(f"add {t} {rest}, {safe}"), rest)
        negated = value(f"mul {t} {x}, {y}")  # x times -1 or 0
        return self.select(special, t, negated, lower), self.select(special, t, zero, moved)

    def _bitcast(self, x: str, source: str, dtype: str) -> str:
        inner, outer = self.stored_type(source), self.stored_type(dtype)
        bits = self.stored(x, source)
        if inner != outer:
            bits = self.value(f"bitcast {inner} {bits} to {outer}")
        return self.loaded(bits, dtype)

    def _cast(self, x: str, source: Element, target: Element) -> str:
        """Values in another dtype."""
        inner, outer = self.held(source.name), self.held(target.name)
        signed = "s" if source.signed and source.kind == "integer" else "u"
        match source.kind, target.kind:
            case "float", "bool":
                return self.value(f"fcmp une {inner} {x}, {self.literal(0, source.name)}")
            case _, "bool":
                return self.value(f"icmp ne {inner} {x}, {self.literal(0, source.name)}")
            case "float", "integer" if self.count > 1:
                return self._whole(x, source, target)
            case "float", "integer":
                name = f"llvm.fpto{'s' if target.signed else 'u'}i.sat"
                ends = [self.suffix(held_scalar(e.name)) for e in (target, source)]
                return self.value(f"call {outer} @{name}.{ends[0]}.{ends[1]}({inner} {x})")
            case "float", "float":
                return self._resized(x, inner, outer, source.name, target.name)
            case _, "float":
                made = self.value(f"{signed}itofp {inner} {x} to {outer}")
                return self.rounded(made, target.name)
        if source.kind == "bool" or source.bits < target.bits:
            return self.value(f"{'sext' if signed == 's' else 'zext'} {inner} {x} to {outer}")
        return x if inner == outer else self.value(f"trunc {inner} {x} to {outer}")

    def _whole(self, x: str, source: Element, target: Element) -> str:
        """Floats cut to integers that stay in range, NaN made 0: LLVM does that lane by lane."""
        kind = np.float64 if source.name == "float64" else np.float32
        lowest, highest = float(target.lowest), kind(target.highest)
        if int(highest) > int(target.highest):
            highest = np.nextafter(highest, kind(0))
        inner, outer = self.held(source.name), self.held(target.name)
        suffix = self.suffix(held_scalar(source.name))
        ends = [self.literal(v, source.name) for v in (float(highest), lowest)]
        number = self.value(f"fcmp ord {inner} {x}, {x}")
        known = self.select(number, inner, x, self.literal(0, source.name))
        low = self.value(f"call {inner} @llvm.minnum.{suffix}({inner} {known}, {inner} {ends[0]})")
        both = self.value(f"call {inner} @llvm.maxnum.{suffix}({inner} {low}, {inner} {ends[1]})")
        name = "fptosi" if target.signed else "fptoui"
        found = self.value(f"{name} {inner} {both} to {outer}")
        above = self.value(f"fcmp ogt {inner} {x}, {ends[0]}")
        return self.select(above, outer, self.literal(target.highest, target.name), found)

    def _resized(self, x: str, inner: str, outer: str, source: str, target: str) -> str:
        if inner != outer:
            name = "fpext" if "double" in outer else "fptrunc"
            x = self.value(f"{name} {inner} {x} to {outer}")
        return x if source == target else self.rounded(x, target)


SPECIAL = {
    "absolute": Lanes.absolute,
    "multiply_high": Lanes.multiply_high,
    "pair_dot": Lanes.pair_dot,
    "shift_left": Lanes.shift_left,
    "shift_right": Lanes.shift_right,
    "floor_divide": Lanes.floor_divide,
    "remainder": Lanes.floor_remainder,
}
