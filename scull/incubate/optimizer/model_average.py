"""The average of parameters over the last steps, and a context in which it takes their place."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scull.autograd.version import changed
from scull.core import session
from scull.core.dtype import int64
from scull.core.meta import Meta
from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.executor.executor import Executor
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import Program, main_program, program_guard
from scull.ir.variable import Variable
from scull.ops.average import NAMES, average_accumulates
from scull.optimizer.optimizer import Optimizer, has_gradient
from scull.optimizer.static_update import OPTIMIZE, persistent
from scull.static.moving_average import averaged, known
from scull.tensor import assign, cast


class ModelAverage(Optimizer):
    """Averages parameters over a window of steps: a share of all steps there were.

    In a Program, make it after `minimize`: it then averages at every run.

    Args:
        average_window_rate (float): the length of the window, as a share of all steps.
        parameters (list, optional): what to average; needed in eager mode. All of the default
            main Program in static mode.
        min_average_window (int): the shortest window.
        max_average_window (int): the longest window.
        name (str, optional): for printing.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> average = paddle.incubate.ModelAverage(0.15, layer.parameters(), 2, 10)
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> average.step()
        >>> with average.apply():
        ...     out = layer(paddle.ones([1, 2]))
    """

    states = NAMES
    type = "average_accumulates"

    def __init__(
        self,
        average_window_rate: float,
        parameters: Any = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        super().__init__(0.0, parameters, name=name)
        self.windows = {
            "average_window": float(average_window_rate),
            "min_average_window": int(min_average_window),
            "max_average_window": int(max_average_window),
        }
        self.applied: set[str] = set()  # the parameters that are their averages now
        if not in_dynamic_mode():
            self.record(averaged(main_program()))

    def make_state(self, name: str, param: Any) -> Any:
        """A sum like the parameter, or a number of steps."""
        if not name.endswith(("accumulates", "updates")):
            return super().make_state(name, param)
        full = session.unique_name(f"{param.name}_{name}")
        made: Any
        if isinstance(param, Variable):
            made = persistent(full, Meta((1,), int64), 0.0)
        else:
            made = Tensor(np.zeros(1, "int64"))
            made.name, made.persistable = full, True
            held = self._held_states.pop(full, None)
            made.array[...] = 0 if held is None else held
        self._accumulators[name][param.name] = made
        return made

    def step(self) -> None:
        """Take the parameters that have a gradient into the sums."""
        for p in self.parameters():
            if has_gradient(p):
                states = tuple([self.state(n, p).array for n in NAMES])
                average_accumulates.op.cpu(p.array, *states, out=states, **self.windows)

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """In eager mode one `step`; a Program averages without it."""
        if in_dynamic_mode():
            self.step()
        return [], []

    def record(self, params: list[Any]) -> None:
        """Append the sums, and make the Programs that exchange parameters and averages."""
        block = main_program().global_block()
        with main_program().serving(OPTIMIZE):
            for p in params:
                states = {n: self.state(n, p) for n in NAMES}
                inputs = {"in_" + n: v for n, v in states.items()}
                outputs = {"out_" + n: v for n, v in states.items()}
                block.append_op(self.type, {"param": p, **inputs}, outputs, self.windows)
        self.apply_program, self.restore_program = Program(), Program()
        with program_guard(self.apply_program, Program()):
            for p in params:
                self.exchange(p)
        with program_guard(self.restore_program, Program()):
            for p in params:
                assign(known(restore_name(p), p), output=known(p.name, p))

    def exchange(self, p: Variable) -> None:
        """Record what keeps a parameter and puts its average in its place."""
        param = known(p.name, p)
        assign(param, output=known(restore_name(p), p))
        own = {n: self._accumulators[n][p.name] for n in NAMES}
        first, second, third, steps, before, _ = [known(v.name, v) for v in own.values()]
        assign((first + second + third) / cast(steps + before, p.dtype), output=param)

    @contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """The parameters are their averages within the block.

        Args:
            executor (Executor, optional): what moves the values of a Program.
            need_restore (bool): whether they are themselves again after it.
        """
        if in_dynamic_mode():
            for p in self.parameters():
                if p.name in self._accumulators[NAMES[0]]:
                    self.state("restore", p).array[...] = p.array
                    self.applied.add(p.name)
                    p.array[...] = self.average(p)
                    changed(p.array, "apply")
        else:
            executing(executor).run(self.apply_program)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def average(self, p: Any) -> Any:
        """The average of one parameter."""
        first, second, third, steps, before, _ = [self.state(n, p).array for n in NAMES]
        total = first + second + third
        return total / (steps + before).astype(total.dtype)

    def restore(self, executor: Any = None) -> None:
        """Give the parameters back the values they had before `apply`.

        Args:
            executor (Executor, optional): what moves the values of a Program.
        """
        if not in_dynamic_mode():
            executing(executor).run(self.restore_program)
            return
        for p in self.parameters():
            if p.name in self.applied:
                p.array[...] = self.state("restore", p).array
                changed(p.array, "restore")
        self.applied.clear()


def restore_name(p: Any) -> str:
    """Where the value of a parameter waits."""
    return f"{p.name}_restore_0"


def executing(executor: Any) -> Executor:
    """The executor a Program needs."""
    if executor is None:
        raise ArgumentError("Executor should not be None in static graph mode.")
    return executor  # type: ignore[no-any-return]
