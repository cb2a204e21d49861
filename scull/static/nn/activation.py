"""Activations with parameters."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.initializer import Constant
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked


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
