"""The convolution's transpose: each element of the input spreads a filter over the output."""

from functools import partial
from typing import Any

from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import ArgumentError, ShapeError
from scull.ops.columns import convolve_back
from scull.ops.convolution import (
    PAIR,
    convolution_to_filter,
    convolution_to_input_at,
    convolved,
    same_floats,
    sizes,
)
from scull.ops.half import widening
from scull.ops.window import asking, channels_first, image_shape, in_format, pair, sides

ATTRIBUTES = (
    "strides",
    "paddings",
    "output_padding",
    "output_size",
    "padding_algorithm",
    "groups",
    "dilations",
    "data_format",
)


def mirrored(x: Any, filter: Any, attrs: dict[str, Any], axes: int) -> dict[str, Any]:
    """The attributes of the convolution that goes from the output back to `x`."""
    strides, algorithm = attrs["strides"], attrs["padding_algorithm"]
    image = image_shape(x, "input", attrs["data_format"], axes)
    pads = sides(image[2:], filter.shape[2:], strides, attrs["paddings"], algorithm)
    return {
        "strides": strides,
        "paddings": tuple([n for side in pads for n in side]),
        "padding_algorithm": "EXPLICIT",
        "dilations": (1,) * axes if algorithm == "SAME" else attrs["dilations"],
        "groups": attrs["groups"],
        "data_format": attrs["data_format"],
    }


def spread(
    x: Any, filter: Any, attrs: dict[str, Any], axes: int = 0
) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The shape of the output, and the attributes of the convolution back from it."""
    axes = axes or len(filter.shape) - 2
    if len(filter.shape) != axes + 2:
        raise ShapeError(f"filter has {len(filter.shape)} axes, {axes + 2} are needed")
    image = image_shape(x, "input", attrs["data_format"], axes)
    agree(image[1], filter.shape[0], "the input has {} channels and the filter is for {}")
    strides, dilations = (pair(n, tuple(attrs[n]), axes) for n in ("strides", "dilations"))
    back = mirrored(x, filter, attrs, axes)
    more, given = tuple(attrs["output_padding"] or (0,)), tuple(attrs["output_size"])
    more = more * axes if len(more) == 1 else more
    pair("output_padding", more, axes, 0)
    if given:
        pair("output_size", tuple([n if n != -1 else 0 for n in given]), axes, 0)
    found: list[int] = []
    for i, n in enumerate(image[2:]):
        kernel = filter.shape[2 + i]
        if -1 in (n, kernel, given[i] if given else 0):
            found.append(given[i] if given else UNKNOWN)
            continue
        reach = (n - 1) * strides[i] + back["dilations"][i] * (kernel - 1) + 1
        least = reach - sum(back["paddings"][2 * i : 2 * i + 2])
        size = given[i] if given else least + more[i]
        if not least <= size < least + max(strides[i], dilations[i]):
            law = f"outside [{least}, {least + max(strides[i], dilations[i])})"
            raise ArgumentError(f"the output is to have {size} elements along axis {i}, {law}")
        if size >= least + strides[i]:
            back["paddings"] = trimmed(back["paddings"], i, size - least - strides[i] + 1)
        found.append(size)
    channels = UNKNOWN if filter.shape[1] == -1 else filter.shape[1] * attrs["groups"]
    shape = (image[0], channels, *found)
    return in_format(shape, attrs["data_format"]), back


def trimmed(paddings: tuple[int, ...], axis: int, excess: int) -> tuple[int, ...]:
    """`paddings` with less at the end of an axis, where no window of the input reaches."""
    return tuple([n - excess if i == 2 * axis + 1 else n for i, n in enumerate(paddings)])


def over_images(name: str) -> Any:
    """Declare the transpose of a convolution over images under the type `name`."""

    def body(
        input: Meta,
        filter: Meta,
        bias: Meta = None,
        *,
        strides: Ints = (1, 1),
        paddings: Ints = (0, 0),
        output_padding: Ints = (),
        output_size: Ints = (),
        padding_algorithm: str = "EXPLICIT",
        groups: int = 1,
        dilations: Ints = (1, 1),
        data_format: str = "NCHW",
    ) -> Meta:
        """The sum of the filters, each spread from an element of the images, times it."""
        same_floats(input, filter, PAIR)
        values = (strides, paddings, output_padding, output_size, padding_algorithm, groups)
        attrs = dict(zip(ATTRIBUTES, (*values, dilations, data_format), strict=True))
        return input.with_shape(spread(input, filter, attrs, 2)[0])

    body.__name__ = name
    function = primitive(body, outputs=("output",), fixed=TUNING | FUSION)
    function.kernel(widening(partial(transposed_kernel, axes=2)))
    function.grad("input")(biased_grad_input)
    function.grad("filter")(grad_filter)
    function.lower(transposed_at)
    return function


def transposed_kernel(
    xp: Any,
    input: Any,
    filter: Any,
    bias: Any = None,
    *,
    out: Any = None,
    axes: int,
    **attrs: Any,
) -> Any:
    """The transpose over `axes` inner axes."""
    same_floats(input, filter, PAIR)
    shape, back = spread(input, filter, attrs, axes)
    form = attrs["data_format"]
    g = sizes(Meta(shape), filter, back)
    out = xp.empty(shape, input.dtype) if out is None else out
    convolve_back(xp, channels_first(input, form), filter, channels_first(out, form), g)
    if bias is not None:
        channels_first(out, form)[...] += bias.reshape(-1, *(1,) * axes)
    return out


def transposed_at(index: Any, x: Any, filter: Any, bias: Any = None, **attrs: Any) -> Any:
    """One element: the sum over the elements of the input that reach it."""
    shape, back = spread(x, filter, attrs)
    found = convolution_to_input_at(index, x, filter, Meta(shape), **back)
    if bias is None:
        return found
    return found + bias[channels_first(tuple(index), back["data_format"])[1]]


def back_to_input(input: Any, filter: Any, doutput: Any, attrs: dict[str, Any]) -> Any:
    """The gradient for the input: the convolution that this is the transpose of."""
    return convolved(doutput, filter, spread(input, filter, attrs)[1])


def back_to_filter(input: Any, filter: Any, doutput: Any, attrs: dict[str, Any]) -> Any:
    """The gradient for the filter."""
    return convolution_to_filter(doutput, input, filter, **spread(input, filter, attrs)[1])


biased_grad_input = asking(
    ATTRIBUTES,
    lambda input_meta, filter, bias_meta, doutput, attrs: back_to_input(
        input_meta, filter, doutput, attrs
    ),
)
grad_filter = asking(
    ATTRIBUTES,
    lambda input, filter_meta, doutput, attrs: back_to_filter(input, filter_meta, doutput, attrs),
)
grad_input = asking(
    ATTRIBUTES,
    lambda input_meta, filter, doutput, attrs: back_to_input(input_meta, filter, doutput, attrs),
)

# The attributes that mean something to other backends only.
TUNING = {"use_cudnn": False, "use_mkldnn": False, "workspace_size_MB": 512}
FUSION = {"force_fp32_output": False, "fuse_activation": "", "fuse_alpha": 0.0, "fuse_beta": 0.0}
FUSION |= {"fuse_relu": False, "is_test": False, "mkldnn_data_type": "float32"}

conv2d_transpose = over_images("conv2d_transpose")
depthwise_conv2d_transpose = over_images("depthwise_conv2d_transpose")


@primitive(outputs=("output",), fixed=TUNING)
def conv3d_transpose(
    input: Meta,
    filter: Meta,
    *,
    strides: Ints = (1, 1, 1),
    paddings: Ints = (0, 0, 0),
    output_padding: Ints = (),
    output_size: Ints = (),
    padding_algorithm: str = "EXPLICIT",
    groups: int = 1,
    dilations: Ints = (1, 1, 1),
    data_format: str = "NCHW",
) -> Meta:
    """The sum of the filters, each spread from an element of the volumes, times it."""
    same_floats(input, filter, PAIR)
    values = (strides, paddings, output_padding, output_size, padding_algorithm, groups)
    attrs = dict(zip(ATTRIBUTES, (*values, dilations, data_format), strict=True))
    return input.with_shape(spread(input, filter, attrs, 3)[0])


conv3d_transpose.kernel(widening(partial(transposed_kernel, axes=3)))
conv3d_transpose.grad("input")(grad_input)
conv3d_transpose.grad("filter")(grad_filter)
conv3d_transpose.lower(transposed_at)
