"""The elementary functions as machine code: how far they are from more digits."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import scull as paddle
from scull import lang
from scull.compiler.native import compile
from scull.lang.expression import apply
from scull.ops.math import sigmoid
from tests.lang.samples import meta, units
from tests.lang.test_elementary import arguments, exact_erf

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
    ),
    pytest.mark.skipif(
        np.finfo(np.longdouble).nmant < 63, reason="NumPy has no more digits than float64 here"
    ),
]
MOST = 4.0  # units in the last place that any of them may be off
EVERY = 1 << 15  # of the bit patterns of float32, which of them are tried; 1 << 10 at night
NAMES = ("exp", "expm1", "log", "log1p", "tanh", "erf", "sin", "cos", "power", "rsqrt")
PAGE = Path(__file__).parents[2] / "docs" / "compiler.md"


def applied(operation, *arrays):
    """An operation on arrays as machine code."""
    metas = [meta(*x.shape, dtype=x.dtype.name) for x in arrays]
    kernel = lang.trace(
        lambda index, *given: apply(operation, *(x[index] for x in given)), metas, metas[:1]
    )
    out = np.empty_like(arrays[0])
    compile(kernel)(arrays, [out])
    return out


def wanted(function, x, *more):
    """A function with more digits than the element type has."""
    many = [each.astype(np.longdouble) for each in (x, *more)]
    if function == "erf":
        if x.dtype == np.float32:
            return special.erf(x.astype(np.float64))
        return np.array([np.longdouble(exact_erf(each)) for each in x.tolist()])
    if function == "rsqrt":
        return 1 / np.sqrt(*many)
    return getattr(np, function)(*many)


def numbers(function, dtype, every):
    """What a function is tried at."""
    generator = np.random.default_rng(9)
    if dtype == "float32":
        words = np.arange(0, 2**32, every, dtype=np.uint64).astype(np.uint32)
        x = np.concatenate([words.view(np.float32), arguments(dtype, 5000)])
        x = np.where(np.isnan(x), np.float32(np.nan), x)
    else:
        x = arguments(dtype, 2**30 // every)
    if function in ("sin", "cos") and dtype == "float64":
        x = x[np.abs(x) <= 1e15]  # the reference is not exact beyond
    if function == "erf" and dtype == "float64":
        x = generator.uniform(-6, 6, 1 << 24 >> every.bit_length())
    if function != "power":
        return (np.ascontiguousarray(x),)
    x = np.abs(x[np.isfinite(x) & (x != 0)])
    reach = 80 if dtype == "float32" else 700
    y = generator.uniform(-reach, reach, len(x)) / np.maximum(np.abs(np.log(x)), 1e-3)
    return x, y.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_no_function_is_off_by_more_than_its_page_says(name, dtype, request):
    given = numbers(name, dtype, EVERY >> 5 * request.config.getoption("--nightly"))
    with np.errstate(all="ignore"):
        error = units(applied(name, *given), wanted(name, *given))
    assert error <= stated()[name, dtype] <= MOST


def stated():
    """What the page says of each function."""
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    table = {row[1].strip(" `"): row[2:4] for row in rows if len(row) == 7}
    return {
        (name, dtype): float(table[name][k])
        for name in NAMES
        for k, dtype in enumerate(("float32", "float64"))
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_chance_of_less_is_off_as_the_page_says(dtype, request):
    every = EVERY >> 5 * request.config.getoption("--nightly")
    (x,) = numbers("normal_cdf", dtype, every)
    near = np.random.default_rng(3).uniform(-7, 7, 1 << 33 >> every.bit_length()).astype(dtype)
    x = np.concatenate([x[np.isfinite(x)], near])
    error = np.abs(applied("normal_cdf", x) - special.ndtr(x.astype(np.float64)))
    said = re.search(r"off by (\S+) \(float32\) and (\S+) \(float64\)", PAGE.read_text("utf-8"))
    bound = float(said[1 + (dtype == "float64")])
    assert error.max() <= bound * np.finfo(dtype).epsneg
    assert bound <= MOST


@pytest.mark.parametrize("compiled", [False, True])
def test_the_logistic_function_keeps_its_digits_far_below_nought(compiled):
    x = np.concatenate([np.linspace(-87, 30, 1171, dtype="float32"), [np.float32(-1e4)]])
    if compiled:
        kernel = lang.trace(sigmoid.op.lowering, [meta(*x.shape)], [meta(*x.shape)])
        found = np.empty_like(x)
        compile(kernel)([x], [found])
    else:
        found = sigmoid(paddle.to_tensor(x)).numpy()
    assert units(found, special.expit(x.astype(np.float64))) <= 3
