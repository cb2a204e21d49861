"""Convolution of images and volumes, and the two operators that its gradients are made of."""

from functools import reduce
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.op import meta_of
from scull.errors import DtypeError, ShapeError
from scull.ops.columns import convolve, convolve_across, convolve_back
from scull.ops.geometry import Geometry, geometry
from scull.ops.half import wide_at, widening
from scull.ops.window import (
    asking,
    attributes_of,
    channels_first,
    image_shape,
    in_format,
    window_over,
)

ATTRIBUTES = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")
PAIR = "input is {} and filter is {}; cast one"


def sizes(image: Any, filter: Any, attrs: dict[str, Any], axes: int = 0) -> Geometry:
    """The geometry for operands, or metas, and attributes; the filter has `axes`, if any do."""
    axes = axes or len(filter.shape) - 2
    shape = image_shape(image, "input", attrs["data_format"], axes)
    rest = [tuple(v) if isinstance(v, list) else v for v in map(attrs.get, ATTRIBUTES[:-1])]
    return geometry(shape, tuple(filter.shape), *rest)


def sizes_back(doutput: Any, image: Any, filter: Any, attrs: dict[str, Any]) -> Geometry:
    """The same where what reached the outputs is given; it is of as many places as windows."""
    g = sizes(image, filter, attrs)
    found = channels_first(tuple(doutput.shape), attrs["data_format"])[2:]
    known = -1 not in (*found, *g.counts)
    if len(found) != len(g.counts) or (known and found != tuple(g.counts)):
        raise ShapeError(f"doutput has {found} places, and there are {g.counts} windows")
    return g


def same_floats(x: Any, y: Any, law: str) -> None:
    """Refuse operands that are not of one floating-point element type."""
    floating(meta_of(x))
    if x.dtype != y.dtype:
        raise DtypeError(law.format(x.dtype.name, y.dtype.name))


# Lowerings.


def summed(x: Any, y: Any, over: Any) -> Any:
    """The sum of products, rounded to half precision only at its end."""
    return lang.cast(lang.sum(wide_at(x) * wide_at(y), over=over), x.dtype)


def grouped(index: Any, size: int, groups: int, within: Any) -> Any:
    """The channel `within` the group that place `index` of `size` belongs to."""
    return within if groups == 1 else index // (size // groups) * (within.size) + within


def window_at(w: Any) -> list[Any]:
    """An axis to sum over for each inner axis of the filters."""
    return [lang.axis(n) for n in w.shape[2:]]


def places(g: Geometry, windows: Any, elements: Any) -> list[Any]:
    """Where elements of windows are in the images."""
    return [a.place(n, i) for a, n, i in zip(g.along, windows, elements, strict=True)]


def convolution_at(index: Any, x: Any, w: Any, **attrs: Any) -> Any:
    """One element: the sum over a window and the channels of its group."""
    g, form = sizes(x, w, attrs), attrs["data_format"]
    n, f, *windows = channels_first(tuple(index), form)
    c, taps = lang.axis(w.shape[1]), window_at(w)
    spot = (n, grouped(f, g.filters, g.groups, c), *places(g, windows, taps))
    value = lang.padded(x, in_format(spot, form), 0.0)
    return summed(value, w[(f, c, *taps)], over=(*taps, c))


def convolution_to_input_at(index: Any, dout: Any, w: Any, like: Any, **attrs: Any) -> Any:
    """One element of the input: the sum over the windows that reach it."""
    g, form = sizes(like, w, attrs), attrs["data_format"]
    n, c, *spots = channels_first(tuple(index), form)
    f, taps = lang.axis(g.filters // g.groups), window_at(w)
    found = [window_over(a, p, i) for a, p, i in zip(g.along, spots, taps, strict=True)]
    filter = grouped(c, g.channels, g.groups, f)
    value = dout[in_format((n, filter, *[window for window, _ in found]), form)]
    own = c if g.groups == 1 else c % (g.channels // g.groups)
    there = reduce(lang.both, [is_there for _, is_there in found])
    reached = lang.guarded(there, value, 0.0)
    return summed(reached, w[(filter, own, *taps)], over=(*taps, f))


def convolution_to_filter_at(index: Any, x: Any, dout: Any, like: Any, **attrs: Any) -> Any:
    """One element of the filter: the sum over all images and windows."""
    g, form = sizes(x, like, attrs), attrs["data_format"]
    f, c, *taps = index
    n, windows = lang.axis(g.images), [lang.axis(count) for count in g.counts]
    channel = c if g.groups == 1 else f // (g.filters // g.groups) * (g.channels // g.groups) + c
    spot = (n, channel, *places(g, windows, taps))
    value = lang.padded(x, in_format(spot, form), 0.0)
    other = dout[in_format((n, f, *windows), form)]
    return summed(value, other, over=(n, *windows))


# The operators.


def convolution(name: str, axes: int, **options: Any) -> Any:
    """Declare a convolution over `axes` inner axes under the type `name`."""
    ones, form = (1,) * axes, "NCDHW" if axes == 3 else "NCHW"

    def body(
        input: Meta,
        filter: Meta,
        *,
        strides: Ints = ones,
        paddings: Ints = (0,) * axes,
        padding_algorithm: str = "EXPLICIT",
        dilations: Ints = ones,
        groups: int = 1,
        data_format: str = form,
    ) -> Meta:
        """The product of each window of the images with the filters."""
        same_floats(input, filter, PAIR)
        image = image_shape(input, "input", data_format, axes)
        g = geometry(image, filter.shape, strides, paddings, padding_algorithm, dilations, groups)
        return input.with_shape(in_format((g.images, g.filters, *g.counts), data_format))

    @widening
    def kernel(
        xp: Any, input: Any, filter: Any, *, out: Any = None, data_format: str, **rest: Any
    ) -> Any:
        same_floats(input, filter, PAIR)
        g = sizes(input, filter, {**rest, "data_format": data_format}, axes)
        shape = (g.images, g.filters, *g.counts)
        out = xp.empty(in_format(shape, data_format), input.dtype) if out is None else out
        target = channels_first(out, data_format)
        convolve(xp, channels_first(input, data_format), filter, target, g)
        return out

    body.__name__ = name
    function = primitive(body, outputs=("output",), images=("input", "output"), **options)
    function.kernel(kernel)
    function.grad("input")(grad_input)
    function.grad("filter")(grad_filter)
    function.lower(convolution_at)
    return function


grad_input = asking(
    ATTRIBUTES,
    lambda input_meta, filter, doutput, attrs: convolution_to_input(
        doutput, filter, input_meta, **attrs
    ),
)
grad_filter = asking(
    ATTRIBUTES,
    lambda input, filter_meta, doutput, attrs: convolution_to_filter(
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
ACTIVATION = {"fuse_activation": "", "fuse_alpha": 0.0, "fuse_beta": 0.0, "fuse_relu": False}
ACTIVATION |= {"fuse_residual_connection": False, "mkldnn_data_type": "float32"}
FUSION = {"Scale_in": 1.0, "Scale_in_eltwise": 1.0, "Scale_out": 1.0, "Scale_weights": [1.0]}
FUSION |= {"fuse_relu_before_depthwise_conv": False, "use_quantizer": False}

conv2d = convolution("conv2d", 2, fixed=TUNING)
depthwise_conv2d = convolution("depthwise_conv2d", 2, fixed=TUNING | ACTIVATION | FUSION)
conv3d = convolution("conv3d", 3, fixed=TUNING | ACTIVATION)


def convolved(input: Any, filter: Any, attrs: dict[str, Any]) -> Any:
    """The convolution over as many axes as the filter has."""
    return (conv3d if len(filter.shape) == 5 else conv2d)(input, filter, **attrs)


@primitive
@attributes_of(conv2d)
def convolution_to_input(doutput: Meta, filter: Meta, like_meta: Meta, **attrs: Any) -> Meta:
    """The convolution's transpose: from outputs back to an input like `like`."""
    same_floats(doutput, filter, "doutput is {} and filter is {}; cast one")
    sizes_back(doutput, like_meta, filter, attrs)
    return doutput.with_shape(like_meta.shape)


@convolution_to_input.kernel
@widening
def convolution_to_input_kernel(
    xp: Any, doutput: Any, filter: Any, like: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    g = sizes_back(doutput, like, filter, {**rest, "data_format": data_format})
    out = xp.empty(like.shape, doutput.dtype) if out is None else out
    convolve_back(
        xp, channels_first(doutput, data_format), filter, channels_first(out, data_format), g
    )
    return out


convolution_to_input.grad("doutput")(
    asking(ATTRIBUTES, lambda filter, dout, attrs: convolved(dout, filter, attrs))
)
convolution_to_input.grad("filter")(
    asking(
        ATTRIBUTES,
        lambda doutput, filter_meta, dout, attrs: convolution_to_filter(
            dout, doutput, filter_meta, **attrs
        ),
    )
)


@primitive
@attributes_of(conv2d)
def convolution_to_filter(input: Meta, doutput: Meta, like_meta: Meta, **attrs: Any) -> Meta:
    """How input and output go together: the convolution's derivative for a filter like `like`."""
    same_floats(input, doutput, "input is {} and doutput is {}; cast one")
    if len(doutput.shape) != len(input.shape):
        raise ShapeError(f"input is {input} and doutput is {doutput}, of other axes")
    sizes_back(doutput, input, like_meta, attrs)
    return input.with_shape(like_meta.shape)


@convolution_to_filter.kernel
@widening
def convolution_to_filter_kernel(
    xp: Any, input: Any, doutput: Any, like: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    g = sizes_back(doutput, input, like, {**rest, "data_format": data_format})
    out = xp.empty(like.shape, input.dtype) if out is None else out
    convolve_across(
        xp, channels_first(input, data_format), channels_first(doutput, data_format), out, g
    )
    return out


convolution_to_filter.grad("input")(
    asking(
        ATTRIBUTES,
        lambda input_meta, doutput, dout, attrs: convolution_to_input(
            doutput, dout, input_meta, **attrs
        ),
    )
)
convolution_to_filter.grad("doutput")(
    asking(ATTRIBUTES, lambda input, dout, attrs: convolved(input, dout, attrs))
)

convolution_to_input.lower(convolution_to_input_at)
convolution_to_filter.lower(convolution_to_filter_at)
