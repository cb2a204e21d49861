"""Callbacks that watch what tests measure, and stop training or slow it down."""

import math
import os
import warnings
from collections.abc import Callable
from numbers import Number
from typing import Any

from scull.errors import ArgumentError
from scull.hapi.callback import Callback
from scull.optimizer.lr import LRScheduler as Schedule


def prefers_more(mode: str, monitor: str, name: str) -> bool:
    """Whether more of what is monitored is better."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{name} mode {mode} is unknown, fallback to auto mode.", stacklevel=4)
        mode = "auto"
    return mode == "max" or (mode == "auto" and "acc" in monitor)


def better_than(more: bool, least: float) -> Callable[[float, float], bool]:
    """Whether a value is better than the best one by more than `least`."""
    if more:
        return lambda value, best: value - least > best
    return lambda value, best: value + least < best


def monitored(logs: Any, monitor: str, name: str) -> float | None:
    """The number that is watched; None, with a warning, when there is none."""
    if logs is None or monitor not in logs:
        warnings.warn(f"Monitor of {name} should be loss or metric name.", stacklevel=4)
        return None
    value = logs[monitor]
    value = value[0] if isinstance(value, list | tuple) else value
    return float(value) if isinstance(value, Number) else None


class EarlyStopping(Callback):
    """Stops training when tests get no better.

    Args:
        monitor (str, optional): the loss or the metric to watch.
        mode (str, optional): ``"min"``: less is better; ``"max"``: more is; ``"auto"``: more is if
            the name has `acc` in it.
        patience (int, optional): how many tests without a better value end the training.
        verbose (int, optional): 1 prints when that happens.
        min_delta (int | float, optional): how much better counts.
        baseline (int | float, optional): what the first value has to beat.
        save_best_model (bool, optional): save the best as `best_model` in the `save_dir` of `fit`.

    Examples:
        >>> import scull as paddle
        >>> model = paddle.Model(paddle.nn.Linear(8, 1))
        >>> optimizer = paddle.optimizer.SGD(0.0, parameters=model.parameters())
        >>> model.prepare(optimizer, paddle.nn.MSELoss())
        >>> data = [(paddle.ones([4, 8]), paddle.zeros([4, 1]))]
        >>> stopping = paddle.callbacks.EarlyStopping(patience=2)
        >>> model.fit(data, data, epochs=9, verbose=0, callbacks=[stopping])
        Epoch 3: Early stopping.
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__()
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.baseline, self.min_delta = baseline, abs(min_delta)
        self.save_best_model, self.save_dir = save_best_model, None
        self.wait_epoch = self.stopped_epoch = 0
        more = prefers_more(mode, monitor, "EarlyStopping")
        self.is_better = better_than(more, self.min_delta)
        self.worst = -math.inf if more else math.inf
        self.best_value = self.worst

    def on_train_begin(self, logs: Any = None) -> None:
        """Forget what was best."""
        self.wait_epoch = 0
        self.best_value = self.worst if self.baseline is None else self.baseline

    def on_eval_end(self, logs: Any = None) -> None:
        """Compare a test with the best one."""
        current = monitored(logs, self.monitor, "EarlyStopping")
        if current is None:
            return
        saves = self.save_best_model and self.save_dir is not None
        path = os.path.join(self.save_dir or "", "best_model")
        if self.is_better(current, self.best_value):
            self.best_value, self.wait_epoch = current, 0
            if saves:
                self.model.save(path)
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch + 1}: Early stopping.")
                if saves:
                    print(f"Best checkpoint has been saved at {os.path.abspath(path)}")
        self.stopped_epoch += 1


class ReduceLROnPlateau(Callback):
    """Makes the learning rate smaller when tests get no better.

    Args:
        monitor (str, optional): the loss or the metric to watch.
        factor (float, optional): what the learning rate is multiplied by, less than 1.
        patience (int, optional): how many tests without a better value it takes.
        verbose (int, optional): 1 prints when that happens.
        mode (str, optional): ``"min"``: less is better; ``"max"``: more is; ``"auto"``: more is if
            the name has `acc` in it.
        min_delta (int | float, optional): how much better counts.
        cooldown (int, optional): how many tests after that do not count.
        min_lr (float, optional): the smallest learning rate.

    Raises:
        ArgumentError: the factor is not less than 1.

    Examples:
        >>> import scull as paddle
        >>> model = paddle.Model(paddle.nn.Linear(8, 1))
        >>> optimizer = paddle.optimizer.SGD(0.0625, parameters=model.parameters())
        >>> model.prepare(optimizer, paddle.nn.MSELoss())
        >>> data = [(paddle.zeros([4, 8]), paddle.zeros([4, 1]))]
        >>> slower = paddle.callbacks.ReduceLROnPlateau(patience=2, factor=0.5)
        >>> model.fit(data, data, epochs=3, verbose=0, callbacks=[slower])
        <BLANKLINE>
        Epoch 3: ReduceLROnPlateau reducing learning rate to 0.03125.
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        if factor >= 1.0:
            raise ArgumentError("ReduceLROnPlateau does not support a factor >= 1.0.")
        super().__init__()
        self.monitor, self.factor, self.patience = monitor, factor, patience
        self.verbose, self.mode, self.min_delta = verbose, mode, min_delta
        self.cooldown, self.min_lr = cooldown, min_lr
        self.epoch = 0
        more = prefers_more(mode, monitor, "ReduceLROnPlateau")
        self.is_better = better_than(more, min_delta)
        self.worst = -math.inf if more else math.inf
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.wait = self.worst, 0, 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Forget what was best."""
        self._reset()

    def on_eval_end(self, logs: Any = None) -> None:
        """Compare a test with the best one."""
        current = monitored(logs, self.monitor, "ReduceLROnPlateau")
        if current is None:
            return
        if isinstance(self.model._optimizer._learning_rate, Schedule):
            warnings.warn(
                "ReduceLROnPlateau changes a learning rate that is a float; a scheduler decides "
                "this one",
                stacklevel=2,
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_better(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce()
        self.epoch += 1

    def _reduce(self) -> None:
        before = self.model._optimizer.get_lr()
        if before <= self.min_lr:
            return
        rate = max(before * self.factor, self.min_lr)
        self.model._step.set_rate(rate)
        if self.verbose > 0:
            print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
        self.cooldown_counter, self.wait = self.cooldown, 0

    def in_cooldown(self) -> bool:
        """Whether tests do not count yet."""
        return self.cooldown_counter > 0
