"""Convolutions and their transposes, with their filters as parameters."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.nn.functional.transpose import sized
from scull.nn.functional.window import is_last, paddings, pair
from scull.nn.initializer import Normal
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked


@dataclass(frozen=True)
class Layer:
    """What convolutions over `axes` inner axes, and their transposes, have in common."""

    type: str
    axes: int
    param_attr: Any
    bias_attr: Any
    use_cudnn: bool
    act: str | None
    name: str | None

    def windows(self, stride: Any, padding: Any, dilation: Any, data_format: str) -> dict[str, Any]:
        """The attributes that say where the windows lie."""
        if not isinstance(self.use_cudnn, bool):
            law = f"Received Attr(use_cudnn): {self.use_cudnn}."
            raise ArgumentError(f"Attr(use_cudnn) should be True or False. {law}")
        sides, algorithm = paddings(padding, is_last(data_format, self.axes), self.axes)
        return {
            "strides": list(pair(stride, "stride", self.axes)),
            "paddings": list(sides),
            "dilations": list(pair(dilation, "dilation", self.axes)),
            "padding_algorithm": algorithm,
            "data_format": data_format,
            "use_cudnn": self.use_cudnn,
        }

    def channels(self, input: Any, filters: int, groups: int | None, data_format: str) -> int:
        """The channels of `input`, which `groups` must divide."""
        checked(input, "input", self.type)
        if not input.dtype.is_float:
            raise DtypeError(
                f"input of {self.type} is of floating-point elements, not {input.meta}"
            )
        if len(input.shape) != self.axes + 2:
            raise ShapeError(
                f"input of {self.type} has {len(input.shape)} axes, {self.axes + 2} are needed"
            )
        if self.param_attr is False:
            raise ArgumentError(f"param_attr should not be False in {self.type}.")
        found: int = input.shape[-1 if is_last(data_format, self.axes) else 1]
        if found < 0:
            raise ArgumentError(f"the channels of `{input.name}`, {input.meta}, are not known")
        if filters < 1:
            raise ArgumentError(f"num_filters is {filters}, at least 1 is needed")
        if groups is not None and groups < 1:
            raise ArgumentError(f"groups is {groups}, at least 1 is needed")
        if groups is not None and (found % groups or filters % groups):
            raise ArgumentError(
                f"groups={groups} divides not both {found} channels and {filters} filters evenly"
            )
        return found

    def convolution(
        self, input: Any, filters: int, filter_size: Any, groups: int | None, attrs: dict[str, Any]
    ) -> Any:
        """The images after filters of `filter_size`."""
        channels = self.channels(input, filters, groups, attrs["data_format"])
        size = pair(filter_size, "filter_size", self.axes)
        apart = channels == groups and filters % channels == 0
        # The more products each sum has, the closer to 0 the filters begin.
        start = Normal(0.0, math.sqrt(2.0 / (math.prod(size) * channels)))
        attrs["groups"] = groups or 1
        shape = [filters, channels // attrs["groups"], *size]
        return self.made(self.kind(apart), input, shape, start, attrs)

    def transpose(
        self,
        input: Any,
        filters: int,
        output_size: Any,
        filter_size: Any,
        groups: int | None,
        attrs: dict[str, Any],
    ) -> Any:
        """The images spread by filters of `filter_size`, or by those that give `output_size`."""
        channels = self.channels(input, filters, groups, attrs["data_format"])
        given = sized(output_size, self.axes)
        if filter_size is None:
            filter_size = self.size_for(input, given, attrs)
        size = pair(filter_size, "filter_size", self.axes)
        attrs |= {"groups": groups or 1, "output_size": given, "output_padding": []}
        apart = channels == attrs["groups"] == filters
        shape = [channels, filters // attrs["groups"], *size]
        return self.made(self.kind(apart), input, shape, None, attrs)

    def size_for(self, input: Any, given: Any, attrs: dict[str, Any]) -> list[int]:
        """The size of the filters with which a transpose gives images of the size `given`."""
        if not given:
            raise ArgumentError("output_size must be set when filter_size is None")
        if not all(isinstance(n, int) for n in given):
            raise ArgumentError("filter_size must be set when a Variable holds output_size")
        last = is_last(attrs["data_format"], self.axes)
        own = input.shape[1:-1] if last else input.shape[2:]
        if -1 in own:
            raise ArgumentError(f"the sizes of `{input.name}`, {input.meta}, are not all known")
        sides = attrs["paddings"]
        both = [2 * n for n in sides]
        if len(sides) == 2 * self.axes:
            both = [m + n for m, n in zip(sides[::2], sides[1::2], strict=True)]
        along = zip(given, own, attrs["strides"], both, attrs["dilations"], strict=True)
        return [(n - (m - 1) * s + p - 1) // d + 1 for n, m, s, p, d in along]

    def kind(self, apart: bool) -> str:
        """The type of the operator: where each image channel has filters of its own, and a GPU is
        not asked for, images have another."""
        depthwise = apart and not self.use_cudnn and self.axes == 2
        return "depthwise_" + self.type if depthwise else self.type

    def made(
        self, type: str, input: Any, shape: list[int], start: Any, attrs: dict[str, Any]
    ) -> Any:
        """The result of an operator, its bias and its activation."""
        last = is_last(attrs["data_format"], self.axes)
        if type == "conv3d_transpose":
            attrs["data_format"] = "NHWC" if last else "NCHW"  # as the reference says
        options = {n: v for n, v in asdict(self).items() if n not in ("type", "axes")}
        helper = LayerHelper(type, **options)
        weight = helper.create_parameter(
            self.param_attr, shape, input.dtype, default_initializer=start
        )
        out = helper.create_variable_for_type_inference(input.dtype)
        helper.append_op(type, {"Input": [input], "Filter": [weight]}, {"Output": [out]}, attrs)
        axis = self.axes + 1 if last else 1
        return helper.append_activation(helper.append_bias_op(out, axis, axis + 1))


def conv2d(
    input: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """A convolution over images, with its filters as a parameter.

    Args:
        input (Variable): images, [N, C, H, W] or [N, H, W, C] by `data_format`.
        num_filters (int): how many output channels.
        filter_size, stride, dilation (int | list): one number or two.
        padding (int | list | str): numbers, "SAME" or "VALID".
        groups (int, optional): groups of channels.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        use_cudnn (bool): said in the Program; nothing else.
        act (str, optional): the type of an activation operator.
        name (str, optional): its name.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        Variable: the images after the filters.
    """
    layer = Layer("conv2d", 2, param_attr, bias_attr, use_cudnn, act, name)
    attrs = layer.windows(stride, padding, dilation, data_format)
    return layer.convolution(input, num_filters, filter_size, groups, attrs)


def conv3d(
    input: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Any:
    """A convolution over volumes, with its filters as a parameter.

    Args:
        input (Variable): volumes, [N, C, D, H, W] or [N, D, H, W, C] by `data_format`.
        num_filters (int): how many output channels.
        filter_size, stride, dilation (int | list): one number or three.
        padding (int | list | str): numbers, "SAME" or "VALID".
        groups (int, optional): groups of channels.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        use_cudnn (bool): said in the Program; nothing else.
        act (str, optional): the type of an activation operator.
        name (str, optional): its name.
        data_format (str): "NCDHW" or "NDHWC".

    Returns:
        Variable: the volumes after the filters.
    """
    layer = Layer("conv3d", 3, param_attr, bias_attr, use_cudnn, act, name)
    attrs = layer.windows(stride, padding, dilation, data_format)
    return layer.convolution(input, num_filters, filter_size, groups, attrs)


def conv2d_transpose(
    input: Any,
    num_filters: int,
    output_size: Any = None,
    filter_size: Any = None,
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """The transpose of a convolution over images, with its filters as a parameter.

    Args:
        input (Variable): images, [N, C, H, W] or [N, H, W, C] by `data_format`.
        num_filters (int): how many output channels.
        output_size (int | list, optional): the size of what comes out.
        filter_size (int | list, optional): that of the filters; what leads to `output_size` for
            None.
        padding (int | list | str): what is cut off at the border; "SAME" or "VALID".
        stride, dilation (int | list): one number or two.
        groups (int, optional): groups of channels.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        use_cudnn (bool): said in the Program; nothing else.
        act (str, optional): the type of an activation operator.
        name (str, optional): its name.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        Variable: images.
    """
    layer = Layer("conv2d_transpose", 2, param_attr, bias_attr, use_cudnn, act, name)
    attrs = layer.windows(stride, padding, dilation, data_format)
    return layer.transpose(input, num_filters, output_size, filter_size, groups, attrs)


def conv3d_transpose(
    input: Any,
    num_filters: int,
    output_size: Any = None,
    filter_size: Any = None,
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Any:
    """The transpose of a convolution over volumes, with its filters as a parameter.

    Args:
        input (Variable): volumes, [N, C, D, H, W] or [N, D, H, W, C] by `data_format`.
        num_filters (int): how many output channels.
        output_size (int | list, optional): the size of what comes out.
        filter_size (int | list, optional): that of the filters; what leads to `output_size` for
            None.
        padding (int | list | str): what is cut off at the border; "SAME" or "VALID".
        stride, dilation (int | list): one number or three.
        groups (int, optional): groups of channels.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        use_cudnn (bool): said in the Program; nothing else.
        act (str, optional): the type of an activation operator.
        name (str, optional): its name.
        data_format (str): "NCDHW" or "NDHWC".

    Returns:
        Variable: volumes.
    """
    layer = Layer("conv3d_transpose", 3, param_attr, bias_attr, use_cudnn, act, name)
    attrs = layer.windows(stride, padding, dilation, data_format)
    return layer.transpose(input, num_filters, output_size, filter_size, groups, attrs)


def deformable_conv(
    input: Any,
    offset: Any,
    mask: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    deformable_groups: int | None = None,
    im2col_step: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    modulated: bool = True,
    name: str | None = None,
) -> Any:
    """A convolution whose windows reach where offsets say: `deform_conv2d` under its older name.

    Args:
        input (Variable): images, [N, C, rows, columns].
        offset (Variable): how far each element of each window is moved.
        mask (Variable, optional): what each element of each window is multiplied by; not used
            unless `modulated`.
        num_filters (int): how many filters.
        filter_size (int | tuple[int]): rows and columns of a filter.
        stride, padding, dilation (int | tuple[int]): of the windows.
        groups (int, optional): into how many parts the channels are divided; 1 when None.
        deformable_groups (int, optional): into how many parts with offsets of their own; 1 when
            None.
        im2col_step (int, optional): kept for Paddle's signature.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        modulated (bool): whether there is a mask.
        name (str, optional): its name.

    Returns:
        Variable: [N, num_filters, m, n].

    Raises:
        ArgumentTypeError: `input`, `offset` or the mask is no Variable.
        ArgumentError: the groups do not divide the channels.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> x = paddle.static.data("pictures", [None, 3, 8, 8])
        >>> moves = paddle.static.data("moves", [None, 18, 8, 8])
        >>> deformable_conv(x, moves, None, 2, 3, padding=1, modulated=False).shape
        (-1, 2, 8, 8)
        >>> paddle.disable_static()
    """
    if modulated or mask is not None:
        checked(mask, "mask", "deformable_conv")
    return deform_conv2d(
        input,
        offset,
        mask if modulated else None,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups or 1,
        deformable_groups or 1,
        im2col_step or 64,
        param_attr,
        bias_attr,
        name,
    )


def deform_conv2d(
    x: Any,
    offset: Any,
    mask: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Any:
    """A convolution whose windows reach where offsets say, between elements too.

    Args:
        x (Variable): images, [N, C, rows, columns].
        offset (Variable): how far each element of each window is moved.
        mask (Variable, optional): what each element of each window is multiplied by; None for ones.
        num_filters (int): how many filters.
        filter_size (int | tuple[int]): rows and columns of a filter.
        stride, padding, dilation (int | tuple[int]): of the windows.
        groups (int): into how many parts the channels are divided.
        deformable_groups (int): into how many parts with offsets of their own.
        im2col_step (int): kept for Paddle's signature.
        weight_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        name (str, optional): its name.

    Returns:
        Variable: [N, num_filters, m, n].
    """
    checked(x, "input", "deform_conv2d")
    checked(offset, "offset", "deform_conv2d")
    if groups is not None and x.shape[1] % groups:
        raise ArgumentError("num_channels must be divisible by groups.")
    helper = LayerHelper("deformable_conv", bias_attr=bias_attr, name=name)
    size = pair(filter_size, "filter_size")
    shape = [num_filters, x.shape[1] // (groups or 1), *size]
    deviation = math.sqrt(2.0 / (math.prod(size) * x.shape[1]))
    weight = helper.create_parameter(
        weight_attr, shape, x.dtype, default_initializer=Normal(0.0, deviation)
    )
    out = helper.create_variable_for_type_inference(x.dtype)
    given = {"Input": [x], "Filter": [weight], "Offset": [offset]}
    attrs = {
        "strides": list(pair(stride, "stride")),
        "paddings": list(pair(padding, "padding")),
        "dilations": list(pair(dilation, "dilation")),
        "groups": groups or 1,
        "deformable_groups": deformable_groups,
        "im2col_step": im2col_step,
    }
    if mask is None:
        helper.append_op("deformable_conv_v1", given, {"Output": [out]}, attrs)
    else:
        helper.append_op("deformable_conv", given | {"Mask": [mask]}, {"Output": [out]}, attrs)
    return helper.append_bias_op(out, dim_start=1, dim_end=2)
