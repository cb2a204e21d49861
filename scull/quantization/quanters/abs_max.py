"""Rounding by a moving mean of the largest magnitudes."""

from typing import Any

from scull.nn.quant.state import PREFIX, averaged, kept
from scull.ops.quantize import fake_quantize_dequantize_moving_average_abs_max
from scull.quantization.base_quanter import BaseQuanter
from scull.quantization.factory import QuanterFactory


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    r"""Makes quanters that round by a moving mean of the largest magnitudes.

    While they train:

    .. math::
        state &= rate * state + 1 \\
        accum &= rate * accum + max(|x|) \\
        scale &= accum / state

    .. math:: out = round(x / scale * q) * scale / q,  q = 2^{bits - 1} - 1

    No result is beyond the scale. Gradients pass unchanged.

    Args:
        moving_rate (float): how much of the sums stays at each step.
        bit_length (int): how many bits hold a step, from 1 to 16.
        dtype (str): the element type of what is kept.
        name (str, optional): begins the names of what is kept.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> quanter = FakeQuanterWithAbsMaxObserver(bit_length=4)
        >>> config = paddle.quantization.QuantConfig(activation=quanter, weight=None)
        >>> model = paddle.quantization.QAT(config).quantize(
        ...     paddle.nn.Sequential(paddle.nn.Identity())
        ... )
        >>> model(paddle.to_tensor([0.4, 1.0])).tolist()
        [0.4285714328289032, 1.0]
    """

    def __init__(
        self,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self) -> Any:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Rounds what it is called with by a moving mean of the largest magnitudes.

    Args:
        layer (Layer): the one that is quantized.
        name (str, optional): begins the names of what is kept.
        moving_rate (float): how much of the sums stays at each step.
        bit_length (int): how many bits hold a step, from 1 to 16.
        dtype (str): the element type of what is kept.
    """

    def __init__(
        self,
        layer: Any,
        name: str | None = None,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._moving_rate, self._bit_length = moving_rate, bit_length
        prefix = name or PREFIX
        self._scale = kept(self, prefix + ".scale", 0.001, dtype=dtype)
        self._state = kept(self, prefix + ".state", 1.0, dtype=dtype)
        self._accum = kept(self, prefix + ".accum", 1.0, dtype=dtype)

    def forward(self, input: Any) -> Any:
        """`input` rounded to steps of the scale, which moves while this trains."""
        return averaged(
            fake_quantize_dequantize_moving_average_abs_max,
            self,
            input,
            moving_rate=self._moving_rate,
            bit_length=self._bit_length,
        )

    def bit_length(self) -> int:
        return self._bit_length

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        """The scale, of one element."""
        return self._scale

    def zero_points(self) -> None:
        return None
