"""Normalizations, with their scale, bias and statistics as parameters."""

import math
from typing import Any

from scull.core.meta import floating
from scull.errors import ArgumentError, ShapeError
from scull.nn.initializer import Constant, Normal
from scull.nn.param_attr import ParamAttr
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked


def channels_of(input: Any, data_layout: str, most: int = 5) -> int:
    """How many channels a float tensor of 2 to `most` axes has."""
    floating(input.meta)
    if data_layout not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_layout is {data_layout!r}, neither NCHW nor NHWC")
    if not 2 <= len(input.shape) <= most:
        raise ShapeError(f"`{input.name}` has {len(input.shape)} axes, 2 to {most} are needed")
    found: int = input.shape[1 if data_layout == "NCHW" else -1]
    if found < 0:
        raise ArgumentError(f"the channels of `{input.name}`, {input.meta}, are not known")
    return found


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
    shape = [channels_of(input, data_layout)]
    options = {"param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    helper = LayerHelper("batch_norm", **options)
    scale = scale_parameter(helper, param_attr, shape, input.dtype)
    bias = helper.create_parameter(bias_attr, shape, input.dtype, is_bias=True)
    mean = moving_statistic(helper, moving_mean_name, 0.0, shape, input.dtype)
    variance = moving_statistic(helper, moving_variance_name, 1.0, shape, input.dtype)
    names = ["SavedMean", "SavedVariance", *([] if is_test else ["ReserveSpace"])]
    results = {
        n: [helper.create_variable_for_type_inference(input.dtype, stop_gradient=True)]
        for n in names
    }
    out = input if in_place else helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(
        "batch_norm",
        {"X": [input], "Scale": [scale], "Bias": [bias], "Mean": [mean], "Variance": [variance]},
        {"Y": [out], "MeanOut": [mean], "VarianceOut": [variance], **results},
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


def group_norm(
    input: Any,
    groups: int,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance of each group of channels of each image.

    Args:
        input (Variable): of 2 axes or more; the channels are axis 1 or the last one.
        groups (int): how many groups there are.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr, optional): of scale and bias, which are there only where
            something is said of them.
        act (str, optional): the type of an activation operator.
        data_layout (str): "NCHW" or "NHWC": where the channels are.
        name (str, optional): its name.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "group_norm")
    shape = [channels_of(input, data_layout, 9)]
    options = {"param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    helper = LayerHelper("group_norm", **options)
    given = {"X": [input]}
    if param_attr:
        given["Scale"] = [scale_parameter(helper, param_attr, shape, input.dtype)]
    if bias_attr:
        given["Bias"] = [helper.create_parameter(bias_attr, shape, input.dtype, is_bias=True)]
    mean, variance, out = [helper.create_variable(dtype=input.dtype) for _ in range(3)]
    helper.append_op(
        "group_norm",
        given,
        {"Y": [out], "Mean": [mean], "Variance": [variance]},
        {"epsilon": epsilon, "groups": groups, "data_layout": data_layout},
    )
    return helper.append_activation(out)


def instance_norm(
    input: Any,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance of each channel of each image.

    Args:
        input (Variable): of 2 to 5 axes; the channels are axis 1.
        epsilon (float): added to the variance.
        param_attr, bias_attr (ParamAttr, optional): of scale and bias, which are there only where
            something is said of both; False for both or for none.
        name (str, optional): its name.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "instance_norm")
    if (param_attr is False) != (bias_attr is False):
        raise ArgumentError(
            "param_attr and bias_attr must be set to False at the same time in instance_norm"
        )
    shape = [channels_of(input, "NCHW")]
    helper = LayerHelper("instance_norm", param_attr=param_attr, bias_attr=bias_attr, name=name)
    given = {"X": [input]}
    if param_attr and bias_attr:
        given["Scale"] = [scale_parameter(helper, param_attr, shape, input.dtype)]
        given["Bias"] = [helper.create_parameter(bias_attr, shape, input.dtype, is_bias=True)]
    mean, variance = [
        helper.create_variable_for_type_inference(input.dtype, stop_gradient=True) for _ in range(2)
    ]
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(
        "instance_norm",
        given,
        {"Y": [out], "SavedMean": [mean], "SavedVariance": [variance]},
        {"epsilon": epsilon},
    )
    return out


def spectral_norm(
    weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """A weight divided by its largest singular value, which power iterations find.

    Args:
        weight (Variable): of 2 axes or more.
        dim (int): the axis, 0 or 1, that becomes the rows of a matrix.
        power_iters (int): how many iterations each run makes, always from the same start.
        eps (float): the least length that is divided by.
        name (str, optional): its name.

    Returns:
        Variable: of the shape of `weight`.
    """
    checked(weight, "weight", "spectral_norm")
    if not 0 <= dim < len(weight.shape):
        raise ArgumentError(f"dim is {dim} and `{weight.name}` has {len(weight.shape)} axes")
    if any(n < 1 for n in weight.shape):
        raise ArgumentError(
            f"the sizes of `{weight.name}`, {weight.meta}, are not known and over 0"
        )
    helper = LayerHelper("spectral_norm", name=name)
    rows, starts = weight.shape[dim], []
    for size in (rows, math.prod(weight.shape) // rows):
        start = Normal(0.0, 1.0)
        made = helper.create_parameter(None, [size], weight.dtype, default_initializer=start)
        made.stop_gradient = True
        starts.append(made)
    out = helper.create_variable(dtype=weight.dtype)
    helper.append_op(
        "spectral_norm",
        {"Weight": [weight], "U": [starts[0]], "V": [starts[1]]},
        {"Out": [out]},
        {"dim": dim, "power_iters": power_iters, "eps": eps},
    )
    return out


def data_norm(
    input: Any,
    act: str | None = None,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    slot_dim: int = -1,
    sync_stats: bool = False,
    summary_decay_rate: float = 0.9999999,
    enable_scale_and_shift: bool = False,
) -> Any:
    """Columns less their mean, over the root of their mean square, by sums over all rows so far.

    Args:
        input (Variable): of shape [N, C].
        act (str, optional): the type of an activation operator.
        epsilon (float): added to the sum of squares for each row.
        param_attr (dict, optional): what parameters are at first: `batch_size` (10000),
            `batch_sum` (0), `batch_square` (10000), `scale_w` (1) and `bias` (0).
        data_layout (str): "NCHW" or "NHWC"; the columns are axis 1 of both.
        in_place (bool): whether the result overwrites `input`.
        name (str, optional): what the names of parameters begin with; "dn" for None.
        moving_mean_name, moving_variance_name (str, optional): not used.
        do_model_average_for_mean_and_var (bool): not used.
        slot_dim (int): below 1.
        sync_stats (bool): said in the Program; nothing else.
        summary_decay_rate (float): said in the Program; nothing else.
        enable_scale_and_shift (bool): whether there are a learned scale and bias.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "data_norm")
    shape = [channels_of(input, data_layout)]
    helper = LayerHelper("data_norm", act=act, name=name)
    starts = param_attr if isinstance(param_attr, dict) else {}

    def parameter(word: str, start: float) -> list[Any]:
        attr = ParamAttr(f"{name or 'dn'}.{word}", Constant(float(start)))
        return [helper.create_parameter(attr, shape, input.dtype)]

    given = {"X": [input]}
    if enable_scale_and_shift:
        given["scale_w"] = parameter("scale_w", starts.get("scale_w", 1.0))
        given["bias"] = parameter("bias", starts.get("bias", 0.0))
    given["BatchSize"] = parameter("batch_size", starts.get("batch_size", 1e4))
    given["BatchSum"] = parameter("batch_sum", starts.get("batch_sum", 0.0))
    given["BatchSquareSum"] = parameter("batch_square_sum", starts.get("batch_square", 1e4))
    means, scales = [
        helper.create_variable(dtype=input.dtype, stop_gradient=True) for _ in range(2)
    ]
    out = input if in_place else helper.create_variable(dtype=input.dtype)
    helper.append_op(
        "data_norm",
        given,
        {"Y": [out], "Means": [means], "Scales": [scales]},
        {
            "epsilon": epsilon,
            "data_layout": data_layout,
            "sync_stats": sync_stats,
            "summary_decay_rate": summary_decay_rate,
            "slot_dim": slot_dim,
            "enable_scale_and_shift": enable_scale_and_shift,
        },
    )
    return helper.append_activation(out)
