"""The elementary functions against more digits, within the bounds `elementary.py` states."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from scull import lang
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import apply
from scull.lang.random import random_half_of
from tests.lang.samples import meta, same_values, units

BOUNDS = {  # function: units in the last place for float32 and float64
    "exp": (1, 1),
    "log": (1, 1),
    "expm1": (2, 2),
    "log1p": (2, 2),
    "tanh": (3, 3),
    "sin": (0.51, 1),
    "cos": (0.51, 1),
    "rsqrt": (1.5, 1.5),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, np.inf, -np.inf, np.nan]
ROOT_OF_PI = "1.772453850905516027298167483341145182797549456122387128213807789852911284591"
WORDS = {"float32": np.uint32, "float64": np.uint64}

wide = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="NumPy has no more digits than float64 here"
)


def arguments(dtype, count=30_000):
    """Numbers of every size, denormals among them, and dense ones where the functions bend."""
    facts = np.finfo(dtype)
    words = WORDS[dtype]
    bits = np.random.default_rng(0).integers(0, np.iinfo(words).max, count, words, True)
    limits = [facts.max, -facts.max, facts.tiny, facts.smallest_subnormal, -facts.tiny, facts.eps]
    lines = [np.linspace(-end, end, count // 5) for end in (1e-3, 1, 4, 20, 110, 760)]
    others = [np.array(each, dtype) for each in (*lines, limits, SPECIAL)]
    every = np.concatenate([bits.view(dtype), *others])
    return np.where(np.isnan(every), np.nan, every).astype(dtype)  # no signalling ones


def applied(operation, *arrays):
    """An operation on arrays, by the emulator."""
    metas = [meta(*x.shape, dtype=x.dtype.name) for x in arrays]
    kernel = lang.trace(
        lambda index, *given: apply(operation, *(x[index] for x in given)), metas, metas[:1]
    )
    return lang.run(kernel, arrays)[0]


@wide
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", sorted(BOUNDS))
def test_the_error_is_within_the_stated_bound(function, dtype):
    x = arguments(dtype)
    if dtype == "float64" and function in ("sin", "cos"):
        x = x[~(np.abs(x) > 1e15)]  # the reference is not exact beyond
    many = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        want = 1 / np.sqrt(many) if function == "rsqrt" else getattr(np, function)(many)
    got = applied(function, x)
    assert units(got, want) <= BOUNDS[function][dtype == "float64"]
    zero = (want == 0) & (got == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def exact_erf(x):
    """erf by its power series, in 90 digits."""
    with localcontext(prec=90):
        square, total, term, n = Decimal(x) ** 2, Decimal(0), Decimal(x), 0
        while abs(term) > abs(total) * Decimal("1e-60"):
            total += term / (2 * n + 1)
            n += 1
            term *= -square / n
        return str(total * 2 / Decimal(ROOT_OF_PI))


@wide
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_function_is_within_its_bound(dtype):
    generator = np.random.default_rng(5)
    x = np.concatenate(
        [generator.uniform(-6, 6, 600), generator.uniform(0.9, 1.1, 100), SPECIAL[2:9]]
    )
    x = x.astype(dtype)
    want = np.array([np.longdouble(exact_erf(each)) for each in x.tolist()])
    assert units(applied("erf", x), want) <= 2
    limits = np.array([0.0, -0.0, np.inf, -np.inf, 7.0, np.finfo(dtype).smallest_subnormal], dtype)
    got = applied("erf", limits)
    assert got.tolist() == [0, 0, 1, -1, 1, limits[-1]]
    assert np.signbit(got).tolist() == [False, True, False, True, False, False]
    if dtype == "float32":
        x = arguments("float32")
        assert units(applied("erf", x), special.erf(x.astype(np.float64))) <= 1.1
        assert np.nanmax(np.abs(applied("erf", x))) == 1


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 3.25), ("float64", 2)])
def test_the_chance_of_less_is_within_its_bound_beside_1(dtype, bound):
    x = np.concatenate([arguments(dtype), np.random.default_rng(6).uniform(-7, 7, 50000)])
    x = x.astype(dtype)
    got, want = applied("normal_cdf", x), special.ndtr(x.astype(np.longdouble).astype(np.float64))
    last = np.finfo(dtype).epsneg  # of numbers between 1/2 and 1
    assert np.nanmax(np.abs(got - want)) <= bound * last
    assert np.array_equal(np.isnan(got), np.isnan(x))
    assert np.nanmin(got) == 0 and np.nanmax(got) <= 1 + bound * last
    limits = np.array([-np.inf, -1e30, -9.0, -0.0, 0.0, 9.0, 1e30, np.inf], dtype)
    assert applied("normal_cdf", limits).tolist() == [0, 0, 0, 0.5, 0.5, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", ["exp", "log1p", "tanh", "erf", "normal_cdf"])
def test_a_half_float_is_computed_in_float32_and_rounded(function, dtype):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = np.unique(x[np.isfinite(x)]).astype(numpy_dtype(dtype))
    got = applied(function, x)
    with np.errstate(over="ignore"):
        want = applied(function, x.astype(np.float32)).astype(x.dtype)
    assert same_values(got, want)


@pytest.mark.parametrize(
    ("angle", "sine", "cosine"),
    [  # from 400 digits
        (1e22, -0.8522008497671888, 0.523214785395139),
        (1.7976931348623157e308, 0.004961954789184062, -0.9999876894265599),
        (2.0**19, 0.1676180272206543, 0.9858520157461037),
        (6381956970095103 * 2.0**797, 1.0, -4.687165924254628e-19),
    ],
)
def test_an_angle_may_be_as_large_as_it_likes(angle, sine, cosine):
    x = np.array([angle, -angle])
    assert np.allclose(applied("sin", x), [sine, -sine], rtol=2.3e-16, atol=0)
    assert np.allclose(applied("cos", x), [cosine, cosine], rtol=2.3e-16, atol=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_special_numbers_are_as_in_c(dtype):
    base = np.array([*SPECIAL, 1e30, -3, np.finfo(dtype).smallest_subnormal, -1e30], dtype)
    x, y = (each.ravel() for each in np.meshgrid(base, base))
    got = applied("power", x, y)
    with np.errstate(all="ignore"):
        want = np.power(x, y)
    limits = ~np.isfinite(want) | (want == 0) | (np.abs(want) == 1)
    assert same_values(got[limits], want[limits])
    assert np.array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
    assert np.allclose(got[~limits], want[~limits], rtol=2 * np.finfo(dtype).eps, atol=0)


@wide
def test_powers_are_within_their_bound():
    generator = np.random.default_rng(1)
    x = np.concatenate(
        [np.exp(generator.uniform(-300, 300, 5000)), generator.uniform(0.5, 2, 5000)]
    )
    y = np.concatenate([generator.uniform(-2.3, 2.3, 5000), generator.uniform(-900, 900, 5000)])
    want = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    assert units(applied("power", x, y), want) <= 1.1  # the reference errs by a tenth
    small = np.clip(x, 1e-20, 1e20).astype(np.float32), np.clip(y, -1.8, 1.8).astype(np.float32)
    want = np.power(*(each.astype(np.longdouble) for each in small))
    assert units(applied("power", *small), want) <= 0.51


def test_powers_of_integers_wrap_and_cut_fractions_off():
    x, y = (each.ravel() for each in np.meshgrid(np.arange(-5, 6), np.arange(-3, 40)))
    got = applied("power", x, y)
    for base, exponent, value in zip(x.tolist(), y.tolist(), got.tolist(), strict=True):
        if exponent >= 0:
            assert value == (base**exponent + 2**63) % 2**64 - 2**63
        else:
            assert value == (base**-exponent if abs(base) == 1 else 0)
    assert applied(
        "power", *(each.astype(np.uint8) for each in (x[x > 0], y[x > 0] & 15))
    ).tolist() == [
        base**exponent % 256
        for base, exponent in zip(x[x > 0].tolist(), (y[x > 0] & 15).tolist(), strict=True)
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_division_with_remainder_is_numpys(dtype):
    generator = np.random.default_rng(2)
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid([*SPECIAL, 1e30, 7], [*SPECIAL, -3]))
    x = np.concatenate([x, generator.normal(0, 9, 2000).astype(dtype)])
    y = np.concatenate([y, generator.normal(0, 1, 2000).astype(dtype)])
    with np.errstate(all="ignore"):
        assert same_values(applied("floor_divide", x, y), np.floor_divide(x, y))
        assert same_values(applied("remainder", x, y), np.remainder(x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multiply_add_rounds_once(dtype):
    generator = np.random.default_rng(3)
    x, y = generator.normal(0, 1, (2, 3000)).astype(dtype)
    z = -(x * y)
    z[::2] = generator.normal(0, 1, 1500)
    x[::5] *= np.finfo(dtype).tiny
    z[::7] *= np.finfo(dtype).tiny
    x[::11] *= 1e30
    got = applied("multiply_add", x, y, z)
    for a, b, c, value in zip(*(each.tolist() for each in (x, y, z)), got, strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        error = abs(Fraction(float(value)) - exact)
        for beside in (np.nextafter(value, -np.inf), np.nextafter(value, np.inf)):
            assert error <= abs(Fraction(float(beside)) - exact)


def test_multiply_add_of_special_numbers_is_ieees():
    inf, nan = np.inf, np.nan
    x = np.array([inf, inf, 0.0, -0.0, nan, 1e308, 1.0])
    y = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 10.0, -1.0])
    z = np.array([-inf, 1.0, -0.0, -0.0, 1.0, -inf, 1.0])
    want = np.array([nan, nan, 0.0, -0.0, nan, -inf, 0.0])
    got = applied("multiply_add", x, y, z)
    assert same_values(got, want)
    assert np.array_equal(np.signbit(got[2:4]), [False, True])


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_the_upper_half_of_a_product(dtype):
    words = np.iinfo(dtype)
    x, y = np.random.default_rng(4).integers(0, words.max, (2, 500), dtype, True)
    x[:3] = words.max
    want = [(int(a) * int(b)) >> words.bits for a, b in zip(x, y, strict=True)]
    assert applied("multiply_high", x, y).tolist() == want


def test_the_whole_product_of_two_uint32():
    kernel = lang.trace(
        lambda index, x: lang.multiply_wide(x[index], x[index]),
        [meta(1, dtype="uint32")],
        [meta(1, dtype="uint64")],
    )
    (got,) = lang.run(kernel, [np.array([2**32 - 1], np.uint32)])
    assert got[0] == (2**32 - 1) ** 2


def test_random_bits_are_those_of_philox():
    def lower(index, key):
        return lang.random_bits((key[0], key[1]), index[0])

    kernel = lang.trace(lower, [meta(2, dtype="uint64")], [meta(23, dtype="uint64")])
    (got,) = lang.run(kernel, [np.array([11, 2**63], np.uint64)])
    assert np.array_equal(got, np.random.Philox(key=[11, 2**63]).random_raw(23))


def test_halves_of_random_words_begin_with_the_lower_one():
    def lower(index, key):
        (a,), (b,) = index
        return lang.random_half((key[0], key[1]), a), random_half_of(key[0], key[1], b)

    outs = [meta(23, dtype="uint32")] * 2
    kernel = lang.trace(lower, [meta(2, dtype="uint64")], outs)
    words = np.random.Philox(key=[11, 2**63]).random_raw(12)
    expected = np.stack([words & 0xFFFFFFFF, words >> 32], 1).reshape(-1)[:23]
    for got in lang.run(kernel, [np.array([11, 2**63], np.uint64)]):
        assert np.array_equal(got, expected)
