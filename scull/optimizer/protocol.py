"""What optimizers of users override and call, by Paddle's names."""

from typing import Any

import numpy as np

from scull.core.dtype import dtype_of
from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.optimizer.static_update import append_update, global_rate, parameter_rate

KNOWN = {"params", "learning_rate", "weight_decay", "grad_clip"}  # settings of every group


class UpdateProtocol:
    """The steps of an update: a subclass of an optimizer may have its own."""

    _accumulators: dict[str, dict[str, Any]]
    _get_accumulator: Any
    _param_groups: list[dict[str, Any]]
    called_state: Any
    get_lr: Any
    group_of: Any
    keeps_master: Any
    master: Any
    operator: Any
    rate_multiplier: Any
    run_update: Any
    state: Any
    states: tuple[str, ...]

    def _create_accumulators(self, block: Any, parameters: Any) -> None:
        """Make the states of all parameters to be updated that have none yet."""
        for p in parameters:
            for name in self.states:
                self.state(name, p)

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> Any:
        """Update one parameter, or append the operator that does."""
        if self.operator is None:
            raise NotImplementedError(
                f"{type(self).__name__} does not say how to update: use an optimizer such as "
                "Adam, or override `_append_optimize_op`"
            )
        pair = param_and_grad
        param, grad = self._update_param_group(pair) if isinstance(pair, dict) else pair
        rate = self._create_param_lr((param, grad))
        if isinstance(param, Tensor):
            return self.run_update(param, grad.array, rate.array)
        return append_update(self, current(), param, grad, rate)

    def _finish_update(self, block: Any, parameters_and_grads: Any) -> None:
        """What is left to do when all are updated."""

    def _update_param_group(self, parameters: dict[str, Any]) -> Any:
        """What is to be updated of a group; a subclass takes over settings of its own here."""
        return parameters["params"]

    def with_settings(self, pair: Any) -> Any:
        """A parameter and its gradient, with its group where a subclass alone knows settings."""
        own = {n for g in self._param_groups for n in g} - KNOWN
        return {**self.group_of(pair[0]), "params": pair} if own and says_how(self) else pair

    def _create_param_lr(self, param_and_grad: Any) -> Any:
        """The learning rate of one parameter."""
        param = param_and_grad[0]
        if isinstance(param, Tensor):
            return Tensor(np.array(self.get_lr() * self.rate_multiplier(param), "float32"))
        return parameter_rate(self, current(), param, global_rate(self))

    def _add_accumulator(
        self,
        name: str,
        param: Any,
        dtype: Any = None,
        fill_value: float = 0.0,
        shape: Any = None,
        type: Any = None,
        device: Any = None,
    ) -> Any:
        """A state of one parameter, of the name, the element type, the value and the shape."""
        known = self._accumulators[name].get(param.name)
        if known is not None:
            return known
        dtype = param.dtype if dtype is None else dtype_of(dtype)
        sizes = tuple(param.shape if shape is None else shape)
        return self.called_state(name, param, param, dtype, fill_value, sizes, device or "")

    def _get_accumulator_master(self, name: str, param: Any) -> Any:
        """The state of one parameter, or of its float32 copy where it has one."""
        return self._get_accumulator(name, param)

    def _create_master_weight(self, param: Any) -> Any:
        return self.master(param)

    def _is_dtype_fp16_or_bf16(self, dtype: Any) -> bool:
        return dtype_of(dtype).name in ("float16", "bfloat16")


def update_by(optimizer: UpdateProtocol, block: Any, pairs: list[Any]) -> None:
    """Update each parameter as a subclass says."""
    optimizer._create_accumulators(block, [p for p, _ in pairs])
    for pair in pairs:
        optimizer._append_optimize_op(block, optimizer.with_settings(pair))
    optimizer._finish_update(block, pairs)


def says_how(optimizer: UpdateProtocol) -> bool:
    """Whether a subclass, and no operator alone, says how to update a parameter."""
    own = type(optimizer)._append_optimize_op is not UpdateProtocol._append_optimize_op
    return own or optimizer.operator is None
