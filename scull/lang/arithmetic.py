"""What each operation computes, to the bit, in NumPy.

- Floats follow IEEE 754: every operation rounds once, to nearest and ties to even, in its own
  dtype; denormals count. float16 and bfloat16 are computed in float32 and then rounded, which gives
  the same for + - * / sqrt. Which NaN comes out is not defined.
- `maximum` and `minimum` give NaN if one is NaN; -0 is below +0. So their order does not matter.
  A reduction by `max` or `min` gives +0 for a zero of either sign.
- Integers wrap. Division rounds down, and by zero gives 0, as does the remainder. Shifting by the
  width or more, or by a negative amount, shifts everything out.
- `cast` of a float to an integer cuts the fraction off, stays within the range, and makes 0 of NaN;
  between integers it keeps the low bits; to bool it asks whether the value is not 0. An integer
  becomes a float16 or bfloat16 by way of float32; a float64 is rounded once.
- A reduction is a left fold: the first term, then one step for each further one, in the order of
  its axes, the last running fastest. This order defines the bits of a sum: one that is to be
  computed in several parts is written so, as a sum of sums.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from scull.lang.dtype import HALF, element
from scull.lang.random import ROUNDS, WEYL, block_of

Values: TypeAlias = Any  # an array, or a NumPy scalar where NumPy makes one of a 0-D array

MASK = np.uint64(0xFFFFFFFF)


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The dtype of NumPy or ml_dtypes with this name."""
    return np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def compute(operation: str, operands: list[Values], dtype: str) -> Values:
    """An operation on arrays; `dtype` is that of the result."""
    source = operands[0].dtype.name
    if operation == "cast":
        return cast(operands[0], dtype)
    if operation == "bitcast":
        return np.asarray(operands[0]).view(numpy_dtype(dtype))
    if operation == "select":
        condition, first, second = operands
        chosen: Values = np.where(condition, first, second)
        return chosen.astype(numpy_dtype(dtype), copy=False)
    if operation == "pair":
        low, high = (x.view(np.uint16).astype(np.uint32) for x in operands)
        return low | high << np.uint32(16)
    if source in HALF:
        result = compute(operation, [x.astype(np.float32) for x in operands], "float32")
        return result if result.dtype == bool else result.astype(numpy_dtype(dtype))
    return OPERATIONS[operation](*operands)


def cast(x: Values, dtype: str) -> Values:
    """The values in another dtype."""
    target, source = element(dtype), element(x.dtype.name)
    if target.kind == "bool":
        return x != 0
    if source.kind == "float" and target.kind == "integer":
        return _whole_numbers(x.astype(np.float64), dtype)
    if dtype in HALF:
        x = _rounded_to_odd(x) if source.name == "float64" else x.astype(np.float32)
    return x.astype(numpy_dtype(dtype))


def _whole_numbers(x: Values, dtype: str) -> Values:
    facts = element(dtype)
    low, high = int(facts.lowest), int(facts.highest)
    whole = np.trunc(x)
    above, below = whole >= float(high + 1), whole < float(low)
    result = np.where(above | below | np.isnan(x), 0.0, whole).astype(numpy_dtype(dtype))
    return np.where(above, numpy_dtype(dtype).type(high), np.where(below, low, result)).astype(
        numpy_dtype(dtype)
    )


def _rounded_to_odd(x: Values) -> Values:
    """float64 to float32 so that rounding the result again rounds once."""
    near = np.asarray(x.astype(np.float32))
    wide = near.astype(np.float64)
    inexact = (wide != x) & np.isfinite(x)
    bits = near.view(np.uint32) - (np.abs(wide) > np.abs(x)).astype(np.uint32)
    return np.where(inexact, (bits | np.uint32(1)).view(np.float32), near)


def _maximum(x: Values, y: Values) -> Values:
    if x.dtype.kind != "f":
        return np.maximum(x, y)
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def _minimum(x: Values, y: Values) -> Values:
    if x.dtype.kind != "f":
        return np.minimum(x, y)
    return np.where((x == 0) & (y == 0), -(-x + -y), np.minimum(x, y))


def _floor_divide(x: Values, y: Values) -> Values:
    special = (y == 0) | (_minus_one(y))
    quotient = np.floor_divide(x, np.where(special, 1, y).astype(x.dtype))
    return np.where(y == 0, 0, np.where(_minus_one(y), np.negative(x), quotient)).astype(x.dtype)


def _remainder(x: Values, y: Values) -> Values:
    special = (y == 0) | (_minus_one(y))
    rest = np.remainder(x, np.where(special, 1, y).astype(x.dtype))
    return np.where(special, 0, rest).astype(x.dtype)


def _minus_one(y: Values) -> Values:
    return y == -1 if y.dtype.kind == "i" else np.zeros_like(y, bool)


def _multiply_high(x: Values, y: Values) -> Values:
    if x.dtype == np.uint32:
        product = x.astype(np.uint64) * y.astype(np.uint64)
        return (product >> np.uint64(32)).astype(np.uint32)
    half = np.uint64(32)
    a, b, c, d = x >> half, x & MASK, y >> half, y & MASK
    middle = a * d + (b * d >> half)
    carried = b * c + (middle & MASK)
    return a * c + (middle >> half) + (carried >> half)


def _random_bits(key0: Values, key1: Values, place: Values) -> Values:
    counter, numbers = ((place >> 2) + 1).astype(np.uint64), np.arange(ROUNDS, dtype=np.uint64)
    first, second = (np.uint64(step) * numbers for step in WEYL)
    keys = [(key0 + x, key1 + y) for x, y in zip(first, second, strict=True)]

    def product(x: Values, number: int) -> tuple[Values, Values]:
        return _multiply_high(x, np.uint64(number)), x * np.uint64(number)

    found = block_of(counter, np.zeros_like(counter), keys, product, np.bitwise_xor)
    return np.choose(place & 3, found)


def _random_half(key0: Values, key1: Values, place: Values) -> Values:
    word, shift = _random_bits(key0, key1, place >> 1), ((place & 1) << 5).astype(np.uint64)
    return (word >> shift & MASK).astype(np.uint32)


def _scale(x: Values, exponent: Values) -> Values:
    unknown = np.isnan(exponent)
    whole = np.where(unknown, 0, exponent).astype(np.int32)
    return np.where(unknown, exponent, np.ldexp(x, whole)).astype(x.dtype)


def _multiply_add(x: Values, y: Values, z: Values) -> Values:
    if x.dtype == np.float32:
        product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
        total, error = _two_sum(product, z)
        return _odd(total, error).astype(np.float32)
    return _multiply_add_wide(x, y, z)


def _two_sum(x: Values, y: Values) -> tuple[Values, Values]:
    total = np.add(x, y)
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _odd(total: Values, error: Values) -> Values:
    """`total + error`, as the neighbour towards the truth with an odd last bit if it is inexact."""
    bits = np.asarray(total).view(np.uint64)
    wrong = np.isfinite(total) & (error != 0) & ((bits & np.uint64(1)) == 0) & ~np.isnan(error)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(wrong, np.nextafter(total, towards), total)


def _multiply_add_wide(x: Values, y: Values, z: Values) -> Values:
    """float64, without errors; by whole numbers where an exponent is near its limits."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))
    x, y, z = (np.broadcast_to(each, shape) for each in (x, y, z))
    product, low = _two_product(x, y)
    small, rest = _two_sum(z, low)
    large, middle = _two_sum(product, small)
    result: Values = np.add(large, _odd(*_two_sum(middle, rest)))
    sizes = [np.abs(v) for v in (x, y, product, z)]
    safe = np.all([(size < 2.0**400) & ((size > 2.0**-400) | (size == 0)) for size in sizes], 0)
    safe &= (x != 0) & (y != 0)
    result = np.where(safe, result, _plain(x, y, z, product))
    easy = (z == 0) | ((np.abs(product) < np.abs(z) * 2.0**-60) & (np.abs(z) > 2.0**-900))
    unsafe = ~(safe | easy) & np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    for place in map(tuple, np.argwhere(unsafe)):
        result[place] = _exact(float(x[place]), float(y[place]), float(z[place]), result[place])
    return result


def _plain(x: Values, y: Values, z: Values, product: Values) -> Values:
    """`x * y + z` where z is 0, infinite, or far above the product."""
    beyond = np.isinf(z) & np.isfinite(x) & np.isfinite(y)  # the product itself may overflow
    below = (z == 0) & (x != 0) & (y != 0)  # and here underflow
    return np.where(beyond, z, np.where(below, product, np.add(product, z)))


def _two_product(x: Values, y: Values) -> tuple[Values, Values]:
    def split(v: Values) -> tuple[Values, Values]:
        scaled = v * 134217729.0  # 2**27 + 1
        high = scaled - (scaled - v)
        return high, v - high

    product = np.multiply(x, y)
    (a, b), (c, d) = split(x), split(y)
    return product, b * d - (((product - a * c) - b * c) - a * d)


def _exact(x: float, y: float, z: float, plain: float) -> float:
    """`x * y + z` by whole numbers; `plain` has the sign of a zero."""
    total = _scaled(x, 1100) * _scaled(y, 1100) + (_scaled(z, 1100) << 1100)
    if total == 0:
        return plain
    try:
        return total / (1 << 2200)  # the division of integers rounds once
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def _scaled(value: float, exponent: int) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << exponent) // denominator


def _pair_dot(x: Values, y: Values) -> Values:
    low = [(v << np.uint32(16)).view(np.float32) for v in (x, y)]
    high = [(v & np.uint32(0xFFFF0000)).view(np.float32) for v in (x, y)]
    return low[0] * low[1] + high[0] * high[1]


def _pick(place: Values, *values: Values) -> Values:
    return np.stack(values)[place & 7]


OPERATIONS: dict[str, Callable[..., Values]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "truncated_remainder": np.fmod,
    "minimum": _minimum,
    "maximum": _maximum,
    "multiply_add": _multiply_add,
    "scale": _scale,
    "pick": _pick,
    "multiply_high": _multiply_high,
    "pair_dot": _pair_dot,
    "random_bits": _random_bits,
    "random_half": _random_half,
    "negative": np.negative,
    "absolute": np.absolute,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "sqrt": np.sqrt,
    "within": lambda place, size: np.maximum(np.minimum(place, size - 1), 0),
}

STEPS = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "any": "or",
    "all": "and",
}


def of_nothing(operation: str, dtype: str) -> float | int:
    """The result of a reduction without terms."""
    facts = element(dtype)
    return {
        "sum": 0,
        "prod": 1,
        "max": facts.lowest,
        "min": facts.highest,
        "any": 0,
        "all": 1,
    }[operation]


def fold(operation: str, start: Values | None, terms: Values, dtype: str) -> Values:
    """A reduction continued from `start` over the first axis of `terms`, one term after another."""
    if start is not None:
        terms = np.concatenate([start[np.newaxis], terms])
    if operation in ("sum", "prod"):
        ufunc = np.add if operation == "sum" else np.multiply
        return ufunc.accumulate(terms, axis=0, dtype=terms.dtype)[-1]
    while len(terms) > 1:  # the order does not matter
        half = len(terms) // 2
        pairs = compute(STEPS[operation], [terms[:half], terms[-half:]], dtype)
        terms = np.concatenate([pairs, terms[half:-half]])
    return terms[0]


def first_position(operation: str, terms: Values) -> tuple[Values, Values]:
    """Along the first axis: where the greatest (or least) is, and what it is."""
    comparable = terms.astype(np.float32) if terms.dtype.name in HALF else terms
    found = (
        np.argmax(comparable, axis=0) if operation == "argmax" else np.argmin(comparable, axis=0)
    )
    found = np.asarray(found, np.int64)
    return found, np.take_along_axis(comparable, found[np.newaxis], axis=0)[0]


def beats(operation: str, x: Values, y: Values) -> Values:
    """Whether `x`, found later, takes the place of `y`."""
    further = x > y if operation == "argmax" else x < y
    return further | ((x != x) & (y == y))
