"""What every transform comes down to: sizes and axes as operators take them, and which operator."""

from typing import Any

from scull.core import session
from scull.core.meta import axis_of
from scull.core.op import meta_of
from scull.errors import ArgumentError
from scull.ops import fourier
from scull.ops.complex import complex_dtype
from scull.ops.padding import pad
from scull.ops.promotion import cast_to
from scull.tensor.manipulation import slice
from scull.tensor.size import integer, is_one_of, needs_tensor, several

Sizes = tuple[int, ...] | None  # along axes, in their order
NORMS = ("forward", "backward", "ortho")


def one_axis(x: Any, n: Any, axis: Any) -> tuple[Sizes, tuple[int, ...]]:
    """The size along an axis, if one is given, and the axis, which is the last by default."""
    where = axis_of(-1 if axis is None else integer(axis, "axis"), len(x.shape))
    return None if n is None else (points(n, "n"),), (where,)


def several_axes(x: Any, s: Any, axes: Any) -> tuple[Sizes, tuple[int, ...]]:
    """The sizes along axes and the axes: all of them, or the last ones that have a size in `s`."""
    ndim = len(x.shape)
    sizes = None if s is None else tuple([points(n, "s") for n in several(s, "s")])
    if sizes is not None and len(sizes) > ndim:
        raise ArgumentError(f"`s` has {len(sizes)} sizes, and x {ndim} axes only")
    every = range(0 if sizes is None else ndim - len(sizes), ndim)
    named = [
        axis_of(integer(a, "axes"), ndim)
        for a in (every if axes is None else several(axes, "axes"))
    ]
    if not named:
        raise ArgumentError("there is no axis to transform along")
    if len(named) > ndim:
        raise ArgumentError(f"`axes` names {len(named)} axes, and x has {ndim} only")
    if sizes is not None and len(sizes) != len(named):
        raise ArgumentError(f"`s` has {len(sizes)} sizes for {len(named)} axes")
    return sizes, tuple(named)


def two_axes(x: Any, s: Any, axes: Any) -> tuple[Sizes, tuple[int, ...]]:
    """The same, where there must be two of each that is given."""
    if len(x.shape) < 2:
        raise ArgumentError(f"x has {len(x.shape)} axes, 2 are needed")
    for name, given in (("s", s), ("axes", axes)):
        if given is not None and len(several(given, name)) != 2:
            raise ArgumentError(f"`{name}` is {given!r:.60}; two integers are needed")
    return several_axes(x, s, axes)


def points(n: Any, name: str) -> int:
    """A number of points."""
    found = integer(n, name)
    if found < 1:
        raise ArgumentError(f"`{name}` holds sizes, which are above 0, not {found}")
    return found


def in_order(sizes: Sizes, axes: tuple[int, ...], fixed: int) -> tuple[Sizes, tuple[int, ...]]:
    """Axes in rising order, with the sizes that go with them; the last `fixed` stay where they are.

    Which axis comes first is only rounding, but for the one that is halved.
    """
    count = len(axes) - fixed
    order = [*sorted(range(count), key=axes.__getitem__), *range(count, len(axes))]
    sizes = sizes and tuple([sizes[i] for i in order])
    return sizes, tuple([axes[i] for i in order])


def resized(x: Any, sizes: Sizes, axes: tuple[int, ...]) -> Any:
    """`x` with what is beyond `sizes` cut off, and zeros where it is shorter.

    An axis of a size that only a run tells gets zeros enough first, and is cut then.
    """
    if sizes is None:
        return x
    targets = dict(zip(axes, sizes, strict=True))
    x = enlarged(x, {a: n for a, n in targets.items() if x.shape[a] == -1})
    longer = [a for a, n in targets.items() if x.shape[a] == -1 or x.shape[a] > n]
    if longer:
        x = slice(x, longer, [0] * len(longer), [targets[a] for a in longer])
    known = {a: n - x.shape[a] for a, n in targets.items() if a not in longer}
    return enlarged(x, {a: more for a, more in known.items() if more > 0})


def enlarged(x: Any, more: dict[int, int]) -> Any:
    """`x` with so many zeros behind it along axes."""
    if not more:
        return x
    paddings = [n for a in range(len(x.shape)) for n in (0, more.get(a, 0))]
    return pad(x, paddings=paddings, pad_value=0.0)


def real_operand(x: Any) -> Any:
    """`x`, of floating-point numbers in place of integers."""
    return cast_to(x, session.default_dtype()) if x.dtype.is_integer else x


def checked(x: Any, norm: Any, function: str) -> None:
    """Refuse what is no tensor, and a normalization that is none."""
    needs_tensor(x, function)
    if not is_one_of(norm, NORMS):
        raise ArgumentError(f"`norm` is {norm!r:.60}, not one of {', '.join(NORMS)}")


def spectrum(
    x: Any,
    sizes: Sizes,
    axes: tuple[int, ...],
    norm: str,
    name: str | None,
    *,
    forward: bool,
    onesided: bool = False,
) -> Any:
    """The frequencies of `x`, or what has such frequencies; `onesided` of real numbers only."""
    x = real_operand(x)
    of_real = onesided or x.dtype.is_float
    sizes, axes = in_order(sizes, axes, fixed=1 if of_real else 0)
    x = resized(x, sizes, axes)
    how = {"axes": axes, "normalization": norm, "forward": forward, "name": name}
    return fourier.fft_r2c(x, **how, onesided=onesided) if of_real else fourier.fft_c2c(x, **how)


def real_signal(
    x: Any, sizes: Sizes, axes: tuple[int, ...], norm: str, name: str | None, *, forward: bool
) -> Any:
    """The real numbers whose frequencies, of which `x` has half, mirror themselves."""
    x = real_operand(x)
    if x.dtype.is_float:
        x = cast_to(x, complex_dtype(meta_of(x)))
    sizes, axes = in_order(sizes, axes, fixed=1)
    how = {"axes": axes, "normalization": norm, "forward": forward, "name": name}
    if sizes is None:
        return fourier.fft_c2r(x, **how)
    x = resized(x, (*sizes[:-1], sizes[-1] // 2 + 1), axes)
    return fourier.fft_c2r(x, **how, last_dim_size=sizes[-1])
