"""Numbers rounded to a few steps of a scale, as networks for integer hardware are trained."""

from typing import Any

import numpy as np

from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.half import is_half, placed

NO_LOOP = "a scale is found from all elements before the first is rounded"
NO_GRAD = "rounded numbers have no gradient, as in Paddle"
TINY = 1e-6
STATES = {"out_scale": "in_scale", "out_state": "in_state", "out_accum": "in_accum"}
EVEN, AWAY = 0, 1  # where halves go


def single(m: Meta | None) -> Meta | None:
    """The meta of a state that is one number."""
    if m is not None and UNKNOWN not in m.shape and np.prod(m.shape) != 1:
        raise ShapeError(f"a scale or state is {m}; one number is needed")
    return m


def checked(
    x: Meta, bit_length: int, round_type: int = AWAY, quant_axis: int | None = None
) -> Meta:
    """`x`, whose attributes are as they can be."""
    floating(x)
    if not 1 <= bit_length <= 16:
        raise ArgumentError(f"bit_length is {bit_length}, not from 1 to 16")
    if round_type not in (EVEN, AWAY):
        raise ArgumentError(f"round_type is {round_type}, neither 0 nor 1")
    if quant_axis is not None and not 0 <= quant_axis < min(x.ndim, 2):
        raise ArgumentError(f"quant_axis is {quant_axis} and x is {x}; it is 0, or 1 of a matrix")
    return x


def steps(bit_length: int) -> int:
    """The largest number that so many bits hold."""
    return (1 << (bit_length - 1)) - 1


def largest(x: Any) -> Any:
    """The largest magnitude of all elements, as one element."""
    return np.abs(x).max(initial=0).reshape(1)


def by_channel(x: Any, axis: int) -> Any:
    """The largest magnitude of each place of an axis."""
    return np.abs(x).max(tuple(i for i in range(x.ndim) if i != axis), initial=0)


def beside(scale: Any, x: Any, axis: int) -> Any:
    """Scales of an axis, shaped to stand beside `x`; a lone one as it is."""
    if scale.size == 1:
        return scale.reshape(())
    return scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def away(x: Any) -> Any:
    """Rounded to whole numbers, halves away from zero."""
    half = np.nextafter(x.dtype.type(0.5), x.dtype.type(0))
    return np.trunc(x + np.copysign(half, x))


def quantized(x: Any, scale: Any, bit_length: int, round_type: int) -> Any:
    """The whole number of steps nearest to each element, none beyond the scale."""
    return counted(x, scale, bit_length, round_type).astype(x.dtype, copy=False)


def restored(x: Any, scale: Any, bit_length: int, round_type: int) -> Any:
    """Each element rounded to a step."""
    found = counted(x, scale, bit_length, round_type)
    found = found * scale.astype(found.dtype) / found.dtype.type(steps(bit_length))
    return found.astype(x.dtype, copy=False)


def counted(x: Any, scale: Any, bit_length: int, round_type: int) -> Any:
    """How many steps each element has, in float32 where `x` has 16 bits."""
    if is_half(x):
        x = x.astype(np.float32)
    scale = scale.astype(x.dtype)
    count = x.dtype.type(steps(bit_length))
    inverse = 1 / np.where(scale <= TINY, scale + x.dtype.type(TINY), scale)
    if round_type == EVEN:
        return np.clip(np.rint(x * count * inverse), -count - 1, count)
    return away(count * inverse * np.clip(x, -scale, scale))


def whole(x: Any, rounding: Any, bit_length: int, round_type: int) -> tuple[Any, Any]:
    """What `rounding` makes of `x` by its own scale, and that scale."""
    scale = largest(x)
    return rounding(x, scale[0], bit_length, round_type), scale


def channels(x: Any, rounding: Any, bit_length: int, axis: int, round_type: int) -> Any:
    """What `rounding` makes of each channel by its own scale, and the scales."""
    scale = by_channel(x, axis)
    return rounding(x, beside(scale, x, axis), bit_length, round_type), scale


def moved(x: Any, accum: Any, state: Any, rate: float) -> tuple[Any, Any, Any]:
    """Scale, state and sum after `x` was seen: the scale is a moving mean."""
    state = state * state.dtype.type(rate) + 1
    now = largest(x).reshape(accum.shape).astype(accum.dtype)
    accum = accum * accum.dtype.type(rate) + now
    return accum / state, state, accum


def copied(x: Any) -> Any:
    """A state as it was, in memory of its own; None where there is none."""
    return None if x is None else x.copy()


def averaged(x: Any, states: Any, rounding: Any, attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What `rounding` makes of `x` by a moving scale; then scale, state and sum."""
    if attrs["is_test"]:
        scale, accum, state = map(copied, states)
    else:
        scale, state, accum = moved(x, *states[1:], attrs["moving_rate"])
    found = rounding(x, scale.reshape(()), attrs["bit_length"], attrs["round_type"])
    return found, scale, state, accum


# ---- by the scale of what is there ----


@primitive(outputs=("out", "out_scale"), infer_first=True)
def fake_quantize_abs_max(
    x: Meta, *, bit_length: int = 8, round_type: int = AWAY
) -> tuple[Meta, Meta]:
    """Whole steps of the largest magnitude, which is the second result."""
    return checked(x, bit_length, round_type), x.with_shape((1,))


@fake_quantize_abs_max.kernel
def fake_quantize_abs_max_kernel(
    xp: Any, x: Any, *, out: Any = None, bit_length: int, round_type: int
) -> Any:
    return filled(whole(x, quantized, bit_length, round_type), out)


def filled(found: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """The results, in the memory that is given for some of them."""
    return tuple(map(put, found, out or [None] * len(found)))


def put(value: Any, memory: Any) -> Any:
    """One result."""
    if value is None or memory is value:
        return value
    return placed(value, value.dtype, memory)


@primitive(outputs=("out", "out_scale"), infer_first=True)
def fake_quantize_dequantize_abs_max(
    x: Meta, *, bit_length: int = 8, round_type: int = AWAY
) -> tuple[Meta, Meta]:
    """Rounded to steps of the largest magnitude, which is the second result."""
    return checked(x, bit_length, round_type), x.with_shape((1,))


@fake_quantize_dequantize_abs_max.kernel
def fake_quantize_dequantize_abs_max_kernel(
    xp: Any, x: Any, *, out: Any = None, bit_length: int, round_type: int
) -> Any:
    return filled(whole(x, restored, bit_length, round_type), out)


@primitive(outputs=("out", "out_scale"), infer_first=True)
def fake_channel_wise_quantize_abs_max(
    x: Meta,
    *,
    bit_length: int = 8,
    quant_axis: int = 0,
    is_test: bool = False,
    round_type: int = AWAY,
) -> tuple[Meta, Meta]:
    """Whole steps of the largest magnitude of each channel; these are the second result."""
    checked(x, bit_length, round_type, quant_axis)
    return x, x.with_shape((x.shape[quant_axis],))


@fake_channel_wise_quantize_abs_max.kernel
def fake_channel_wise_quantize_abs_max_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    bit_length: int,
    quant_axis: int,
    is_test: bool,
    round_type: int,
) -> Any:
    return filled(channels(x, quantized, bit_length, quant_axis, round_type), out)


@primitive(outputs=("out", "out_scale"), infer_first=True)
def fake_channel_wise_quantize_dequantize_abs_max(
    x: Meta, *, bit_length: int = 8, quant_axis: int = 0, round_type: int = AWAY
) -> tuple[Meta, Meta]:
    """Rounded to steps of the largest magnitude of each channel; these are the second result."""
    checked(x, bit_length, round_type, quant_axis)
    return x, x.with_shape((x.shape[quant_axis],))


@fake_channel_wise_quantize_dequantize_abs_max.kernel
def fake_channel_wise_quantize_dequantize_abs_max_kernel(
    xp: Any, x: Any, *, out: Any = None, bit_length: int, quant_axis: int, round_type: int
) -> Any:
    return filled(channels(x, restored, bit_length, quant_axis, round_type), out)


# ---- by a scale that was found while training ----


@primitive(
    outputs=("out", "out_scale"),
    in_place={"out_scale": "in_scale"},
    unsaid=("Iter",),
    infer_first=True,
)
def fake_quantize_range_abs_max(
    x: Meta,
    in_scale: Meta,
    iter: Meta = None,
    *,
    window_size: int = 10000,
    bit_length: int = 8,
    is_test: bool = False,
    round_type: int = AWAY,
) -> tuple[Meta, Meta | None]:
    """Whole steps of the largest magnitude of the last batches, found before."""
    if not is_test:
        raise UnsupportedError("the window of scales is kept by no slot; it is not trained here")
    return checked(x, bit_length, round_type), single(in_scale)


@fake_quantize_range_abs_max.kernel
def fake_quantize_range_abs_max_kernel(
    xp: Any,
    x: Any,
    in_scale: Any,
    iter: Any = None,
    *,
    out: Any = None,
    window_size: int,
    bit_length: int,
    is_test: bool,
    round_type: int,
) -> Any:
    found = quantized(x, in_scale.reshape(()), bit_length, round_type)
    return filled((found, in_scale.copy()), out)


def moving(x: Meta, states: Any, bit_length: int, round_type: int, is_test: bool) -> Any:
    """The metas of an operator whose scale is a moving mean."""
    if not is_test and None in states:
        raise ArgumentError("in_accum and in_state are needed where the scale is trained")
    scale, accum, state = map(single, states)
    return checked(x, bit_length, round_type), scale, state, accum


@primitive(
    outputs=("out", "out_scale", "out_state", "out_accum"), in_place=STATES, infer_first=True
)
def fake_quantize_moving_average_abs_max(
    x: Meta,
    in_scale: Meta,
    in_accum: Meta = None,
    in_state: Meta = None,
    *,
    moving_rate: float = 0.9,
    bit_length: int = 8,
    is_test: bool = False,
    round_type: int = AWAY,
) -> tuple[Meta | None, ...]:
    """Whole steps of a moving mean of the largest magnitudes."""
    states = (in_scale, in_accum, in_state)
    return tuple(moving(x, states, bit_length, round_type, is_test))


@fake_quantize_moving_average_abs_max.kernel
def fake_quantize_moving_average_abs_max_kernel(
    xp: Any,
    x: Any,
    in_scale: Any,
    in_accum: Any = None,
    in_state: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    return filled(averaged(x, (in_scale, in_accum, in_state), quantized, attrs), out)


@primitive(
    outputs=("out", "out_scale", "out_state", "out_accum"),
    in_place=STATES,
    infer_first=True,
    bare=True,
)
def fake_quantize_dequantize_moving_average_abs_max(
    x: Meta,
    in_scale: Meta,
    in_accum: Meta = None,
    in_state: Meta = None,
    *,
    moving_rate: float = 0.9,
    bit_length: int = 8,
    is_test: bool = False,
    round_type: int = AWAY,
) -> tuple[Meta | None, ...]:
    """Rounded to steps of a moving mean of the largest magnitudes."""
    states = (in_scale, in_accum, in_state)
    return tuple(moving(x, states, bit_length, round_type, is_test))


@fake_quantize_dequantize_moving_average_abs_max.kernel
def fake_quantize_dequantize_moving_average_abs_max_kernel(
    xp: Any,
    x: Any,
    in_scale: Any,
    in_accum: Any = None,
    in_state: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    return filled(averaged(x, (in_scale, in_accum, in_state), restored, attrs), out)


@primitive(
    outputs=("out", "out_scale", "out_state", "out_accum"),
    in_place={"out_state": "in_state", "out_accum": "in_accum"},
    infer_first=True,
)
def moving_average_abs_max_scale(
    x: Meta,
    in_accum: Meta = None,
    in_state: Meta = None,
    *,
    moving_rate: float = 0.9,
    is_test: bool = False,
) -> tuple[Meta | None, ...]:
    """`x` as it is; the scale is a moving mean of the largest magnitudes while it trains."""
    floating(x)
    if not is_test and (in_accum is None or in_state is None):
        raise ArgumentError("in_accum and in_state are needed where the scale is trained")
    scale = None if is_test else x.with_shape((1,))
    return x, scale, single(in_state), single(in_accum)


@moving_average_abs_max_scale.kernel
def moving_average_abs_max_scale_kernel(
    xp: Any,
    x: Any,
    in_accum: Any = None,
    in_state: Any = None,
    *,
    out: Any = None,
    moving_rate: float,
    is_test: bool,
) -> Any:
    if is_test:
        return filled((x.copy(), None, copied(in_state), copied(in_accum)), out)
    scale, state, accum = moved(x, in_accum, in_state, moving_rate)
    return filled((x.copy(), scale, state, accum), out)


# ---- back to numbers ----


@primitive(infer_first=True)
def fake_dequantize_max_abs(x: Meta, scale: Meta, *, max_range: float) -> Meta:
    """Steps as the numbers they stand for."""
    floating(x)
    single(scale)
    return x


@fake_dequantize_max_abs.kernel
def fake_dequantize_max_abs_kernel(
    xp: Any, x: Any, scale: Any, *, out: Any = None, max_range: float
) -> Any:
    return xp.divide(x * scale.reshape(()), x.dtype.type(max_range), out=out)


@primitive(infer_first=True)
def fake_channel_wise_dequantize_max_abs(
    x: Meta,
    scales: list[Meta],
    *,
    quant_bits: Ints = (8,),
    quant_axis: int = 0,
    x_num_col_dims: int = 1,
) -> Meta:
    """Steps as numbers: of weights by a scale a channel, of results by that of the input too."""
    if len(scales) not in (1, 2) or len(quant_bits) < len(scales):
        raise ArgumentError(f"there are {len(scales)} scales and {len(quant_bits)} counts of bits")
    return checked(x, min(quant_bits), AWAY, quant_axis)


@fake_channel_wise_dequantize_max_abs.kernel
def fake_channel_wise_dequantize_max_abs_kernel(
    xp: Any,
    x: Any,
    scales: Any,
    *,
    out: Any = None,
    quant_bits: Any,
    quant_axis: int,
    x_num_col_dims: int,
) -> Any:
    axis = quant_axis if len(scales) == 1 else x_num_col_dims
    found, limit = x * beside(scales[0], x, axis), steps(quant_bits[0])
    if len(scales) == 2:
        found, limit = found * scales[1].reshape(()), limit * steps(quant_bits[1])
    return xp.divide(found, x.dtype.type(limit), out=out)


for function in (
    fake_quantize_dequantize_abs_max,
    fake_channel_wise_quantize_dequantize_abs_max,
    fake_quantize_dequantize_moving_average_abs_max,
    moving_average_abs_max_scale,
):
    function.grad("x")(lambda dout: dout)
for function in (
    fake_quantize_abs_max,
    fake_channel_wise_quantize_abs_max,
    fake_quantize_range_abs_max,
    fake_quantize_moving_average_abs_max,
    fake_dequantize_max_abs,
    fake_channel_wise_dequantize_max_abs,
):
    function.no_grad(NO_GRAD)
for function in (
    fake_quantize_abs_max,
    fake_quantize_dequantize_abs_max,
    fake_channel_wise_quantize_abs_max,
    fake_channel_wise_quantize_dequantize_abs_max,
    fake_quantize_range_abs_max,
    fake_quantize_moving_average_abs_max,
    fake_quantize_dequantize_moving_average_abs_max,
    moving_average_abs_max_scale,
    fake_dequantize_max_abs,
    fake_channel_wise_dequantize_max_abs,
):
    function.no_lowering(NO_LOOP)
