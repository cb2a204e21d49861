"""Adam, AdamW, Adamax and Lamb."""

from typing import Any

from scull.core.attribute import rounded
from scull.core.interpreter import current
from scull.core.op import op_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ops import adapt, update
from scull.optimizer.decay import regularizer_of
from scull.optimizer.optimizer import Optimizer


def check_number(limit: float | None, **numbers: Any) -> None:
    """Refuse numbers that are not there, below 0, or not below `limit`."""
    for word, value in numbers.items():
        if value is None:
            raise ArgumentError(f"{word} is not set.")
        if isinstance(value, int | float) and not 0 <= value < (limit or float("inf")):
            bound = f"in [0,{limit})" if limit else ">= 0"
            raise ArgumentError(f"Invaild value of {word}, expect {word} {bound}.")


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
        lazy_mode (bool): with row-sparse gradients update only the rows present. For such
            gradients Paddle's CPU code takes the powers of beta1 and beta2 of the next step;
            here they are those of the formula.
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
    wide_states = True
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
        check_number(1, beta1=beta1, beta2=beta2)
        check_number(None, epsilon=epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lazy_mode, self._multi_precision = lazy_mode, multi_precision

    def start(self, name: str, param: Any) -> tuple[float, Any]:
        """Moments begin at 0, powers of beta at beta."""
        if not name.endswith("_pow"):
            return 0.0, None
        value = self.setting(param, name.removesuffix("_pow"))
        return (value if isinstance(value, int | float) else 0.9 if "1" in name else 0.999), (1,)

    def operands(self, param: Any, rate: Any) -> dict[str, Any]:
        given = super().operands(param, rate)
        for name in ("beta1", "beta2", "epsilon"):
            value = self.setting(param, name)
            if not isinstance(value, int | float):
                given[name + "_tensor"] = value
        return given

    def attributes(self, param: Any) -> dict[str, Any]:
        attrs: dict[str, Any] = {"lazy_mode": self._lazy_mode}
        for name in ("beta1", "beta2", "epsilon"):
            value = self.setting(param, name)
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
        weight_decay (float | Tensor): the decay, multiplied by the learning rate.
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
        if not isinstance(weight_decay, float | int | Tensor) or isinstance(weight_decay, bool):
            raise ArgumentTypeError("weight_decay should be float or Tensor.")
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

    def impose_decay(self, group: dict[str, Any]) -> None:
        """The decay of a group is a number, which the operator applies beside regularizers."""
        decay = regularizer_of(group.pop("weight_decay", None))
        if decay is not None:
            group["coeff"] = decay._coeff

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


class Adamax(Optimizer):
    """Adam with the largest of fading gradients in place of the root of their mean square.

    Kingma and Ba, "Adam: a method for stochastic optimization", 2014, section 7.

    Args:
        learning_rate (float | LRScheduler): the step size.
        beta1 (float): decay of the moment.
        beta2 (float): decay of the largest gradient.
        epsilon (float): added to the faded largest gradient.
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients.
        grad_clip (GradientClipBase, optional): applied to gradients.
        name (str, optional): stands in the names of its states.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.Adamax(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> round(layer.bias.item(), 4)
        -0.1
    """

    operator = adapt.adamax
    wide_states = True
    type = "adamax"
    states = ("moment", "inf_norm", "beta1_pow")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        check_number(1, beta1=beta1, beta2=beta2)
        check_number(None, epsilon=epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon

    def start(self, name: str, param: Any) -> tuple[float, Any]:
        return (self.setting(param, "beta1"), (1,)) if name == "beta1_pow" else (0.0, None)

    def attributes(self, param: Any) -> dict[str, Any]:
        return {n: self.setting(param, n) for n in ("beta1", "beta2", "epsilon")}

    def finish(self, param: Any) -> None:
        """The operator leaves the power of beta1 as it was."""
        power, beta = self.state("beta1_pow", param), self.setting(param, "beta1")
        mode: Any = current()
        if mode.eager:
            power.array *= power.array.dtype.type(rounded(beta))
            return
        held = mode.capture(power) if isinstance(power, Tensor) else power
        with mode.into(held):
            op_of("scale").call(held, scale=beta)


class Lamb(Optimizer):
    """Adam whose steps are as long as the parameter times the learning rate.

    You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", 2019.

    Args:
        learning_rate (float | LRScheduler): the step size.
        lamb_weight_decay (float): how much of the parameter is added to its step.
        beta1 (float): decay of the first moment.
        beta2 (float): decay of the second moment.
        epsilon (float): added to the root of the second moment.
        parameters (list, optional): what to update; needed in eager mode.
        grad_clip (GradientClipBase, optional): applied to gradients.
        exclude_from_weight_decay_fn (callable, optional): from a parameter to whether it does not
            decay.
        multi_precision (bool): keep float32 copies of float16 parameters.
        always_adapt (bool): scale the step of parameters that do not decay too.
        name (str, optional): stands in the names of its states.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.Lamb(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> round(layer.bias.item(), 4)
        -0.1
    """

    operator = adapt.lamb
    wide_states = True
    type = "lamb"
    states = ("moment1", "moment2", "beta1_pow", "beta2_pow")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Any = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        check_number(None, beta1=beta1, beta2=beta2, epsilon=epsilon)
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lamb_weight_decay = lamb_weight_decay
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._multi_precision, self.always_adapt = multi_precision, always_adapt

    def start(self, name: str, param: Any) -> tuple[float, Any]:
        if not name.endswith("_pow"):
            return 0.0, None
        return self.setting(param, name.removesuffix("_pow")), (1,)

    def attributes(self, param: Any) -> dict[str, Any]:
        decay = self.setting(param, "lamb_weight_decay")
        left_out = self.setting(param, "exclude_from_weight_decay_fn")
        if left_out is not None and left_out(param):
            decay = 0.0
        return {
            **{n: self.setting(param, n) for n in ("beta1", "beta2", "epsilon")},
            "weight_decay": decay,
            "always_adapt": self.always_adapt,
        }
