"""Discrete Fourier transforms: of complex numbers, of real ones, and back to real ones."""

from typing import Any

from scull.core.attribute import Long, Longs
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, axis_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.complex import NOT_LOWERED, complex_dtype, real, real_dtype
from scull.ops.solve import LIBRARY

# Which direction is divided by the number of points; the adjoint of a transform is the other
# direction, and it is divided where the transform was.
ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def transformed_axes(x: Meta, axes: Any, normalization: str) -> tuple[int, ...]:
    """The axes of a transform from 0 on, or the mistake in them."""
    if normalization not in ADJOINT:
        raise ArgumentError(f"normalization is {normalization!r}, not one of {', '.join(ADJOINT)}")
    if not axes:
        raise ArgumentError("axes is empty: a transform needs one axis at least")
    found = tuple([axis_of(a, len(x.shape)) for a in axes])
    if len(set(found)) < len(found):
        raise ArgumentError(f"axes {list(axes)} name an axis twice")
    return found


def all_have_points(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Refuse axes without elements."""
    for a in axes:
        if shape[a] == 0:
            raise ShapeError(f"axis {a} has no elements to transform")


def resized(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    """`shape` with another size at `axis`."""
    return (*shape[:axis], size, *shape[axis + 1 :])


@primitive(infer_first=True)
def fft_c2c(x: Meta, *, axes: Longs, normalization: str, forward: bool) -> Meta:
    """The transform of complex numbers along `axes`, or the inverse one."""
    real_dtype(x)
    all_have_points(x.shape, transformed_axes(x, axes, normalization))
    return x


@fft_c2c.kernel
def fft_c2c_kernel(
    xp: Any, x: Any, *, out: Any = None, axes: Any, normalization: str, forward: bool
) -> Any:
    transform = xp.fft.fftn if forward else xp.fft.ifftn
    return transform(x, axes=axes, norm=normalization, out=out)


@fft_c2c.grad
def fft_c2c_grad(dout: Any, axes: Any, normalization: str, forward: bool) -> Any:
    how = {"axes": axes, "normalization": ADJOINT[normalization]}
    return fft_c2c(dout, **how, forward=not forward)


@primitive(infer_first=True)
def fft_r2c(x: Meta, *, axes: Longs, normalization: str, forward: bool, onesided: bool) -> Meta:
    """The transform of real numbers along `axes`, the last one first, or the inverse one.

    Along that axis the second half mirrors the first; `onesided` leaves it out.
    """
    found, dtype = transformed_axes(x, axes, normalization), complex_dtype(x)
    all_have_points(x.shape, found)
    size = x.shape[found[-1]]
    if onesided:
        size = UNKNOWN if size == -1 else size // 2 + 1
    return Meta(resized(x.shape, found[-1], size), dtype)


@fft_r2c.kernel
def fft_r2c_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    axes: Any,
    normalization: str,
    forward: bool,
    onesided: bool,
) -> Any:
    if not onesided:
        transform = xp.fft.fftn if forward else xp.fft.ifftn
        return transform(x, axes=axes, norm=normalization, out=out)
    if forward:
        return xp.fft.rfftn(x, axes=axes, norm=normalization, out=out)
    found = xp.fft.rfftn(x, axes=axes, norm=ADJOINT[normalization], out=out)
    return xp.conjugate(found, out=found)


@fft_r2c.grad
def fft_r2c_grad(
    x_meta: Any, dout: Any, axes: Any, normalization: str, forward: bool, onesided: bool
) -> Any:
    """The real part of the adjoint; from half a spectrum it is that of one that mirrors itself."""
    how = {"axes": axes, "normalization": ADJOINT[normalization], "forward": not forward}
    if not onesided:
        return real(fft_c2c(dout, **how))
    last, size = axes[-1], x_meta.shape[axes[-1]]
    halves = scale_pairs(dout, axis=last, size=size, factor=0.5)
    return fft_c2r(halves, **how, last_dim_size=size)


@primitive(infer_first=True)
def fft_c2r(
    x: Meta, *, axes: Longs, normalization: str, forward: bool, last_dim_size: Long = 0
) -> Meta:
    """The real transform, along `axes`, of complex numbers that mirror themselves.

    `x` has the first half along the last of these axes. The whole has `last_dim_size` elements
    there, the even number of two that are possible where this is not above 0.
    """
    found, dtype = transformed_axes(x, axes, normalization), real_dtype(x)
    all_have_points(x.shape, found)
    half, size = x.shape[found[-1]], last_dim_size
    if size > 0 and half not in (-1, size // 2 + 1):
        law = f"{size} real elements come of {size // 2 + 1} complex ones"
        raise ShapeError(f"{law}, and axis {found[-1]} has {half}")
    if size <= 0:
        size = UNKNOWN if half == -1 else 2 * (half - 1)
    if size == 0:
        raise ShapeError(f"axis {found[-1]} has one element, which makes no even number of them")
    return Meta(resized(x.shape, found[-1], size), dtype)


@fft_c2r.kernel
def fft_c2r_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    axes: Any,
    normalization: str,
    forward: bool,
    last_dim_size: int,
) -> Any:
    sizes = [x.shape[a] for a in axes]
    sizes[-1] = last_dim_size if last_dim_size > 0 else 2 * (sizes[-1] - 1)
    if not forward:
        return xp.fft.irfftn(x, s=sizes, axes=axes, norm=normalization, out=out)
    return xp.fft.irfftn(x.conj(), s=sizes, axes=axes, norm=ADJOINT[normalization], out=out)


@fft_c2r.grad
def fft_c2r_grad(dout: Any, axes: Any, normalization: str, forward: bool) -> Any:
    how = {"axes": axes, "normalization": ADJOINT[normalization], "forward": not forward}
    found = fft_r2c(dout, **how, onesided=True)
    return scale_pairs(found, axis=axes[-1], size=dout.shape[axes[-1]], factor=2.0)


@primitive
def scale_pairs(x: Meta, *, axis: Long, size: Long, factor: float) -> Meta:
    """Half a spectrum, of `size` along `axis`, with what stands for two elements times `factor`.

    The first element stands for itself alone, and the last one where `size` is even.
    """
    return x


@scale_pairs.kernel
def scale_pairs_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, size: int, factor: float
) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = x
    xp.moveaxis(out, axis, 0)[1 : (size + 1) // 2] *= factor
    return out


@scale_pairs.grad
def scale_pairs_grad(dout: Any, axis: int, size: int, factor: float) -> Any:
    return scale_pairs(dout, axis=axis, size=size, factor=factor)


for transform in (fft_c2c, fft_r2c, fft_c2r):
    transform.no_lowering(LIBRARY)
scale_pairs.no_lowering(NOT_LOWERED)
