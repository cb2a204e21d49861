"""Layers that round what they are called with, or watch it, as older tools put them in."""

from typing import Any

from scull.core import session
from scull.errors import AssertError
from scull.nn.layer.layers import Layer
from scull.nn.quant.state import PREFIX, averaged, kept, written
from scull.ops import quantize as operators

OUTSIDE = "outscale"


class FakeQuantAbsMax(Layer):
    """Rounds to steps of the largest magnitude of what it is called with.

    .. math:: out = round(x / scale * q) * scale / q,  scale = max(|x|),  q = 2^{bits - 1} - 1

    Args:
        name (str, optional): begins the name of the scale.
        quant_bits (int): how many bits hold a step, from 1 to 16.
        dtype (str): the element type of the scale.
        quant_on_weight (bool): whether the last scale is kept.
        reduce_type (str, optional): kept; one process has one scale.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import FakeQuantAbsMax
        >>> FakeQuantAbsMax(quant_bits=3)(paddle.to_tensor([0.9, 3.0])).tolist()
        [1.0, 3.0]
    """

    def __init__(
        self,
        name: str | None = None,
        quant_bits: int = 8,
        dtype: Any = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._quant_bits, self._name, self._reduce_type = quant_bits, name, reduce_type
        scale = f"{name or PREFIX}.scale"
        self._scale = kept(self, scale, 0.001, dtype=dtype) if quant_on_weight else None
        self._scale_name = self._scale.name if quant_on_weight else session.unique_name(scale)

    def forward(self, input: Any) -> Any:
        """`input`, rounded."""
        out, scale = operators.fake_quantize_dequantize_abs_max(input, bit_length=self._quant_bits)
        if self._scale is not None:
            written(self._scale, scale)
        return out


class FakeQuantMovingAverageAbsMax(Layer):
    r"""Rounds to steps of a moving mean of the largest magnitudes.

    .. math::
        scale &= (rate * accum + max(|x|)) / (rate * state + 1) \\
        out &= round(x / scale * q) * scale / q,  q = 2^{bits - 1} - 1

    Args:
        name (str, optional): begins the names of what is kept.
        moving_rate (float): how much of the sums stays at each step.
        quant_bits (int): how many bits hold a step, from 1 to 16.
        dtype (str): the element type of what is kept.
        reduce_type (str, optional): kept; one process has one scale.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import FakeQuantMovingAverageAbsMax
        >>> FakeQuantMovingAverageAbsMax(quant_bits=3)(paddle.to_tensor([0.4, 1.0])).tolist()
        [0.3333333432674408, 1.0]
    """

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        dtype: Any = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._moving_rate, self._quant_bits = moving_rate, quant_bits
        self._reduce_type, prefix = reduce_type, name or PREFIX
        self._scale = kept(self, prefix + ".scale", 0.001, dtype=dtype)
        self._state = kept(self, prefix + ".state", 1.0, dtype=dtype)
        self._accum = kept(self, prefix + ".accum", 1.0, dtype=dtype)

    def forward(self, input: Any) -> Any:
        """`input` rounded to steps of the scale, which moves while this trains."""
        return averaged(
            operators.fake_quantize_dequantize_moving_average_abs_max,
            self,
            input,
            moving_rate=self._moving_rate,
            bit_length=self._quant_bits,
        )


class FakeQuantChannelWiseAbsMax(Layer):
    """Rounds the channels of a weight, each to steps of its largest magnitude.

    Args:
        name (str, optional): begins the name of the scales.
        channel_num (int): how many channels there are.
        quant_bits (int): how many bits hold a step, from 1 to 16.
        quant_axis (int): the axis of the channels, 0 or 1.
        dtype (str): the element type of the scales.
        quant_on_weight (bool): True; inputs have one scale.
        reduce_type (str, optional): kept; one process has one scale.

    Raises:
        AssertError: `quant_on_weight` is False.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import FakeQuantChannelWiseAbsMax
        >>> layer = FakeQuantChannelWiseAbsMax(channel_num=2, quant_bits=3, quant_on_weight=True)
        >>> layer(paddle.to_tensor([[0.9, 3.0], [7.0, 30.0]])).tolist()
        [[1.0, 3.0], [10.0, 30.0]]
    """

    def __init__(
        self,
        name: str | None = None,
        channel_num: Any = None,
        quant_bits: int = 8,
        quant_axis: int = 0,
        dtype: Any = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        if not quant_on_weight:
            raise AssertError("Channel_wise only can be used on weight quantization.")
        self._quant_bits, self._quant_axis, self._name = quant_bits, quant_axis, name
        self._channel_num, self._reduce_type = channel_num, reduce_type
        self._scale = kept(self, f"{name or PREFIX}.scale", 0.0, (channel_num,), dtype)
        self._scale_name = self._scale.name

    def forward(self, input: Any) -> Any:
        """`input`, rounded."""
        out, scale = operators.fake_channel_wise_quantize_dequantize_abs_max(
            input, bit_length=self._quant_bits, quant_axis=self._quant_axis
        )
        written(self._scale, scale)
        return out


class MovingAverageAbsMaxScale(Layer):
    r"""What it is called with, unchanged; while it trains it keeps a moving mean of magnitudes.

    .. math:: scale = (rate * accum + max(|x|)) / (rate * state + 1)

    Args:
        name (str, optional): begins the names of what is kept.
        moving_rate (float): how much of the sums stays at each step.
        dtype (str): the element type of what is kept.
        reduce_type (str, optional): kept; one process has one scale.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import MovingAverageAbsMaxScale
        >>> layer = MovingAverageAbsMaxScale()
        >>> _ = layer(paddle.to_tensor([0.5, -2.0]))
        >>> layer._scale.tolist()
        [2.0]
    """

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        dtype: Any = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._moving_rate, self._reduce_type = moving_rate, reduce_type
        prefix = name or OUTSIDE
        self._scale = kept(self, prefix + ".scale", 0.0, dtype=dtype)
        self._state = kept(self, prefix + ".state", 0.0, dtype=dtype)
        self._accum = kept(self, prefix + ".accum", 0.0, dtype=dtype)

    def forward(self, input: Any) -> Any:
        """`input`."""
        if not self.training:
            return input
        out, *new = operators.moving_average_abs_max_scale(
            input, self._accum, self._state, moving_rate=self._moving_rate
        )
        for old, value in zip((self._scale, self._state, self._accum), new, strict=True):
            written(old, value)
        return out


QuantStub = MovingAverageAbsMaxScale
