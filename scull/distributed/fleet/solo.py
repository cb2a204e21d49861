"""What processes of a fleet ask about themselves and each other; this one is alone."""

import os
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError


class Role:
    """What a process does."""

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = range(1, 6)


class PaddleCloudRoleMaker:
    """The role of this process: a worker, the only one.

    Args:
        is_collective (bool): True; there are no servers of parameters.
        kwargs: of no effect.

    Raises:
        UnsupportedError: `is_collective` is False.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        if not is_collective:
            raise UnsupportedError(
                "`role_maker` without is_collective=True is not in scull: there are no parameter "
                "servers"
            )
        self._is_collective = True


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The same, with numbers of one's own, which are those of one process.

    Args:
        is_collective (bool): True.
        kwargs: `worker_num`, 1 if it is there; others are of no effect.

    Raises:
        UnsupportedError: `is_collective` is False, or there are several workers.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective)
        if kwargs.get("worker_num", 1) != 1:
            raise UnsupportedError(
                "several workers are not in scull: processes do not train together"
            )


class UtilBase:
    """What workers do together: with one, what each of them does."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The sum over all workers: `input` itself."""
        return input

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """What each worker has: a list of one."""
        return [input]

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait for the other workers: there are none."""

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The files of this worker: all of them.

        Args:
            files (list[str]): their names.

        Raises:
            ArgumentTypeError: it is no list.
        """
        if not isinstance(files, list):
            raise ArgumentTypeError("files should be a list of file need to be read.")
        return list(files)

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print, where the worker `rank_id` is this one."""
        if rank_id == 0:
            print(message)


util = UtilBase()


def rank() -> int:
    """The number of this worker: 0."""
    return 0


local_rank = rank_in_node = rank


def world_size() -> int:
    """How many workers there are: 1."""
    return 1


nranks = node_num = world_size


def is_worker() -> bool:
    """Whether this process trains: True."""
    return True


def is_server() -> bool:
    """Whether this process keeps parameters for others: False."""
    return False


is_coordinator = is_server


def server_num() -> int:
    """How many processes keep parameters: 0."""
    return 0


server_index = server_num


def worker_endpoints(to_string: bool = False) -> Any:
    """The addresses of all workers, as their launcher set them.

    Args:
        to_string (bool): as one text, with commas between.

    Returns:
        list[str] | str: that of this one.
    """
    found = os.environ.get("PADDLE_TRAINER_ENDPOINTS") or "127.0.0.1:6170"
    return found if to_string else found.split(",")


def server_endpoints(to_string: bool = False) -> Any:
    """The addresses of all servers: none."""
    return "" if to_string else []


def barrier_worker() -> None:
    """Wait for the other workers: there are none."""


def init_worker(scopes: Any = None) -> None:
    """Take parameters from servers: there are none."""


def stop_worker() -> None:
    """Leave the servers: there are none."""


LEVELS = {"CRITICAL": 50, "ERROR": 40, "WARNING": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}


def set_log_level(level: str | int) -> None:
    """Choose what the fleet tells: it tells nothing.

    Raises:
        ArgumentError: there is no such level.
    """
    if level not in LEVELS and level not in LEVELS.values():
        raise ArgumentError(f"a level is one of {', '.join(LEVELS)}, not {level!r}")
