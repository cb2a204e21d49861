"""Sine and cosine of float64, as expressions of basic operations."""

from itertools import pairwise

from scull.lang import coefficient
from scull.lang.elementary import polynomial
from scull.lang.expression import Expression, bitcast, cast, constant, guarded
from scull.lang.function import equal, multiply_add, multiply_high, not_equal, round, select

HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
HALF_PI_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
FAR = 2.0**19  # beyond, the exponent of x chooses the bits of 2 / pi that matter

Pair = tuple[Expression, Expression]


def sin_of(x: Expression) -> Expression:
    """sin(x)."""
    near, far = (
        _turned(quadrant, _sine(high, low), _cosine(high, low))
        for quadrant, high, low in (_near(x), _far(x))
    )
    return _limits(x, select(equal(x, 0.0), x, guarded(abs(x) >= FAR, far, near)))


def cos_of(x: Expression) -> Expression:
    """cos(x)."""
    near, far = (
        _turned(quadrant + 1, _sine(high, low), _cosine(high, low))
        for quadrant, high, low in (_near(x), _far(x))
    )
    return _limits(x, guarded(abs(x) >= FAR, far, near))


def _limits(x: Expression, result: Expression) -> Expression:
    """NaN for infinities."""
    return select(not_equal(x - x, 0.0), float("nan"), result)


def _turned(quadrant: Expression, sine: Expression, cosine: Expression) -> Expression:
    chosen = select(equal(quadrant & 1, 0), sine, cosine)
    return select(equal(quadrant & 2, 0), chosen, -chosen)


def _sine(high: Expression, low: Expression) -> Expression:
    z = high * high
    tail = polynomial(z, coefficient.SIN["float64"]) * (z * high)
    return high + (tail + low * (1 - z * 0.5))


def _cosine(high: Expression, low: Expression) -> Expression:
    z = high * high
    half = z * 0.5
    near = 1 - half
    tail = polynomial(z, coefficient.COS["float64"]) * (z * z) - high * low
    return near + (((1 - near) - half) + tail)


def _near(x: Expression) -> tuple[Expression, Expression, Expression]:
    """The quadrant of an angle, and how far it is past its middle as a sum of two numbers.

    Half pi is subtracted n times, in three parts; the products of the first two with n are exact.
    """
    first, second, third = HALF_PI_PARTS
    n = round(x * 0.6366197723675814)
    rest = multiply_add(n, -first, x)
    high, low = two_sum(rest, -(n * second))
    high, low = fast_two_sum(high, multiply_add(n, -third, low))
    return cast(n, "int64"), high, low


def _far(x: Expression) -> tuple[Expression, Expression, Expression]:
    """The same for large angles.

    For x = m * 2**k with m whole: m times 192 bits of 2 / pi, the first worth 2 in x * 2 / pi.
    """
    bits = bitcast(x, "uint64")
    k = cast((bits >> 52) & 0x7FF, "int64") - 1075
    m = (bits & ((1 << 52) - 1)) | (1 << 52)
    first = k + 34  # of the bits with their 36 zeros in front
    words = [_word(first >> 6, number) for number in range(4)]
    shift = cast(first & 63, "uint64")
    window = [
        (a << shift) | select(equal(shift, 0), constant(0, "uint64"), b >> (64 - shift))
        for a, b in pairwise(words)
    ]
    lower = m * window[1]
    middle = lower + multiply_high(m, window[2])
    carry = select(middle < lower, constant(1, "uint64"), 0)
    top = m * window[0] + multiply_high(m, window[1]) + carry
    quadrant, high, low = _angle(top, middle)
    negative = x < 0
    return (
        select(negative, -quadrant, quadrant),
        select(negative, -high, high),
        select(negative, -low, low),
    )


def _angle(top: Expression, middle: Expression) -> tuple[Expression, Expression, Expression]:
    """The quadrant is in the first two bits, the rest a signed fraction of a quadrant."""
    upper = (top << 2) | (middle >> 62)
    lower = middle << 2
    negative = upper >> 63
    quadrant = cast((top >> 62) + negative, "int64")
    flip = 0 - negative
    upper, lower = upper ^ flip, lower ^ flip  # within 2**-126 of the negative
    high = cast(upper & ((1 << 64) - (1 << 11)), "float64") * 2.0**-64
    low = cast(((upper & 0x7FF) << 53) | (lower >> 11), "float64") * 2.0**-117
    product = high * HALF_PI[0]
    error = multiply_add(high, HALF_PI[0], -product)
    rest = error + (low * HALF_PI[0] + high * HALF_PI[1])
    high, low = fast_two_sum(product, rest)
    minus = equal(negative, 1)
    return quadrant, select(minus, -high, high), select(minus, -low, low)


def _word(place: Expression, offset: int) -> Expression:
    """A word of the bits of 2 / pi, by its place among the first 16."""
    layer: list[Expression] = [
        constant(coefficient.TWO_OVER_PI[number + offset], "uint64") for number in range(16)
    ]
    for bit in range(4):
        odd = not_equal(place & (1 << bit), 0)
        layer = [select(odd, b, a) for a, b in zip(layer[::2], layer[1::2], strict=True)]
    return layer[0]


def two_sum(x: Expression, y: Expression) -> Pair:
    """x + y as the rounded sum and its error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def fast_two_sum(x: Expression, y: Expression) -> Pair:
    """The same where x is the greater, or 0."""
    total = x + y
    return total, (x - total) + y
