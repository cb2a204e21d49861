"""A function that a process of its own runs, as the only one that trains."""

import multiprocessing
import os
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from scull.errors import ArgumentError, RunError, UnsupportedError

OPTIONS = ("start_method", "gpus", "xpus", "mlus", "ips", "backend")
HOST = "127.0.0.1"


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def alone() -> dict[str, str]:
    """What a launcher writes into the environment of the only process."""
    endpoint = f"{HOST}:{free_port()}"
    return {
        "PADDLE_TRAINER_ID": "0",
        "PADDLE_TRAINERS_NUM": "1",
        "PADDLE_CURRENT_ENDPOINT": endpoint,
        "PADDLE_TRAINER_ENDPOINTS": endpoint,
        "PADDLE_DISTRI_BACKEND": "gloo",
    }


class MultiprocessContext:
    """Processes that were started, and what went wrong in them."""

    def __init__(self, processes: list[Any], error_queues: list[Any]) -> None:
        self.processes, self.error_queues = processes, error_queues
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the processes.

        Args:
            timeout (float, optional): at most so many seconds.

        Returns:
            bool: whether all of them ended.

        Raises:
            RunError: one of them failed; the message has its traceback.
        """
        for sentinel in wait(list(self.sentinels), timeout) if self.sentinels else ():
            i = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            self.processes[i].join()
            code = self.processes[i].exitcode
            if code:
                raise RunError(self.told(i, code))
        return not self.sentinels

    def told(self, i: int, code: int) -> str:
        """What is known of a process that failed."""
        if not self.error_queues[i].empty():
            rule = "-" * 46
            head = f"Process {i} terminated with the following error:"
            return f"\n\n{rule}\n{head}\n{rule}\n\n{self.error_queues[i].get()}"
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"Process {i} terminated {how}."


def called(
    func: Callable[..., Any], args: Any, environment: dict[str, str], error_queue: Any
) -> None:
    """What the process does."""
    os.environ.update(environment)
    try:
        func(*args)
    except KeyboardInterrupt:
        pass
    except Exception:
        error_queue.put(traceback.format_exc())
        sys.exit(1)


def spawn(
    func: Callable[..., Any],
    args: Any = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> MultiprocessContext:
    """Let a process of its own call a function; it trains alone.

    Args:
        func (function): is called there, so it stands in a module and not within a function.
        args (list | tuple): what it is given.
        nprocs (int): 1; -1 is 1, too, since processes do not train together.
        join (bool): whether to wait until the process ends.
        daemon (bool): whether it ends with this process.
        options: `start_method`, "spawn", "fork" or "forkserver"; others of Paddle's are ignored.

    Returns:
        MultiprocessContext: has the process, and waits for it by `join`.

    Raises:
        ArgumentError: there is no such option.
        RunError: the function failed; the message has its traceback.
        UnsupportedError: more than one process was asked for.

    Examples:
        >>> import scull as paddle
        >>> paddle.distributed.spawn(abs, (-1,), nprocs=1).join()
        True
    """
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise ArgumentError(
            f"The config option ({unknown[0]}) of `paddle.distributed.spawn` is not supported."
        )
    if nprocs > 1:
        raise UnsupportedError(f"{nprocs} processes are not in scull: they do not train together")
    # a process that begins anew would not know that `import paddle` means scull
    method = options.get("start_method") or ("fork" if "paddle" in sys.modules else "spawn")
    context: Any = multiprocessing.get_context(method)
    errors = context.SimpleQueue()
    process = context.Process(target=called, args=(func, args, alone(), errors), daemon=daemon)
    process.start()
    found = MultiprocessContext([process], [errors])
    while join and not found.join():
        pass
    return found
