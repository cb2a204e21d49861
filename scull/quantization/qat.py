"""Training with rounded numbers."""

from typing import Any

from scull.errors import AssertError
from scull.quantization.quantize import Quantization


class QAT(Quantization):
    """Prepares models for training in which weights and inputs are rounded.

    Gradients pass the rounding unchanged.

    Args:
        config (QuantConfig): which quanters each layer gets; a copy of it is kept.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> config = paddle.quantization.QuantConfig(activation=quanter, weight=quanter)
        >>> paddle.quantization.QAT(config).quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 3)))
        Sequential(
          (0): QuantedLinear(
            (weight_quanter): FakeQuanterWithAbsMaxObserverLayer()
            (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
          )
        )
    """

    def quantize(self, model: Any, inplace: bool = False) -> Any:
        """A model with quanters in its layers, to be trained.

        Args:
            model (Layer): in training mode.
            inplace (bool): whether it is changed, instead of a copy.

        Raises:
            AssertError: the model is in evaluation mode.
        """
        if not model.training:
            raise AssertError(
                "Quantization-Aware Training shoud work on training models. "
                "Please set training mode by model.train()."
            )
        return self._quantized(model, inplace)
