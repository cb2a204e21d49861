"""Gradients that make values of the forward pass again, instead of keeping them."""

from typing import Any

from scull.autograd.recompute import checkpoint_names, recompute
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.optimizer.optimizer import Optimizer


class RecomputeOptimizer(Optimizer):
    """Lets an optimizer of a Program keep, of the forward pass, its checkpoints alone.

    What lies between two checkpoints is computed again when gradients need it: less memory, more
    time, the same numbers.

    Args:
        optimizer (Optimizer): what updates.

    Raises:
        UnsupportedError: in eager mode.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2, 3])
        ...     hidden = paddle.static.nn.fc(paddle.tanh(paddle.static.nn.fc(x, 4)), 4)
        ...     loss = paddle.mean(paddle.tanh(hidden))
        ...     inner = paddle.optimizer.SGD(0.1)
        ...     optimizer = paddle.incubate.optimizer.RecomputeOptimizer(inner)
        ...     optimizer._set_checkpoints([hidden])
        ...     _ = optimizer.minimize(loss)
        >>> sum(o.type == "tanh" for o in main.global_block().ops)
        3
        >>> paddle.disable_static()
    """

    def __init__(self, optimizer: Any) -> None:
        if in_dynamic_mode():
            raise UnsupportedError("In dygraph, don't support RecomputeOptimizer.")
        self._optimizer, self._checkpoints = optimizer, None
        super().__init__(optimizer._learning_rate, [])

    def _set_checkpoints(self, checkpoints: Any) -> None:
        """Say what is kept.

        Args:
            checkpoints (list[Variable | str]): results of the forward pass.
        """
        checkpoint_names(checkpoints)
        self._checkpoints = checkpoints

    def load(self, state_dict: Any) -> None:
        """Refuse, as Paddle does."""
        raise UnsupportedError("load function is not supported by Recompute Optimizer for now")

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[Any]:
        """Pairs (parameter, gradient) of `loss`."""
        if self._checkpoints is None:
            raise ArgumentError("You should call _set_checkpoints first")
        pairs = self._optimizer.backward(
            loss, startup_program, parameter_list, no_grad_set, callbacks
        )
        recompute(loss.block, self._checkpoints)
        return list(pairs)

    def apply_gradients(self, params_grads: list[Any]) -> list[Any]:
        """Append clipping, decay and updates."""
        return list(self._optimizer.apply_gradients(params_grads))

    def apply_optimize(self, loss: Any, startup_program: Any, params_grads: list[Any]) -> list[Any]:
        """The same, to the Program of `loss`."""
        return list(self._optimizer._apply_optimize(loss, startup_program, params_grads))

    _apply_optimize = apply_optimize
