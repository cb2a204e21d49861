"""Optimizers that rewrite the Program they train to bfloat16, without a factor of the loss."""

from typing import Any

from scull.ir.program import Program
from scull.optimizer import Optimizer
from scull.static.amp.bf16.amp_lists import AutoMixedPrecisionListsBF16
from scull.static.amp.bf16.amp_utils import cast_model_to_bf16, rewrite_program_bf16
from scull.static.amp.decorator import OptimizerWithMixedPrecision


class OptimizerWithBfloat16(OptimizerWithMixedPrecision):
    """An optimizer whose `minimize` rewrites a Program to bfloat16; `decorate_bf16` makes it."""

    def __init__(self, optimizer: Optimizer, lists: Any, pure: bool, guard: bool) -> None:
        super().__init__(
            optimizer,
            lists,
            "O2" if pure else "O1",
            "bfloat16",
            use_amp_guard=guard,
            use_promote=False,
            init_loss_scaling=1.0,
            use_dynamic_loss_scaling=False,
        )

    def states(self) -> dict[str, Any]:
        return {}

    def rewritten(self, program: Program, startup: Program | None = None) -> set[str]:
        if self._use_pure_fp16:
            return cast_model_to_bf16(program, startup, self._amp_lists, self._use_fp16_guard)
        rewrite_program_bf16(program, self._amp_lists)
        return set()

    def apply_gradients(self, params_grads: Any) -> list[Any]:
        return list(self._optimizer.apply_gradients(params_grads))


def decorate_bf16(
    optimizer: Optimizer,
    amp_lists: Any = None,
    use_pure_bf16: bool = False,
    use_bf16_guard: bool | None = None,
) -> OptimizerWithBfloat16:
    """An optimizer that trains a Program in bfloat16.

    Args:
        optimizer (Optimizer): what updates.
        amp_lists (AutoMixedPrecisionListsBF16, optional): which operators compute in bfloat16.
        use_pure_bf16 (bool): whether parameters and inputs have bfloat16, too.
        use_bf16_guard (bool, optional): whether only operators made within `bf16_guard` are meant
            then; None: so it is.

    Returns:
        OptimizerWithBfloat16: has `minimize`, `backward`, `apply_gradients` and `amp_init`.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4])
        ...     loss = paddle.mean(paddle.static.nn.fc(x, 2))
        ...     opt = paddle.static.amp.bf16.decorate_bf16(paddle.optimizer.SGD(0.1))
        ...     ops, pairs = opt.minimize(loss)
        >>> main.global_block().var("fc_0.w_0.cast_bf16").dtype
        paddle.bfloat16
        >>> paddle.disable_static()
    """
    lists = amp_lists or AutoMixedPrecisionListsBF16()
    guard = use_pure_bf16 if use_bf16_guard is None else use_bf16_guard
    return OptimizerWithBfloat16(optimizer, lists, use_pure_bf16, guard)
