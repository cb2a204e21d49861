"""What a layer that rounds keeps between calls: its scale, and what a moving mean is made of."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.tensor import Tensor
from scull.nn.initializer import Constant
from scull.nn.layer.attribute import rewritten
from scull.nn.param_attr import ParamAttr

PREFIX = "quant_dequant"


def kept(
    layer: Any, name: str, value: float, shape: tuple[int, ...] = (1,), dtype: Any = "float32"
) -> Any:
    """A number that `layer` keeps in its state and nothing trains; `name` becomes `name_0`."""
    attr = ParamAttr(session.unique_name(name), Constant(value), trainable=False)
    made = layer.create_parameter(list(shape), attr, dtype)
    made.stop_gradient = True
    return made


def averaged(operator: Any, layer: Any, x: Any, **attrs: Any) -> Any:
    """`x` after an operator whose scale is a moving mean, which `layer` keeps and training moves.

    Args:
        operator (Callable): such as `fake_quantize_dequantize_moving_average_abs_max`.
        layer (Layer): has `_scale`, `_accum` and `_state`, of one number each.
        x (Tensor): of floating-point numbers.
        attrs: the attributes of the operator.
    """
    sums = (layer._accum, layer._state) if layer.training else ()
    out, *new = operator(x, layer._scale, *sums, is_test=not layer.training, **attrs, **beside(x))
    if layer.training:
        for old, value in zip((layer._scale, layer._state, layer._accum), new, strict=True):
            written(old, value)
    return out


def written(state: Any, value: Any) -> None:
    """Write `value` over what a layer keeps, unless an operator of a Program did."""
    if isinstance(value, Tensor):
        state.array = value.array
    elif value is not state and value.name != state.name:
        rewritten(state, value)


def beside(x: Any) -> dict[str, str]:
    """What a Program calls the rounded `x`: after it."""
    return {} if isinstance(x, Tensor) else {"name": f"{x.name}.quantized.dequantized"}


def overwritten(state: Any, values: Any) -> None:
    """Write numbers over what a layer keeps."""
    state.set_value(np.reshape(np.asarray(values, "float32"), state.shape))
