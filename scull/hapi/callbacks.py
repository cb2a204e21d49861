"""The callbacks of a Model, and the list of them that it calls."""

from collections.abc import Iterator
from typing import Any

from scull.errors import ArgumentTypeError, AssertError
from scull.hapi.callback import Callback, LRScheduler, ModelCheckpoint
from scull.hapi.monitor import EarlyStopping, ReduceLROnPlateau
from scull.hapi.progressbar import ProgBarLogger
from scull.hapi.recorder import VisualDL, WandbCallback

MODES = ("train", "eval", "predict")


def config_callbacks(
    callbacks: Any = None,
    model: Any = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    log_freq: int = 2,
    verbose: int = 2,
    save_freq: int = 1,
    save_dir: Any = None,
    metrics: Any = None,
    mode: str = "train",
) -> "CallbackList":
    """The user's callbacks, with those that each Model has, told what is to be done."""
    given = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
    given = [callback for callback in given if callback is not None]
    for callback in given:
        if not isinstance(callback, Callback):
            raise ArgumentTypeError(
                f"a callback is of type {type(callback).__name__}, not a Callback"
            )

    def has(kind: type) -> bool:
        return any(isinstance(callback, kind) for callback in given)

    first = [ProgBarLogger(log_freq, verbose)] if verbose and not has(ProgBarLogger) else []
    last: list[Callback] = []
    if not has(ModelCheckpoint):
        last.append(ModelCheckpoint(save_freq, save_dir))
    if not has(LRScheduler):
        last.append(LRScheduler())
    made = CallbackList([*first, *given, *last])
    for callback in made:
        if isinstance(callback, EarlyStopping):
            callback.save_dir = save_dir
    made.set_model(model)
    made.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps,
            "verbose": verbose,
            "metrics": [] if mode == "test" else metrics or [],
        }
    )
    return made


class CallbackList:
    """Callbacks in order, called together."""

    def __init__(self, callbacks: Any = None) -> None:
        self.callbacks: list[Any] = list(callbacks or [])
        self.params: dict[str, Any] = {}
        self.model: Any = None

    def append(self, callback: Any) -> None:
        """Add one behind the others."""
        self.callbacks.append(callback)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def set_params(self, params: dict[str, Any]) -> None:
        """Tell all of them what is to be done."""
        self.params = params
        self._call("set_params", params)

    def set_model(self, model: Any) -> None:
        """Tell all of them which Model it is."""
        self.model = model
        self._call("set_model", model)

    def _call(self, method: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, method)(*arguments)

    def on_begin(self, mode: str, logs: Any = None) -> None:
        """Before a mode's first batch."""
        self._call(f"on_{checked(mode)}_begin", logs)

    def on_end(self, mode: str, logs: Any = None) -> None:
        """After a mode's last batch."""
        self._call(f"on_{checked(mode)}_end", logs)

    def on_epoch_begin(self, epoch: Any = None, logs: Any = None) -> None:
        """Before an epoch."""
        self._call("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch: Any = None, logs: Any = None) -> None:
        """After an epoch."""
        self._call("on_epoch_end", epoch, logs)

    def on_batch_begin(self, mode: str, step: Any = None, logs: Any = None) -> None:
        """Before a batch."""
        self._call(f"on_{checked(mode)}_batch_begin", step, logs)

    def on_batch_end(self, mode: str, step: Any = None, logs: Any = None) -> None:
        """After a batch."""
        self._call(f"on_{checked(mode)}_batch_end", step, logs)

    def abandon(self) -> None:
        """Leave the screen as it should be when the work was cut off."""
        for callback in self.callbacks:
            if isinstance(callback, ProgBarLogger):
                callback.abandon()


def checked(mode: str) -> str:
    """A mode that there is."""
    if mode not in MODES:
        raise AssertError(f"mode should be train, eval or predict, not {mode!r}")
    return mode


__all__ = [
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "VisualDL",
    "WandbCallback",
    "config_callbacks",
]
