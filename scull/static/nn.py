"""Layers as functions that append operators and parameters to the default Programs."""

import math
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import Variable
from scull.nn.initializer import Constant, Normal
from scull.nn.param_attr import ParamAttr
from scull.static.layer_helper import LayerHelper
from scull.static.scope import create_parameter

__all__ = [
    "batch_norm",
    "conv2d",
    "create_parameter",
    "embedding",
    "fc",
    "layer_norm",
    "prelu",
]


def checked(x: Any, name: str, layer: str) -> None:
    """Refuse what is no Variable."""
    if not isinstance(x, Variable):
        raise ArgumentTypeError(
            f"The type of '{name}' in {layer} must be Variable, but received {type(x)}."
        )


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """A fully connected layer: the axes from `num_flatten_dims` on meet a matrix.

    The products of several inputs, in a list, are summed.

    Args:
        x (Variable | list): float tensors.
        size (int): how many outputs.
        num_flatten_dims (int): how many axes stay.
        weight_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        activation (str, optional): the type of an activation operator.
        name (str, optional): its name.

    Returns:
        Variable: of shape ``x.shape[:num_flatten_dims] + [size]``.
    """
    helper = LayerHelper(
        "fc", param_attr=weight_attr, bias_attr=bias_attr, act=activation, name=name
    )
    products = []
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    attrs = (
        list(weight_attr) if isinstance(weight_attr, list | tuple) else [weight_attr] * len(inputs)
    )
    for one, attr in zip(inputs, attrs, strict=True):
        checked(one, "x", "fc")
        axis = num_flatten_dims + len(one.shape) if num_flatten_dims == -1 else num_flatten_dims
        rows = math.prod(one.shape[axis:])
        if rows < 0:
            raise ArgumentError(
                f"fc needs the sizes of `{one.name}` from axis {axis} on, which is {one.meta}"
            )
        weight = helper.create_parameter(attr, [rows, size], one.dtype)
        product = helper.create_variable_for_type_inference(one.dtype)
        helper.append_op(
            "mul",
            {"X": [one], "Y": [weight]},
            {"Out": [product]},
            {"x_num_col_dims": axis, "y_num_col_dims": 1},
        )
        products.append(product)
    if len(products) > 1:
        total = helper.create_variable_for_type_inference(products[0].dtype)
        helper.append_op("sum", {"X": products}, {"Out": [total]}, {"use_mkldnn": False})
        products = [total]
    return helper.append_activation(helper.append_bias_op(products[0], num_flatten_dims))


def pair(value: Any, name: str) -> list[int]:
    """A number for both axes, or one for each."""
    values = list(value) if isinstance(value, list | tuple) else [value, value]
    if len(values) != 2 or not all(isinstance(v, int) for v in values):
        raise ArgumentError(f"`{name}` takes an integer or two, not {value!r}")
    return values


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
        act (str, optional): the type of an activation operator.

    Returns:
        Variable: the images after the filters.
    """
    checked(input, "input", "conv2d")
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_format is {data_format!r}, not NCHW or NHWC")
    helper = LayerHelper(
        "conv2d",
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
        name=name,
        use_cudnn=use_cudnn,
    )
    axis = 1 if data_format == "NCHW" else 3
    channels = input.shape[axis]
    groups = even_groups(groups or 1, channels, num_filters)
    size = pair(filter_size, "filter_size")
    paddings, algorithm = spelt_padding(padding)
    shape = [num_filters, channels // groups, *size]
    weight = filter_parameter(helper, param_attr, shape, channels, input.dtype)
    out = helper.create_variable_for_type_inference(input.dtype)
    depthwise = groups == channels and num_filters % channels == 0 and groups > 1 and not use_cudnn
    helper.append_op(
        "depthwise_conv2d" if depthwise else "conv2d",
        {"Input": [input], "Filter": [weight]},
        {"Output": [out]},
        {
            "strides": pair(stride, "stride"),
            "paddings": paddings,
            "dilations": pair(dilation, "dilation"),
            "groups": groups,
            "padding_algorithm": algorithm,
            "data_format": data_format,
            "use_cudnn": use_cudnn,
        },
    )
    return helper.append_activation(helper.append_bias_op(out, axis, axis + 1))


def even_groups(groups: int, channels: int, filters: int) -> int:
    """`groups`, refused unless channels and filters fall into them evenly."""
    if channels % groups or filters % groups:
        raise ArgumentError(
            f"groups={groups} divides neither {channels} channels nor {filters} filters evenly"
        )
    return groups


def filter_parameter(
    helper: LayerHelper, attr: Any, shape: list[int], channels: int, dtype: Any
) -> Any:
    """Filters drawn around 0, the closer the more products each of their sums has."""
    deviation = math.sqrt(2.0 / (shape[2] * shape[3] * channels))
    return helper.create_parameter(attr, shape, dtype, default_initializer=Normal(0.0, deviation))


def spelt_padding(padding: Any) -> tuple[list[int], str]:
    """Numbers and algorithm of a padding."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ArgumentError(f"padding is {padding!r}, not SAME or VALID")
        return [0, 0], padding.upper()
    if isinstance(padding, list | tuple) and len(padding) == 4:
        return list(padding), "EXPLICIT"
    return pair(padding, "padding"), "EXPLICIT"


def batch_norm(
    input: Any,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:
    """Batch normalization, with scale, bias and moving statistics as parameters.

    Args:
        input (Variable): [N, C, ...] or [N, ..., C] by `data_layout`.
        act (str, optional): the type of an activation operator.
        is_test (bool): use the moving statistics.
        momentum (float): how much of them is kept a step.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr, optional): of scale and bias.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "batch_norm")
    helper = LayerHelper(
        "batch_norm", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name
    )
    shape = [input.shape[1 if data_layout == "NCHW" or len(input.shape) == 2 else -1]]
    scale = scale_parameter(helper, param_attr, shape, input.dtype)
    bias = helper.create_parameter(bias_attr, shape, input.dtype, is_bias=True)
    mean = moving_statistic(helper, moving_mean_name, 0.0, shape, input.dtype)
    variance = moving_statistic(helper, moving_variance_name, 1.0, shape, input.dtype)
    saved_mean, saved_variance, reserve = [
        helper.create_variable_for_type_inference(input.dtype, stop_gradient=True) for _ in range(3)
    ]
    out = input if in_place else helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(
        "batch_norm",
        {"X": [input], "Scale": [scale], "Bias": [bias], "Mean": [mean], "Variance": [variance]},
        {
            "Y": [out],
            "MeanOut": [mean],
            "VarianceOut": [variance],
            "SavedMean": [saved_mean],
            "SavedVariance": [saved_variance],
            "ReserveSpace": [reserve],
        },
        {
            "epsilon": epsilon,
            "is_test": is_test,
            "momentum": momentum,
            "data_layout": data_layout,
            "use_global_stats": use_global_stats,
            "trainable_statistics": False,
        },
    )
    return helper.append_activation(out)


def scale_parameter(helper: LayerHelper, attr: Any, shape: list[int], dtype: Any) -> Any:
    """The factors after a normalization, 1 at first."""
    return helper.create_parameter(attr, shape, dtype, default_initializer=Constant(1.0))


def moving_statistic(
    helper: LayerHelper, name: str | None, start: float, shape: list[int], dtype: Any
) -> Any:
    """A parameter that the operator itself updates."""
    attr = ParamAttr(name=name, initializer=Constant(start), trainable=False)
    made = helper.create_parameter(attr, shape, dtype)
    made.stop_gradient = True
    return made


def embedding(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """Rows of a table by their numbers.

    Args:
        input (Variable): int64 numbers of rows.
        size (list): rows and columns of the table.
        is_sparse (bool): gradients hold only the rows used.
        padding_idx (int, optional): a row that stays zero.
        param_attr (ParamAttr, optional): of the table.
        dtype (str): its element type.

    Returns:
        Variable: of shape ``input.shape + [size[1]]``.
    """
    checked(input, "input", "embedding")
    helper = LayerHelper("embedding", param_attr=param_attr)
    weight = helper.create_parameter(param_attr, size, dtype)
    out = helper.create_variable_for_type_inference(dtype)
    row = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else size[0] + padding_idx
    helper.append_op(
        "lookup_table_v2",
        {"Ids": [input], "W": [weight]},
        {"Out": [out]},
        {"is_sparse": is_sparse, "is_distributed": is_distributed, "padding_idx": row},
    )
    return out


def layer_norm(
    input: Any,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance over the axes from `begin_norm_axis` on, then scale and shift.

    Args:
        input (Variable): a float tensor.
        scale, shift (bool): whether there are these parameters.
        begin_norm_axis (int): the first axis of a normalized piece.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr, optional): of scale and shift.
        act (str, optional): the type of an activation operator.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "layer_norm")
    helper = LayerHelper(
        "layer_norm", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name
    )
    shape = [math.prod(input.shape[begin_norm_axis:])]
    given = {"X": [input]}
    if scale:
        given["Scale"] = [scale_parameter(helper, param_attr, shape, input.dtype)]
    if shift:
        given["Bias"] = [helper.create_parameter(bias_attr, shape, input.dtype, is_bias=True)]
    mean = helper.create_variable_for_type_inference(input.dtype, stop_gradient=True)
    variance = helper.create_variable_for_type_inference(input.dtype, stop_gradient=True)
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(
        "layer_norm",
        given,
        {"Y": [out], "Mean": [mean], "Variance": [variance]},
        {"epsilon": epsilon, "begin_norm_axis": begin_norm_axis},
    )
    return helper.append_activation(out)


def prelu(
    x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """The rectified linear unit with slopes below 0 that are learned, 0.25 at first.

    Args:
        x (Variable): float32, of shape [N, ...].
        mode (str): "all" for one slope, "channel" for one a channel, "element" for one a place.
        param_attr (ParamAttr, optional): of the slopes.
        data_format (str): where the channels are, by mode "channel".
        name (str, optional): its name.

    Returns:
        Variable: of the shape of `x`.
    """
    checked(x, "x", "prelu")
    if mode not in ("all", "channel", "element"):
        raise ArgumentError("mode should be one of all, channel, element.")
    last = data_format in ("NLC", "NHWC", "NDHWC")
    if mode == "channel" and not (last or data_format in ("NC", "NCL", "NCHW", "NCDHW")):
        raise ArgumentError(
            "data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', 'NDHWC' but "
            f"receive {data_format}"
        )
    sizes = list(x.shape)
    ones = [1] * (len(sizes) - 1)
    shapes = {
        "all": [1],
        "channel": [*ones, sizes[-1]] if last else [1, sizes[1], *ones[1:]],
        "element": [1, *sizes[1:]],
    }
    helper = LayerHelper("prelu", param_attr=param_attr, name=name)
    alpha = helper.create_parameter(
        param_attr, shapes[mode], "float32", default_initializer=Constant(0.25)
    )
    out = helper.create_variable_for_type_inference(x.dtype)
    helper.append_op(
        "prelu",
        {"X": [x], "Alpha": [alpha]},
        {"Out": [out]},
        {"mode": mode, "data_format": "NHWC" if last else "NCHW"},
    )
    return out
