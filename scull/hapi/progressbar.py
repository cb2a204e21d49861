"""How far the work of a Model is: a bar that moves, or lines."""

import os
import shutil
import sys
import time
from numbers import Real
from typing import Any

import numpy as np

from scull.errors import ArgumentTypeError
from scull.hapi.callback import Callback

WIDTH = 80  # of a terminal that does not tell


class ProgressBar:
    """Prints how many steps are done, with numbers and the time a step takes.

    Where output is no terminal the bar does not move: each time it is a line.

    Args:
        num (int, optional): how many steps there are.
        width (int, optional): of the bar.
        verbose (int, optional): 0: nothing; 1: a bar; 2 or 3: lines.
        start (bool, optional): start the clock.
        file (file, optional): tells whether there is a terminal; `sys.stdout` when None.
        name (str, optional): what a step is called.

    Raises:
        ArgumentTypeError: `num` is not positive.
    """

    def __init__(
        self,
        num: int | None = None,
        width: int = 30,
        verbose: int = 1,
        start: bool = True,
        file: Any = None,
        name: str = "step",
    ) -> None:
        if num is not None and not (isinstance(num, int) and num > 0):
            raise ArgumentTypeError("num should be None or integer (> 0)")
        self._num, self._verbose, self.name = num, verbose, name
        self.file = sys.stdout if file is None else file
        columns = shutil.get_terminal_size().columns or WIDTH
        self._width = max(min(width, int(columns * 0.6), columns - 50), 0)
        self._drawn = 0  # the width of what a moving bar replaces
        self._start = time.time() if start else 0.0
        terminal = hasattr(self.file, "isatty") and self.file.isatty()
        self._moves = terminal or "ipykernel" in sys.modules or "PYCHARM_HOSTED" in os.environ

    def start(self) -> None:
        """Start the clock."""
        self.file.flush()
        self._start = time.time()

    def update(self, current_num: int, values: Any = ()) -> None:
        """Show that `current_num` steps are done.

        Args:
            current_num (int): how many.
            values (list[tuple], optional): names with a number, an array of one, a list of these
                or a text.
        """
        current_num = int(current_num)
        per_step = (time.time() - self._start) / current_num if current_num else 0.0
        shown = "".join(f" - {name}:{numbers(value)}" for name, value in values)
        if self._verbose == 1:
            self._draw(current_num, shown, per_step)
        elif self._verbose in (2, 3):
            of = "" if self._num is None else f"/{self._num}"
            line = f"{self._count(current_num)}{of}{shown}{pace(per_step, self.name)}\n"
            sys.stdout.write(line)
            sys.stdout.flush()

    def _count(self, current: int) -> str:
        digits = 3 if self._num is None else len(str(self._num))
        return f"{self.name} {current:{digits}d}"

    def _draw(self, current: int, shown: str, per_step: float) -> None:
        text = self._count(current)
        ends = self._num is None or current >= self._num
        if self._num is not None:
            filled = int(self._width * current / self._num)
            bar = "=" * (filled - 1) + ("=" if ends else ">") if filled else ""
            text += f"/{self._num} [{bar:.<{self._width}}]"
        text += shown
        if not ends:
            text += f" - ETA: {duration(per_step * (self._num - current))}"
        text += pace(per_step, self.name)
        if self._moves:
            before = "\b" * self._drawn + "\r"
            after = " " * (self._drawn - len(text)) + ("\n" if ends else "")
            self._drawn = 0 if ends else max(self._drawn, len(text))
        else:
            before, after = "", "\n"
        sys.stdout.write(before + text + after)
        sys.stdout.flush()

    def leave(self) -> None:
        """End the line of a bar that will not get to its end."""
        if self._drawn:
            sys.stdout.write("\n")
            self._drawn = 0


def numbers(value: Any) -> str:
    """Each number after a blank, with four digits."""
    return "".join(f" {number(v)}" for v in (value if isinstance(value, list) else [value]))


def number(value: Any) -> str:
    """A number with a point with four digits, all else as it is."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, float | np.floating):
        return str(value)
    return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"


def pace(seconds: Real | float, name: str) -> str:
    """The time a step takes."""
    if seconds >= 1 or seconds == 0:
        return f" - {seconds:.0f}s/{name}"
    if seconds >= 1e-3:
        return f" - {seconds * 1e3:.0f}ms/{name}"
    return f" - {seconds * 1e6:.0f}us/{name}"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, from the first that there is."""
    whole = int(seconds)
    if seconds > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if seconds > 60 else f"{whole}s"


class Phase:
    """What is counted while a Model trains, tests or predicts."""

    def __init__(self, steps: int | None, metrics: list[str], verbose: int) -> None:
        self.steps, self.metrics, self.verbose = steps, metrics, verbose
        self.step = self.total = 0
        self.bar = ProgressBar(num=steps, verbose=verbose)
        self.read = self.worked = 0.0  # seconds since the last line
        self.batches = self.samples = 0  # since then
        self.mark = time.time()

    def begin(self) -> None:
        """A batch was read."""
        now = time.time()
        self.read, self.mark = self.read + now - self.mark, now

    def end(self, samples: int) -> None:
        """A batch is done."""
        now = time.time()
        self.worked, self.mark = self.worked + now - self.mark, now
        self.step, self.batches = self.step + 1, self.batches + 1
        self.total, self.samples = self.total + samples, self.samples + samples

    def show(self, logs: dict[str, Any]) -> None:
        """Print the losses and metrics, with `verbose=3` also where time went."""
        values = [(name, logs[name]) for name in self.metrics if name in logs]
        if self.verbose == 3:
            batches, seconds = max(self.batches, 1), self.read + self.worked
            values += [
                ("avg_reader_cost", f"{self.read / batches:.5f} sec"),
                ("avg_batch_cost", f"{self.worked / batches:.5f} sec"),
                ("ips", f"{self.samples / seconds if seconds else 0:.5f} samples/sec"),
            ]
            self.read = self.worked = 0.0
            self.batches = self.samples = 0
        self.bar.update(self.step, values)


class ProgBarLogger(Callback):
    """Prints losses and metrics; a Model has one of these unless given another.

    Args:
        log_freq (int, optional): how many batches from one line to the next.
        verbose (int, optional): 0: nothing; 1: a bar; 2: lines; 3: lines with what took time.

    Examples:
        >>> import scull as paddle
        >>> model = paddle.Model(paddle.nn.Linear(8, 1))
        >>> model.prepare(loss=paddle.nn.MSELoss())
        >>> data = [(paddle.ones([4, 8]), paddle.zeros([4, 1]))] * 3
        >>> _ = model.evaluate(data, verbose=0, callbacks=ProgBarLogger(2))  # doctest: +ELLIPSIS
        Eval begin...
        step 2/3 - loss: ... - ...s/step
        step 3/3 - loss: ... - ...s/step
        Eval samples: 12
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self.train: Phase | None = None
        self.other: Phase | None = None  # testing or predicting, which may be within training

    def on_train_begin(self, logs: Any = None) -> None:
        """Say what the numbers mean."""
        if self.verbose:
            print(
                "The loss value printed in the log is the current step, and the metric is the "
                "average value of previous steps."
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Print which epoch it is."""
        if self.verbose:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self.train = Phase(self.params["steps"], self.params["metrics"], self.verbose)

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Stop the time of reading."""
        self.train.begin()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Print, where it is time to."""
        self._after(self.train, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print what came of the epoch."""
        if self.verbose and self.train.steps is not None:
            self.train.show(logs or {})

    def _begin(self, logs: Any, what: str) -> None:
        logs = logs or {}
        self.other = Phase(logs.get("steps"), logs.get("metrics", []), self.verbose)
        if self.verbose:
            print(f"{what} begin...")

    def on_eval_begin(self, logs: Any = None) -> None:
        """Print that a test begins."""
        self._begin(logs, "Eval")

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Stop the time of reading."""
        self.other.begin()

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """Print, where it is time to."""
        self._after(self.other, logs)

    def on_eval_end(self, logs: Any = None) -> None:
        """Print what came of the test."""
        if self.verbose and self.other.steps is not None:
            self.other.show(logs or {})
            print(f"Eval samples: {self.other.total}")

    def on_predict_begin(self, logs: Any = None) -> None:
        """Print that a prediction begins."""
        self._begin(logs, "Predict")

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Stop the time of reading."""
        self.other.begin()

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """Print, where it is time to."""
        self._after(self.other, logs)

    def on_predict_end(self, logs: Any = None) -> None:
        """Print how much was predicted."""
        if self.verbose:
            if self.other.step % self.log_freq or self.verbose == 1:
                self.other.show(logs or {})
            print(f"Predict samples: {self.other.total}")

    def _after(self, phase: Phase, logs: Any) -> None:
        logs = logs or {}
        phase.end(logs.get("batch_size", 1))
        last = phase.steps is not None and phase.step >= phase.steps
        if self.verbose and phase.step % self.log_freq == 0 and not last:
            phase.show(logs)

    def abandon(self) -> None:
        """End the line of a bar when the work was cut off."""
        for phase in (self.train, self.other):
            if phase is not None:
                phase.bar.leave()
