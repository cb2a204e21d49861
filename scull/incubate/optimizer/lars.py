"""Momentum at the rate of each layer."""

from typing import Any

from scull.ops.lars import lars_momentum
from scull.optimizer.optimizer import Optimizer


class LarsMomentumOptimizer(Optimizer):
    """Momentum whose rate is made of the norms of each parameter and its gradient.

    Args:
        learning_rate (float | LRScheduler): the step size.
        momentum (float): how much of the velocity is kept.
        lars_coeff (float): what the rate of a layer is multiplied by.
        lars_weight_decay (float): how much of a parameter is added to its gradient.
        parameter_list (list, optional): what to update; needed in eager mode.
        regularization (WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        name (str, optional): for printing.
        exclude_from_weight_decay (list[str], optional): parts of names of parameters that have no
            decay, and no rate of their own.
        epsilon (float): added to what divides.
        multi_precision (bool): keep float32 copies of float16 parameters.
        rescale_grad (float): gradients are multiplied by it first.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.incubate.optimizer.LarsMomentumOptimizer(
        ...     0.1, 0.9, parameter_list=layer.parameters()
        ... )
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
    """

    operator = lars_momentum
    type = "lars_momentum"
    states = ("velocity",)

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        exclude_from_weight_decay: Any = None,
        epsilon: float = 0,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)
        self._momentum, self._lars_coeff = momentum, float(lars_coeff)
        self._lars_weight_decay, self._epsilon = float(lars_weight_decay), float(epsilon)
        self._excluded = list(exclude_from_weight_decay or ())
        self._multi_precision, self._rescale_grad = multi_precision, float(rescale_grad)

    def attributes(self, param: Any) -> dict[str, Any]:
        excluded = any(part in param.name for part in self._excluded)
        return {
            "mu": self._momentum,
            "lars_coeff": self._lars_coeff,
            "lars_weight_decay": (0.0 if excluded else self._lars_weight_decay,),
            "epsilon": self._epsilon,
            "rescale_grad": self._rescale_grad,
        }
