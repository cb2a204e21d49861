"""Training with rounded numbers, for all layers of some kinds at once."""

from typing import Any

from scull import jit
from scull.errors import AssertError, UnsupportedError
from scull.nn.layer.convolution import Conv2D
from scull.nn.layer.layers import Layer
from scull.nn.layer.linear import Linear
from scull.nn.layer.transpose import Conv2DTranspose
from scull.nn.quant import functional_layers as functional
from scull.nn.quant import quant_layers

ROUNDED: dict[str, tuple[type, type]] = {
    "Conv2D": (Conv2D, quant_layers.QuantizedConv2D),
    "Conv2DTranspose": (Conv2DTranspose, quant_layers.QuantizedConv2DTranspose),
    "Linear": (Linear, quant_layers.QuantizedLinear),
}
ABSENT = ("ColumnParallelLinear", "RowParallelLinear")  # of several processes
TYPES = [*ROUNDED, *ABSENT]
QUANTIZED = tuple(target for _, target in ROUNDED.values())
WATCHING = (
    quant_layers.FakeQuantAbsMax,
    quant_layers.FakeQuantChannelWiseAbsMax,
    quant_layers.FakeQuantMovingAverageAbsMax,
    quant_layers.MovingAverageAbsMaxScale,
)
ROUNDED_AFTER = (
    functional.add,
    functional.subtract,
    functional.multiply,
    functional.divide,
    functional.matmul,
)


class ImperativeQuantAware:
    """Lets layers with rounded inputs and weights take the place of others in a model.

    Args:
        quantizable_layer_type (list[str | type]): which layers: "Conv2D", "Linear",
            "Conv2DTranspose" or these classes.
        weight_quantize_type (str): "abs_max" or "channel_wise_abs_max".
        activation_quantize_type (str): "moving_average_abs_max".
        weight_bits (int): how many bits hold a step of a weight, from 1 to 16.
        activation_bits (int): how many bits hold a step of an input, from 1 to 16.
        moving_rate (float): how much of a moving mean stays at each step.
        fuse_conv_bn (bool): False.
        weight_preprocess_layer (type, optional): makes layers that weights pass first.
        act_preprocess_layer (type, optional): makes layers that inputs pass first.
        weight_quantize_layer (type, optional): makes the layers that round weights.
        act_quantize_layer (type, optional): makes the layers that round inputs.
        onnx_format (bool): False; `paddle.quantization.QAT` saves in that form.

    Raises:
        AssertError: one of these is not as it is said here.
        UnsupportedError: `fuse_conv_bn` or `onnx_format`.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.imperative import ImperativeQuantAware
        >>> ImperativeQuantAware().quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 3)))
        Sequential(
          (0): MAOutputScaleLayer(
            (_layer): QuantizedLinear(
              (_fake_quant_weight): FakeQuantAbsMax()
              (_fake_quant_input): FakeQuantMovingAverageAbsMax()
            )
            (_ma_output_scale): MovingAverageAbsMaxScale()
          )
        )
    """

    def __init__(
        self,
        quantizable_layer_type: Any = TYPES,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max",
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        fuse_conv_bn: bool = False,
        weight_preprocess_layer: Any = None,
        act_preprocess_layer: Any = None,
        weight_quantize_layer: Any = None,
        act_quantize_layer: Any = None,
        onnx_format: bool = False,
    ) -> None:
        if fuse_conv_bn or onnx_format:
            raise UnsupportedError("fuse_conv_bn and onnx_format are not there; see QAT")
        if weight_quantize_type not in ("abs_max", "channel_wise_abs_max"):
            raise AssertError(
                f"Unsupported weight_quantize_type: {weight_quantize_type}. "
                "It can only be abs_max or channel_wise_abs_max."
            )
        if activation_quantize_type != "moving_average_abs_max":
            raise AssertError(
                f"Unsupported activation_quantize_type: {activation_quantize_type}. "
                "It can only be moving_average_abs_max."
            )
        for name, bits in (("weight_bits", weight_bits), ("activation_bits", activation_bits)):
            if not (isinstance(bits, int) and 1 <= bits <= 16):
                raise AssertError(f"{name} should be 1, 2,... or 16.")
        self._targets = dict(filter(None, map(target_of, quantizable_layer_type)))
        self._moving_rate, self._activation_bits = moving_rate, activation_bits
        self._options = {
            "weight_bits": weight_bits,
            "activation_bits": activation_bits,
            "moving_rate": moving_rate,
            "weight_quantize_type": weight_quantize_type,
            "activation_quantize_type": activation_quantize_type,
            "weight_pre_layer": weight_preprocess_layer,
            "act_pre_layer": act_preprocess_layer,
            "weight_quant_layer": weight_quantize_layer,
            "act_quant_layer": act_quantize_layer,
        }

    def quantize(self, model: Any) -> Any:
        """Change a model, to be trained then.

        Layers of the kinds that were asked for round; those whose attribute `skip_quant` is true
        do not. Results of sums and products of `paddle.nn.quant` are rounded, those of other layers
        are watched.

        Args:
            model (Layer): the model.

        Returns:
            Layer: the same one.

        Raises:
            AssertError: `model` is no layer.
        """
        if not isinstance(model, Layer):
            raise AssertError("The model must be the instance of paddle.nn.Layer.")
        self.round_layers(model)
        self.watch(model)
        return model

    def round_layers(self, model: Any) -> None:
        """Let layers that round take the place of others."""
        for name, child in list(model.named_children()):
            target = self._targets.get(type(child))
            if target is not None and not getattr(child, "skip_quant", False):
                model._sub_layers[name] = target(child, **self._options)
            else:
                self.round_layers(child)

    def watch(self, model: Any) -> None:
        """Put behind every layer what rounds or watches its result."""
        for name, child in list(model.named_children()):
            if isinstance(child, ROUNDED_AFTER):
                made: Any = quant_layers.FakeQuantMAOutputScaleLayer(
                    child, activation_bits=self._activation_bits, moving_rate=self._moving_rate
                )
            elif isinstance(child, QUANTIZED):
                made = quant_layers.MAOutputScaleLayer(child, self._moving_rate)
            elif child._sub_layers:
                self.watch(child)
                continue
            elif isinstance(child, WATCHING):
                continue
            else:
                made = quant_layers.MAOutputScaleLayer(child, self._moving_rate)
            model._sub_layers[name] = made

    def save_quantized_model(
        self, layer: Any, path: str, input_spec: Any = None, **config: Any
    ) -> None:
        """Save a model that `quantize` changed, as it is tested.

        Args:
            layer (Layer): the model.
            path (str): how the names of the files begin.
            input_spec (list[InputSpec | Tensor], optional): the inputs.
            config: as `paddle.jit.save` takes it.
        """
        saved(layer, path, input_spec, config)


def target_of(kind: Any) -> tuple[type, type] | None:
    """A kind of layers with what takes its place; None of what is not there."""
    if kind in ABSENT:
        return None
    found = ROUNDED.get(kind if isinstance(kind, str) else getattr(kind, "__name__", ""))
    if found is None:
        raise AssertError(f"{kind} is unspported to be quantized.")
    return found


def saved(layer: Any, path: str, input_spec: Any, config: dict[str, Any]) -> None:
    """Save a model in evaluation mode, and leave it in the mode it was in."""
    training = layer.training
    layer.eval()
    jit.save(layer, path, input_spec, **config)
    if training:
        layer.train()
