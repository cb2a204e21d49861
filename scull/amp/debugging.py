"""Looking at the numbers a network makes: NaN and infinity, extremes, element types."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from typing import Any

import numpy as np

from scull.autograd.trace import trace
from scull.core import session
from scull.core.absent import absent
from scull.core.around import Surrounding, release, surround
from scull.core.check import ABORT, ALL, OVERFLOW, REPORT, Choice
from scull.core.op import Op
from scull.core.tensor import Tensor, Value
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.flags import PADDLE
from scull.framework.random import seed
from scull.framework.setting import set_flags
from scull.ir.calls import Counts, count, table
from scull.ir.mode import in_dynamic_mode
from scull.ops.effect import check_numerics as checked


class DebugMode(Enum):
    """What a check does with NaN and infinity, and of which results it reports.

    CHECK_NAN_INF_AND_ABORT raises, CHECK_NAN_INF prints, CHECK_ALL_FOR_OVERFLOW also prints results
    in float32 beyond the range of float16, CHECK_ALL prints every result.
    """

    CHECK_NAN_INF_AND_ABORT = ABORT
    CHECK_NAN_INF = REPORT
    CHECK_ALL_FOR_OVERFLOW = OVERFLOW
    CHECK_ALL = ALL


def names(given: Any, parameter: str) -> frozenset[str]:
    """The names of operators in a list."""
    if not isinstance(given, list | tuple | None):
        raise ArgumentError(f"{parameter} must be list or tuple, not {type(given).__name__}")
    return frozenset(given or ())


class TensorCheckerConfig:
    """What `enable_tensor_checker` checks.

    Args:
        enable (bool): whether it checks at all; generators of random numbers begin anew then, with
            the seed of `paddle.seed`.
        debug_mode (DebugMode): what is reported.
        output_dir (str, optional): the folder in which lines are written, else they are printed.
        checked_op_list (list | tuple, optional): operators to check, by name; all when None.
        skipped_op_list (list | tuple, optional): operators not to check.
        debug_step (list | tuple, optional): the first step that is checked and the one after the
            last; a step is a call of `enable_tensor_checker`.
        stack_height_limit (int): kept for Paddle's signature; errors name the user's line.

    Examples:
        >>> import scull as paddle
        >>> debugging, _ = paddle.amp.debugging, paddle.seed(123)
        >>> config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_NAN_INF)
        AMP Debugging TensorCheckerConfig: seed  123
        AMP Debugging TensorCheckerConfig: FLAGS_cpu_deterministic is  True
        >>> debugging.enable_tensor_checker(config)
        >>> y = paddle.log(paddle.to_tensor([1.0, 0.0]))  # doctest: +ELLIPSIS
        [PRECISION] [ERROR] in [device=cpu, op=log, tensor=, dtype=fp32], numel=2, num_nan=0, ...
        >>> debugging.disable_tensor_checker()
    """

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Any = None,
        skipped_op_list: Any = None,
        debug_step: Any = None,
        stack_height_limit: int = 1,
    ) -> None:
        self.enable, self.debug_mode, self.output_dir = enable, debug_mode, output_dir
        self.checked_op_list, self.skipped_op_list = checked_op_list, skipped_op_list
        self.debug_step, self.stack_height_limit = debug_step, stack_height_limit
        self.start_step: int | None = None
        self.end_step: int | None = None
        self.initial_seed = session.generator().initial_seed()
        self.seed = self.initial_seed if self.initial_seed < 2**32 else 123  # NumPy takes no more
        if not isinstance(debug_mode, DebugMode):
            raise ArgumentTypeError(f"debug_mode is a DebugMode, not {debug_mode!r}")
        if debug_step is not None:
            self.start_step, self.end_step = steps(debug_step)
        checked = names(checked_op_list, "checked_op_list")
        skipped = names(skipped_op_list, "skipped_op_list")
        self.choice = Choice(checked, skipped, output_dir or "")
        if enable:
            self.settle()

    def settle(self) -> None:
        """Let a run be repeatable: seed what draws numbers."""
        seed(self.seed)
        np.random.seed(self.seed)
        random.seed(self.seed)
        set_flags({"FLAGS_cpu_deterministic": True})
        print("AMP Debugging TensorCheckerConfig: seed ", self.seed)
        print("AMP Debugging TensorCheckerConfig: FLAGS_cpu_deterministic is ", True)

    def update_and_check_step_id(self) -> bool:
        """Count a step; whether it is to be checked."""
        if not self.enable or self.start_step is None or self.end_step is None:
            return bool(self.enable)
        step = TensorCheckerConfig.current_step_id
        if step < self.end_step:
            TensorCheckerConfig.current_step_id += 1
        return self.start_step <= step < self.end_step

    def start_check_nan_inf(self) -> None:
        """Check from now on."""
        if self.enable:
            session.put("checked", self.choice)
            level = self.debug_mode.value
            set_flags({"FLAGS_check_nan_inf_level": level, "FLAGS_check_nan_inf": True})

    def stop_check_nan_inf(self) -> None:
        """Check no more."""
        session.put("checked", None)
        set_flags({"FLAGS_check_nan_inf": False})


def steps(given: Any) -> tuple[int, int]:
    """The first step and the one after the last."""
    if not isinstance(given, list | tuple):
        raise ArgumentError(f"debug_step must be list or tuple, not {type(given).__name__}")
    if len(given) != 2 or given[1] <= given[0]:
        raise ArgumentError(f"debug_step is the first step and a later one, not {list(given)}")
    return max(int(given[0]), 0), int(given[1])


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Check the results of all operators from now on, of gradients and optimizers too.

    Args:
        checker_config (TensorCheckerConfig): what is checked; outside its steps nothing is.
    """
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Check no more."""
    session.put("checked", None)
    set_flags({"FLAGS_check_nan_inf": False})


def check_numerics(
    tensor: Any,
    op_type: str,
    var_name: str,
    debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
) -> Any:
    """Look at the numbers of one tensor.

    Args:
        tensor (Tensor): floating-point numbers of any shape.
        op_type (str): what reports call the operator that made it.
        var_name (str): what they call the tensor.
        debug_mode (DebugMode): what is reported.

    Returns:
        tuple: the numbers of NaN, of infinities and of zeros, int64 of shape [3]; the largest,
        the least and the mean, float32 of shape [3].

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 0.0, 5.0])
        >>> counts, values = paddle.amp.debugging.check_numerics(x, "mine", "x")
        >>> counts.tolist(), values.tolist()
        ([0, 0, 1], [5.0, 0.0, 2.0])
    """
    return checked(tensor, op_type=op_type, var_name=var_name, check_nan_inf_level=debug_mode.value)


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for `forward` of a Layer: what it computes is checked, and NaN raises.

    Args:
        func (callable): takes the layer and a tensor first.

    Examples:
        >>> import scull as paddle
        >>> class Root(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return paddle.sqrt(x)
        >>> Root()(paddle.to_tensor([4.0])).tolist()
        [2.0]
    """

    @wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise RunError("No elements found in args.")
        if not isinstance(args[0], Tensor):
            raise RunError("First input of this layer must be tensor.")
        before = PADDLE["FLAGS_check_nan_inf"]
        set_flags({"FLAGS_check_nan_inf": True})
        try:
            return func(self, *args, **kwargs)
        finally:
            set_flags({"FLAGS_check_nan_inf": before})

    return wrapper


# ---- how often operators ran in which element type ----


class Within(threading.local):
    """How many operators of this thread are being applied, one within the other."""

    depth = 0


def parts(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Iterator[tuple[Op, Any]]:
    """The operators that stand in a Program for one of eager mode, each with its operands."""
    if not op.inline:
        yield op, inputs
        return
    metas = tuple(x.meta if isinstance(x, Tensor | Value) else x for x in inputs)
    for part in trace(op, metas, attrs).applied:
        yield from parts(part.op, part.inputs, part.attrs)


class Calls:
    """The calls of operators by name and element type."""

    def __init__(self) -> None:
        self.found: Counts = {}
        self.within = Within()
        self.surrounding = Surrounding(self.apply)

    def apply(self, apply: Any, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Apply an operator and count it, unless it is part of another."""
        self.within.depth += 1
        try:
            results = apply(op, inputs, attrs)
        finally:
            self.within.depth -= 1
        if not self.within.depth:
            for part, operands in parts(op, inputs, attrs):
                each = (
                    operands if any(isinstance(x, Tensor | Value) for x in operands) else (results,)
                )
                kind = next((x.dtype.name for x in each if isinstance(x, Tensor | Value)), "")
                count(self.found, part.type or part.name, kind)
        return results


def enable_operator_stats_collection() -> None:
    """Count from now on how often each operator of eager mode runs in which element type."""
    if not in_dynamic_mode():
        raise RunError("operators are counted in eager mode; call paddle.disable_static() first")
    stop()
    calls = Calls()
    session.put("calls", calls)
    surround(calls.surrounding)


def stop() -> Any:
    """Count no more; what was counted, if anything was."""
    calls = session.get("calls")
    if calls is not None:
        release(calls.surrounding)
        session.put("calls", None)
    return calls


def disable_operator_stats_collection() -> None:
    """Count no more, and print what was counted."""
    calls = stop()
    if calls is not None:
        print(table(calls.found))


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Count the operators of the block by element type and print the table at its end.

    Examples:
        >>> import scull as paddle
        >>> with paddle.amp.debugging.collect_operator_stats():  # doctest: +ELLIPSIS
        ...     y = paddle.tanh(paddle.ones([2]))
        <----...
        <BLANKLINE>
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


__getattr__ = absent(
    __name__,
    {"what was found in tensors is not written into tables of Excel": "compare_accuracy"},
)
__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]
