"""Numbers as steps of a scale that stands beside them, and back, as files of Paddle 2.2 on hold."""

from typing import Any

from scull.core.eager import primitive
from scull.core.meta import Meta, agree, floating
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import placed
from scull.ops.quantize import (
    AWAY,
    EVEN,
    NO_LOOP,
    beside,
    by_channel,
    copied,
    filled,
    moved,
    quantized,
    single,
    steps,
)

WHOLE = -1  # in place of an axis: one scale for all


def scaled(x: Meta, scale: Meta, bit_length: int, round_type: int, quant_axis: int) -> None:
    """Refuse attributes that cannot be, and scales that are not those of `x`."""
    if not 1 <= bit_length <= 16:
        raise ArgumentError(f"bit_length is {bit_length}, not from 1 to 16")
    if round_type not in (EVEN, AWAY):
        raise ArgumentError(f"round_type is {round_type}, neither 0 nor 1")
    if not WHOLE <= quant_axis < x.ndim:
        raise ArgumentError(f"quant_axis is {quant_axis} and x has {x.ndim} axes; -1 is none")
    floating(scale)
    if quant_axis == WHOLE:
        single(scale)
    elif scale.ndim != 1:
        raise ShapeError(f"scale has {scale.ndim} axes, 1 is needed")
    else:
        agree(scale.shape[0], x.shape[quant_axis], "there are {} scales and {} channels")


@primitive(
    outputs=("y", "out_state", "out_accum", "out_scale"),
    in_place={"out_state": "in_state", "out_accum": "in_accum", "out_scale": "scale"},
    infer_first=True,
)
def quantize_linear(
    x: Meta,
    scale: Meta,
    zero_point: Meta,
    in_accum: Meta = None,
    in_state: Meta = None,
    *,
    quant_axis: int = 0,
    bit_length: int = 8,
    round_type: int = EVEN,
    is_test: bool = True,
    only_observer: bool = False,
    moving_rate: float = 0.9,
) -> tuple[Meta | None, ...]:
    """Whole steps of the scale, of one or of one a channel; and what the scale is made of.

    While it trains, the scale is found anew: of all a moving mean, of channels the largest now.
    With `only_observer` the numbers stay as they are.
    """
    floating(x)
    scaled(x, scale, bit_length, round_type, quant_axis)
    if not is_test and quant_axis == WHOLE and (in_accum is None or in_state is None):
        raise ArgumentError("in_accum and in_state are needed where the scale is trained")
    return x, single(in_state), single(in_accum), scale


@quantize_linear.kernel
def quantize_linear_kernel(
    xp: Any,
    x: Any,
    scale: Any,
    zero_point: Any,
    in_accum: Any = None,
    in_state: Any = None,
    *,
    out: Any = None,
    quant_axis: int,
    bit_length: int,
    round_type: int,
    is_test: bool,
    only_observer: bool,
    moving_rate: float,
) -> Any:
    used, state, accum = scale.copy(), copied(in_state), copied(in_accum)
    if not is_test and quant_axis == WHOLE:
        used, state, accum = moved(x, in_accum, in_state, moving_rate)
    elif not is_test:
        used = by_channel(x, quant_axis)
    if only_observer:
        found = x.copy()
    else:
        found = quantized(x, beside(used, x, quant_axis), bit_length, round_type)
    return filled((found, state, accum, used.reshape(scale.shape)), out)


@primitive(
    outputs=("y", "out_state", "out_accum", "out_scale"),
    in_place={"out_state": "in_state", "out_accum": "in_accum", "out_scale": "scale"},
    infer_first=True,
)
def dequantize_linear(
    x: Meta,
    scale: Meta,
    zero_point: Meta,
    in_accum: Meta = None,
    in_state: Meta = None,
    *,
    quant_axis: int = 0,
    bit_length: int = 8,
    round_type: int = EVEN,
    is_test: bool = True,
    only_observer: bool = False,
) -> tuple[Meta | None, ...]:
    """Steps, also as integers, as the numbers they stand for; the other results are as given."""
    scaled(x, scale, bit_length, round_type, quant_axis)
    return x.with_dtype(scale.dtype), single(in_state), single(in_accum), scale


@dequantize_linear.kernel
def dequantize_linear_kernel(
    xp: Any,
    x: Any,
    scale: Any,
    zero_point: Any,
    in_accum: Any = None,
    in_state: Any = None,
    *,
    out: Any = None,
    quant_axis: int,
    bit_length: int,
    round_type: int,
    is_test: bool,
    only_observer: bool,
) -> Any:
    found = placed(x, scale.dtype, None)
    if not only_observer:
        limit = scale.dtype.type(steps(bit_length))
        found = found * beside(scale, x, quant_axis) / limit
    elif found is x:
        found = x.copy()
    return filled((found, copied(in_state), copied(in_accum), scale.copy()), out)


quantize_linear.grad("x")(lambda dy: dy)
dequantize_linear.no_grad("steps have no gradient, as in Paddle")
for function in (quantize_linear, dequantize_linear):
    function.no_lowering(NO_LOOP)
