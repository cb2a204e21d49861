"""SGD and Momentum."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import update
from scull.optimizer.decay import regularizer_of
from scull.optimizer.optimizer import Optimizer
from scull.regularizer import L2Decay


class SGD(Optimizer):
    """Gradient descent: ``param = param - learning_rate * grad``.

    Args:
        learning_rate (float | LRScheduler): the step size.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        multi_precision (bool): keep float32 copies of float16 parameters.

    Examples:
        >>> import scull as paddle
        >>> one = paddle.nn.initializer.Constant(1.0)
        >>> w = paddle.create_parameter([1], "float32", default_initializer=one)
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w])
        >>> (w * w).sum().backward()
        >>> opt.step()
        >>> w.tolist()
        [0.0]
    """

    operator = update.sgd
    type = "sgd"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision


class Momentum(Optimizer):
    """Gradient descent with a velocity.

    ``v = momentum * v + grad; param = param - learning_rate * v``.

    Args:
        learning_rate (float | LRScheduler): the step size.
        momentum (float): how much of the velocity is kept.
        parameters (list, optional): what to update; needed in eager mode.
        use_nesterov (bool): step along ``grad + momentum * v``.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        multi_precision (bool): keep float32 copies of float16 parameters.
        rescale_grad (float): gradients are multiplied by it first.
    """

    operator = update.momentum
    type = "momentum"
    states = ("velocity",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        if momentum is None:
            raise ArgumentError("momentum is not set")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._momentum, self._use_nesterov = momentum, bool(use_nesterov)
        self._weight_decay = self.regularization
        self._multi_precision, self._rescale_grad = multi_precision, rescale_grad

    def impose_decay(self, group: dict[str, Any]) -> None:
        """L2 decay stays with the group, where None is none at all."""
        decay = regularizer_of(group.get("weight_decay", self.regularization))
        group["weight_decay"] = decay
        for p in group["params"]:
            p.regularizer = None if isinstance(decay, L2Decay) else decay

    def own_decay(self, param: Any) -> Any:
        """L2 decay is an attribute of the operator, whoever asks for it."""
        decay = super().own_decay(param)
        return None if isinstance(decay, L2Decay) else decay

    def attributes(self, param: Any) -> dict[str, Any]:
        decay = getattr(param, "regularizer", None) or self.setting(param, "weight_decay")
        merged = isinstance(decay, L2Decay)
        return {
            "mu": self.group_of(param).get("momentum", self._momentum),
            "use_nesterov": self._use_nesterov,
            "regularization_method": "l2_decay" if merged else "",
            "regularization_coeff": decay._coeff if merged else 0.0,
            "rescale_grad": self._rescale_grad,
        }
