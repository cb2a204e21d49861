"""Adagrad, Adadelta and RMSProp: steps divided by what gradients add up to."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import accumulate
from scull.optimizer.adaptive import check_number
from scull.optimizer.optimizer import Optimizer


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients.

    Duchi et al., "Adaptive subgradient methods for online learning", 2011.

    Args:
        learning_rate (float | LRScheduler): the step size.
        epsilon (float): added to the root.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        name (str, optional): stands in the names of its states.
        initial_accumulator_value (float): where the sum begins.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.Adagrad(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> round(layer.bias.item(), 4)
        -0.1
    """

    operator = accumulate.adagrad
    type = "adagrad"
    states = ("moment",)

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        check_number(None, epsilon=epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon, self.initial_accumulator_value = epsilon, initial_accumulator_value

    def start(self, name: str, param: Any) -> tuple[float, Any]:
        return self.initial_accumulator_value, None

    def attributes(self, param: Any) -> dict[str, Any]:
        return {"epsilon": self.setting(param, "epsilon")}


class Adadelta(Optimizer):
    """Steps as large beside gradients as earlier steps were beside theirs.

    Zeiler, "Adadelta: an adaptive learning rate method", 2012.

    Args:
        learning_rate (float | LRScheduler): a factor of the steps.
        epsilon (float): added to both means of squares.
        rho (float): how much of the means is kept.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        name (str, optional): stands in the names of its states.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.Adadelta(1.0, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> round(layer.bias.item(), 5)
        -0.00447
    """

    operator = accumulate.adadelta
    type = "adadelta"
    states = ("avg_squared_grad", "avg_squared_update")
    called = {n: "_" + n for n in states}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        check_set(learning_rate=learning_rate, epsilon=epsilon, rho=rho)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon, self._rho = epsilon, rho

    def attributes(self, param: Any) -> dict[str, Any]:
        return {n: self.setting(param, n) for n in ("epsilon", "rho")}


class RMSProp(Optimizer):
    """Steps divided by the root of the mean of squared gradients.

    Args:
        learning_rate (float | LRScheduler): the step size.
        rho (float): how much of the mean is kept.
        epsilon (float): added to the mean of squares.
        momentum (float): how much of the last step is kept.
        centered (bool): whether the square of the mean gradient is taken off.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        name (str, optional): stands in the names of its states.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.RMSProp(0.1, rho=0.75, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> round(layer.bias.item(), 4)
        -0.2
    """

    operator = accumulate.rmsprop
    type = "rmsprop"
    states = ("moment", "mean_square", "mean_grad")
    called = {"moment": "momentum"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        numbers = {"rho": rho, "epsilon": epsilon, "momentum": momentum}
        check_set(learning_rate=learning_rate, **numbers)
        for word, value in numbers.items():
            if value < 0:
                raise ArgumentError(f"Invalid value of {word}, expect {word} >= 0.")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._rho, self._epsilon, self._momentum = rho, epsilon, momentum
        self._centered = centered

    def attributes(self, param: Any) -> dict[str, Any]:
        return {
            "decay": self.setting(param, "rho"),
            **{n: self.setting(param, n) for n in ("epsilon", "momentum", "centered")},
        }


def check_set(**numbers: Any) -> None:
    """Refuse numbers that are not there."""
    for word, value in numbers.items():
        if value is None:
            raise ArgumentError(f"{word} is not set.")
