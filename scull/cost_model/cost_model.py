"""Times of the operators of a Program, of one run that the profiler records."""

from typing import Any, NoReturn

import numpy as np

from scull.errors import ArgumentError, RangeError, UnsupportedError
from scull.executor.executor import Executor
from scull.flags import flags
from scull.ir.program import Program, program_guard
from scull.optimizer import SGD
from scull.profiler import Profiler, TracerEventType
from scull.runtime.scope import Scope
from scull.static import data, nn, scope_guard
from scull.tensor import mean


class CostData:
    """What was measured.

    Args:
        whole (float): the milliseconds of a run.
        times (list[float]): the milliseconds of each operator of the first block.
    """

    def __init__(self, whole: float, times: list[float]) -> None:
        self.whole, self.times = whole, times

    def get_whole_time_ms(self) -> float:
        """The milliseconds of a run."""
        return self.whole

    def get_op_time_ms(self, op_id: int) -> float:
        """The milliseconds of one operator.

        Args:
            op_id (int): its number in the first block.

        Raises:
            RangeError: there is no such operator.
        """
        if not 0 <= op_id < len(self.times):
            raise RangeError(f"the operators are 0 to {len(self.times) - 1}, not {op_id}")
        return self.times[op_id]


class CostModel:
    """Measures the operators of Programs.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> model = paddle.cost_model.CostModel()
        >>> startup, main = model.build_program()
        >>> found = model.profile_measure(startup, main, "cpu")
        >>> found.get_whole_time_ms() > found.get_op_time_ms(0) > 0
        True
        >>> paddle.disable_static()
    """

    def build_program(self) -> tuple[Program, Program]:
        """The startup and the main Program of a small network that learns.

        Returns:
            tuple[Program, Program]: the startup Program first.
        """
        main, startup = Program(), Program()
        with program_guard(main, startup):
            hidden = nn.fc(data("X", [-1, 1], "float32"), 10)
            SGD(0.01).minimize(mean(hidden))
        return startup, main

    def profile_measure(
        self,
        startup_program: Program,
        main_program: Program,
        device: str = "gpu",
        fetch_cost_list: Any = ("time",),
    ) -> CostData:
        """The times of one run of a Program on the CPU, by instructions and not by machine code.

        What is fed is ones, and sizes that are not known are 1.

        Args:
            startup_program (Program): runs first.
            main_program (Program): what is measured, in its second run.
            device (str): "cpu".
            fetch_cost_list (list[str]): "time"; nothing else is measured.

        Returns:
            CostData: times in milliseconds.

        Raises:
            ArgumentError: `device` is not "cpu", since there is no other.
        """
        if device != "cpu":
            raise ArgumentError(f"there is no {device!r} in scull: operators are measured on 'cpu'")
        executor = Executor()
        with scope_guard(Scope()), flags(COMPILE="off"):
            executor.run(startup_program)
            executor.run(main_program, feed=ones_for(main_program))
            with Profiler(on_trace_ready=lambda _: None) as profiler:
                executor.run(main_program, feed=ones_for(main_program))
        [*trees] = profiler.profiler_result.trees.values()
        spans = [n for t in trees for n in t.walk() if n.type is TracerEventType.Operator]
        whole = sum(s.end_ns - s.start_ns for s in spans)
        return CostData(whole / 1e6, by_operator(main_program, spans))

    def static_cost_data(self) -> NoReturn:
        """Refuse: the times that come with Paddle are those of its own operators on a GPU."""
        raise UnsupportedError(
            "there is no table of times of operators: measure a Program by `profile_measure`"
        )

    def get_static_op_time(
        self, op_name: str, forward: bool = True, dtype: str = "float32"
    ) -> NoReturn:
        """Refuse: the times that come with Paddle are those of its own operators on a GPU.

        Args:
            op_name (str): the operator.
            forward (bool): itself, or else its gradient.
            dtype (str): its element type.

        Raises:
            ArgumentError: no operator is named.
            UnsupportedError: always else.
        """
        if op_name is None:
            raise ArgumentError("op_name should not be empty when you want to get static op time")
        self.static_cost_data()


def ones_for(program: Program) -> dict[str, Any]:
    """Ones for what a Program is fed, with sizes of 1 where they are not known."""
    inputs = [v for v in program.global_block().vars.values() if v.is_data]
    return {v.name: np.ones([max(n, 1) for n in v.shape], v.dtype.array) for v in inputs}


def by_operator(program: Program, spans: list[Any]) -> list[float]:
    """The milliseconds of each operator of the first block; 0 for those that did not run."""
    left, times = iter([*spans, None]), []
    span = next(left)
    for o in program.global_block().ops:
        same = span is not None and span.name == o.type
        times.append((span.end_ns - span.start_ns) / 1e6 if same else 0.0)
        span = next(left) if same else span
    return times
