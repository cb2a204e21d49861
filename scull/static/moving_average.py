"""Averages of parameters over training, and a context in which they take the parameters' place."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core import session
from scull.errors import UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import Program, main_program, program_guard
from scull.ir.variable import Variable
from scull.static.scope import create_global_var, name_scope
from scull.tensor import assign, cast, full, minimum

OPTIMIZE = 2


class ExponentialMovingAverage:
    r"""The exponential moving average of every parameter of the default main Program.

    .. math:: average_0 = 0, \quad average_t = decay \cdot average_{t-1} + (1 - decay) \cdot p_t

    What `apply` puts into the parameters is :math:`average_t / (1 - decay^t)`.

    Args:
        decay (float): how much of the average is kept a step.
        thres_steps (Variable, optional): a number of steps, by which the decay is at most
            (1 + steps) / (10 + steps), so that the first steps count less.
        name (str, optional): the first word of the names of the averages.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [1, 2])
        ...     loss = paddle.static.nn.fc(x, 1, weight_attr=paddle.ParamAttr("w")).mean()
        ...     _ = paddle.optimizer.SGD(1.0).minimize(loss)
        ...     averages = paddle.static.ExponentialMovingAverage(0.5)
        ...     averages.update()
        >>> exe, scope = paddle.static.Executor(), paddle.static.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     _ = exe.run(startup)
        ...     scope.var("w").set_value(np.zeros((2, 1), "float32"))
        ...     for _ in range(2):
        ...         _ = exe.run(main, feed={"x": np.ones((1, 2), "float32")})
        ...     with averages.apply(exe):
        ...         print([round(v, 3) for v in scope.var("w").value.ravel().tolist()])
        ...     print(scope.var("w").value.ravel().tolist())
        [-1.667, -1.667]
        [-2.0, -2.0]
        >>> paddle.disable_static()
    """

    def __init__(self, decay: float = 0.999, thres_steps: Any = None, name: str | None = None):
        if in_dynamic_mode():
            raise UnsupportedError("In dygraph, don't support ExponentialMovingAverage.")
        self._decay, self._thres_steps, self._name = decay, thres_steps, name or ""
        self._step = number("@EMA_STEP_COUNTER@", 0.0)
        with name_scope("moving_average"):
            self._decay_var = self.decay_now()
            self._averages = {p: self.average_of(p) for p in averaged(main_program())}
        self.apply_program, self.restore_program = Program(), Program()
        with program_guard(self.apply_program, Program()):
            self.record_apply()
        with program_guard(self.restore_program, Program()):
            for p in self._averages:
                assign(known(kept_name(p), p), output=known(p.name, p))

    def decay_now(self) -> Variable:
        """The decay of a step, in a variable that `apply` reads."""
        held = number(session.unique_name("scheduled_ema_decay_rate"), self._decay)
        if self._thres_steps is not None:
            steps = cast(self._thres_steps, "float32")
            limit = minimum((steps + 1.0) / (steps + 10.0), full([1], self._decay, "float32"))
            with main_program().serving(OPTIMIZE):
                assign(limit, output=held)
        return held

    def average_of(self, param: Variable) -> Variable:
        """The variable of the average of one parameter, 0 at first."""
        name = session.unique_name(f"{self._name}{param.name}_ema")
        made: Variable = create_global_var(param.shape, 0.0, param.dtype, True, name=name)
        return made

    def update(self) -> None:
        """Append what moves the averages a step on; call it after `minimize`."""
        program = main_program()
        with program.serving(OPTIMIZE), name_scope("moving_average"):
            assign(self._step + 1.0, output=self._step)
            for p, average in self._averages.items():
                assign(average * self._decay_var + p * (1.0 - self._decay_var), output=average)

    def record_apply(self) -> None:
        """Record what keeps the parameters and puts the corrected averages in their place."""
        step, decay = (known(v.name, v) for v in (self._step, self._decay_var))
        share = 1.0 - decay**step
        for p, average in self._averages.items():
            param = known(p.name, p)
            assign(param, output=known(kept_name(p), p))
            assign(known(average.name, average) / share, output=param)

    @contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """The parameters are their averages within the block.

        Args:
            executor (Executor): what moves the values.
            need_restore (bool): whether they are themselves again after it.
        """
        executor.run(self.apply_program)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Give the parameters back the values they had before `apply`."""
        executor.run(self.restore_program)


def averaged(program: Program) -> list[Variable]:
    """The parameters that have an average: those trained and not left out."""
    return [p for p in program.all_parameters() if p.do_model_average is not False and p.trainable]


def number(name: str, value: float) -> Variable:
    """A float32 that outlives runs."""
    made: Variable = create_global_var([1], value, "float32", persistable=True, name=name)
    return made


def kept_name(param: Variable) -> str:
    """Where a parameter's value waits."""
    return param.name + ".ema_tmp"


def known(name: str, like: Variable) -> Variable:
    """The lasting variable `name` in the Program recorded now, of the meta of `like`."""
    block = main_program().global_block()
    found: Variable = block.vars.get(name) or block.variable(
        name, like.meta, persistable=True, stop_gradient=True
    )
    return found
