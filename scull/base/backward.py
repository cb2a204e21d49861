"""Gradients of Programs under their older names."""

from typing import Any

from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.ir.block import Block
from scull.ir.program import Program, program_guard
from scull.ir.variable import ParameterVariable
from scull.static.backward import (
    _append_grad_suffix_,
    _as_list,
    append_backward,
    calc_gradient,
    gradients,
)


def _infer_var_data_type_shape_(grad_var_name: str, block: Block) -> None:
    """Give a gradient the shape and element type of what it is the gradient of."""
    made, of = block.var(grad_var_name), block.find(grad_var_name.removesuffix("@GRAD"))
    made.meta = Meta(made.meta.shape, float32) if of is None else of.meta


def gradients_with_optimizer(
    program: Program, optimizer: Any, inputs: Any = None, outputs: Any = None
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Differentiate a Program and update those of its inputs that are parameters.

    Args:
        program (Program): it gets operators for gradients and updates.
        optimizer (Optimizer): what updates.
        inputs (Variable | list, optional): by what is differentiated; what the operators read and
            none computes when None.
        outputs (Variable | list, optional): what is differentiated; what the operators compute and
            none reads when None.

    Returns:
        tuple: the operators that update, and pairs (parameter, gradient).

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4])
        ...     y = paddle.static.nn.fc(x, 2).mean()
        ...     updates, pairs = gradients_with_optimizer(main, paddle.optimizer.SGD(0.1))
        >>> [update.type for update in updates]
        ['sgd', 'sgd']
        >>> paddle.disable_static()
    """
    operators = program.global_block().ops
    read = dict.fromkeys(v for o in operators for v in o.operands())
    made = dict.fromkeys(v for o in operators for v in o.results())
    sources = [v for v in read if v not in made] if inputs is None else _as_list(inputs)
    sources = [v for v in sources if not v.stop_gradient]
    targets = [v for v in made if v not in read] if outputs is None else _as_list(outputs)
    with program_guard(program):
        found = zip(sources, gradients(targets, sources), strict=True)
        pairs = [(v, d) for v, d in found if isinstance(v, ParameterVariable) and d is not None]
        updates = optimizer.apply_gradients(pairs)
    return updates, sorted(pairs, key=lambda pair: pair[0].name)


__all__ = [
    "_append_grad_suffix_",
    "_as_list",
    "append_backward",
    "calc_gradient",
    "gradients",
    "gradients_with_optimizer",
]
