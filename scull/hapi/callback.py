"""What a Model calls while it trains, tests and predicts; saving and scheduling by it."""

import os
from typing import Any

from scull.errors import ArgumentError
from scull.optimizer.lr import LRScheduler as Schedule


class Callback:
    """Called by a Model at every step of its work; a callback of one's own overrides some methods.

    `self.model` is the Model and `self.params` what `fit` was called with: `batch_size`, `epochs`,
    `steps`, `verbose` and `metrics`, the names of what is measured. In `logs` are the losses and
    metrics by name, `step` and `batch_size`.

    Examples:
        >>> import scull as paddle
        >>> class Losses(paddle.callbacks.Callback):
        ...     def on_train_begin(self, logs=None):
        ...         self.losses = []
        ...
        ...     def on_train_batch_end(self, step, logs=None):
        ...         self.losses.append(round(logs["loss"][0], 2))
        >>> model = paddle.Model(paddle.nn.Linear(8, 1))
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        >>> model.prepare(optimizer, paddle.nn.MSELoss())
        >>> record = Losses()
        >>> batch = paddle.ones([4, 8]), paddle.zeros([4, 1])
        >>> model.fit([batch, batch, batch], verbose=0, callbacks=record)
        >>> len(record.losses)
        3
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Tell what the Model was asked to do."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Tell which Model it is."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_eval_begin(self, logs: Any = None) -> None:
        """Before a test; `logs` has `steps` and `metrics`."""

    def on_eval_end(self, logs: Any = None) -> None:
        """After a test."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before a prediction; `logs` has `steps`."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch; the first is 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After the batches of an epoch, before its test."""

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch to learn from."""

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """After it."""

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch to test with."""

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """After it."""

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch to predict."""

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """After it."""


class ModelCheckpoint(Callback):
    """Saves the Model and its optimizer as `save_dir/0`, `save_dir/1`, … and `save_dir/final`.

    Args:
        save_freq (int, optional): how many epochs from one to the next.
        save_dir (str, optional): the folder; nothing is saved when None.
    """

    def __init__(self, save_freq: int = 1, save_dir: Any = None) -> None:
        super().__init__()
        self.save_freq, self.save_dir = save_freq, save_dir

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save where it is time to."""
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Any = None) -> None:
        """Save what came of it."""
        self._save("final")

    def _save(self, name: str) -> None:
        if self.model and self.save_dir:
            path = f"{self.save_dir}/{name}"
            print(f"save checkpoint at {os.path.abspath(path)}")
            self.model.save(path)


class LRScheduler(Callback):
    """Advances the schedule of the learning rate; a Model has one of these unless given another.

    Args:
        by_step (bool, optional): after every batch.
        by_epoch (bool, optional): after every epoch.

    Raises:
        ArgumentError: both.
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        if by_step and by_epoch:
            raise ArgumentError("by_step option is mutually exclusive with by_epoch")
        super().__init__()
        self.by_step, self.by_epoch = by_step, by_epoch

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Advance, if that is by epoch."""
        if self.by_epoch:
            self._advance()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Advance, if that is by batch."""
        if self.by_step:
            self._advance()

    def _advance(self) -> None:
        schedule = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(schedule, Schedule):
            schedule.step()
