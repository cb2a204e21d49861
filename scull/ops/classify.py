"""Tests of numbers: NaN, infinite, finite, and close to others."""

from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta, agree
from scull.core.op import meta_of
from scull.errors import DtypeError, ShapeError

CONSTANT = "truth values are constant almost everywhere"


def classifier(name: str, lower: Any) -> Any:
    """Declare one test; `lower` says it of a floating-point element."""

    def body(x: Meta) -> Meta:
        return x.with_dtype(bool_)

    body.__name__, body.__doc__ = name, lower.__doc__
    function = primitive(body, type=name + "_v2")
    function.ufunc(name)
    function.no_grad(CONSTANT)
    function.lower(lambda index, x: lower(x[index]))
    return function


def isnan_at(a: Any) -> Any:
    """Whether each element is NaN."""
    return lang.not_equal(a, a)


def isinf_at(a: Any) -> Any:
    """Whether each element is infinite."""
    infinity = float("inf")
    if "float" not in a.dtype:
        return lang.not_equal(a, a)
    return lang.equal(a, infinity) | lang.equal(a, -infinity)


def isfinite_at(a: Any) -> Any:
    """Whether each element is neither infinite nor NaN."""
    return ~(isnan_at(a) | isinf_at(a))


isnan = classifier("isnan", isnan_at)
isinf = classifier("isinf", isinf_at)
isfinite = classifier("isfinite", isfinite_at)


# Closeness.

SLOTS = {"x": "Input", "y": "Other", "rtol_tensor": "Rtol", "atol_tensor": "Atol"}


def same_kind(x: Meta, y: Meta) -> Meta:
    """What `x` and `y` both are."""
    if x.dtype is not y.dtype or not (x.dtype.is_float or x.dtype.is_complex):
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; one float is needed")
    if x.ndim != y.ndim:
        raise ShapeError(f"x has {x.ndim} axes and y has {y.ndim}")
    law = "x has {} elements along an axis and y has {}"
    return Meta(tuple(agree(a, b, law) for a, b in zip(x.shape, y.shape, strict=True)), bool_)


def tolerances(rtol: Any, atol: Any, given: tuple[str, str]) -> tuple[float, float]:
    """The tolerances: those of tensors go before attributes."""
    pairs = zip((rtol, atol), given, strict=True)
    r, a = (float(s) if t is None else float(t.reshape(-1)[0]) for t, s in pairs)
    return r, a


def close_elements(
    xp: Any, x: Any, y: Any, rtol: Any, atol: Any, given: tuple[str, str], equal_nan: bool
) -> Any:
    """Where elements are close, compared in float64; complex ones by their distance."""
    if x.shape != y.shape or x.dtype is not y.dtype or x.dtype.kind not in "fVc":
        same_kind(meta_of(x), meta_of(y))
    r, a = tolerances(rtol, atol, given)
    wide, other = (v.astype("c16" if v.dtype.kind == "c" else "f8") for v in (x, y))
    near = (wide == other) | (xp.absolute(wide - other) <= a + r * xp.absolute(other))
    near &= xp.isfinite(other) | (wide == other)
    if equal_nan:
        near |= xp.isnan(wide) & xp.isnan(other)
    return near


def close_at(a: Any, b: Any, r: Any, t: Any, equal_nan: bool) -> Any:
    """Whether two elements are close."""
    a, b = lang.cast(a, "float64"), lang.cast(b, "float64")
    difference, size = (lang.select(v < 0, -v, v) for v in (a - b, b))
    near = (difference <= t + r * size) & isfinite_at(b)
    near = lang.equal(a, b) | near
    return near | (isnan_at(a) & isnan_at(b)) if equal_nan else near


def bounds_at(rtol_tensor: Any, atol_tensor: Any, given: tuple[str, str]) -> list[Any]:
    """The tolerances in the loop language."""
    pairs = zip((rtol_tensor, atol_tensor), given, strict=True)
    return [
        lang.constant(float(s), "float64") if t is None else lang.cast(t[(0,) * t.ndim], "float64")
        for t, s in pairs
    ]


@primitive(slots=SLOTS)
def isclose(
    x: Meta,
    y: Meta,
    rtol_tensor: Meta = None,
    atol_tensor: Meta = None,
    *,
    rtol: str = "1e-5",
    atol: str = "1e-8",
    equal_nan: bool = False,
) -> Meta:
    """Whether ``abs(x - y) <= atol + rtol * abs(y)``, element by element."""
    return same_kind(x, y)


@isclose.kernel
def isclose_kernel(
    xp: Any,
    x: Any,
    y: Any,
    rtol_tensor: Any = None,
    atol_tensor: Any = None,
    *,
    out: Any = None,
    rtol: str,
    atol: str,
    equal_nan: bool,
) -> Any:
    near = close_elements(xp, x, y, rtol_tensor, atol_tensor, (rtol, atol), equal_nan)
    if out is None:
        return near
    out[...] = near
    return out


@isclose.lower
def isclose_at(
    index: Any, x: Any, y: Any, r: Any, a: Any, rtol: str, atol: str, equal_nan: bool
) -> Any:
    return close_at(x[index], y[index], *bounds_at(r, a, (rtol, atol)), equal_nan)


@primitive(slots=SLOTS)
def allclose(
    x: Meta,
    y: Meta,
    rtol_tensor: Meta = None,
    atol_tensor: Meta = None,
    *,
    rtol: str = "1e-5",
    atol: str = "1e-8",
    equal_nan: bool = False,
) -> Meta:
    """Whether all elements are close, as `isclose` says."""
    return same_kind(x, y).with_shape(())


@allclose.kernel
def allclose_kernel(
    xp: Any,
    x: Any,
    y: Any,
    rtol_tensor: Any = None,
    atol_tensor: Any = None,
    *,
    out: Any = None,
    rtol: str,
    atol: str,
    equal_nan: bool,
) -> Any:
    near = close_elements(xp, x, y, rtol_tensor, atol_tensor, (rtol, atol), equal_nan)
    found = xp.logical_and.reduce(near, axis=None)
    if out is None:
        return xp.asarray(found)
    out[...] = found
    return out


@allclose.lower
def allclose_at(
    index: Any, x: Any, y: Any, r: Any, a: Any, rtol: str, atol: str, equal_nan: bool
) -> Any:
    over = [lang.axis(n) for n in x.shape]
    bounds = bounds_at(r, a, (rtol, atol))
    near = close_at(x[tuple(over)], y[tuple(over)], *bounds, equal_nan)
    return lang.all(near, over=over) if over else near


for function in (isclose, allclose):
    function.no_grad(CONSTANT)


@primitive
def equal_all(x: Meta, y: Meta) -> Meta:
    """Whether two tensors have the same shape and the same elements."""
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    return Meta((), bool_)


@equal_all.kernel
def equal_all_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    if x.dtype is not y.dtype:
        equal_all.op.body(meta_of(x), meta_of(y))
    found = x.shape == y.shape and bool((x == y).all())
    if out is None:
        return xp.array(found)
    out[...] = found
    return out


@equal_all.lower
def equal_all_at(index: Any, x: Any, y: Any) -> Any:
    if x.shape != y.shape:
        return lang.constant(False, "bool")
    over = [lang.axis(n) for n in x.shape]
    same = lang.equal(x[tuple(over)], y[tuple(over)])
    return lang.all(same, over=over) if over else same


equal_all.no_grad(CONSTANT)
