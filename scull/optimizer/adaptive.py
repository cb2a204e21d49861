"""Adam and AdamW."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ops import update
from scull.optimizer.optimizer import Optimizer


class Adam(Optimizer):
    """Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2014).

    Args:
        learning_rate (float | LRScheduler): the step size.
        beta1 (float | Tensor): decay of the first moment.
        beta2 (float | Tensor): decay of the second moment.
        epsilon (float | Tensor): added to the root of the second moment.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        lazy_mode (bool): with row-sparse gradients update only the rows present.
        multi_precision (bool): keep float32 copies of float16 parameters.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> sorted(opt.state_dict())[0].split("_")[-2]
        'acc'
    """

    operator = update.adam
    type = "adam"
    states = ("moment1", "moment2", "beta1_pow", "beta2_pow")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        for value, word, low, high in (
            (beta1, "beta1", 0, 1),
            (beta2, "beta2", 0, 1),
            (epsilon, "epsilon", 0, None),
        ):
            if value is None:
                raise ArgumentError(f"{word} is not set")
            if isinstance(value, int | float) and not (
                low <= value and (high is None or value < high)
            ):
                bound = f"[{low},{high})" if high else ">= 0"
                raise ArgumentError(f"Invaild value of {word}, expect {word} in {bound}.")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lazy_mode, self._multi_precision = lazy_mode, multi_precision

    def number(self, param: Any, name: str) -> Any:
        """beta1, beta2 or epsilon for one parameter."""
        return self.group_of(param).get(name, getattr(self, "_" + name))

    def start(self, name: str) -> tuple[float, Any]:
        """Moments begin at 0, powers of beta at beta."""
        if not name.endswith("_pow"):
            return 0.0, None
        value = getattr(self, "_" + name.removesuffix("_pow"))
        return (value if isinstance(value, int | float) else 0.9 if "1" in name else 0.999), (1,)

    def operands(self, param: Any, rate: Any) -> dict[str, Any]:
        given = super().operands(param, rate)
        for name in ("beta1", "beta2", "epsilon"):
            value = self.number(param, name)
            if not isinstance(value, int | float):
                given[name + "_tensor"] = value
        return given

    def attributes(self, param: Any) -> dict[str, Any]:
        attrs: dict[str, Any] = {
            "lazy_mode": self._lazy_mode,
            "multi_precision": self._multi_precision,
        }
        for name in ("beta1", "beta2", "epsilon"):
            value = self.number(param, name)
            if isinstance(value, int | float):
                attrs[name] = value
        return attrs


class AdamW(Adam):
    """Adam with decoupled weight decay.

    Loshchilov and Hutter, "Decoupled weight decay regularization", 2017.

    Args:
        learning_rate (float | LRScheduler): the step size.
        beta1, beta2, epsilon: as in Adam.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float): the decay, multiplied by the learning rate.
        lr_ratio (callable, optional): from a parameter to the factor of its learning rate.
        apply_decay_param_fun (callable, optional): from a parameter's name to whether it decays.
        grad_clip (GradientClipBase, optional): applied to gradients.
        lazy_mode, multi_precision (bool): as in Adam.
    """

    operator = update.adamw
    type = "adamw"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Any = None,
        weight_decay: Any = 0.01,
        lr_ratio: Any = None,
        apply_decay_param_fun: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(weight_decay, float | int) or isinstance(weight_decay, bool):
            raise ArgumentTypeError("weight_decay should be float.")
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            None,
            grad_clip,
            lazy_mode,
            multi_precision,
            False,
            name,
        )
        self._coeff, self._lr_ratio, self._apply_decay_param_fun = (
            float(weight_decay),
            lr_ratio,
            apply_decay_param_fun,
        )

    def grouped(self, parameters: list[Any]) -> list[dict[str, Any]]:
        """The decay of a group is a number, which the operator applies."""
        groups = super().grouped(parameters)
        for g in groups:
            if "weight_decay" in g:
                g["coeff"] = g.pop("weight_decay")._coeff
        return groups

    def attributes(self, param: Any) -> dict[str, Any]:
        decays = self._apply_decay_param_fun is None or self._apply_decay_param_fun(param.name)
        ratio = 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))
        coeff = self.group_of(param).get("coeff", self._coeff)
        return {
            **super().attributes(param),
            "with_decay": decays,
            "coeff": coeff,
            "lr_ratio": ratio,
        }
