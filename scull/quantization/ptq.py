"""Rounding a trained model by what some batches show."""

from typing import Any

from scull.errors import AssertError
from scull.quantization.quantize import Quantization


class PTQ(Quantization):
    """Prepares trained models for batches that show how large numbers are.

    Args:
        config (QuantConfig): which observers each layer gets; a copy of it is kept.

    Examples:
        >>> import scull as paddle
        >>> observer = paddle.quantization.observers.AbsmaxObserver()
        >>> ptq = paddle.quantization.PTQ(paddle.quantization.QuantConfig(observer, observer))
        >>> model = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> model.eval()
        >>> watched = ptq.quantize(model)
        >>> watched(paddle.to_tensor([-1.0, 2.54])).tolist()
        [0.0, 2.5399999618530273]
        >>> ptq.convert(watched)(paddle.to_tensor([-1.0, 2.0, 3.0])).numpy().round(6).tolist()
        [0.0, 2.0, 2.5399999618530273]
    """

    def quantize(self, model: Any, inplace: bool = False) -> Any:
        """A model with observers in its layers, to be called with some batches.

        Args:
            model (Layer): in evaluation mode.
            inplace (bool): whether it is changed, instead of a copy.

        Raises:
            AssertError: the model is in training mode.
        """
        if model.training:
            raise AssertError(
                "Post-Training Quantization shoud not work on training models. "
                "Please set evaluation mode by model.eval()."
            )
        return self._quantized(model, inplace)
