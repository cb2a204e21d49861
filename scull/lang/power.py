"""x ** y in basic operations: float64 by a logarithm of twice its digits, integers by squaring."""

from scull.lang import coefficient
from scull.lang.dtype import element
from scull.lang.elementary import Format, clamp, polynomial, significand
from scull.lang.expression import Expression, cast, constant
from scull.lang.function import equal, floor, multiply_add, not_equal, round, scale, select
from scull.lang.trigonometry import Pair, fast_two_sum, two_sum

TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
LOG_2 = (0.6931471803691238, 1.9082149292705877e-10, 1.1612227229362532e-26)


def power_of(x: Expression, y: Expression) -> Expression:
    """x ** y."""
    if element(x.dtype).kind == "integer":
        return _whole_power(x, y)
    magnitude = abs(x)
    result = _positive_power(magnitude, y)
    result = _limits(magnitude, y, result)
    whole = equal(floor(y), y)
    odd = whole & not_equal(floor(y * 0.5) * 2, y) & (abs(y) < 2.0**53)
    result = Format("float64").with_sign(result, select(odd, x, 1.0))
    finite = not_equal(magnitude, float("inf"))
    undefined = (x < 0) & finite & ~whole
    result = select(undefined | not_equal(x, x) | not_equal(y, y), float("nan"), result)
    return select(equal(y, 0.0) | equal(x, 1.0), 1.0, result)


def _limits(x: Expression, y: Expression, result: Expression) -> Expression:
    """Powers of 0 and infinity and to an infinity, for x >= 0."""
    infinity = float("inf")
    grows = equal(x > 1, y > 0)
    limit = select(equal(x, 1.0), 1.0, select(grows, constant(infinity, "float64"), 0.0))
    special = equal(x, 0.0) | equal(x, infinity) | equal(abs(y), infinity)
    return select(special, limit, result)


def _positive_power(x: Expression, y: Expression) -> Expression:
    high, low = _logarithm(x)
    product = y * high
    rest = multiply_add(y, high, -product) + y * low
    far = abs(product) > 800
    rest = select(far, 0.0, rest)
    return _exponential(clamp(product, -800.0, 800.0), rest)


def _logarithm(x: Expression) -> Pair:
    """log(x) as a sum of two numbers, good to 2**-65 of itself."""
    number = Format("float64")
    denormal = x < 2.0**-1022
    e, m = significand(select(denormal, x * 2.0**53, x), number)
    count = cast(e - select(denormal, constant(53, "int64"), 0), "float64")
    f = m - 1
    s = _quotient(f, *fast_two_sum(constant(2.0, "float64"), f))
    z = _product(s, s)
    tail = polynomial(z[0], coefficient.POWER["float64"]) * z[0]
    c, rest = fast_two_sum(constant(TWO_THIRDS[0], "float64"), tail)
    series = _product(_product(z, (c, rest + TWO_THIRDS[1])), s)
    high, low = fast_two_sum(s[0] * 2, series[0])
    low = low + (s[1] * 2 + series[1])
    first, second, third = LOG_2
    total, error = two_sum(count * first, high)
    more = multiply_add(count, second, 0.0)
    slip = multiply_add(count, second, -more) + count * third
    total, again = two_sum(total, more)
    return fast_two_sum(total, again + (error + (low + slip)))


def _quotient(x: Expression, high: Expression, low: Expression) -> Pair:
    first = x / high
    return first, (multiply_add(-first, high, x) - first * low) / high


def _product(x: Pair, y: Pair) -> Pair:
    high = x[0] * y[0]
    low = multiply_add(x[0], y[0], -high) + (x[0] * y[1] + x[1] * y[0])
    return fast_two_sum(high, low)


def _exponential(x: Expression, rest: Expression) -> Expression:
    """exp(x + rest) for |x| up to 800."""
    n = round(x * 1.4426950408889634)
    r = multiply_add(n, -LOG_2[0], x)
    r, low = two_sum(r, -(n * LOG_2[1]))
    low = low + rest
    value = r + low
    tail = polynomial(value, coefficient.EXP["float64"]) * (value * value)
    high, error = fast_two_sum(constant(1.0, "float64"), r)
    return scale(high + (error + (low + tail)), n)


def _whole_power(x: Expression, y: Expression) -> Expression:
    """By squaring; a negative power of anything but 1 and -1 is 0, as the fraction is cut off."""
    one = constant(1, x.dtype)
    facts = element(x.dtype)
    result, base = one, x
    for bit in range(facts.bits - facts.signed):
        chosen = not_equal(y & (1 << bit), 0)
        result = select(chosen, result * base, result)
        base = base * base
    if not facts.signed:
        return result
    unit = select(equal(x, 1) | (equal(x, -1) & equal(y & 1, 0)), one, 0)
    return select(y < 0, select(equal(x, -1) & not_equal(y & 1, 0), -one, unit), result)
