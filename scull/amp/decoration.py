"""`decorate`: networks whose parameters have fewer digits, and optimizers that keep all of them."""

from typing import Any

from scull.amp.guard import HALVES, supports, word
from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.nn import Layer
from scull.nn.layer.convert import move, tensors_of
from scull.nn.layer.norm import RunningStatistics
from scull.optimizer import Optimizer

SAVED = ("float16", "bfloat16", "float32", "float64")


def amp_decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Make networks and optimizers ready for `auto_cast` of level O2; for O1 nothing is to do.

    The parameters and buffers of all layers but batch norms are cast to `dtype`.

    Args:
        models (Layer | list[Layer]): the networks, changed in place.
        optimizers (Optimizer | list[Optimizer], optional): what updates them.
        level (str): "O1" or "O2".
        dtype (str): "bfloat16", or "float16", which the CPU does not support: nothing is done.
        master_weight (bool, optional): whether optimizers update float32 copies of the parameters,
            from which they are rounded; None does so.
        save_dtype (str, optional): the element type of floating-point tensors in `state_dict()`.
        master_grad (bool): whether gradients that arrive at the parameters become float32.
        excluded_layers (Layer | type | list, optional): layers, or kinds of layers, left as they
            are.

    Returns:
        What was given: the models, with the optimizers if there are any.

    Raises:
        ArgumentError: level, dtype or save_dtype is none of these.
        RunError: something else stands among the models or the optimizers.

    Examples:
        >>> import scull as paddle
        >>> net = paddle.nn.Linear(2, 2)
        >>> opt = paddle.optimizer.AdamW(parameters=net.parameters())
        >>> net, opt = paddle.amp.decorate(net, opt, level="O2", dtype="bfloat16")
        >>> net.weight.dtype
        paddle.bfloat16
    """
    if level not in ("O1", "O2"):
        raise ArgumentError(f"level should be O1 or O2, not {level!r}")
    if word(dtype, "dtype") not in HALVES:
        raise ArgumentError(f"dtype only support float16 or bfloat16, not {dtype!r}")
    given = models if optimizers is None else (models, optimizers)
    if level == "O1" or not supports(dtype, session.place()):
        return given
    if save_dtype is not None and save_dtype not in SAVED:
        raise ArgumentError(f"save_dtype is one of {', '.join(SAVED)}, not {save_dtype!r}")
    networks = listed(models, Layer, "models", "paddle.nn.Layer")
    keep = excluded(excluded_layers)
    updaters = (
        []
        if optimizers is None
        else listed(optimizers, Optimizer, "optimizers", "paddle.optimizer.Optimizer")
    )
    for layer in (part for net in networks for part in net.sublayers(include_self=True)):
        if layer not in keep[0] and not isinstance(layer, (*keep[1], RunningStatistics)):
            cast_layer(layer, dtype)
        if save_dtype is not None:
            layer.register_state_dict_hook(Saved(save_dtype))
    for optimizer in updaters:
        if has_masters(optimizer):
            optimizer._multi_precision = master_weight is not False
    if master_grad and updaters:
        for parameter in (p for net in networks for p in net.parameters()):
            if parameter.dtype.name == dtype and parameter.node is not None:
                parameter._master_grad = True  # for the steps of recorded functions
                parameter._register_backward_hook(Widened(parameter))
    return given


decorate = amp_decorate


def listed(given: Any, kind: type, name: str, called: str) -> list[Any]:
    """One thing, or a list, as a list of things of a kind."""
    if not isinstance(given, kind | list):
        raise ArgumentTypeError(f"{name} must be either a single one or a list of {called}")
    found = given if isinstance(given, list) else [given]
    for one in found:
        if not isinstance(one, kind):
            raise RunError(f"{name} should be {called}, but receive {type(one)}")
    return found


def excluded(layers: Any) -> tuple[set[Any], tuple[type, ...]]:
    """The layers left as they are, with those in them, and the kinds of such layers."""
    given = layers if isinstance(layers, list) else [] if layers is None else [layers]
    kinds = tuple([one for one in given if isinstance(one, type) and issubclass(one, Layer)])
    single = [one for one in given if isinstance(one, Layer)]
    if len(kinds) + len(single) != len(given):
        raise ArgumentTypeError(
            "excluded_layers must be either a nn.Layer instance/type or a list of nn.Layer "
            "instances/types."
        )
    return {part for one in single for part in one.sublayers(include_self=True)}, kinds


def cast_layer(layer: Any, dtype: str) -> None:
    """Cast what has fractions in one layer, without its sublayers."""
    for tensor in tensors_of(layer):
        if tensor.dtype.is_float:
            move(tensor, None, dtype_of(dtype))
    layer._dtype = dtype


def has_masters(optimizer: Any) -> bool:
    """Whether the update operator of an optimizer knows copies with more digits."""
    operator = getattr(optimizer, "operator", None)
    return operator is not None and "master_param" in operator.op.inputs


class Saved:
    """A hook of `state_dict`: floating-point tensors as copies in another element type."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype_of(dtype)

    def __call__(self, state_dict: dict[str, Any]) -> None:
        for name, value in state_dict.items():
            if isinstance(value, Tensor) and value.dtype.is_float:
                copy = Tensor(
                    value.array.astype(self.dtype.array), stop_gradient=value.node is None
                )
                copy.name = value.name
                state_dict[name] = copy


class Widened:
    """A hook of a parameter: the gradient that arrived becomes float32."""

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter

    def __call__(self, *_: Any) -> None:
        total = self.parameter.node.total
        total.array = total.array.astype("float32", copy=False)
