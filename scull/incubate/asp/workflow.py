"""Weights are pruned once; the optimizer takes out again what its steps put back."""

from typing import Any

import numpy as np

from scull.autograd.interface import no_grad
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, AssertError, UninitializedError
from scull.incubate.asp.mask import Array, MaskAlgo
from scull.incubate.asp.support import (
    MASKED,
    Sparsity,
    function_of,
    is_supported,
    reset_excluded_layers,
    set_excluded_layers,
    sparsity_of,
)
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import Program, program_guard, startup_program
from scull.ir.program import main_program as current_program
from scull.ir.variable import Variable
from scull.nn.initializer.constant import Constant
from scull.nn.layer.layers import Layer
from scull.nn.param_attr import ParamAttr
from scull.nn.parameter import create_parameter
from scull.optimizer.static_update import OPTIMIZE
from scull.runtime.scope import global_scope

ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D,
    "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY,
    "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}


class OptimizerWithSparsityGuarantee:
    """An optimizer whose steps leave at zero what the masks of parameters take out.

    What it does not have itself is what the optimizer within has.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._masks = sparsity_of(current_program()).mask_vars  # those of eager mode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
    ) -> Any:
        """As that of the optimizer within; then the masks are applied.

        In a Program this appends products with variables that hold the masks: ones until
        `prune_model` is called, after the startup Program ran.
        """
        given = (loss, startup_program, parameter_list, no_grad_set)
        made = self._optimizer.minimize(*given)
        if isinstance(loss, Variable):
            record_masks(loss.block.program, startup_program, [p for p, _ in made[1]])
        else:
            self.mask()
        return made

    def step(self) -> None:
        """One step of the optimizer within; then the masks are applied."""
        self._optimizer.step()
        self.mask()

    def mask(self) -> None:
        """Take out what steps put back."""
        with no_grad():
            for p in self._optimizer.parameters():
                if p.name in self._masks:
                    p.multiply_(self._masks[p.name])

    def state_dict(self) -> dict[str, Any]:
        """The states of the optimizer within, and all masks of eager mode by their names."""
        return self._optimizer.state_dict() | {v.name: v for v in self._masks.values()}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the states and masks that `state_dict` gave.

        Raises:
            AssertError: a mask is missing.
        """
        for mask in self._masks.values():
            if mask.name not in state_dict:
                raise AssertError(f"The {mask.name} is not found.")
            mask.set_value(np.asarray(state_dict[mask.name]))
        states = {k: v for k, v in state_dict.items() if not k.endswith("." + MASKED)}
        self._optimizer.set_state_dict(states)


def decorate(optimizer: Any) -> OptimizerWithSparsityGuarantee:
    """An optimizer that leaves at zero what `prune_model` takes out of parameters.

    Args:
        optimizer (Optimizer): what takes the steps. In eager mode the masks of its parameters
            are made now, in static mode by its `minimize`.

    Returns:
        OptimizerWithSparsityGuarantee: what is used in its place.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(8, 4)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> opt = paddle.incubate.asp.decorate(opt)
        >>> _ = paddle.incubate.asp.prune_model(layer)
        >>> layer(paddle.ones([1, 8])).sum().backward()
        >>> opt.step()
        >>> paddle.incubate.asp.calculate_density(layer.weight)
        0.5
    """
    if in_dynamic_mode():
        make_masks(current_program(), optimizer.parameters())
    return OptimizerWithSparsityGuarantee(optimizer)


def make_masks(program: Program, params: list[Any]) -> None:
    """Masks of ones for the parameters that are pruned and have none that fits."""
    known = sparsity_of(program).mask_vars
    for p in params:
        old = known.get(p.name)
        if is_supported(program, p.name) and (old is None or list(old.shape) != list(p.shape)):
            known[p.name] = mask_for(p)


def mask_for(p: Any) -> Any:
    """A mask of ones for one parameter; in static mode a parameter that is not trained."""
    name = f"{p.name}.{MASKED}"
    if isinstance(p, Variable):
        attr = ParamAttr(name, Constant(1.0), trainable=False)
        made = create_parameter(p.name, p.shape, attr, p.dtype)
    else:
        made = Tensor(np.ones_like(p.array))
        made.name = name
    made.stop_gradient = made.persistable = True
    return made


def record_masks(program: Program, startup: Any, params: list[Any]) -> None:
    """Append products with masks, which the startup Program fills with ones."""
    known = sparsity_of(program).mask_vars
    params = [p for p in program.all_parameters() if any(p is q for q in params)]
    with program_guard(program, startup or startup_program()):
        make_masks(program, params)
    block = program.global_block()
    with program.serving(OPTIMIZE):
        for p in params:
            if p.name in known:
                inputs = {"X": p, "Y": known[p.name]}
                block.append_op("elementwise_mul", inputs, {"Out": p}, {"axis": -1})


def prune_model(
    model: Any, n: int = 2, m: int = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[str, Array]:
    """Make the weights of a network sparse: of every `m` neighbouring input channels `n` are zero.

    Weights of linear layers and of convolutions of two dimensions are pruned, and those of
    `add_supported_layer`. What has fewer than `m` input channels stays as it is. Where the masks
    look at blocks, `n` of `m` are kept.

    Args:
        model (Layer | Program): the network. In static mode its parameters have values: the
            startup Program ran.
        n (int): how many are zero.
        m (int): of how many.
        mask_algo (str): "mask_1d", "mask_2d_greedy" or "mask_2d_best".
        with_mask (bool): whether steps of a decorated optimizer keep these zeros.

    Returns:
        dict[str, ndarray]: by the names of parameters, all masks that were made so far in their
            Program; in eager mode in the default one.

    Raises:
        ArgumentTypeError: `model` is neither a Layer nor a Program.
        AssertError: there is no such algorithm; its masks are not `n`:`m`; or there is nothing
            that holds the masks, since no optimizer was decorated.
        UninitializedError: the startup Program did not run.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(4, 2)
        >>> layer.weight.set_value(np.array([[1, 2], [2, 0], [3, 1], [4, 5]], "float32"))
        >>> mask = paddle.incubate.asp.prune_model(layer, with_mask=False)[layer.weight.name]
        >>> layer.weight.tolist()
        [[0.0, 2.0], [0.0, 0.0], [3.0, 0.0], [4.0, 5.0]]
    """
    if mask_algo not in ALGORITHMS:
        raise AssertError(f"`mask_algo` is one of {', '.join(ALGORITHMS)}, not {mask_algo!r}")
    return pruned(*parameters_of(model), n, m, ALGORITHMS[mask_algo], with_mask)


def pruned(
    program: Program, params: list[Any], n: int, m: int, algorithm: MaskAlgo, with_mask: bool
) -> dict[str, Array]:
    """All masks of a Program, after those of some of its parameters were made and applied."""
    params = [p for p in params if is_supported(program, p.name)]
    known = sparsity_of(program)
    for p in params if with_mask else ():
        if p.name not in known.mask_vars:
            raise AssertError(
                f"{p.name} has no mask: call paddle.incubate.asp.decorate(optimizer) before, and "
                "in static mode `minimize` of what it returns"
            )
    for p in params:
        prune(p, known, n, m, algorithm, with_mask)
    return dict(known.masks)


def prune(p: Any, known: Sparsity, n: int, m: int, algorithm: MaskAlgo, with_mask: bool) -> None:
    """Take what its mask says out of one parameter."""
    place = held_by(p)
    function: Any = function_of(p.name)
    pruned, mask = function(np.array(place), m, n, algorithm, p.name)
    known.masks[p.name] = mask
    fill(place, pruned)
    if with_mask:
        fill(held_by(known.mask_vars[p.name]), mask)


def parameters_of(model: Any) -> tuple[Program, list[Any]]:
    """The parameters of a network, and the Program to which their masks belong."""
    if isinstance(model, Program):
        return model, unmasked(model)
    if not isinstance(model, Layer):
        raise ArgumentTypeError(
            f"model should be paddle.nn.Layer or paddle.static.Program, but got {type(model)}"
        )
    params = model.parameters()
    own = {p.block.program: p for p in params if isinstance(p, Variable)}
    return next(iter(own), current_program()), params


def held_by(p: Any) -> Any:
    """What has the value of a parameter or its mask: itself, or a tensor of the global scope."""
    if isinstance(p, Tensor):
        return p
    cell = global_scope().find_var(p.name)
    if cell is None or not cell.is_initialized():
        raise UninitializedError(f"`{p.name}` has no value: run the startup Program first")
    return cell.get_tensor()


def fill(target: Any, value: Array) -> None:
    """Give a Tensor or a tensor of a scope a value."""
    if isinstance(target, Tensor):
        target.set_value(value)
    else:
        target.set(value, None)


def unmasked(program: Program) -> list[Any]:
    """The parameters of a Program without masks."""
    return [p for p in program.all_parameters() if not p.name.endswith("." + MASKED)]


class ASPHelper:
    """The same functions as one class, as older code calls them; a `place` has no effect."""

    MASK_APPENDDED_NAME, PADDLE_WEIGHT_SUFFIX = MASKED, "w_"

    set_excluded_layers = staticmethod(set_excluded_layers)
    reset_excluded_layers = staticmethod(reset_excluded_layers)
    decorate = staticmethod(decorate)
    _is_supported_layer = staticmethod(is_supported)
    _get_not_ASP_relevant_vars = staticmethod(unmasked)
    _get_program_asp_info = staticmethod(sparsity_of)

    @staticmethod
    def _get_mask_name(param_name: str) -> str:
        return f"{param_name}.{MASKED}"

    @staticmethod
    def prune_model_by_program(
        place: Any,
        main_program: Program | None = None,
        n: int = 2,
        m: int = 4,
        mask_algo: MaskAlgo = MaskAlgo.MASK_1D,
        with_mask: bool = True,
    ) -> dict[str, Array]:
        """As `prune_model` of a Program; None is the default main one."""
        program = main_program or current_program()
        return pruned(*parameters_of(program), n, m, mask_algo, with_mask)

    @staticmethod
    def prune_model_by_layer(
        place: Any,
        layer: Layer,
        n: int = 2,
        m: int = 4,
        mask_algo: MaskAlgo = MaskAlgo.MASK_1D,
        with_mask: bool = True,
    ) -> dict[str, Array]:
        """As `prune_model` of a Layer."""
        return pruned(*parameters_of(layer), n, m, mask_algo, with_mask)
