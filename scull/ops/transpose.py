"""The convolution's transpose: each element of the input spreads a filter over the output."""

from typing import Any

from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import ArgumentError, ShapeError
from scull.ops.convolution import (
    PAIR,
    channels_first,
    conv2d,
    conv2d_to_filter,
    conv2d_to_input_at,
    convolve_back,
    same_floats,
    sizes,
)
from scull.ops.half import widening
from scull.ops.window import asking, image_shape, in_format, pair, sides

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


def mirrored(x: Any, filter: Any, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the convolution that goes from the output back to `x`."""
    strides, algorithm = attrs["strides"], attrs["padding_algorithm"]
    image = image_shape(x, "input", attrs["data_format"])
    pads = sides(image[2:], filter.shape[2:], strides, attrs["paddings"], algorithm)
    return {
        "strides": strides,
        "paddings": tuple([n for side in pads for n in side]),
        "padding_algorithm": "EXPLICIT",
        "dilations": (1, 1) if algorithm == "SAME" else attrs["dilations"],
        "groups": attrs["groups"],
        "data_format": attrs["data_format"],
    }


def spread(x: Any, filter: Any, attrs: dict[str, Any]) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The shape of the output, and the attributes of the convolution back from it."""
    if len(filter.shape) != 4:
        raise ShapeError(f"filter has {len(filter.shape)} axes, 4 are needed")
    image, groups = image_shape(x, "input", attrs["data_format"]), attrs["groups"]
    agree(image[1], filter.shape[0], "the input has {} channels and the filter is for {}")
    strides, dilations = pair("strides", attrs["strides"]), pair("dilations", attrs["dilations"])
    back = mirrored(x, filter, attrs)
    more = attrs["output_padding"] or (0, 0)
    more = tuple(more) * 2 if len(more) == 1 else more
    given = attrs["output_size"]
    found: list[int] = []
    for i, n in enumerate(image[2:]):
        kernel = filter.shape[2 + i]
        if -1 in (n, kernel):
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
    channels = UNKNOWN if filter.shape[1] == -1 else filter.shape[1] * groups
    shape = (image[0], channels, *found)
    return in_format(shape, attrs["data_format"]), back


def trimmed(paddings: tuple[int, ...], axis: int, excess: int) -> tuple[int, ...]:
    """`paddings` with less at the end of an axis, where no window of the input reaches."""
    return tuple([n - excess if i == 2 * axis + 1 else n for i, n in enumerate(paddings)])


def transposed(name: str) -> Any:
    """Declare a convolution's transpose under the type `name`."""

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
        return input.with_shape(spread(input, filter, attrs)[0])

    body.__name__ = name
    function = primitive(body, outputs=("output",), fixed=TUNING)
    function.kernel(transposed_kernel)
    function.grad("input")(transposed_grad_input)
    function.grad("filter")(transposed_grad_filter)
    function.lower(transposed_at)
    return function


@widening
def transposed_kernel(
    xp: Any, input: Any, filter: Any, bias: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    same_floats(input, filter, PAIR)
    shape, back = spread(input, filter, attrs)
    form = attrs["data_format"]
    g = sizes(Meta(shape), filter, back)
    out = xp.empty(shape, input.dtype) if out is None else out
    convolve_back(xp, channels_first(input, form), filter, channels_first(out, form), g)
    if bias is not None:
        channels_first(out, form)[...] += bias.reshape(1, -1, 1, 1)
    return out


def transposed_at(index: Any, x: Any, filter: Any, bias: Any, **attrs: Any) -> Any:
    """One element: the sum over the elements of the input that reach it."""
    shape, back = spread(x, filter, attrs)
    found = conv2d_to_input_at(index, x, filter, Meta(shape), **back)
    return (
        found
        if bias is None
        else found + bias[channels_first(tuple(index), back["data_format"])[1]]
    )


transposed_grad_input = asking(
    ATTRIBUTES,
    lambda input_meta, filter, bias_meta, doutput, attrs: conv2d(
        doutput, filter, **spread(input_meta, filter, attrs)[1]
    ),
)
transposed_grad_filter = asking(
    ATTRIBUTES,
    lambda input, filter_meta, doutput, attrs: conv2d_to_filter(
        doutput, input, filter_meta, **spread(input, filter_meta, attrs)[1]
    ),
)

# The attributes that mean something to other backends only.
TUNING = {"force_fp32_output": False, "fuse_activation": "", "fuse_alpha": 0.0, "fuse_beta": 0.0}
TUNING |= {"fuse_relu": False, "is_test": False, "mkldnn_data_type": "float32"}
TUNING |= {"use_cudnn": False, "use_mkldnn": False, "workspace_size_MB": 512}

conv2d_transpose = transposed("conv2d_transpose")
depthwise_conv2d_transpose = transposed("depthwise_conv2d_transpose")
