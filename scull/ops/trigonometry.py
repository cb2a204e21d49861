"""Functions of angles and of hyperbolas, and their inverses."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.lang import coefficient
from scull.ops.conjugate import turned
from scull.ops.half import widening
from scull.ops.math import sqrt, tanh, unary
from scull.ops.pair import pairwise

PLAIN = {"use_cudnn": False, "use_mkldnn": False}
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)
LOG_2 = 0.6931471805599453
ROOT_2 = 1.4142135623730951


def in_double(lower: Any) -> Any:
    """`lower` computed in float64 and rounded to the element type."""
    return lambda *values: lang.cast(
        lower(*[lang.cast(v, "float64") for v in values]), values[0].dtype
    )


# In the loop language, all in float64.


def odd(lower: Any) -> Any:
    """`lower` of the size of an element, with its sign."""

    def at(x: Any) -> Any:
        found = lower(lang.select(x < 0, -x, x))
        return lang.select(x < 0, -found, lang.select(lang.equal(x, 0.0), x, found))

    return at


@odd
def atan_at(x: Any) -> Any:
    """The arc tangent: by a polynomial below the root of 2 less 1, elsewhere by a turn."""
    far, middle = x > ROOT_2 + 1, x > ROOT_2 - 1
    t = lang.select(far, -1 / x, lang.select(middle, (x - 1) / (x + 1), x))
    z = t * t
    *rest, tail = coefficient.ATAN["float64"]
    tail = lang.constant(tail, "float64")
    for each in reversed(rest):
        tail = tail * z + each
    zero = lang.constant(0.0, "float64")
    high, low = (
        lang.select(far, a, lang.select(middle, lang.constant(b, "float64"), zero))
        for a, b in zip(HALF_PI, QUARTER_PI, strict=True)
    )
    return high + (low + (t + t * z * tail))


def asin_at(x: Any) -> Any:
    """The arc sine."""
    return atan_at(x / lang.sqrt((1 - x) * (1 + x)))


def acos_at(x: Any) -> Any:
    """The arc cosine."""
    return atan_at(lang.sqrt((1 - x) / (1 + x))) * 2


def atan2_at(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    a, b = lang.select(x < 0, -x, x), lang.select(y < 0, -y, y)
    least, most = lang.minimum(a, b), lang.maximum(a, b)
    same = lang.equal(least, most)  # both may be 0 or infinite
    ratio = lang.select(same, lang.select(lang.equal(most, 0.0), least, 1.0), least / most)
    found = atan_at(ratio)
    found = lang.select(b > a, HALF_PI[0] - (found - HALF_PI[1]), found)
    left = (x < 0) | (lang.equal(x, 0.0) & (1 / x < 0))
    found = lang.select(left, HALF_PI[0] * 2 - (found - HALF_PI[1] * 2), found)
    down = (y < 0) | (lang.equal(y, 0.0) & (1 / y < 0))
    return lang.select(down, -found, found)


@odd
def sinh_at(x: Any) -> Any:
    """The hyperbolic sine."""
    t, root = lang.expm1(x), lang.exp(x * 0.5)
    return lang.select(x > 20, root * 0.5 * root, (t + t / (t + 1)) * 0.5)


def cosh_at(x: Any) -> Any:
    """The hyperbolic cosine."""
    size = lang.select(x < 0, -x, x)
    e, root = lang.exp(size), lang.exp(size * 0.5)
    return lang.select(size > 20, root * 0.5 * root, (e + 1 / e) * 0.5)


@odd
def asinh_at(x: Any) -> Any:
    """The inverse of the hyperbolic sine."""
    near = lang.log1p(x + x * x / (1 + lang.sqrt(x * x + 1)))
    return lang.select(x > 2.0**28, lang.log(x) + LOG_2, near)


def acosh_at(x: Any) -> Any:
    """The inverse of the hyperbolic cosine."""
    near = lang.log1p((x - 1) + lang.sqrt(x - 1) * lang.sqrt(x + 1))
    return lang.select(x > 2.0**28, lang.log(x) + LOG_2, near)


@odd
def atanh_at(x: Any) -> Any:
    """The inverse of the hyperbolic tangent."""
    return lang.log1p(x * 2 / (1 - x)) * 0.5


sin = unary("sin", "sin", lambda a: lang.sin(a), fixed=PLAIN)
cos = unary("cos", "cos", lambda a: lang.cos(a), fixed=PLAIN)
tan = unary("tan", "tan", in_double(lambda a: lang.sin(a) / lang.cos(a)), fixed=PLAIN)
asin = unary("asin", "arcsin", in_double(asin_at))
acos = unary("acos", "arccos", in_double(acos_at))
atan = unary("atan", "arctan", in_double(atan_at))
sinh = unary("sinh", "sinh", in_double(sinh_at), fixed=PLAIN)
cosh = unary("cosh", "cosh", in_double(cosh_at), fixed=PLAIN)
asinh = unary("asinh", "arcsinh", in_double(asinh_at), fixed=PLAIN)
acosh = unary("acosh", "arccosh", in_double(acosh_at), fixed=PLAIN)
atanh = unary("atanh", "arctanh", in_double(atanh_at), fixed=PLAIN)

sin.grad(lambda x, dout: dout * turned(cos(x)))
cos.grad(lambda x, dout: -dout * turned(sin(x)))
sinh.grad(lambda x, dout: dout * turned(cosh(x)))
cosh.grad(lambda x, dout: dout * turned(sinh(x)))
asin.grad(lambda x, dout: dout / turned(sqrt(1.0 - x * x)))
acos.grad(lambda x, dout: -dout / turned(sqrt(1.0 - x * x)))
atan.grad(lambda x, dout: dout / turned(x * x + 1.0))
asinh.grad(lambda x, dout: dout / turned(sqrt(x * x + 1.0)))
acosh.grad(lambda x, dout: dout / turned(sqrt(x - 1.0) * sqrt(x + 1.0)))
atanh.grad(lambda x, dout: dout / turned(1.0 - x * x))


@tan.grad
def tan_grad(x: Any, dout: Any) -> Any:
    slope = turned(cos(x))
    return dout / (slope * slope)


def real_floats(x: Meta) -> Any:
    """The element type of `x`, which must be a real floating-point type."""
    floating(x)
    return x.dtype


atan2 = pairwise(
    "atan2",
    "arctan2",
    in_double(atan2_at),
    real_floats,
    slots={"x": "X1", "y": "X2"},
    infer_first=True,
)
atan2.grad("x")(lambda x, y, dout: dout * y / (x * x + y * y))
atan2.grad("y")(lambda x, y, dout: -dout * x / (x * x + y * y))


@primitive
def stanh(x: Meta, *, scale_a: float = 0.67, scale_b: float = 1.7159) -> Meta:
    """The hyperbolic tangent of ``scale_a * x``, times `scale_b`."""
    floating(x)
    return x


@stanh.kernel
@widening
def stanh_kernel(xp: Any, x: Any, *, out: Any = None, scale_a: float, scale_b: float) -> Any:
    kind = x.dtype.type
    return xp.multiply(xp.tanh(x * kind(scale_a)), kind(scale_b), out=out)


@stanh.grad
def stanh_grad(x: Any, dout: Any, scale_a: float, scale_b: float) -> Any:
    t = tanh(x * scale_a)
    return dout * (1.0 - t * t) * (scale_a * scale_b)


@stanh.lower
def stanh_at(index: Any, x: Any, scale_a: float, scale_b: float) -> Any:
    return in_double(lambda a: lang.tanh(a * scale_a) * scale_b)(x[index])
