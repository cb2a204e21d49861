"""Putting quanters into a model, and scales that stay in their place."""

import copy
from abc import ABC, abstractmethod
from typing import Any

from scull.nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from scull.quantization.base_quanter import BaseQuanter


class Quantization(ABC):
    """The parent of `QAT` and `PTQ`.

    Args:
        config (QuantConfig): which quanters each layer gets; a copy of it is kept.
    """

    def __init__(self, config: Any) -> None:
        self._config = copy.deepcopy(config)

    @abstractmethod
    def quantize(self, model: Any, inplace: bool = False) -> Any:
        """A model with quanters."""

    def convert(self, model: Any, inplace: bool = False, remain_weight: bool = False) -> Any:
        """A model ready to be saved: scales that stay take the place of quanters.

        Args:
            model (Layer): what `quantize` gave, after training or calibration. A layer of which
                no weight has scales stays as it is.
            inplace (bool): whether this model is changed, instead of a copy.
            remain_weight (bool): whether weights stay as they are, instead of becoming steps.

        Returns:
            Layer: the model.

        Examples:
            >>> import scull as paddle
            >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
            >>> quanter = FakeQuanterWithAbsMaxObserver()
            >>> qat = paddle.quantization.QAT(paddle.quantization.QuantConfig(None, quanter))
            >>> model = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 3)))
            >>> _ = model(paddle.ones([1, 2]))
            >>> qat.convert(model)
            Sequential(
              (0): QuantedLinear(
                (weight_quanter): LinearQuanterDequanter(
                  (_quanter): None
                  (_dequanter): LinearDequanter()
                )
              )
            )
        """
        model = model if inplace else copy.deepcopy(model)
        for name, child in list(model.named_children()):
            if isinstance(child, ConvertibleQuantedLayer):
                if not child.converted and has_scales(child):
                    child._convert(remain_weight)
            elif isinstance(child, BaseQuanter):
                model._sub_layers[name] = LinearQuanterDequanter.from_quanter(child)
            else:
                self.convert(child, inplace=True, remain_weight=remain_weight)
        return model

    def _convert_to_quant_layers(self, model: Any, config: Any) -> None:
        """Let layers with quanters take the place of others in `model`."""
        for name, child in list(model.named_children()):
            if config._is_quantifiable(child) and type(child) in config.qat_layer_mappings:
                model._sub_layers[name] = config._get_qat_layer(child)
            else:
                self._convert_to_quant_layers(child, config)

    def _insert_activation_observers(self, model: Any, config: Any) -> None:
        """Put quanters before the leaves of `model`."""
        for name, child in list(model.named_children()):
            if config._need_observe(child):
                model._sub_layers[name] = config._get_observe_wrapper(child)
            else:
                self._insert_activation_observers(child, config)

    def _quantized(self, model: Any, inplace: bool) -> Any:
        """`model` or a copy, with the quanters of the configuration."""
        model = model if inplace else copy.deepcopy(model)
        self._config._specify(model)
        self._convert_to_quant_layers(model, self._config)
        self._insert_activation_observers(model, self._config)
        return model

    def _details(self) -> str:
        return str(self._config.details())

    def __str__(self) -> str:
        return self._details()

    __repr__ = __str__


def has_scales(layer: Any) -> bool:
    """Whether all weights of a layer have a quanter with scales."""
    quanters = [getattr(layer, name, None) for _, name in layer.weights_to_quanters()]
    return all(q is not None and q.scales() is not None for q in quanters)
