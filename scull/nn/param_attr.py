"""ParamAttr: what a user says of a parameter before a layer makes it."""

from typing import Any

from scull.errors import ArgumentTypeError
from scull.nn.initializer.initializer import Initializer
from scull.regularizer import WeightDecayRegularizer


class ParamAttr:
    """Name, first value, learning rate and the rest of what can be said of a parameter.

    Args:
        name (str, optional): its name; a unique one when None.
        initializer (Initializer, optional): its first value; that of the layer when None.
        learning_rate (float): what the optimizer's learning rate is multiplied by.
        regularizer (WeightDecayRegularizer, optional): its decay, instead of the optimizer's.
        trainable (bool): whether an optimizer changes it.
        do_model_average (bool): whether model averaging includes it.
        need_clip (bool): whether gradient clipping includes it.

    Examples:
        >>> import scull as paddle
        >>> attr = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(2.0))
        >>> paddle.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
        [[2.0, 2.0]]
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        self.name, self.initializer, self.learning_rate = name, initializer, learning_rate
        self.regularizer, self.trainable = regularizer, trainable
        self.do_model_average, self.need_clip = do_model_average, need_clip

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """`arg` as a ParamAttr: one, a name, an initializer, a regularizer; False: no parameter."""
        if arg is None or arg is True:
            return ParamAttr()
        if isinstance(arg, list | tuple):
            return [ParamAttr._to_attr(a) for a in arg]
        if isinstance(arg, ParamAttr) or arg is False:
            return arg
        if isinstance(arg, str):
            return ParamAttr(name=arg)
        if isinstance(arg, Initializer):
            return ParamAttr(initializer=arg)
        if isinstance(arg, WeightDecayRegularizer):
            return ParamAttr(regularizer=arg)
        raise ArgumentTypeError(f"{type(arg)} cast to ParamAttr")

    def _to_kwargs(self, with_initializer: bool = False) -> dict[str, Any]:
        """The keywords of `Block.create_parameter` that say the same."""
        found = {
            "name": self.name,
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }
        return found | {"initializer": self.initializer} if with_initializer else found


class WeightNormParamAttr(ParamAttr):
    """What is said of a weight that is a direction times a length, each a parameter: `<name>_v`
    and `<name>_g`. In static mode only.

    The weight is ``g * v / |v|``; `g` starts as the norm of `v`, which `initializer` fills.

    Args:
        dim (int, optional): the axis each of whose entries has a length of its own; None: the
            weight as a whole has one.
        name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip: of
            both parameters, as of any (see ParamAttr).

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [-1, 2])
        ...     attr = paddle.static.WeightNormParamAttr(dim=1, name="w")
        ...     y = paddle.static.nn.fc(x, 3, weight_attr=attr, bias_attr=False)
        >>> [(p.name, p.shape) for p in main.all_parameters()]
        [('w_v', (2, 3)), ('w_g', (1, 3))]
        >>> paddle.disable_static()
    """

    params_with_weight_norm: list[Any] = []  # noqa: RUF012  the weights made so

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        rest = (learning_rate, regularizer, trainable, do_model_average, need_clip)
        super().__init__(name, initializer, *rest)
        self.dim = dim


__all__ = ["ParamAttr", "WeightNormParamAttr"]
