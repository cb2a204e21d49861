"""Saving and loading of objects, also while the program goes on, and of tensors one by one."""

import atexit
import os
import threading
import warnings
from io import BytesIO
from typing import Any

import numpy as np

from scull.core.tensor import Parameter as EagerParamBase  # noqa: F401  scripts look here
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.files.file_set import write_file
from scull.files.pickles import dump
from scull.framework.storage import as_stored, load, named_state, save
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import Program
from scull.ir.variable import ParameterVariable as Parameter


class Saving(threading.Thread):
    """A save that goes on in a thread of its own, and the error that ended it."""

    error: BaseException | None = None

    def run(self) -> None:
        try:
            super().run()
        except BaseException as error:
            self.error = error


PENDING: list[Saving] = []  # what is being saved


def async_save(
    obj: Any, path: Any, protocol: int = 4, sync_other_task: bool = False, **configs: Any
) -> None:
    """Write `obj` to `path` as `save` does, while the program goes on.

    What is written are the values of this moment. `clear_async_save_task_queue` waits for the end.

    Args:
        obj: a Tensor, or a dictionary of Tensors and settings.
        path (str | BytesIO): where.
        protocol (int): of the pickle: 2, 3 or 4.
        sync_other_task (bool): wait first for what is being saved.
        configs: kept for Paddle's signature.

    Raises:
        ArgumentError: in static mode.
        ArgumentTypeError: `obj` is something else.

    Examples:
        >>> import io
        >>> import scull as paddle
        >>> stream = io.BytesIO()
        >>> paddle.async_save({"w": paddle.ones([2])}, stream)
        >>> paddle.clear_async_save_task_queue()
        >>> _ = stream.seek(0)
        >>> paddle.load(stream)["w"].tolist()
        [1.0, 1.0]
    """
    if not in_dynamic_mode():
        raise ArgumentError("async_save currently is not supported in static mode.")
    if configs:
        warnings.warn(
            "configs are not supported in async mode, will be overided by default settings.",
            stacklevel=2,
        )
    if not isinstance(obj, dict | Tensor):
        raise ArgumentTypeError(f"currently async_save does not support this type: {type(obj)}")
    if sync_other_task:
        clear_async_save_task_queue()
    if isinstance(path, str | os.PathLike):
        path = os.path.abspath(path) if os.path.basename(path) else path
    thread = Saving(target=save, args=(frozen(obj), path, protocol))
    PENDING.append(thread)
    thread.start()


def frozen(value: Any) -> Any:
    """The values of this moment, with tensors of the same names."""
    if isinstance(value, dict):
        return {key: frozen(v) for key, v in value.items()}
    if not isinstance(value, Tensor):
        return value
    made: Any = Tensor(np.array(value.array))
    made.name = value.name  # type: ignore[attr-defined]
    return made


def clear_async_save_task_queue() -> None:
    """Wait until all that `async_save` was given is written; raise what kept one from it."""
    errors = []
    while PENDING:
        thread = PENDING.pop()
        thread.join()
        if thread.error is not None:
            errors.append(thread.error)
    if errors:
        raise errors[-1]


atexit.register(clear_async_save_task_queue)  # an error that nobody asked for is printed


def _legacy_save(obj: dict[str, Any], path: Any, protocol: int = 2) -> None:
    """Write a state dictionary as releases before 2.1 did."""
    if isinstance(path, BytesIO):
        dump(named_state(obj), path, protocol, as_stored)
        return
    write_file(path, lambda stream: dump(named_state(obj), stream, protocol, as_stored))


def _legacy_load(path: Any, **configs: Any) -> Any:
    """The arrays of a state dictionary."""
    return load(path, **{"return_numpy": True, **configs})


def _save_lod_tensor(tensor: Any, file_name: Any) -> None:
    """Write one tensor, without a pickle."""
    if not isinstance(file_name, str | os.PathLike | BytesIO):
        raise UnsupportedError(
            f"Only supports saving objects to file or BytesIO, but got {type(file_name)}"
        )
    save(tensor, file_name, use_binary_format=True)


def _load_lod_tensor(file_name: Any) -> Any:
    """The tensor that `_save_lod_tensor` wrote."""
    if not isinstance(file_name, str | os.PathLike | BytesIO):
        raise UnsupportedError(
            f"Only supports load tensor file from disk or BytesIO, but got {type(file_name)}"
        )
    return load(file_name)


_save_selected_rows, _load_selected_rows = _save_lod_tensor, _load_lod_tensor

__all__ = [
    "Parameter",
    "Program",
    "async_save",
    "clear_async_save_task_queue",
    "in_dynamic_mode",
    "load",
    "save",
]
