"""Functions that are integrals or series: the gamma function's family, the inverse error function.

Each is written once, for arrays of float64 and for the loop language: `f` has the functions of
either.
"""

import math as numbers
from types import SimpleNamespace
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError
from scull.lang import coefficient
from scull.ops.compare import where
from scull.ops.math import exp
from scull.ops.portion import chunked

ARRAYS = SimpleNamespace(
    select=np.where, equal=np.equal, floor=np.floor, sqrt=np.sqrt, log=np.log, log1p=np.log1p,
    sin=np.sin, cos=np.cos, exp=np.exp, constant=lambda value, dtype: np.float64(value),
)  # fmt: skip
INFINITY, NAN, PI = float("inf"), float("nan"), numbers.pi
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
MOST = 170  # the last number whose factorial is one of float64
FAR = 10  # from there on the series in 1 / x are exact


def real_floats(x: Meta) -> Meta:
    """`x`, refused where its elements are not real floating-point numbers."""
    if not x.dtype.is_float:
        raise DtypeError(f"{x} is not of floating-point elements")
    return x


def check_order(n: int) -> None:
    """Refuse a derivative whose factorial no element can hold, or that is none."""
    if not 0 <= n <= MOST:
        raise ArgumentError(f"n is {n}, outside [0, {MOST}]")


def special(name: str, function: Any, **options: Any) -> Any:
    """Declare one function of one tensor; attributes of `function` are the operator's."""

    def kernel(xp: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
        if x.dtype.kind not in "fV":
            real_floats(meta_of(x))

        def step(xp: Any, x: Any, out: Any) -> None:
            out[...] = function(ARRAYS, x.astype("float64"), **attrs)

        return chunked(xp, step, out, x)

    def at(index: Any, x: Any, **attrs: Any) -> Any:
        value = x[index]
        return lang.cast(function(lang, lang.cast(value, "float64"), **attrs), value.dtype)

    def body(x: Meta) -> Meta:
        return real_floats(x)

    def body_of_order(x: Meta, *, n: int) -> Meta:
        check_order(n)
        return real_floats(x)

    body = body_of_order if "n" in function.__code__.co_varnames[:3] else body
    body.__name__, body.__doc__ = name, function.__doc__
    made = primitive(body, **options)
    made.kernel(kernel)
    made.lower(at)
    return made


def size(f: Any, x: Any) -> Any:
    """`x` without its sign."""
    return f.select(x > 0, x, 0 - x)


def polynomial(f: Any, x: Any, coefficients: Any) -> Any:
    """The value at `x` of the polynomial, constant term first."""
    total = f.constant(coefficients[-1], "float64")
    for each in coefficients[-2::-1]:
        total = total * x + each
    return total


def erfinv_of(f: Any, x: Any) -> Any:
    """The inverse of the error function; infinite from 1 on."""
    w = -f.log((1 - x) * (1 + x))
    root = f.sqrt(w)
    near, middle, far = coefficient.ERFINV["float64"]
    found = f.select(w < 16, polynomial(f, root - 3.25, middle), polynomial(f, root - 5, far))
    found = f.select(w < 6.25, polynomial(f, w - 3.125, near), found)
    return f.select(size(f, x) >= 1, x * INFINITY, x * found)


def turn(f: Any, x: Any) -> tuple[Any, Any]:
    """Sine and cosine of pi times the distance to the whole number near `x`, but for signs."""
    rest = x - f.floor(x + 0.5)
    return f.sin(rest * PI), f.cos(rest * PI)


def reflected(f: Any, x: Any) -> tuple[Any, Any]:
    """Whether `x` is not above 0, and 1 - x there."""
    left = ~(x > 0)
    return left, f.select(left, 1 - x, x)


def lgamma_of(f: Any, x: Any) -> Any:
    """The logarithm of the size of the gamma function."""
    left, z = reflected(f, x)
    product = z
    for k in range(1, FAR):
        product = product * (z + k)
    small = z < FAR
    z = f.select(small, z + FAR, z)
    inverse = 1 / z
    terms = [b / (k * (k - 1)) for k, b in zip(range(2, 18, 2), BERNOULLI, strict=True)]
    found = (z - 0.5) * (f.log(z) - 1) + (0.5 * numbers.log(2 * PI) - 0.5)
    found = found + polynomial(f, inverse * inverse, terms) * inverse
    found = found - f.select(small, f.log(product), 0.0)
    found = near_zeros(f, f.select(left, 1 - x, x), found)
    sine, _ = turn(f, x)
    found = f.select(left, f.log(PI / size(f, sine)) - found, found)
    return f.select(f.equal(size(f, x), INFINITY), INFINITY, found)


def near_zeros(f: Any, x: Any, found: Any) -> Any:
    """`found`, or where `x` is near 1 or 2 what vanishes there without an error."""
    first = x < 1.5
    t = f.select(first, x - 1, x - 2)
    near = t * polynomial(f, t, coefficient.LGAMMA["float64"]) - f.select(first, f.log1p(t), 0.0)
    return f.select((x > 0.5) & (x < 2.5), near, found)


def digamma_of(f: Any, x: Any) -> Any:
    """The derivative of `lgamma`; NaN at its poles."""
    left, z = reflected(f, x)
    small = z < FAR
    lost = 1 / z
    for k in range(1, FAR):
        lost = lost + 1 / (z + k)
    z = f.select(small, z + FAR, z)
    inverse = 1 / (z * z)
    terms = [b / k for k, b in zip(range(2, 18, 2), BERNOULLI, strict=True)]
    found = f.log(z) - 0.5 / z - polynomial(f, inverse, terms) * inverse
    found = found - f.select(small, lost, 0.0)
    sine, cosine = turn(f, x)
    found = f.select(left, found - PI * cosine / sine, found)
    return f.select(left & f.equal(f.floor(x), x), NAN, found)


def polygamma_of(f: Any, x: Any, n: int) -> Any:
    """The `n`-th derivative of `digamma`."""
    check_order(n)
    if n == 0:
        return digamma_of(f, x)
    left, z = reflected(f, x)
    s = float(n + 1)
    total = z**-s
    for k in range(1, FAR + n):
        total = total + (z + k) ** -s
    z = z + float(FAR + n)
    total = total + z ** (1 - s) / n + z**-s * 0.5
    rising = s
    for k, b in zip(range(2, 18, 2), BERNOULLI, strict=True):
        total = total + z ** (1 - s - k) * (b * rising / numbers.factorial(k))
        rising *= (s + k - 1) * (s + k)
    sign = 1.0 if n % 2 else -1.0
    found = total * (sign * numbers.factorial(n))
    sine, cosine = turn(f, x)
    bend = polynomial(f, cosine / sine, cotangent(n)) * PI ** (n + 1)
    found = f.select(left, found * -sign - bend, found)
    return f.select(left & f.equal(f.floor(x), x), sign * INFINITY, found)


def cotangent(n: int) -> list[float]:
    """The `n`-th derivative of the cotangent as a polynomial in it."""
    found = [0.0, 1.0]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(found)][1:]
        found = [-a - b for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    return found


erfinv = special("erfinv", erfinv_of)
lgamma = special("lgamma", lgamma_of)
digamma = special("digamma", digamma_of)
polygamma = special("polygamma", polygamma_of, slots={"x": "x", "out": "out"})

erfinv.grad(lambda out, dout: dout * exp(out * out) * (numbers.sqrt(PI) / 2))
lgamma.grad(lambda x, dout: dout * digamma(x))
digamma.grad(lambda x, dout: dout * polygamma(x, n=1))
polygamma.grad(lambda x, dout, n: dout * polygamma(x, n=n + 1))


@primitive
def logit(x: Meta, *, eps: float = 1e-6) -> Meta:
    """``log(x / (1 - x))``, where `x` is kept within `eps` and ``1 - eps``."""
    return real_floats(x)


@logit.kernel
def logit_kernel(xp: Any, x: Any, *, out: Any = None, eps: float) -> Any:
    if x.dtype.kind not in "fV":
        real_floats(meta_of(x))
    wide = x if x.dtype.itemsize > 2 else x.astype("float32")
    kind = wide.dtype.type
    if eps:
        wide = xp.minimum(xp.maximum(wide, kind(eps)), kind(1 - eps))
    found = xp.log(wide / (1 - wide))
    if out is None:
        return xp.asarray(found).astype(x.dtype)
    out[...] = found
    return out


@logit.grad
def logit_grad(x: Any, dout: Any, eps: float) -> Any:
    """Nothing passes outside of the bounds."""
    inside = dout / (x * (1.0 - x))
    return where(x >= eps, where(x <= 1.0 - eps, inside, 0.0), 0.0)


@logit.lower
def logit_at(index: Any, x: Any, eps: float) -> Any:
    value = lang.cast(x[index], "float64")
    if eps:
        value = lang.minimum(lang.maximum(value, eps), 1 - eps)
    return lang.cast(lang.log(value / (1 - value)), x.dtype)
