"""Layers whose inputs and weights are rounded, as older tools put them in."""

from typing import Any

from scull.core.absent import absent
from scull.errors import AssertError
from scull.nn import functional as F
from scull.nn.layer.layers import Layer
from scull.nn.quant.convolved import convolved, take
from scull.nn.quant.fake import (
    FakeQuantAbsMax,
    FakeQuantChannelWiseAbsMax,
    FakeQuantMovingAverageAbsMax,
    MovingAverageAbsMaxScale,
    QuantStub,
)
from scull.tensor import matmul

PARALLEL = "one process holds all of a weight"
KINDS = {
    "abs_max": FakeQuantAbsMax,
    "channel_wise_abs_max": FakeQuantChannelWiseAbsMax,
    "moving_average_abs_max": FakeQuantMovingAverageAbsMax,
}
__all__ = [
    "FakeQuantAbsMax",
    "FakeQuantChannelWiseAbsMax",
    "FakeQuantMAOutputScaleLayer",
    "FakeQuantMovingAverageAbsMax",
    "MAOutputScaleLayer",
    "MovingAverageAbsMaxScale",
    "QuantStub",
    "QuantizedConv2D",
    "QuantizedConv2DTranspose",
    "QuantizedLinear",
    "QuantizedMatmul",
]
__getattr__ = absent(
    __name__, {PARALLEL: "QuantizedColumnParallelLinear QuantizedRowParallelLinear"}
)


def quanter_of(kind: str, name: str | None, bits: int, rate: float, **weight: Any) -> Any:
    """The layer that rounds in the way `kind`; `weight` says of which channels, for a weight."""
    made = KINDS[kind]
    if made is FakeQuantMovingAverageAbsMax:
        return made(name, rate, bits)
    if made is FakeQuantAbsMax:
        return made(name, bits, quant_on_weight=bool(weight))
    if not weight:
        raise AssertError(
            "You need to input channel_numwhen you use channel_wise_abs_max strategy."
        )
    return made(name, quant_bits=bits, quant_on_weight=True, **weight)


class Quantized(Layer):
    """What layers with the parameters of another have in common.

    Args:
        layer (Layer): the other.
        weight_bits (int): how many bits hold a step of the weight.
        activation_bits (int): how many bits hold a step of the input.
        moving_rate (float): how much of a moving mean stays at each step.
        weight_quantize_type (str): "abs_max", "channel_wise_abs_max" or "moving_average_abs_max".
        activation_quantize_type (str): "abs_max" or "moving_average_abs_max".
        weight_pre_layer (type, optional): makes a layer that the weight passes first.
        act_pre_layer (type, optional): makes a layer that the input passes first.
        weight_quant_layer (type, optional): makes the layer that rounds the weight.
        act_quant_layer (type, optional): makes the layer that rounds the input.
    """

    axis = 0  # of the channels of the weight

    def __init__(
        self,
        layer: Any,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        self.take(layer)
        self.weight, self.bias = layer.weight, layer.bias
        if weight_quant_layer is not None:
            self._fake_quant_weight = weight_quant_layer()
        else:
            self._fake_quant_weight = quanter_of(
                weight_quantize_type,
                self.weight.name,
                weight_bits,
                moving_rate,
                channel_num=self.weight.shape[self.axis],
                quant_axis=self.axis,
            )
        if act_quant_layer is not None:
            self._fake_quant_input = act_quant_layer()
        else:
            self._fake_quant_input = quanter_of(
                activation_quantize_type, layer.full_name(), activation_bits, moving_rate
            )
        self._act_preprocess = None if act_pre_layer is None else act_pre_layer()
        self._weight_preprocess = None if weight_pre_layer is None else weight_pre_layer()

    def take(self, layer: Any) -> None:
        """Take over what `layer` was told."""

    def rounded(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight, rounded."""
        if self._act_preprocess is not None:
            input = self._act_preprocess(input)
        input, weight = self._fake_quant_input(input), self.weight
        if self._weight_preprocess is not None:
            weight = self._weight_preprocess(weight)
        return input, self._fake_quant_weight(weight)


class QuantizedLinear(Quantized):
    """A `Linear` with the parameters of another, whose input and weight are rounded.

    It is made as `Quantized` says.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import QuantizedLinear
        >>> QuantizedLinear(paddle.nn.Linear(2, 3))(paddle.ones([4, 2])).shape
        [4, 3]
    """

    axis = 1

    def take(self, layer: Any) -> None:
        self.name, self._linear_quant_axis = layer.name, self.axis

    def forward(self, input: Any) -> Any:
        """The product of the rounded `input` and the rounded weight, and the bias."""
        return F.linear(*self.rounded(input), self.bias, self.name)


class QuantizedConv2D(Quantized):
    """A `Conv2D` with the parameters of another, whose input and weight are rounded.

    It is made as `Quantized` says.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import QuantizedConv2D
        >>> QuantizedConv2D(paddle.nn.Conv2D(2, 3, 3))(paddle.ones([1, 2, 5, 5])).shape
        [1, 3, 3, 3]
    """

    def take(self, layer: Any) -> None:
        take(self, layer)
        self._conv2d_quant_axis = self.axis

    def forward(self, input: Any) -> Any:
        """The convolution of the rounded `input` with the rounded weight, and the bias."""
        return convolved(self, *self.rounded(input))


class QuantizedConv2DTranspose(Quantized):
    """A `Conv2DTranspose` with the parameters of another, whose input and weight are rounded.

    It is made as `Quantized` says.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import QuantizedConv2DTranspose
        >>> layer = QuantizedConv2DTranspose(paddle.nn.Conv2DTranspose(4, 6, (3, 3)))
        >>> layer(paddle.ones([2, 4, 8, 8])).shape
        [2, 6, 10, 10]
    """

    axis = 1

    def take(self, layer: Any) -> None:
        self._groups, self._stride, self._dilation = layer._groups, layer._stride, layer._dilation
        self._padding, self._output_padding = layer._padding, layer.output_padding
        self._data_format, self._conv2d_transpose_quant_axis = layer._data_format, self.axis

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """The transposed convolution of the rounded `input`, and the bias."""
        return F.conv2d_transpose(
            *self.rounded(input),
            bias=self.bias,
            padding=self._padding,
            output_padding=self._output_padding if output_size is None else 0,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class QuantizedMatmul(Layer):
    """The product of two rounded matrices.

    Args:
        layer (Layer, optional): begins the names of what is kept.
        weight_bits (int): not used.
        activation_bits (int): how many bits hold a step.
        moving_rate (float): how much of a moving mean stays at each step.
        weight_quantize_type (str): not used.
        activation_quantize_type (str): "abs_max" or "moving_average_abs_max".
        weight_pre_layer (type, optional): not used.
        act_pre_layer (type, optional): makes layers that the matrices pass first.
        weight_quant_layer (type, optional): not used.
        act_quant_layer (type, optional): makes the layers that round.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.quant_layers import QuantizedMatmul
        >>> QuantizedMatmul()(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        [2, 4]
    """

    def __init__(
        self,
        layer: Any = None,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        name = None if layer is None else layer.full_name()
        for end in ("x", "y"):
            if act_quant_layer is not None:
                made = act_quant_layer()
            else:
                made = quanter_of(activation_quantize_type, name, activation_bits, moving_rate)
            setattr(self, f"_fake_quant_{end}", made)
        for end in ("x", "y"):
            made = None if act_pre_layer is None else act_pre_layer()
            setattr(self, f"_act_preprocess_{end}", made)

    def forward(
        self,
        x: Any,
        y: Any,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Any:
        """The product of the rounded `x` and the rounded `y`."""
        if self._act_preprocess_x is not None:
            x = self._act_preprocess_x(x)
        if self._act_preprocess_y is not None:
            y = self._act_preprocess_y(y)
        x, y = self._fake_quant_x(x), self._fake_quant_y(y)
        return matmul(x, y, transpose_x, transpose_y, name)


class MAOutputScaleLayer(Layer):
    """A layer, and a moving mean of the largest magnitudes of what it gives.

    Args:
        layer (Layer): the layer.
        moving_rate (float): how much of the sums stays at each step.
        name (str, optional): begins the names of what is kept; the name of the layer when None.
        dtype (str): the element type of what is kept.
        reduce_type (str, optional): kept; one process has one scale.
    """

    def __init__(
        self,
        layer: Any = None,
        moving_rate: float = 0.9,
        name: str | None = None,
        dtype: Any = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._layer = layer
        name = layer.full_name() if name is None else name
        self._ma_output_scale = MovingAverageAbsMaxScale(name, moving_rate, dtype, reduce_type)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives; several results are not watched."""
        out = self._layer(*inputs, **kwargs)
        return out if isinstance(out, list | tuple | dict) else self._ma_output_scale(out)


class FakeQuantMAOutputScaleLayer(Layer):
    """A layer whose result is rounded to steps of a moving mean of the largest magnitudes.

    Args:
        layer (Layer): the layer.
        weight_bits (int): not used.
        activation_bits (int): how many bits hold a step.
        moving_rate (float): how much of the sums stays at each step.
        name (str, optional): begins the names of what is kept; the name of the layer when None.
        reduce_type (str, optional): kept; one process has one scale.
        args, kwargs: not used.
    """

    def __init__(
        self,
        layer: Any,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        name: str | None = None,
        reduce_type: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._layer = layer
        self._fake_quant_output = FakeQuantMovingAverageAbsMax(
            layer.full_name() if name is None else name,
            moving_rate,
            activation_bits,
            reduce_type=reduce_type,
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives, rounded; several results as they are."""
        out = self._layer(*inputs, **kwargs)
        several = isinstance(out, list | tuple | dict)
        return out if several else self._fake_quant_output(out)
