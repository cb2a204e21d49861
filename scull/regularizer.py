"""Regularizers: what a parameter's own size adds to its gradient."""

from typing import Any

from scull.core.interpreter import current
from scull.core.op import op_of
from scull.core.tensor import Tensor
from scull.ir.recorder import Recorder


class WeightDecayRegularizer:
    """The parent of all regularizers; called with a parameter and its gradient it gives what to add."""

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = coeff

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        """What `param` adds to `grad`: a Tensor, or a variable that an operator of a Program writes."""
        return self.scaled(param)

    def scaled(self, x: Any) -> Any:
        """`x` times the coefficient."""
        return into_generated("scale", x, scale=self._coeff)


def into_generated(type: str, x: Any, **attrs: Any) -> Any:
    """One operator on `x`; in a Program its result is called `_generated_var_0`."""
    apply = op_of(type).call
    if isinstance(x, Tensor):
        return apply(x, **attrs)
    recorder = current()
    assert isinstance(recorder, Recorder)
    result = recorder.block.create_var(shape=x.shape, dtype=x.dtype)
    with recorder.into(result):
        apply(x, **attrs)
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
        return self.scaled(into_generated("sign", param))


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
