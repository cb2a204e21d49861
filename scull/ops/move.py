"""The same elements in another shape or order: views where memory allows it, and repetitions."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, at_least, axis_of, of_shape
from scull.errors import ArgumentError, ShapeError
from scull.ops.create import given_sizes, planned_sizes
from scull.ops.half import gathered
from scull.ops.like import reshape_like, sum_like


@primitive(
    type="reshape2",
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False, "use_quantizer": False},
    printed=("mkldnn_data_type", "use_mkldnn", "use_quantizer"),
    slots={"shape_tensor": "Shape", "shape_tensor_list": "ShapeTensor"},
    xshape="x",
    views={"out": "x"},
)
def reshape(
    x: Meta,
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Ints = (),
) -> Meta:
    """The elements of `x` in another shape: 0 keeps a size, one -1 takes the rest."""
    sizes = planned_sizes(shape, shape_tensor, shape_tensor_list)
    if shape_tensor is not None or shape_tensor_list:
        return x.with_shape(sizes)
    return x.with_shape(reshaped(x.shape, sizes))


def reshaped(old: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that `sizes` asks for; unknown sizes that a 0 keeps cancel."""
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise ArgumentError(f"shape {list(sizes)} leaves more open than one size")
    kept = {i for i, n in enumerate(sizes) if n == 0 and i < len(old)}
    found = [old[i] if i in kept else n for i, n in enumerate(sizes)]
    rest = [n for i, n in enumerate(old) if i not in kept]
    if -1 in rest:
        return tuple(found)
    total = math.prod(rest)
    given = math.prod([n for i, n in enumerate(sizes) if n != -1 and i not in kept])
    if -1 in sizes and given and total % given == 0:
        found[sizes.index(-1)] = total // given
    elif -1 in sizes or (total != given and 0 not in [old[i] for i in kept]):
        raise ShapeError(f"{list(map(int, old))} does not fill the shape {list(sizes)}")
    return tuple(found)


@reshape.kernel
def reshape_kernel(
    xp: Any, x: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, shape: Any
) -> Any:
    if tensors or tensor is not None:
        shape = given_sizes(shape, tensor, tensors)
    if 0 in shape or min(shape, default=0) < -1:
        shape = reshaped(x.shape, shape)
    return x.reshape(shape)


reshape.grad("x")(lambda x_meta, dout: reshape_like(dout, x_meta))


def flat_at(index: Any, x: Any, *_: Any, **attrs: Any) -> Any:
    """The element whose place among all elements is that of `index`."""
    return lang.flat(x, lang.ravel(index, [place.size for place in index]))


reshape.lower(flat_at)


@primitive(type="flatten_contiguous_range", prefix="flatten", xshape="x", views={"out": "x"})
def flatten(x: Meta, *, start_axis: int = 1, stop_axis: int = 1) -> Meta:
    """`x` with the axes from `start_axis` to `stop_axis` made one."""
    return x.with_shape(flattened(x.shape, start_axis, stop_axis))


def flattened(shape: tuple[int, ...], start: int, stop: int) -> tuple[int, ...]:
    """`shape` with the sizes from `start` to `stop` multiplied."""
    start, stop = axis_of(start, len(shape)), axis_of(stop, len(shape))
    if start > stop:
        raise ArgumentError(f"start_axis {start} comes after stop_axis {stop}")
    middle = shape[start : stop + 1]
    return (*shape[:start], UNKNOWN if -1 in middle else math.prod(middle), *shape[stop + 1 :])


flatten.kernel(
    lambda xp, x, *, out=None, start_axis, stop_axis: x.reshape(
        flattened(x.shape, start_axis, stop_axis)
    )
)
flatten.grad(lambda x_meta, dout: reshape_like(dout, x_meta))
flatten.lower(flat_at)


@primitive(
    type="transpose2",
    prefix="transpose",
    attrs={"perm": "axis"},
    fixed={"data_format": "AnyLayout"},
    xshape="x",
    views={"out": "x"},
)
def transpose(x: Meta, *, perm: Ints) -> Meta:
    """`x` with its axes in the order `perm`."""
    axes = [axis_of(a, x.ndim) for a in perm]
    if sorted(axes) != list(range(x.ndim)):
        raise ArgumentError(f"perm {list(perm)} is no order of {x.ndim} axes")
    return x.with_shape(x.shape[a] for a in axes)


transpose.kernel(lambda xp, x, *, out=None, perm: x.transpose(perm))


@transpose.grad
def transpose_grad(x_meta: Any, dout: Any, perm: Any) -> Any:
    return transpose(dout, perm=inverse(perm))


def inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes `perm`."""
    order = [a % len(perm) for a in perm]
    return tuple([order.index(i) for i in range(len(order))])


@transpose.lower
def transpose_at(index: Any, x: Any, perm: Any) -> Any:
    return x[tuple([index[i] for i in inverse(perm)])]


@primitive(
    enlarges=("shape",),
    type="expand_v2",
    prefix="expand",
    slots={"shape_tensor": "Shape", "shape_tensor_list": "expand_shapes_tensor"},
)
def expand(
    x: Meta,
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Ints = (),
) -> Meta:
    """`x` repeated along axes of size 1 and new leading ones; -1 leaves a size as it is."""
    sizes = planned_sizes(shape, shape_tensor, shape_tensor_list)
    if shape_tensor is not None or shape_tensor_list:
        return x.with_shape(sizes)
    return x.with_shape(expanded(x.shape, sizes))


def expanded(old: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `old` stretched to `sizes`."""
    lead = len(sizes) - len(old)
    if lead < 0:
        raise ShapeError(f"{list(map(int, old))} has more axes than the shape {list(sizes)}")
    found = []
    for i, n in enumerate(sizes):
        own = old[i - lead] if i >= lead else 1
        if (n == -1 and i < lead) or (n < 1 and n != -1 and own not in (0, -1)):
            raise ArgumentError(f"shape {list(sizes)} has no size for axis {i}")
        if n != -1 and own not in (1, -1, n):
            raise ShapeError(f"{list(map(int, old))} does not stretch to the shape {list(sizes)}")
        found.append(own if n == -1 else n)
    return tuple(found)


@expand.kernel
def expand_kernel(
    xp: Any, x: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, shape: Any
) -> Any:
    if out is None:
        out = xp.empty(expanded(x.shape, given_sizes(shape, tensor, tensors)), x.dtype)
    out[...] = x
    return out


@expand.grad("x")
def expand_grad(x_meta: Any, shape_tensor_meta: Any, shape_tensor_list_meta: Any, dout: Any) -> Any:
    return sum_like(dout, x_meta)


expand.lower(lambda index, x, *_, **attrs: lang.at(x, index))


TIMES = {"times_tensor": "RepeatTimes", "times_tensor_list": "repeat_times_tensor"}


@primitive(enlarges=("repeat_times",), slots=TIMES)
def tile(
    x: Meta,
    times_tensor: Meta = None,
    times_tensor_list: list[Meta] | None = None,
    *,
    repeat_times: Ints = (),
) -> Meta:
    """`x` laid side by side, so many times along each axis."""
    times = planned_sizes(repeat_times, times_tensor, times_tensor_list)
    if times_tensor is None and not times_tensor_list:
        refuse_below_one(times)
    shape, times = as_long(x.shape, times)
    pairs = zip(shape, times, strict=True)
    return x.with_shape(UNKNOWN if -1 in (n, t) else n * t for n, t in pairs)


def refuse_below_one(times: tuple[int, ...]) -> None:
    """Refuse numbers of repetitions below 1."""
    if min(times, default=1) < 1:
        raise ArgumentError(f"repeat_times {list(times)} has a number below 1")


def as_long(shape: tuple[int, ...], times: tuple[int, ...]) -> tuple[Any, Any]:
    """Both filled up in front with ones to the length of the longer."""
    ndim = max(len(shape), len(times))
    return (1,) * (ndim - len(shape)) + shape, (1,) * (ndim - len(times)) + times


def interleaved(shape: tuple[int, ...], times: tuple[int, ...]) -> tuple[int, ...]:
    """The number of repetitions before each size."""
    pairs = zip(*as_long(shape, times), strict=True)
    return tuple([n for size, t in pairs for n in (t, size)])


@tile.kernel
def tile_kernel(
    xp: Any, x: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, repeat_times: Any
) -> Any:
    times = given_sizes(repeat_times, tensor, tensors)
    refuse_below_one(times)
    shape, times = as_long(x.shape, times)
    if out is None:
        out = xp.empty([n * t for n, t in zip(shape, times, strict=True)], x.dtype)
    blocks = out.reshape(interleaved(shape, times))
    blocks[...] = x.reshape([n for size in shape for n in (1, size)])
    return out


@tile.grad("x")
def tile_grad(
    x_meta: Any, times_tensor: Any, times_tensor_list: Any, dout: Any, repeat_times: Any
) -> Any:
    return sum_tiles(dout, x_meta, times_tensor, times_tensor_list, repeat_times=repeat_times)


tile.lower(
    lambda index, x, *_, **attrs: x[
        tuple([i % n for i, n in zip(index[len(index) - x.ndim :], x.shape, strict=True)])
    ]
)


@primitive
def sum_tiles(
    x: Meta,
    like_meta: Meta,
    times_tensor: Meta = None,
    times_tensor_list: list[Meta] | None = None,
    *,
    repeat_times: Ints = (),
) -> Meta:
    """The sum of the tiles that `tile` lays side by side; each has the shape of `like`."""
    of_shape(
        x, tile.op.body(like_meta, times_tensor, times_tensor_list, repeat_times=repeat_times).shape
    )
    return x.with_shape(like_meta.shape)


@sum_tiles.kernel
def sum_tiles_kernel(
    xp: Any,
    x: Any,
    like: Any,
    tensor: Any = None,
    tensors: Any = None,
    *,
    out: Any = None,
    repeat_times: Any,
) -> Any:
    shape = interleaved(like.shape, given_sizes(repeat_times, tensor, tensors))
    total = gathered(xp.add, x.reshape(shape), tuple(range(0, len(shape), 2)))
    return xp.asarray(total).reshape(like.shape)


@sum_tiles.grad("x")
def sum_tiles_grad(times_tensor: Any, times_tensor_list: Any, dout: Any, repeat_times: Any) -> Any:
    return tile(dout, times_tensor, times_tensor_list, repeat_times=repeat_times)


@sum_tiles.lower
def sum_tiles_at(index: Any, x: Any, like: Any, *_: Any, **attrs: Any) -> Any:
    lead = x.ndim - like.ndim
    over, places = [], []
    for i, n in enumerate(x.shape):
        size = like.shape[i - lead] if i >= lead else 1
        over.append(lang.axis(n // size if size else 0))
        places.append(over[-1] * size + index[i - lead] if i >= lead else over[-1])
    return lang.sum(x[tuple(places)], over=over) if over else x[()]


@primitive(inline_gradient=True)
def flip(x: Meta, *, axis: Ints) -> Meta:
    """`x` in reverse order along `axis`."""
    turned_axes(axis, x.ndim)
    return x


def turned_axes(axis: tuple[int, ...], ndim: int) -> set[int]:
    """The axes counted from 0, each named once."""
    axes = {axis_of(a, ndim) for a in axis}
    if len(axes) < len(axis):
        raise ArgumentError(f"axis {list(axis)} names an axis twice")
    return axes


@flip.kernel
def flip_kernel(xp: Any, x: Any, *, out: Any = None, axis: Any) -> Any:
    axes = turned_axes(axis, x.ndim)
    out = xp.empty_like(x) if out is None else out
    out[...] = x[tuple([slice(None, None, -1 if i in axes else 1) for i in range(x.ndim)])]
    return out


flip.grad(lambda dout, axis: flip(dout, axis=axis))


@flip.lower
def flip_at(index: Any, x: Any, axis: Any) -> Any:
    axes = turned_axes(axis, x.ndim)
    places = zip(index, x.shape, strict=True)
    return x[tuple([n - 1 - i if a in axes else i for a, (i, n) in enumerate(places)])]


@primitive
def tril_triu(x: Meta, *, diagonal: int = 0, lower: bool = False) -> Meta:
    """`x` with zeros above a diagonal (`lower`) or below it; diagonal 1 lies above the main one."""
    at_least(2, x)
    return x


@tril_triu.kernel
def tril_triu_kernel(xp: Any, x: Any, *, out: Any = None, diagonal: int, lower: bool) -> Any:
    at_least(2, x)
    out = xp.empty_like(x) if out is None else out
    columns, rows = xp.arange(x.shape[-1]), xp.arange(x.shape[-2])[:, None]
    kept = columns - rows <= diagonal if lower else columns - rows >= diagonal
    out[...] = xp.where(kept, x, x.dtype.type(0))
    return out


tril_triu.grad(lambda dout, diagonal, lower: tril_triu(dout, diagonal=diagonal, lower=lower))


@tril_triu.lower
def tril_triu_at(index: Any, x: Any, diagonal: int, lower: bool) -> Any:
    offset = index[-1] - index[-2]
    kept = offset <= diagonal if lower else offset >= diagonal
    return lang.select(kept, x[index], lang.constant(False if x.dtype == "bool" else 0, x.dtype))
