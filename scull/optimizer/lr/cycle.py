"""Learning rates that rise and fall: once over the whole training, or again and again."""

import math

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class OneCycleLR(LRScheduler):
    """One rise to a large rate and one fall to a tiny one, over the whole training.

    Args:
        max_learning_rate (float): the top.
        total_steps (int): how many steps the training has.
        divide_factor (float, optional): the start is `max_learning_rate / divide_factor`.
        end_learning_rate (float, optional): the end.
        phase_pct (float, optional): which part of the steps is the rise.
        anneal_strategy (str, optional): "cos" or "linear".
        three_phase (bool, optional): after the rise, fall to the start as fast, then to the end.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = OneCycleLR(1.0, total_steps=10, phase_pct=0.5, anneal_strategy="linear")
        >>> rates = []
        >>> for _ in range(10):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates[0], max(rates), round(rates[-1], 6)
        (0.04, 1.0, 0.0001)
    """

    def __init__(
        self,
        max_learning_rate,
        total_steps,
        divide_factor=25.0,
        end_learning_rate=0.0001,
        phase_pct=0.3,
        anneal_strategy="cos",
        three_phase=False,
        last_epoch=-1,
        verbose=False,
    ):
        _check_cycle(max_learning_rate, total_steps, divide_factor, end_learning_rate, phase_pct)
        start, end = max_learning_rate / float(divide_factor), float(end_learning_rate)
        self.total_steps = total_steps
        top, last = phase_pct * total_steps - 1, total_steps - 1
        if three_phase:
            if phase_pct >= 0.5:
                raise ArgumentError("When three_phase is True, 'phase_pct' must be less than 0.5")
            self._step_config = [0, top, 2 * phase_pct * total_steps - 2, last]
            self._lr_config = [start, max_learning_rate, start, end]
        else:
            self._step_config = [0, top, last]
            self._lr_config = [start, max_learning_rate, end]
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                "'anneal_strategy' must by one of 'cos' or 'linear', "
                f"but received {anneal_strategy}"
            )
        self.anneal_func = _along_cosine if anneal_strategy == "cos" else _along_line
        super().__init__(start, last_epoch, verbose)

    def get_lr(self):
        step, ends, rates = self.last_epoch, self._step_config, self._lr_config
        if step > self.total_steps:
            raise ArgumentError(
                f"Tried to step {step} times. "
                f"However the number of total steps is {self.total_steps}"
            )
        phase = next((i for i, end in enumerate(ends[1:-1]) if step <= end), len(ends) - 2)
        part = (step - ends[phase]) / (ends[phase + 1] - ends[phase])
        return self.anneal_func(rates[phase], rates[phase + 1], part)


def _check_cycle(max_learning_rate, total_steps, divide_factor, end_learning_rate, phase_pct):
    rates = {"max_learning_rate": max_learning_rate, "end_learning_rate": end_learning_rate}
    for name, rate in rates.items():
        if not isinstance(rate, float | int):
            raise ArgumentTypeError(f"'{name}' must be 'float' or 'int', but received {type(rate)}")
        if rate < 0:
            raise ArgumentError(f"'{name}' must be a positive integer.")
    if not isinstance(total_steps, int):
        raise ArgumentTypeError(f"'total_step' must be 'int', but received {type(total_steps)}")
    if total_steps <= 0:
        raise ArgumentError("'total_step' must be a positive integer.")
    if not isinstance(phase_pct, float):
        raise ArgumentTypeError(f"'phase_pct' must be 'float', but received {type(phase_pct)}")
    if phase_pct < 0 or phase_pct > 1:
        raise ArgumentError(f"'phase_pct' must be between 0 and 1, but received {phase_pct}")
    if not isinstance(divide_factor, float | int):
        raise ArgumentTypeError(
            f"'divide_factor' must be 'float' or 'int', but received {type(divide_factor)}"
        )


def _along_cosine(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _along_line(start, end, part):
    return (end - start) * part + start


class CyclicLR(LRScheduler):
    """The rate rises in a line to a top and falls in a line again, cycle after cycle.

    Args:
        base_learning_rate (float): the bottom.
        max_learning_rate (float): the top of the first cycle.
        step_size_up (int): how many steps a rise takes.
        step_size_down (int, optional): how many steps a fall takes; None: as many as the rise.
        mode (str, optional): what the height is multiplied by: "triangular": 1; "triangular2": a
            half more each cycle; "exp_range": `exp_gamma` more each step.
        exp_gamma (float, optional): for "exp_range".
        scale_fn (function, optional): the factor of the height, instead of `mode`.
        scale_mode (str, optional): what `scale_fn` is given: the "cycle", from 1, or the number of
            "iterations", from 0.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = CyclicLR(0.0, 1.0, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        base_learning_rate,
        max_learning_rate,
        step_size_up,
        step_size_down=None,
        mode="triangular",
        exp_gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        last_epoch=-1,
        verbose=False,
    ):
        _check_height(max_learning_rate)
        _check_steps("step_size_up", step_size_up)
        if step_size_down is not None:
            _check_steps("step_size_down", step_size_down)
        if not isinstance(exp_gamma, float):
            raise ArgumentTypeError(
                f"The type of 'exp_gamma' must be float, but received {type(exp_gamma)}"
            )
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ArgumentError(
                "'mode' is invalid and 'scale_fn' is not specified, "
                "make sure one of 'mode' or 'scale_fn' is valid"
            )
        if scale_mode not in ("cycle", "iterations"):
            raise ArgumentError("'scale_mode' must be one of 'cycle' or 'iterations")
        up = float(step_size_up)
        self.cycle_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_up_pct = up / self.cycle_size
        self.max_lr = float(max_learning_rate)
        self.amplitude = self.max_lr - base_learning_rate
        self.mode = mode
        self.gamma = exp_gamma
        if scale_fn is None:
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_fn = scale_fn or getattr(self, f"_{mode}_scale_fn")
        self.scale_mode = scale_mode
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _triangular_scale_fn(self, cycle):
        return 1.0

    def _triangular2_scale_fn(self, cycle):
        return 1 / 2.0 ** (cycle - 1)

    def _exp_range_scale_fn(self, iterations):
        return self.gamma**iterations

    def get_lr(self):
        iterations = self.last_epoch
        cycle = 1 + iterations // self.cycle_size
        part = 1.0 + iterations / self.cycle_size - cycle
        if part <= self.step_up_pct:
            height = part / self.step_up_pct
        else:
            height = (1 - part) / (1 - self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else iterations)
        return self.base_lr + self.amplitude * height * scale


def _check_height(max_learning_rate):
    if not isinstance(max_learning_rate, float | int):
        raise ArgumentTypeError(
            f"'max_learning_rate' must be 'float' or 'int', but received {type(max_learning_rate)}"
        )
    if max_learning_rate < 0:
        raise ArgumentError(
            f"'max_learning_rate' must be a positive integer, but received {max_learning_rate}"
        )


def _check_steps(name, steps):
    if not isinstance(steps, int):
        raise ArgumentTypeError(f"The type of '{name}' must be int, but received {type(steps)}")
    if steps <= 0:
        raise ArgumentError(f"'{name}' must be a positive integer, but received {steps}")
