"""Blocks of tensors: read at offsets, and put back among zeros."""

from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta
from scull.errors import ArgumentError, RangeError, ShapeError, UnsupportedError
from scull.ops.create import given_sizes, planned_sizes
from scull.ops.join import concat
from scull.ops.move import reshape


def block_sizes(old: Any, sizes: Any, offsets: Any, least: int) -> tuple[int, ...]:
    """The sizes of a block of a tensor of shape `old`; -1 takes the rest of an axis.

    Offsets of None are known only when run.
    """
    check_count(old, sizes, "sizes")
    if offsets is not None:
        check_count(old, offsets, "offsets")
    found = []
    for axis, (n, size) in enumerate(zip(old, sizes, strict=True)):
        start = None if offsets is None else offsets[axis]
        if size != -1 and size < least:
            raise ArgumentError(f"size {size} of axis {axis} is neither -1 nor {least} at least")
        if start is not None and start < 0:
            raise ArgumentError(f"offset {start} of axis {axis} is below 0")
        if n == -1 or start is None:
            found.append(UNKNOWN if size == -1 else size)
            continue
        size = n - start if size == -1 else size
        if size < 0 or start + size > n:
            raise RangeError(f"axis {axis} of size {n} has no {max(size, 0)} elements from {start}")
        found.append(size)
    return tuple(found)


def check_count(old: Any, numbers: Any, name: str) -> None:
    """Refuse other than one number an axis."""
    if len(numbers) != len(old):
        raise ShapeError(f"{len(numbers)} {name} are given for {len(old)} axes")


def window(offsets: Any, sizes: Any) -> tuple[Any, ...]:
    """The index of a block."""
    return tuple([slice(o, o + n) for o, n in zip(offsets, sizes, strict=True)])


def block_of(x: Any, sizes: Any, offsets: Any, out: Any) -> Any:
    """A copy of a block of `x`."""
    found = x[window(offsets, sizes)]
    if out is None:
        return found.copy()
    out[...] = found
    return out


@primitive(enlarges=("shape",), slots={"offsets_tensor": "Offsets"}, infer_first=True)
def crop(
    x: Meta,
    y_meta: Meta = None,
    offsets_tensor: Meta = None,
    *,
    offsets: Ints = (),
    shape: Ints = (),
) -> Meta:
    """The block of `x` at `offsets`, in the shape of `y` where that is given, else in `shape`."""
    known = offsets if offsets_tensor is None else None
    if y_meta is None:
        return x.with_shape(block_sizes(x.shape, shape, known, 0))
    block_sizes(x.shape, y_meta.shape, known, 0)
    return x.with_shape(y_meta.shape)


@crop.kernel
def crop_kernel(
    xp: Any, x: Any, y: Any = None, tensor: Any = None, *, out: Any = None, offsets: Any, shape: Any
) -> Any:
    offsets = given_sizes(offsets, tensor, None)
    sizes = block_sizes(x.shape, shape if y is None else y.shape, offsets, 0)
    return block_of(x, sizes, offsets, out)


@crop.grad("x")
def crop_grad(x_meta: Any, offsets_tensor: Any, dout: Any, offsets: Any) -> Any:
    return place_block(dout, x_meta, offsets_tensor, offsets=offsets)


def known_when_built(*tensors: Any) -> None:
    """Refuse to lower what only a tensor's value decides."""
    if any(t is not None for t in tensors):
        raise UnsupportedError("offsets that a tensor gives are known only when run")


@crop.lower
def crop_at(index: Any, x: Any, y: Any, tensor: Any, offsets: Any, shape: Any) -> Any:
    known_when_built(tensor)
    return x[tuple([i + o for i, o in zip(index, offsets, strict=True)])]


@primitive(
    slots={
        "shape_tensor": "Shape",
        "shape_tensor_list": "ShapeTensor",
        "offsets_tensor": "Offsets",
        "offsets_tensor_list": "OffsetsTensor",
    },
    infer_first=True,
)
def crop_tensor(
    x: Meta,
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    offsets_tensor: Meta = None,
    offsets_tensor_list: list[Meta] | None = None,
    *,
    shape: Ints = (),
    offsets: Ints = (),
) -> Meta:
    """The block of `x` at `offsets`; -1 in `shape` takes the rest of an axis."""
    sizes = planned_sizes(shape, shape_tensor, shape_tensor_list)
    if shape_tensor is not None or shape_tensor_list or offsets_tensor_list:
        check_count(x.shape, sizes, "sizes")
        if shape_tensor_list:  # which spells what a tensor gives as 0
            sizes = tuple([n or UNKNOWN for n in sizes])
        return x.with_shape(sizes)
    return x.with_shape(block_sizes(x.shape, sizes, offsets if offsets_tensor is None else None, 1))


@crop_tensor.kernel
def crop_tensor_kernel(
    xp: Any,
    x: Any,
    shape_tensor: Any = None,
    shape_tensor_list: Any = None,
    offsets_tensor: Any = None,
    offsets_tensor_list: Any = None,
    *,
    out: Any = None,
    shape: Any,
    offsets: Any,
) -> Any:
    offsets = given_sizes(offsets, offsets_tensor, offsets_tensor_list)
    sizes = given_sizes(shape, shape_tensor, shape_tensor_list)
    return block_of(x, block_sizes(x.shape, sizes, offsets, 1), offsets, out)


@crop_tensor.grad("x")
def crop_tensor_grad(
    x_meta: Any, offsets_tensor: Any, offsets_tensor_list: Any, dout: Any, offsets: Any
) -> Any:
    if offsets_tensor_list:
        offsets_tensor = concat([reshape(v, shape=(1,)) for v in offsets_tensor_list])
    return place_block(dout, x_meta, offsets_tensor, offsets=offsets)


@crop_tensor.lower
def crop_tensor_at(index: Any, x: Any, *tensors: Any, shape: Any, offsets: Any) -> Any:
    known_when_built(*tensors)
    return crop_at(index, x, None, None, offsets, shape)


@primitive
def place_block(
    x: Meta, like_meta: Meta, offsets_tensor: Meta = None, *, offsets: Ints = ()
) -> Meta:
    """Zeros in the shape of `like` with `x` at `offsets`."""
    return Meta(like_meta.shape, x.dtype)


@place_block.kernel
def place_block_kernel(
    xp: Any, x: Any, like: Any, tensor: Any = None, *, out: Any = None, offsets: Any
) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    out[window(given_sizes(offsets, tensor, None), x.shape)] = x
    return out


@place_block.grad("x")
def place_block_grad(x_meta: Any, offsets_tensor: Any, dout: Any, offsets: Any) -> Any:
    return crop(dout, x_meta, offsets_tensor, offsets=offsets)


@place_block.lower
def place_block_at(index: Any, x: Any, like: Any, tensor: Any, offsets: Any) -> Any:
    known_when_built(tensor)
    places = [i - o for i, o in zip(index, offsets, strict=True)]
    return lang.padded(x, places, lang.constant(False if x.dtype == "bool" else 0, x.dtype))
