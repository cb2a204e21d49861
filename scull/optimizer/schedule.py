"""Learning rates by functions: a scheduler in eager mode, operators of a Program in static mode."""

import math
from typing import Any

from scull.core.dtype import int64
from scull.core.meta import Meta
from scull.core.op import op_of
from scull.errors import ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program, startup_program
from scull.ir.variable import Variable
from scull.optimizer.lr.annealing import CosineAnnealingDecay
from scull.optimizer.lr.decay import (
    ExponentialDecay,
    InverseTimeDecay,
    NaturalExpDecay,
    NoamDecay,
    PolynomialDecay,
)
from scull.optimizer.lr.scheduler import LRScheduler
from scull.optimizer.lr.stage import PiecewiseDecay
from scull.optimizer.lr.warmup import LinearWarmup
from scull.optimizer.static_update import SCHEDULE, persistent
from scull.tensor import cast, ceil, exp, floor, full, minimum, where

COUNTER = "@LR_DECAY_COUNTER@"


def autoincreased_step_counter(
    counter_name: str | None = None, begin: int = 1, step: int = 1
) -> Variable:
    """A variable of a Program that is larger by `step` in every run.

    Args:
        counter_name (str, optional): its name, "@STEP_COUNTER@" when None; two calls with one name
            give the same counter.
        begin (int): one more than what it begins with: its value in the first run, if `step` is 1.
        step (int): by how much it grows.

    Returns:
        Variable: int64, of shape [1].

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     count = paddle.optimizer.lr.autoincreased_step_counter(begin=3)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> [exe.run(main, fetch_list=[count])[0].item() for _ in range(3)]
        [3, 4, 5]
        >>> paddle.disable_static()
    """
    name, block = counter_name or "@STEP_COUNTER@", main_program().global_block()
    if not block.has_var(name):
        counter = persistent(name, Meta((1,), int64), begin - 1, stop_gradient=True)
        startup_program().global_block().ops[-1].set("force_cpu", True)
        grown = block.made("increment", {"X": [counter]}, {"Out": [counter]}, {"step": float(step)})
        block.insert(0, grown)
    return block.var(name)


def counted(begin: int = 0) -> Any:
    """Which run of the Program it is, as a float32; the first is number `begin`."""
    block = main_program().global_block()
    if not block.has_var(COUNTER):
        autoincreased_step_counter(COUNTER, begin)
        block.ops[0].role = SCHEDULE
    return cast(block.var(COUNTER), "float32")


def noam_decay(d_model: int, warmup_steps: int, learning_rate: float = 1.0) -> Any:
    """A linear rise over `warmup_steps`, then a fall with the root of the step; see `NoamDecay`.

    Args:
        d_model (int): the width of the model.
        warmup_steps (int): how many steps the rise takes.
        learning_rate (float): the factor in front.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     rate = paddle.optimizer.lr.noam_decay(d_model=100, warmup_steps=4)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> [round(exe.run(main, fetch_list=[rate])[0].item(), 4) for _ in range(5)]
        [0.0125, 0.025, 0.0375, 0.05, 0.0447]
        >>> paddle.disable_static()
    """
    if in_dynamic_mode():
        return NoamDecay(d_model, warmup_steps, learning_rate)
    with main_program().serving(SCHEDULE):
        step = counted(1)
        falling = step**-0.5
        return learning_rate * d_model**-0.5 * minimum(falling, warmup_steps**-1.5 * step)


def exponential_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """The rate times `decay_rate` every `decay_steps` steps; see `ExponentialDecay`.

    Args:
        learning_rate (float): the rate of the first step.
        decay_steps (int): how many steps the factor is for.
        decay_rate (float): the factor.
        staircase (bool): whether the rate falls only at whole multiples of `decay_steps`.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return ExponentialDecay(learning_rate, decay_rate)
    with main_program().serving(SCHEDULE):
        return learning_rate * decay_rate ** passed(decay_steps, staircase)


def natural_exp_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """The rate times `exp(-decay_rate)` every `decay_steps` steps; see `NaturalExpDecay`.

    Args:
        learning_rate (float): the rate of the first step.
        decay_steps (int): how many steps the factor is for.
        decay_rate (float): how fast it falls.
        staircase (bool): whether the rate falls only at whole multiples of `decay_steps`.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return NaturalExpDecay(learning_rate, decay_rate)
    with main_program().serving(SCHEDULE):
        return learning_rate * exp(-decay_rate * passed(decay_steps, staircase))


def inverse_time_decay(
    learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Any:
    """The rate over 1 plus `decay_rate` for every `decay_steps` steps; see `InverseTimeDecay`.

    Args:
        learning_rate (float): the rate of the first step.
        decay_steps (int): how many steps `decay_rate` is for.
        decay_rate (float): how fast it falls.
        staircase (bool): whether the rate falls only at whole multiples of `decay_steps`.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return InverseTimeDecay(learning_rate, decay_rate)
    with main_program().serving(SCHEDULE):
        return learning_rate / (1 + decay_rate * passed(decay_steps, staircase))


def passed(decay_steps: int, staircase: bool) -> Any:
    """How many times `decay_steps` went by; whole times only with `staircase`."""
    times = counted() / decay_steps
    return floor(times) if staircase else times


def polynomial_decay(
    learning_rate: float,
    decay_steps: int,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Any:
    """A fall to `end_learning_rate` over `decay_steps` steps; see `PolynomialDecay`.

    Args:
        learning_rate (float): the rate of the first step.
        decay_steps (int): how many steps the fall takes.
        end_learning_rate (float): the rate at its end.
        power (float): of the polynomial.
        cycle (bool): whether it begins anew, over a longer time, when it is at its end.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)
    with main_program().serving(SCHEDULE):
        step = counted()
        if cycle:
            times = ceil(step / decay_steps)
            share = step / (decay_steps * where(step == 0.0, full([1], 1.0, "float32"), times))
        else:
            share = minimum(step, full([1], float(decay_steps), "float32")) / decay_steps
        return (learning_rate - end_learning_rate) * (1 - share) ** power + end_learning_rate


def piecewise_decay(boundaries: list[int], values: list[float]) -> Any:
    """One rate up to each of some steps and one after them; see `PiecewiseDecay`.

    Args:
        boundaries (list): the first steps of the second and later rates.
        values (list): the rates, one more than `boundaries`.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return PiecewiseDecay(boundaries, values)
    with main_program().serving(SCHEDULE):
        step, rate = counted(), full([1], values[-1], "float32")
        for boundary, value in reversed(list(zip(boundaries, values, strict=False))):
            rate = where(step < float(boundary), full([1], value, "float32"), rate)
        return rate


def cosine_decay(learning_rate: float, step_each_epoch: int, epochs: int) -> Any:
    """A fall along a cosine, a step of it an epoch; see `CosineAnnealingDecay`.

    Args:
        learning_rate (float): the rate of the first epoch.
        step_each_epoch (int): how many steps an epoch has.
        epochs (int): how many epochs the fall takes.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if in_dynamic_mode():
        return CosineAnnealingDecay(learning_rate, epochs)
    with main_program().serving(SCHEDULE):
        epoch = floor(counted() / step_each_epoch)
        return learning_rate * 0.5 * (op_of("cos").call(epoch * math.pi / epochs) + 1)


def linear_lr_warmup(learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float) -> Any:
    """A linear rise over `warmup_steps`, then another rate; see `LinearWarmup`.

    Args:
        learning_rate (float | LRScheduler | Variable): the rate after the rise.
        warmup_steps (int): how many steps the rise takes.
        start_lr, end_lr (float): the rates at its ends.

    Returns:
        LRScheduler | Variable: a scheduler in eager mode, the rate of a run in static mode.
    """
    if not isinstance(learning_rate, float | int | LRScheduler | Variable):
        raise ArgumentTypeError(
            "the type of learning_rate should be [int, float or LRScheduler], the current type is "
            f"{learning_rate}"
        )
    if in_dynamic_mode():
        return LinearWarmup(learning_rate, warmup_steps, start_lr, end_lr)
    with main_program().serving(SCHEDULE):
        step = counted()
        rising = start_lr + (end_lr - start_lr) * (step / float(warmup_steps))
        if not isinstance(learning_rate, Variable):
            learning_rate = full([1], float(learning_rate), "float32")
        return where(step < float(warmup_steps), rising, learning_rate)
