"""What to do with a result once it is there: write it into a folder."""

import os
import socket
from collections.abc import Callable
from datetime import datetime
from typing import Any

from scull.errors import RunError


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """A function that writes the result of a profiler as a trace, for `on_trace_ready`.

    The file opens in https://ui.perfetto.dev and in chrome://tracing.

    Args:
        dir_name (str): the folder, made if it is not there.
        worker_name (str, optional): how names of files begin; by default with host and process.

    Returns:
        Callable: takes a Profiler.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> folder = tempfile.mkdtemp()
        >>> write = paddle.profiler.export_chrome_tracing(folder, "first")
        >>> with paddle.profiler.Profiler(on_trace_ready=write):
        ...     y = paddle.ones([3]) + 1.0
        >>> os.listdir(folder)[0].startswith("first_time_")
        True
    """
    return exporter(dir_name, worker_name, "json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """`export_chrome_tracing`, but the result is Paddle's protobuf, which its own tools read.

    Args:
        dir_name (str), worker_name (str, optional): as there.

    Returns:
        Callable: takes a Profiler.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> folder = tempfile.mkdtemp()
        >>> write = paddle.profiler.export_protobuf(folder, "first")
        >>> with paddle.profiler.Profiler(on_trace_ready=write):
        ...     y = paddle.ones([3]) + 1.0
        >>> os.listdir(folder)[0].endswith(".pb")
        True
    """
    return exporter(dir_name, worker_name, "pb")


def exporter(dir_name: str, worker_name: str | None, format: str) -> Callable[[Any], None]:
    """A function that writes results in one format."""
    try:
        os.makedirs(dir_name, exist_ok=True)
    except OSError:
        raise RunError(
            f"Can not create directory '{dir_name}' for saving profiling results."
        ) from None
    name = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"

    def export(profiler: Any) -> None:
        moment = datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        path = os.path.join(dir_name, f"{name}_time_{moment}.paddle_trace.{format}")
        profiler.export(path, format)

    return export
