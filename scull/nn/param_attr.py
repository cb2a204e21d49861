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


__all__ = ["ParamAttr"]
