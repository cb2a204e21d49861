"""The elementary functions in basic operations, so that every target gives the same bits.

Largest errors, in units in the last place; float16 and bfloat16 are computed in a wider dtype and
rounded, which adds half a unit of their own:

    function             float32  float64
    exp, log                1        1
    expm1, log1p            2        2
    tanh                    3        3
    erf                   1.1        2
    sin, cos, power         0.51     1
    rsqrt                   1.5      1.5

sin and cos hold for every argument, however large; float32 sin, cos and power are computed in
float64. Denormal arguments and results, infinities, zeros with their sign and NaN are as IEEE 754
wants them.
"""

from math import log

from scull.lang import coefficient
from scull.lang.dtype import element
from scull.lang.expression import Expression, bitcast, cast, constant
from scull.lang.function import (
    equal,
    multiply_add,
    not_equal,
    pick,
    scale,
    select,
    sqrt,
)

LOG_2 = {  # in two parts, the first so short that its products with an exponent are exact
    "float32": (0.69287109375, 0.00027608680994930943),
    "float64": (0.6931471803691238, 1.9082149292705877e-10),
}


class Format:
    """A float dtype: `bits` is the integer of its size, `shift` where the exponent starts."""

    def __init__(self, dtype: str) -> None:
        facts = element(dtype)
        self.dtype = dtype
        self.bits = f"int{facts.bits}"
        self.shift = facts.fraction
        self.bias = (1 << (facts.bits - facts.fraction - 2)) - 1
        self.sign = -1 << (facts.bits - 1)

    def power_of_2(self, exponent: Expression) -> Expression:
        """2**exponent, for exponents of normal numbers."""
        return bitcast((exponent + self.bias) << self.shift, self.dtype)

    def with_sign(self, magnitude: Expression, x: Expression) -> Expression:
        """`magnitude`, which has no sign, with that of `x`."""
        sign = bitcast(x, self.bits) & self.sign
        return bitcast(bitcast(magnitude, self.bits) | sign, self.dtype)


def polynomial(x: Expression, coefficients: tuple[float, ...]) -> Expression:
    """The value at `x`, by Horner's rule."""
    result = constant(coefficients[-1], x.dtype)
    for each in reversed(coefficients[:-1]):
        result = multiply_add(result, x, each)
    return result


def at_most(x: Expression, high: float) -> Expression:
    """`x`, or `high` where it is above; NaN stays."""
    return select(x > high, high, x)


def clamp(x: Expression, low: float, high: float) -> Expression:
    """`x` within two numbers; NaN stays."""
    x = at_most(x, high)
    return select(x < low, low, x)


def _split(x: Expression, *parts: float) -> tuple[Expression, Expression, Expression]:
    """n as a float and as an integer, and r, where x = n log(2) + r.

    log(2) is given in `parts`: more of them where r is to be exact for large n.
    """
    number = Format(x.dtype)
    large = 1.5 * 2.0**number.shift  # added, it leaves a whole number in the lowest bits
    moved = multiply_add(x, 1.4426950408889634, large)
    n, r = moved - large, x
    for part in parts:
        r = multiply_add(n, -part, r)
    whole = bitcast(moved, number.bits) - bitcast(constant(large, x.dtype), number.bits)
    return n, whole, r


def _grown(r: Expression) -> Expression:
    """exp(r) - 1."""
    return multiply_add(polynomial(r, coefficient.EXP[r.dtype]), r * r, r)


def _factors(x: Expression) -> tuple[Expression, Expression]:
    """A power of 2 and exp(r) - 1, where exp(x) = power * exp(r); x is within some 40 of 0."""
    _, n, r = _split(x, log(2))
    return Format(x.dtype).power_of_2(n), _grown(r)


def exp_of(x: Expression) -> Expression:
    """exp(x)."""
    x = clamp(x, -104.0, 89.0) if x.dtype == "float32" else clamp(x, -746.0, 710.0)
    n, _, r = _split(x, *LOG_2[x.dtype])
    return scale(polynomial(r, (1.0, 1.0, *coefficient.EXP[x.dtype])), n)


def expm1_of(x: Expression) -> Expression:
    """exp(x) - 1."""
    number = Format(x.dtype)
    tiny = 2.0 ** -(number.shift + 2)
    near = clamp(x, -18.0, 89.0) if x.dtype == "float32" else clamp(x, -38.0, 710.0)
    _, n, r = _split(near, *LOG_2[x.dtype])
    half = number.power_of_2(n - 1)
    result = multiply_add(half, _grown(r), half - 0.5) * 2
    return select(abs(x) < tiny, x, result)


def significand(x: Expression, number: Format) -> tuple[Expression, Expression]:
    """e and m, where x = m * 2**e and m lies between the roots of 1/2 and of 2."""
    root = {"float32": 0x3F3504F3, "float64": 0x3FE6A09E667F3BCD}[x.dtype]
    one = number.bias << number.shift
    bits = bitcast(x, number.bits) + (one - root)
    e = (bits >> number.shift) - number.bias
    m = bitcast((bits & ((1 << number.shift) - 1)) + root, x.dtype)
    return e, m


def _log_core(e: Expression, f: Expression) -> Expression:
    """e log(2) + log(1 + f)."""
    high, low = LOG_2[f.dtype]
    count = cast(e, f.dtype)
    s = f / (f + 2)
    z = s * s
    tail = polynomial(z, coefficient.LOG[f.dtype]) * z
    half = f * f * 0.5
    lower = multiply_add(s, half + tail, count * low)
    return multiply_add(count, high, f - (half - lower))


def _log_limits(x: Expression, result: Expression) -> Expression:
    """What a logarithm is of 0, infinity, negative numbers and NaN."""
    infinity = float("inf")
    result = select(equal(x, 0.0), -infinity, result)
    result = select(x < 0, float("nan"), result)
    result = select(equal(x, infinity), infinity, result)
    return select(not_equal(x, x), x, result)


def log_of(x: Expression) -> Expression:
    """log(x)."""
    number = Format(x.dtype)
    denormal = x < 2.0 ** (1 - number.bias)
    lifted = select(denormal, x * 2.0 ** (number.shift + 1), x)
    e, m = significand(lifted, number)
    e = e - select(denormal, constant(number.shift + 1, e.dtype), 0)
    return _log_limits(x, _log_core(e, m - 1))


def log1p_of(x: Expression) -> Expression:
    """log(1 + x)."""
    number = Format(x.dtype)
    u = x + 1
    lost = select(x < 1, x - (u - 1), 1 - (u - x))
    e, m = significand(u, number)
    near = clamp(cast(e, x.dtype), 0.0, 64.0)
    scale = number.power_of_2(-cast(near, number.bits))
    f = (m - 1) + lost * scale
    result = _log_limits(u, _log_core(e, f))
    return select(abs(x) < 2.0 ** -(number.shift + 2), x, result)


def tanh_of(x: Expression) -> Expression:
    """tanh(x)."""
    power, grown = _factors(at_most(abs(x), 20.0) * 2)
    t = multiply_add(power, grown, power - 1)
    return Format(x.dtype).with_sign(t / (t + 2), x)


def erf_of(x: Expression) -> Expression:
    """erf(x)."""
    return _erf_of_pieces(x) if x.dtype == "float32" else _erf_by_exp(x)


def _erf_by_exp(x: Expression) -> Expression:
    rate = at_most(abs(x), 6.0)
    rate = multiply_add(polynomial(rate, coefficient.ERF[x.dtype]), rate, rate)
    power, grown = _factors(-rate)
    return Format(x.dtype).with_sign(multiply_add(-power, grown, 1 - power), x)


def _erf_of_pieces(x: Expression) -> Expression:
    """By a polynomial for each of eight pieces of the line; the last ends where erf(x) is 1."""
    width, number = 17 / 32, Format(x.dtype)
    near, large = at_most(abs(x), 3.9375), 1.5 * 2.0**number.shift
    moved = multiply_add(near, 1 / width, large)
    t = multiply_add(moved - large, -width, near)
    rows = [pick(bitcast(moved, number.bits), row) for row in coefficient.ERF_PIECES]
    total = rows[-1]
    for row in rows[-2:0:-1]:
        total = multiply_add(total, t, row)
    first = select(t > rows[0], t, rows[0])  # t within the first piece
    return number.with_sign(multiply_add(total, t, first), x)


def normal_cdf_of(x: Expression) -> Expression:
    """(1 + erf(x / sqrt(2))) / 2: its half for 0, and a quotient of polynomials, odd in x."""
    if x.dtype == "float64":
        return (_erf_by_exp(x * 0.5**0.5) + 1) * 0.5
    end, above, below = coefficient.NORMAL_CDF
    near = clamp(x, -end, end)
    square = near * near
    result = near * polynomial(square, above) / polynomial(square, below) + 0.5
    return select(result < 0, 0.0, result)


def rsqrt_of(x: Expression) -> Expression:
    """1 / sqrt(x)."""
    return 1 / sqrt(x)
