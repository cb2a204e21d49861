"""Callbacks that hand what is measured to libraries that draw it."""

import warnings
from numbers import Number
from typing import Any

from scull.hapi.callback import Callback
from scull.utils import try_import


class Recorder(Callback):
    """Gathers the numbers of each batch of training and of each test."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch = self.train_step = 0
        self.is_fit = False
        self.eval_metrics: list[str] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Count batches anew."""
        self.is_fit, self.train_step = True, 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Remember the epoch, which tests are recorded under."""
        self.epoch = epoch

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Record a batch."""
        self.train_step += 1
        self.record("train", self.train_step, numbers_of(logs, self.params["metrics"]))

    def on_eval_begin(self, logs: Any = None) -> None:
        """Remember what is measured."""
        self.eval_metrics = (logs or {}).get("metrics", [])

    def on_eval_end(self, logs: Any = None) -> None:
        """Record a test; one that is not within `fit` is all there is."""
        self.record("eval", self.epoch, numbers_of(logs, self.eval_metrics))
        if not self.is_fit:
            self.finish()

    def on_train_end(self, logs: Any = None) -> None:
        """End the record."""
        self.finish()

    def record(self, mode: str, step: int, numbers: dict[str, float]) -> None:
        """Hand over the numbers of a step."""

    def finish(self) -> None:
        """Close what was opened."""


def numbers_of(logs: Any, names: list[str]) -> dict[str, float]:
    """Those of the logs that are numbers; of a list the first one."""
    found = {}
    for name in names:
        value = (logs or {}).get(name)
        value = value[0] if isinstance(value, list | tuple) else value
        if isinstance(value, Number):
            found[name] = value
    return found


class VisualDL(Recorder):
    """Writes losses and metrics for VisualDL.

    Args:
        log_dir (str): the folder to write to.

    Raises:
        ImportError: `visualdl` is not installed.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.visualdl = try_import(
            "visualdl", "The callback VisualDL needs `visualdl`: pip install visualdl"
        )
        self.log_dir, self.writer = log_dir, None

    def record(self, mode: str, step: int, numbers: dict[str, float]) -> None:
        """Write the numbers of a step."""
        if self.writer is None:
            self.writer = self.visualdl.LogWriter(self.log_dir)
        for name, value in numbers.items():
            self.writer.add_scalar(tag=f"{mode}/{name}", step=step, value=value)

    def finish(self) -> None:
        """Close the writer."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None


class WandbCallback(Recorder):
    """Sends losses and metrics to Weights & Biases.

    Args:
        project (str, optional): as for `wandb.init`, and the others.
        entity (str, optional): the user or the team.
        name (str, optional): of the run.
        dir (str, optional): where files go.
        mode (str, optional): ``"online"``, ``"offline"`` or ``"disabled"``.
        job_type (str, optional): a group of runs.
        kwargs: others that `wandb.init` takes.

    Raises:
        ImportError: `wandb` is not installed.
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.wandb = try_import(
            "wandb", "The callback WandbCallback needs `wandb`: pip install wandb"
        )
        own = {"project": project, "entity": entity, "name": name}
        self.wandb_args = own | {"dir": dir, "mode": mode, "job_type": job_type} | kwargs
        self._run: Any = None
        _ = self.run

    @property
    def run(self) -> Any:
        """The run, begun when first asked for."""
        if self._run is None and self.wandb.run is not None:
            warnings.warn(
                "A wandb run is in progress, which this WandbCallback goes on with: call "
                "`wandb.finish()` first if it should not",
                stacklevel=3,
            )
            self._run = self.wandb.run
        elif self._run is None:
            self._run = self.wandb.init(**self.wandb_args)
        return self._run

    def on_train_begin(self, logs: Any = None) -> None:
        """Say what is drawn over what."""
        super().on_train_begin(logs)
        self.run.define_metric("train/step")
        self.run.define_metric("train/*", step_metric="train/step")
        self.run.define_metric("epoch")
        self.run.define_metric("eval/*", step_metric="epoch")

    def record(self, mode: str, step: int, numbers: dict[str, float]) -> None:
        """Send the numbers of a step."""
        place = {"train/step": step} if mode == "train" else {"epoch": step}
        self.run.log(place | {f"{mode}/{name}": value for name, value in numbers.items()})

    def finish(self) -> None:
        """End the run."""
        self.run.finish()
        self._run = None
