"""Half-precision elements in kernels that compute in float32."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from scull import lang
from scull.core.meta import floating
from scull.core.op import meta_of
from scull.core.tensor import HALF
from scull.errors import DtypeError

SINGLE, DOUBLE = np.dtype("float32").num, np.dtype("float64").num


def is_half(x: Any) -> bool:
    """Whether `x` is an array of float16 or bfloat16."""
    return isinstance(x, np.ndarray | np.generic) and x.dtype.itemsize == 2 and x.dtype.kind in "fV"


def wide_at(value: Any) -> Any:
    """An element as a lowering computes with it: float32 in place of half precision."""
    return lang.cast(value, "float32") if value.dtype in ("float16", "bfloat16") else value


def refuse_integers(x: Any) -> None:
    """Refuse an operand of any kind whose elements are not floating-point numbers."""
    floating(meta_of(x))


def whole(*operands: Any) -> None:
    """Refuse operands whose elements are not of float32 or float64."""
    for m in map(meta_of, operands):
        if m.dtype.name not in ("float32", "float64"):
            raise DtypeError(f"{m} is not of float32 or float64")


def single(x: Any) -> Any:
    """`x` as kernels compute with it: float32 in place of half precision."""
    return x.astype("float32") if is_half(x) else x


def single_type(x: Any) -> Any:
    """The element type of sums of what `x` has: float32 in place of half precision."""
    return np.dtype("float32") if is_half(x) else x.dtype


def gathered(
    ufunc: Any, x: Any, axis: Any, *, keepdims: bool = False, dtype: Any = None, out: Any = None
) -> Any:
    """`ufunc.reduce` of elements as `dtype`; those of half precision are gathered in float32."""
    kind = x.dtype if dtype is None else dtype
    if kind.num < HALF:
        return ufunc.reduce(x, axis=axis, keepdims=keepdims, dtype=kind, out=out)
    terms = single(x.astype(kind, copy=False))
    return placed(ufunc.reduce(terms, axis=axis, keepdims=keepdims), kind, out)


def multiplied(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    """The products of matrices; of those of half precision, sums are in float32."""
    if x.dtype.num < HALF:
        if len(y) == 1 and x.ndim == y.ndim == 2 and x.shape[1] == 1:
            return xp.multiply(x, y, out=out)
        return xp.matmul(x, y, out=out)
    return placed(xp.asarray(xp.matmul(single(x), single(y))), x.dtype, out)


def widening(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel`, given float32 in place of float16 and bfloat16; its results are rounded back.

    The first operand decides, and one that is not of floating-point elements is refused.
    """

    @wraps(kernel)
    def widened(xp: Any, x: Any, *rest: Any, out: Any = None, **attrs: Any) -> Any:
        number = x.dtype.num
        if number in (SINGLE, DOUBLE):
            return kernel(xp, x, *rest, out=out, **attrs)
        if not is_half(x):
            refuse_integers(x)
        found = kernel(xp, *map(single, (x, *rest)), **attrs)
        if not isinstance(found, tuple):
            return narrowed(xp, found, x.dtype, out)
        outs = out or [None] * len(found)
        return tuple([narrowed(xp, v, x.dtype, o) for v, o in zip(found, outs, strict=True)])

    widened.widens = True  # type: ignore[attr-defined]
    return widened


def mixing(*narrow: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Of a kernel that widens: float32 beside a first operand of half precision stays float32.

    The results in the places `narrow` are rounded to the first operand then, the others are not.
    """

    def decorated(kernel: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(kernel)
        def mixed(xp: Any, x: Any, *rest: Any, out: Any = None, **attrs: Any) -> Any:
            beside = [v for v in rest if isinstance(v, np.ndarray) and v.dtype.num == SINGLE]
            if x.dtype.num in (SINGLE, DOUBLE) or not (beside and is_half(x)):
                return kernel(xp, x, *rest, out=out, **attrs)
            found = kernel(xp, *map(single, (x, *rest)), **attrs)
            outs = out or [None] * len(found)
            return tuple(
                None if v is None else placed(v, x.dtype if i in narrow else v.dtype, o)
                for i, (v, o) in enumerate(zip(found, outs, strict=True))
            )

        return mixed

    return decorated


def narrowed(xp: Any, found: Any, dtype: Any, out: Any) -> Any:
    """A result rounded to `dtype` if it is of float32, in `out` where that is given."""
    if found is None:
        return None
    if found.dtype.num != SINGLE and out is None:
        return found
    if out is None:
        return xp.asarray(found.astype(dtype))
    out[...] = found
    return out


def placed(found: Any, dtype: Any, out: Any) -> Any:
    """`found` as elements of `dtype`, in `out` where that is given."""
    if out is None:
        return found if found.dtype == dtype else found.astype(dtype)
    out[...] = found
    return out


def by_body(function: Any) -> None:
    """Give a composite its body as its kernel, which widens."""
    body = function.op.body

    def kernel(xp: Any, x: Any, *rest: Any, out: Any = None, **attrs: Any) -> Any:
        found = body(x, *rest, **attrs)
        if not isinstance(found, tuple):
            return placed(found, x.dtype, out)
        outs = out or (None,) * len(found)
        return tuple([placed(v, x.dtype, o) for v, o in zip(found, outs, strict=True)])

    function.kernel(widening(kernel))
