"""Regularizers: what a parameter's own size adds to its gradient."""

from typing import Any

from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.ir.recorder import Recorder
from scull.ops.create import scale
from scull.tensor.function import sign


class WeightDecayRegularizer:
    """The parent of all regularizers: a call gives what a parameter adds to its gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = coeff

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        """What `param` adds to `grad`: a Tensor, or a variable that an operator writes."""
        return self.scaled(param)

    def scaled(self, x: Any) -> Any:
        """`x` times the coefficient."""
        return generated(scale, x, scale=self._coeff)


def generated(op: Any, x: Any, **attrs: Any) -> Any:
    """`op` of `x`; in a Program the result is called `_generated_var_0`."""
    if isinstance(x, Tensor):
        return op(x, **attrs)
    recorder = current()
    assert isinstance(recorder, Recorder)
    result = recorder.block.create_var(shape=x.shape, dtype=x.dtype)
    with recorder.into(result):
        op(x, **attrs)
    return result


class L1Decay(WeightDecayRegularizer):
    """Adds `coeff` times the sign of each weight to its gradient, which draws weights to 0.

    Args:
        coeff (float): how strongly.

    Examples:
        >>> import scull as paddle
        >>> print(paddle.regularizer.L1Decay(0.01))
        L1Decay, coeff=0.010000
    """

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        return self.scaled(generated(sign, param))


class L2Decay(WeightDecayRegularizer):
    """Adds `coeff` times each weight to its gradient, which keeps weights small.

    Args:
        coeff (float): how strongly.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(2, 2)
        >>> decay = paddle.regularizer.L2Decay(0.1)
        >>> sgd = paddle.optimizer.SGD(0.1, linear.parameters(), weight_decay=decay)
    """


L1DecayRegularizer, L2DecayRegularizer = L1Decay, L2Decay

__all__ = ["L1Decay", "L2Decay"]
