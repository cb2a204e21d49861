"""Updates by the gradients of several steps at once."""

from typing import Any

from scull.core.dtype import int32
from scull.core.meta import Meta
from scull.core.session import unique_name
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import program_guard
from scull.ir.program import startup_program as default_startup
from scull.ir.variable import Variable
from scull.optimizer.optimizer import Optimizer
from scull.optimizer.static_update import OPTIMIZE, persistent
from scull.static.nn import cond

MERGED = "@GRAD@GradientMerge"


class GradientMergeOptimizer(Optimizer):
    """Lets an optimizer of a Program update every `k_steps` runs, by the sum of their gradients.

    Args:
        inner_optimizer (Optimizer): what updates.
        k_steps (int): how many runs there are between updates.
        avg (bool): by the mean of the gradients instead.

    Raises:
        UnsupportedError: in eager mode.
        ArgumentError: `k_steps` is no positive number, or there is no optimizer.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([1], "float32", name="w")
        ...     inner = paddle.optimizer.SGD(0.5)
        ...     optimizer = paddle.incubate.optimizer.GradientMergeOptimizer(inner, k_steps=2)
        ...     _ = optimizer.minimize(paddle.sum(w))
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> values = [exe.run(main, fetch_list=[w])[0].item() for _ in range(3)]
        >>> round(values[0] - values[1], 6), values[1] - values[2]
        (0.5, 0.0)
        >>> paddle.disable_static()
    """

    def __init__(self, inner_optimizer: Any, k_steps: int = 1, avg: bool = True) -> None:
        if in_dynamic_mode():
            raise UnsupportedError(
                "In dygraph, we don't support GradientMergeOptimizer. You can do Gradient merge by "
                "yourself with k-times forward + backward, and one-time optimizer.minimize()"
            )
        if not isinstance(inner_optimizer, Optimizer):
            raise ArgumentError("inner optimizer can not be None")
        if not isinstance(k_steps, int) or k_steps < 1:
            raise ArgumentError("k_steps should be a positive integer")
        super().__init__(inner_optimizer._learning_rate, [])
        self.inner_optimizer, self.k_steps, self.avg = inner_optimizer, k_steps, avg

    def backward(self, loss: Any, *arguments: Any, **options: Any) -> list[Any]:
        """Pairs (parameter, gradient) of `loss`."""
        return list(self.inner_optimizer.backward(loss, *arguments, **options))

    def apply_gradients(self, params_grads: list[Any]) -> list[Any]:
        """Append what merges gradients and updates when it is time."""
        pairs = [pair for pair in params_grads if pair[1] is not None]
        if not pairs:
            return []
        block = pairs[0][0].block.program.global_block()
        with block.program.serving(OPTIMIZE):
            due = self.counted(block)
            merged = [(p, self.added(block, p, g)) for p, g in pairs]
            cond(due, lambda: self.update(merged))
        return [o for o in block.ops if o.type == "conditional_block"][-1:]

    def _apply_optimize(self, loss: Any, startup: Any, params_grads: list[Any]) -> list[Any]:
        with program_guard(loss.block.program, startup or default_startup()):
            return self.apply_gradients(params_grads)

    apply_optimize = _apply_optimize

    def counted(self, block: Any) -> Variable:
        """Append the count of runs; whether it is time."""
        steps, zero, step = (
            persistent(f"gradient_merge_{name}", Meta((1,), int32), value, stop_gradient=True)
            for name, value in (("k", self.k_steps), ("zero", 0), ("step", 0))
        )
        due = block.create_var(unique_name("gradient_merge_cond"), shape=[1], dtype="bool")
        block.append_op("increment", {"X": [step]}, {"Out": [step]}, {"step": 1.0})
        block.append_op("elementwise_mod", {"X": [step], "Y": [steps]}, {"Out": [step]})
        block.append_op("equal", {"X": [step], "Y": [zero]}, {"Out": [due]})
        return due

    def added(self, block: Any, param: Any, gradient: Any) -> Variable:
        """Append a gradient to the sum of those before; that sum."""
        total = persistent(param.name + MERGED, param.meta, 0.0, stop_gradient=True)
        operands = {"X": [total], "Y": [gradient]}
        block.append_op("elementwise_add", operands, {"Out": [total]}, {"axis": -1})
        return total

    def update(self, merged: list[Any]) -> None:
        """Append updates by the sums, which are zeros afterwards."""
        block = merged[0][0].block.program.current_block()
        for _, total in merged if self.avg else ():
            block.append_op(
                "scale", {"X": [total]}, {"Out": [total]}, {"scale": 1.0 / self.k_steps}
            )
        self.inner_optimizer.apply_gradients(merged)
        for _, total in merged:
            attrs = {"shape": total.shape, "dtype": total.dtype, "value": 0.0}
            block.append_op("fill_constant", {}, {"Out": [total]}, attrs)
