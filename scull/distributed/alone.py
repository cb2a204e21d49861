"""What a process is told that looks for others."""

import os
import warnings

from scull.errors import UnsupportedError


def refuse_others(name: str) -> None:
    """Refuse to train as one of several processes, where a launcher says that this is one."""
    if int(os.environ.get("PADDLE_TRAINERS_NUM") or 1) > 1:
        raise UnsupportedError(
            f"`paddle.distributed.{name}` is not in scull for several processes: they do not "
            "train together"
        )


def init_parallel_env() -> None:
    """Begin to train as the only process: nothing is done, and a warning says so.

    Raises:
        UnsupportedError: this process was launched as one of several.
    """
    refuse_others("init_parallel_env")
    warnings.warn(
        "Currently not a parallel execution environment, `paddle.distributed.init_parallel_env` "
        "will not do anything.",
        stacklevel=2,
    )
