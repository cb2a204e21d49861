"""A tensor made larger by one value at its edges."""

from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta
from scull.errors import ArgumentError
from scull.ops import slicing


@primitive(enlarges=("paddings",))
def pad(x: Meta, *, paddings: Ints, pad_value: float = 0.0) -> Meta:
    """`x` with `pad_value` before and after it along every axis."""
    return x.with_shape(padded_shape(x.shape, paddings))


def padded_shape(shape: tuple[int, ...], paddings: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with the paddings of each axis added."""
    if len(paddings) != 2 * len(shape):
        raise ArgumentError(
            f"{len(shape)} axes need {2 * len(shape)} paddings, not {len(paddings)}"
        )
    if min(paddings, default=0) < 0:
        raise ArgumentError(f"paddings {list(paddings)} are not all at least 0")
    pairs = zip(shape, paddings[::2], paddings[1::2], strict=True)
    return tuple([UNKNOWN if n == -1 else n + before + after for n, before, after in pairs])


@pad.kernel
def pad_kernel(xp: Any, x: Any, *, out: Any = None, paddings: Any, pad_value: float) -> Any:
    if out is None:
        out = xp.empty(padded_shape(x.shape, paddings), x.dtype)
    out.fill(pad_value)
    spans = zip(paddings[::2], x.shape, strict=True)
    out[tuple([slice(before, before + n) for before, n in spans])] = x
    return out


@pad.grad
def pad_grad(dout: Any, paddings: Any) -> Any:
    starts, ends = paddings[::2], [FAR if n == 0 else -n for n in paddings[1::2]]
    return slicing.slice(dout, axes=tuple(range(len(starts))), starts=starts, ends=tuple(ends))


FAR = 2**31 - 1  # beyond the end of any axis


@pad.lower
def pad_at(index: Any, x: Any, paddings: Any, pad_value: float) -> Any:
    spot = [i - before for i, before in zip(index, paddings[::2], strict=True)]
    value = int(pad_value) if x.dtype[0] in "iu" else pad_value
    return lang.padded(x, spot, lang.constant(value, x.dtype))
