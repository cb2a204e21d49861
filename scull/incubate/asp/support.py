"""Which parameters are pruned, and by what."""

import logging
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from scull.errors import ArgumentTypeError, AssertError
from scull.incubate.asp.mask import Array, CheckMethod, MaskAlgo, check_sparsity, create_mask
from scull.ir.program import Program, main_program
from scull.nn.layer.layers import Layer, snake_case

MASKED = "asp_mask"  # ends the name of the mask of a parameter
Prune = Callable[[Array, int, int, MaskAlgo, str], tuple[Array, Array]]


class Sparsity:
    """What is known of the masks of one Program; those of eager mode belong to the default one."""

    def __init__(self) -> None:
        self.excluded_layers: list[str] = []  # parts of names of parameters that stay as they are
        self.mask_vars: dict[str, Any] = {}  # by the name of a parameter, what holds its mask
        self.masks: dict[str, Array] = {}  # the masks that were made


PROGRAMS: WeakKeyDictionary[Program, Sparsity] = WeakKeyDictionary()


def sparsity_of(program: Program) -> Sparsity:
    """What is known of the masks of a Program."""
    return PROGRAMS.setdefault(program, Sparsity())


def pruned_by_default(
    weight: Array, m: int, n: int, algorithm: MaskAlgo, name: str
) -> tuple[Array, Array]:
    """A weight without what its mask takes out, and the mask.

    Input channels are neighbours: the axes are looked at in reverse. A weight with fewer than `m`
    of them stays as it is.
    """
    axis = {2: 0, 4: 1}.get(weight.ndim)
    if axis is not None and weight.shape[axis] < m:
        logging.getLogger(__name__).warning(
            "%s is not pruned: axis %d of %s has fewer than %d", name, axis, weight.shape, m
        )
        return weight, np.ones_like(weight)
    mask = create_mask(weight.T, algorithm, n, m)
    pruned = weight * mask.T
    if not check_sparsity(pruned.T, CheckMethod.get_checking_method(algorithm), n, m):
        raise AssertError(f"Pruning {name} weight matrix failure: its mask is not {n}:{m}")
    return pruned, mask.T


FUNCTIONS: dict[str, Prune] = dict.fromkeys(("fc", "linear", "conv2d"), pruned_by_default)


def add_supported_layer(layer: Any, pruning_func: Prune | None = None) -> None:
    """Let the weights of more layers be pruned; those of `linear`, `conv2d` and `fc` are.

    Args:
        layer (str | Layer | type): the name of a parameter, what layers are called before their
            numbers, such as "conv1d", or a layer or its class.
        pruning_func (function, optional): takes a weight, `m`, `n`, a `MaskAlgo` and the name of
            the weight, and returns what is left of the weight and the mask, which are arrays.

    Raises:
        ArgumentTypeError: `layer` is none of these.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.asp.add_supported_layer(paddle.nn.Conv1D)
    """
    kind = type(layer) if isinstance(layer, Layer) else layer
    if isinstance(kind, type) and issubclass(kind, Layer):
        kind = snake_case(kind.__name__)
    if not isinstance(kind, str):
        raise ArgumentTypeError(f"`layer` is a name, a Layer or its class, not {layer!r}")
    FUNCTIONS[kind] = pruning_func or pruned_by_default


def set_excluded_layers(param_names: list[str], main_program: Any = None) -> None:
    """Leave some parameters as they are; call it before the optimizer is decorated or minimizes.

    Args:
        param_names (list[str]): parts of their names, such as what `layer.full_name()` is.
        main_program (Program, optional): where they are; None is the default main Program, to
            which those of eager mode belong.

    Raises:
        ArgumentTypeError: `main_program` is no Program.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(4, 4)
        >>> paddle.incubate.asp.set_excluded_layers([layer.full_name()])
        >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> opt = paddle.incubate.asp.decorate(opt)
        >>> layer.weight.name in paddle.incubate.asp.prune_model(layer)
        False
        >>> paddle.incubate.asp.reset_excluded_layers()
    """
    sparsity_of(chosen(main_program)).excluded_layers.extend(param_names)


def reset_excluded_layers(main_program: Any = None) -> None:
    """Forget what `set_excluded_layers` said.

    Args:
        main_program (Program, optional): of which Program; None is all of them.

    Raises:
        ArgumentTypeError: `main_program` is no Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.asp.reset_excluded_layers()
    """
    for program in list(PROGRAMS) if main_program is None else [chosen(main_program)]:
        sparsity_of(program).excluded_layers.clear()


def chosen(program: Any) -> Program:
    """A Program; None is the default main one."""
    if not isinstance(program, Program | None):
        raise ArgumentTypeError(f"`main_program` is a Program, not {type(program).__name__}")
    return program or main_program()


def function_of(name: str) -> Prune | None:
    """What prunes the parameter `name`, if anything does.

    It is looked for by the whole name, and for weights by the name of their layer with and
    without its number: `linear_0.w_0` is a weight of `linear_0`, which is a `linear`.
    """
    layer, own, *_ = [*name.split("."), ""]
    names = [name]
    if "w_" in own and MASKED not in name:
        names += [layer, layer.rpartition("_")[0]]
    return next((FUNCTIONS[n] for n in names if n in FUNCTIONS), None)


def is_supported(program: Program, name: str) -> bool:
    """Whether the parameter `name` of a Program is pruned."""
    if any(part in name for part in sparsity_of(program).excluded_layers):
        return False
    return function_of(name) is not None
