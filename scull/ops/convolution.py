"""Convolution of images, and the two operators that its gradients and theirs are made of."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import wide_at, widening
from scull.ops.window import (
    Windows,
    asking,
    attributes_of,
    channels_first,
    image_shape,
    in_format,
    pair,
    sides,
    sliding,
    window_over,
)

ATTRIBUTES = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")
PAIR = "input is {} and filter is {}; cast one"
CHUNK = 1 << 18  # elements of columns that one product takes: they should stay in the cache


class Geometry(NamedTuple):
    """The sizes of one convolution, with the channels on axis 1."""

    images: int
    channels: int
    filters: int
    groups: int
    rows: Windows
    columns: Windows
    pointwise: bool  # a product of matrices as it stands

    @property
    def depthwise(self) -> bool:
        return self.channels == self.groups > 1

    @property
    def taps(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.rows.kernel) for j in range(self.columns.kernel)]


@lru_cache(1024)
def geometry(
    image: tuple[int, ...],
    filter: tuple[int, ...],
    strides: tuple[int, ...],
    paddings: tuple[int, ...],
    padding_algorithm: str,
    dilations: tuple[int, ...],
    groups: int,
) -> Geometry:
    """The sizes for an `image` with the channels on axis 1, or the mistake in them."""
    if len(filter) != 4:
        raise ShapeError(f"filter has {len(filter)} axes, 4 are needed")
    if groups < 1:
        raise ArgumentError(f"groups is {groups}, at least 1 is needed")
    strides, dilations = pair("strides", strides), pair("dilations", dilations)
    pads = sides(image[2:], filter[2:], strides, paddings, padding_algorithm)
    if padding_algorithm == "SAME":
        dilations = (1, 1)
    channels = UNKNOWN if filter[1] == -1 else filter[1] * groups
    law = "the input has {} channels, the filter's channels times groups are {}"
    channels = agree(image[1], channels, law)
    if filter[0] != -1 and filter[0] % groups:
        raise ShapeError(
            f"the filter makes {filter[0]} channels, which {groups} groups do not divide"
        )
    rows, columns = (
        sliding(*axis) for axis in zip(image[2:], filter[2:], strides, pads, dilations, strict=True)
    )
    plain = all(w.kernel == w.stride == 1 and w.before == w.after == 0 for w in (rows, columns))
    return Geometry(image[0], channels, filter[0], groups, rows, columns, plain)


def sizes(image: Any, filter: Any, attrs: dict[str, Any]) -> Geometry:
    """The geometry for operands, or metas, and the attributes of an operator."""
    shape = image_shape(image, "input", attrs["data_format"])
    rest = [tuple(v) if isinstance(v, list) else v for v in map(attrs.get, ATTRIBUTES[:-1])]
    return geometry(shape, tuple(filter.shape), *rest)


def same_floats(x: Any, y: Any, law: str) -> None:
    """Refuse operands that are not of one floating-point element type."""
    floating(meta_of(x))
    if x.dtype != y.dtype:
        raise DtypeError(law.format(x.dtype.name, y.dtype.name))


# Columns: one for each window, with what a filter meets there. Images are the last axis, so that
# the innermost loops are long however small an image is.


def with_images_last(xp: Any, x: Any, g: Geometry) -> Any:
    """`x` as [channel, row, column, image], with zeros around."""
    r, q = g.rows, g.columns
    wide = xp.zeros((x.shape[1], r.padded, q.padded, x.shape[0]), x.dtype)
    inside = wide[:, r.before : r.before + r.size, q.before : q.before + q.size]
    inside[...] = x.transpose(1, 2, 3, 0)
    return wide


def columns_of(xp: Any, wide: Any, g: Geometry) -> Any:
    """A matrix [(channel, row, column) of a window, (row, column, image) where it lies]."""
    c, h, w, n = wide.strides
    r, q = g.rows, g.columns
    shape = (wide.shape[0], r.kernel, q.kernel, r.count, q.count, wide.shape[3])
    strides = (c, h * r.dilation, w * q.dilation, h * r.stride, w * q.stride, n)
    view = xp.lib.stride_tricks.as_strided(wide, shape, strides)
    return xp.ascontiguousarray(view).reshape(math.prod(shape[:3]), -1)


def batches(g: Geometry) -> list[slice]:
    """The images in portions whose columns stay in the cache."""
    depth = g.channels
    if not g.depthwise:
        depth = g.channels // g.groups * g.rows.kernel * g.columns.kernel
    count = max(1, CHUNK // max(depth * g.rows.count * g.columns.count, 1))
    return [slice(i, min(i + count, g.images)) for i in range(0, g.images, count)]


def parts(g: Geometry) -> list[tuple[slice, slice]]:
    """The channels and the filters of each group."""
    c, f = g.channels // g.groups, g.filters // g.groups
    return [(slice(i * c, i * c + c), slice(i * f, i * f + f)) for i in range(g.groups)]


def flat(x: Any) -> Any:
    """A batch [image, channel, row, column] as a matrix [channel, (row, column, image)]."""
    return x.transpose(1, 2, 3, 0).reshape(x.shape[1], -1)


def by_group(x: Any, g: Geometry) -> Any:
    """A batch as [image, group, channel of the group, position]."""
    return x.reshape(x.shape[0], g.groups, x.shape[1] // g.groups, -1)


def convolve(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution, into `out`; both batches have the channels on axis 1."""
    if g.pointwise:
        product = xp.matmul(w.reshape(g.groups, -1, w.shape[1]), by_group(x, g))
        out[...] = product.reshape(out.shape)
        return
    if g.depthwise:
        depthwise(xp, x, w, out, g)
        return
    for images in batches(g):
        wide = with_images_last(xp, x[images], g)
        for channels, filters in parts(g):
            matrix = w[filters].reshape(filters.stop - filters.start, -1)
            product = xp.matmul(matrix, columns_of(xp, wide[channels], g))
            target = out[images, filters].transpose(1, 2, 3, 0)
            target[...] = product.reshape(target.shape)


def convolve_back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient of the convolution for its input, into `dx`."""
    if g.pointwise:
        matrices = w.reshape(g.groups, -1, w.shape[1]).swapaxes(1, 2)
        dx[...] = xp.matmul(matrices, by_group(dout, g)).reshape(dx.shape)
        return
    r, q = g.rows, g.columns
    for images in batches(g):
        count = images.stop - images.start
        wide = xp.zeros((g.channels, r.padded, q.padded, count), dx.dtype)
        if g.depthwise:
            depthwise_back(wide, dout[images], w, g)
        else:
            for channels, filters in parts(g):
                matrix = w[filters].reshape(filters.stop - filters.start, -1)
                columns = xp.matmul(matrix.T, flat(dout[images, filters]))
                found = columns.reshape(-1, r.kernel, q.kernel, r.count, q.count, count)
                target = wide[channels]
                for i, j in g.taps:
                    target[:, r.tap(i), q.tap(j)] += found[:, i, j]
        inside = wide[:, r.before : r.before + r.size, q.before : q.before + q.size]
        dx[images] = inside.transpose(3, 0, 1, 2)


def convolve_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The gradient of the convolution for its filter, into `dw`."""
    if g.pointwise:
        products = xp.matmul(by_group(dout, g), by_group(x, g).swapaxes(-1, -2))
        dw[...] = xp.add.reduce(products, axis=0).reshape(dw.shape)
        return
    dw[...] = 0
    for images in batches(g):
        wide = with_images_last(xp, x[images], g)
        if g.depthwise:
            depthwise_across(xp, wide, dout[images], dw, g)
            continue
        for channels, filters in parts(g):
            columns = columns_of(xp, wide[channels], g)
            found = xp.matmul(flat(dout[images, filters]), columns.T)
            dw[filters] += found.reshape(dw[filters].shape)


# One channel a group: products of few elements, so each tap is one multiplication of whole images.


def by_channel(x: Any, g: Geometry) -> Any:
    """A batch of outputs as [filter of the channel, channel, row, column, image]."""
    rows, columns = x.shape[2:]
    return x.reshape(x.shape[0], g.channels, -1, rows, columns).transpose(2, 1, 3, 4, 0)


def tap_filters(w: Any, g: Geometry, i: int, j: int) -> Any:
    """Element (i, j) of the filters as [filter of the channel, channel, 1, 1, 1]."""
    return w[:, 0, i, j].reshape(g.channels, -1).T[:, :, None, None, None]


def depthwise(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution where each channel is a group."""
    multiple = g.filters // g.channels
    for images in batches(g):
        wide = with_images_last(xp, x[images], g)
        count = images.stop - images.start
        total = xp.zeros((multiple, g.channels, g.rows.count, g.columns.count, count), x.dtype)
        for i, j in g.taps:
            total += wide[:, g.rows.tap(i), g.columns.tap(j)] * tap_filters(w, g, i, j)
        out[images] = total.transpose(4, 1, 0, 2, 3).reshape(out[images].shape)


def depthwise_back(wide: Any, dout: Any, w: Any, g: Geometry) -> None:
    """The same back to the padded input `wide`."""
    dout = np.ascontiguousarray(by_channel(dout, g))
    for i, j in g.taps:
        found = np.add.reduce(dout * tap_filters(w, g, i, j), axis=0)
        wide[:, g.rows.tap(i), g.columns.tap(j)] += found


def depthwise_across(xp: Any, wide: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The same back to the filter."""
    dout = np.ascontiguousarray(by_channel(dout, g))
    for i, j in g.taps:
        seen = wide[:, g.rows.tap(i), g.columns.tap(j)]
        dw[:, 0, i, j] += xp.einsum("chwn,mchwn->cm", seen, dout).reshape(-1)


# Lowerings.


def summed(x: Any, y: Any, over: Any) -> Any:
    """The sum of products, rounded to half precision only at its end."""
    return lang.cast(lang.sum(wide_at(x) * wide_at(y), over=over), x.dtype)


def grouped(index: Any, size: int, groups: int, within: Any) -> Any:
    """The channel `within` the group that place `index` of `size` belongs to."""
    return within if groups == 1 else index // (size // groups) * (within.size) + within


def conv2d_at(index: Any, x: Any, w: Any, **attrs: Any) -> Any:
    """One element: the sum over a window and the channels of its group."""
    g = sizes(x, w, attrs)
    n, f, row, column = channels_first(index, attrs["data_format"])
    c, i, j = lang.axis(w.shape[1]), lang.axis(w.shape[2]), lang.axis(w.shape[3])
    spot = (n, grouped(f, g.filters, g.groups, c), g.rows.place(row, i), g.columns.place(column, j))
    value = lang.padded(x, in_format(spot, attrs["data_format"]), 0.0)
    return summed(value, w[f, c, i, j], over=(c, i, j))


def conv2d_to_input_at(index: Any, dout: Any, w: Any, like: Any, **attrs: Any) -> Any:
    """One element of the input: the sum over the windows that reach it."""
    g = sizes(like, w, attrs)
    n, c, h, v = channels_first(index, attrs["data_format"])
    f, i, j = lang.axis(g.filters // g.groups), lang.axis(w.shape[2]), lang.axis(w.shape[3])
    row, in_rows = window_over(g.rows, h, i)
    column, in_columns = window_over(g.columns, v, j)
    filter = grouped(c, g.channels, g.groups, f)
    value = dout[in_format((n, filter, row, column), attrs["data_format"])]
    own = c if g.groups == 1 else c % (g.channels // g.groups)
    reached = lang.guarded(lang.both(in_rows, in_columns), value, 0.0)
    return summed(reached, w[filter, own, i, j], over=(f, i, j))


def conv2d_to_filter_at(index: Any, x: Any, dout: Any, like: Any, **attrs: Any) -> Any:
    """One element of the filter: the sum over all images and windows."""
    g = sizes(x, like, attrs)
    f, c, i, j = index
    n, row, column = lang.axis(g.images), lang.axis(g.rows.count), lang.axis(g.columns.count)
    channel = c if g.groups == 1 else f // (g.filters // g.groups) * (g.channels // g.groups) + c
    spot = (n, channel, g.rows.place(row, i), g.columns.place(column, j))
    value = lang.padded(x, in_format(spot, attrs["data_format"]), 0.0)
    other = dout[in_format((n, f, row, column), attrs["data_format"])]
    return summed(value, other, over=(n, row, column))


# The operators.


def convolution(name: str, **options: Any) -> Any:
    """Declare a convolution under the type `name`."""

    def body(
        input: Meta,
        filter: Meta,
        *,
        strides: Ints = (1, 1),
        paddings: Ints = (0, 0),
        padding_algorithm: str = "EXPLICIT",
        dilations: Ints = (1, 1),
        groups: int = 1,
        data_format: str = "NCHW",
    ) -> Meta:
        """The product of each window of the images with the filters."""
        same_floats(input, filter, PAIR)
        image = image_shape(input, "input", data_format)
        g = geometry(image, filter.shape, strides, paddings, padding_algorithm, dilations, groups)
        shape = (g.images, g.filters, g.rows.count, g.columns.count)
        return input.with_shape(in_format(shape, data_format))

    body.__name__ = name
    function = primitive(body, outputs=("output",), **options)
    function.kernel(conv2d_kernel)
    function.grad("input")(conv2d_grad_input)
    function.grad("filter")(conv2d_grad_filter)
    function.lower(conv2d_at)
    return function


@widening
def conv2d_kernel(
    xp: Any, input: Any, filter: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    same_floats(input, filter, PAIR)
    g = sizes(input, filter, {**rest, "data_format": data_format})
    shape = (g.images, g.filters, g.rows.count, g.columns.count)
    out = xp.empty(in_format(shape, data_format), input.dtype) if out is None else out
    convolve(xp, channels_first(input, data_format), filter, channels_first(out, data_format), g)
    return out


conv2d_grad_input = asking(
    ATTRIBUTES,
    lambda input_meta, filter, doutput, attrs: conv2d_to_input(
        doutput, filter, input_meta, **attrs
    ),
)
conv2d_grad_filter = asking(
    ATTRIBUTES,
    lambda input, filter_meta, doutput, attrs: conv2d_to_filter(
        input, doutput, filter_meta, **attrs
    ),
)


# The attributes that mean something to other backends only, as they stand in every Program.
TUNING = {
    "exhaustive_search": False,
    "force_fp32_output": False,
    "is_test": False,
    "use_addto": False,
}
TUNING |= {"use_cudnn": False, "use_mkldnn": False, "workspace_size_MB": 512}
FUSION = {"Scale_in": 1.0, "Scale_in_eltwise": 1.0, "Scale_out": 1.0, "Scale_weights": [1.0]}
FUSION |= {"fuse_activation": "", "fuse_alpha": 0.0, "fuse_beta": 0.0, "fuse_relu": False}
FUSION |= {"fuse_relu_before_depthwise_conv": False, "fuse_residual_connection": False}
FUSION |= {"mkldnn_data_type": "float32", "use_quantizer": False}

conv2d = convolution("conv2d", fixed=TUNING)
depthwise_conv2d = convolution("depthwise_conv2d", fixed=TUNING | FUSION)


@primitive
@attributes_of(conv2d)
def conv2d_to_input(doutput: Meta, filter: Meta, like_meta: Meta, **attrs: Any) -> Meta:
    """The convolution's transpose: from outputs back to an input like `like`."""
    same_floats(doutput, filter, "doutput is {} and filter is {}; cast one")
    sizes(like_meta, filter, attrs)
    return doutput.with_shape(like_meta.shape)


@conv2d_to_input.kernel
@widening
def conv2d_to_input_kernel(
    xp: Any, doutput: Any, filter: Any, like: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    g = sizes(like, filter, {**rest, "data_format": data_format})
    out = xp.empty(like.shape, doutput.dtype) if out is None else out
    convolve_back(
        xp, channels_first(doutput, data_format), filter, channels_first(out, data_format), g
    )
    return out


conv2d_to_input.grad("doutput")(
    asking(ATTRIBUTES, lambda filter, dout, attrs: conv2d(dout, filter, **attrs))
)
conv2d_to_input.grad("filter")(
    asking(
        ATTRIBUTES,
        lambda doutput, filter_meta, dout, attrs: conv2d_to_filter(
            dout, doutput, filter_meta, **attrs
        ),
    )
)


@primitive
@attributes_of(conv2d)
def conv2d_to_filter(input: Meta, doutput: Meta, like_meta: Meta, **attrs: Any) -> Meta:
    """How input and output go together: the convolution's derivative for a filter like `like`."""
    same_floats(input, doutput, "input is {} and doutput is {}; cast one")
    sizes(input, like_meta, attrs)
    return input.with_shape(like_meta.shape)


@conv2d_to_filter.kernel
@widening
def conv2d_to_filter_kernel(
    xp: Any, input: Any, doutput: Any, like: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    g = sizes(input, like, {**rest, "data_format": data_format})
    out = xp.empty(like.shape, input.dtype) if out is None else out
    convolve_across(
        xp, channels_first(input, data_format), channels_first(doutput, data_format), out, g
    )
    return out


conv2d_to_filter.grad("input")(
    asking(
        ATTRIBUTES,
        lambda input_meta, doutput, dout, attrs: conv2d_to_input(
            doutput, dout, input_meta, **attrs
        ),
    )
)
conv2d_to_filter.grad("doutput")(
    asking(ATTRIBUTES, lambda input, dout, attrs: conv2d(input, dout, **attrs))
)

conv2d_to_input.lower(conv2d_to_input_at)
conv2d_to_filter.lower(conv2d_to_filter_at)
