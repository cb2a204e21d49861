"""Rounding a trained model by what some batches show, at all layers there is a rule for."""

import copy
from typing import Any

from scull.errors import AssertError, UnsupportedError
from scull.nn.layer.convolution import Conv2D
from scull.nn.layer.layers import Layer
from scull.nn.quant.quant_layers import QuantizedConv2D, QuantizedLinear
from scull.nn.quant.state import overwritten
from scull.quantization.imperative.ptq_config import default_ptq_config
from scull.quantization.imperative.ptq_quantizer import PerChannelAbsmaxQuantizer
from scull.quantization.imperative.ptq_registry import PTQRegistry
from scull.quantization.imperative.qat import saved


def quant_forward_post_hook(layer: Any, inputs: Any, outputs: Any) -> None:
    """Let the quantizers of a layer look at a call of it."""
    config = layer._quant_config
    if config.enable_in_act_quantizer:
        config.in_act_quantizer.sample_data(layer, inputs)
    several = isinstance(outputs, tuple | list)
    config.out_act_quantizer.sample_data(layer, outputs if several else (outputs,))


class ImperativePTQ:
    """Watches what flows through a model, and saves it with layers that round.

    Args:
        quant_config (PTQConfig): the quantizers each layer gets a copy of.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.imperative import ImperativePTQ
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3))
        >>> watched = ImperativePTQ().quantize(model)
        >>> watched(paddle.ones([4, 2])).shape
        [4, 3]
    """

    def __init__(self, quant_config: Any = default_ptq_config) -> None:
        self._quant_config = quant_config

    def quantize(
        self, model: Any, inplace: bool = False, fuse: bool = False, fuse_list: Any = None
    ) -> Any:
        """A model that is watched, to be called with some batches.

        Args:
            model (Layer): the model.
            inplace (bool): whether it is changed, instead of a copy.
            fuse (bool): False.
            fuse_list (list, optional): not used.

        Returns:
            Layer: the model.

        Raises:
            AssertError: `model` is no layer.
            UnsupportedError: `fuse`.
        """
        if not isinstance(model, Layer):
            raise AssertError("The model must be the instance of paddle.nn.Layer.")
        if fuse:
            raise UnsupportedError("layers are not fused here")
        model = model if inplace else copy.deepcopy(model)
        for layer in model.sublayers():
            if PTQRegistry.is_supported_layer(layer) and not getattr(layer, "skip_quant", False):
                self.watch(layer)
        return model

    def watch(self, layer: Any) -> None:
        """Give a layer quantizers, which look at every call of it."""
        config = copy.deepcopy(self._quant_config)
        if PTQRegistry.is_simulated_quant_layer(layer):
            config.enable_in_act_quantizer = True
            config.wt_quantizer.sample_data(layer, (layer.weight,))
        config.quant_hook_handle = layer.register_forward_post_hook(quant_forward_post_hook)
        layer._quant_config = config

    def save_quantized_model(
        self, model: Any, path: str, input_spec: Any = None, **config: Any
    ) -> None:
        """Put layers that round into a model that was watched, and save it.

        Args:
            model (Layer): what `quantize` gave; it is changed.
            path (str): how the names of the files begin.
            input_spec (list[InputSpec | Tensor], optional): the inputs.
            config: as `paddle.jit.save` takes it.

        Raises:
            AssertError: `model` is no layer.
        """
        if not isinstance(model, Layer):
            raise AssertError("The model must be the instance of paddle.nn.Layer.")
        self._convert(model)
        saved(model, path, input_spec, config)

    def _convert(self, model: Any) -> None:
        """Let layers that round take the place of those that were watched."""
        for name, child in list(model.named_children()):
            config = getattr(child, "_quant_config", None)
            if config is None:
                self._convert(child)
                continue
            config.quant_hook_handle.remove()
            del child._quant_config
            if config.enable_in_act_quantizer:
                model._sub_layers[name] = rounding(child, config)


def rounding(layer: Any, config: Any) -> Any:
    """A layer that rounds by what the quantizers of another one found."""
    for quantizer in (config.in_act_quantizer, config.wt_quantizer):
        quantizer.cal_thresholds()
    by_channel = isinstance(config.wt_quantizer, PerChannelAbsmaxQuantizer)
    target = QuantizedConv2D if isinstance(layer, Conv2D) else QuantizedLinear
    made = target(
        layer,
        weight_bits=config.wt_quantizer.quant_bits,
        activation_bits=config.in_act_quantizer.quant_bits,
        weight_quantize_type="channel_wise_abs_max" if by_channel else "abs_max",
        activation_quantize_type="moving_average_abs_max",
    )
    if config.in_act_quantizer.thresholds:
        overwritten(made._fake_quant_input._scale, config.in_act_quantizer.thresholds[0])
    overwritten(made._fake_quant_weight._scale, config.wt_quantizer.thresholds[0])
    return made
