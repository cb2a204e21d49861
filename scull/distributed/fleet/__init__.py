"""Training on many machines, as scripts set it up that run alone, too: this process is alone."""

from typing import Any

from scull.core.absent import absent
from scull.core.door import doors
from scull.distributed.alone import refuse_others
from scull.distributed.fleet import recompute
from scull.distributed.fleet.data_generator import (
    MultiSlotDataGenerator,
    MultiSlotStringDataGenerator,
)
from scull.distributed.fleet.solo import (
    PaddleCloudRoleMaker,
    Role,
    UserDefinedRoleMaker,
    UtilBase,
    barrier_worker,
    init_worker,
    is_coordinator,
    is_server,
    is_worker,
    local_rank,
    node_num,
    nranks,
    rank,
    rank_in_node,
    server_endpoints,
    server_index,
    server_num,
    set_log_level,
    stop_worker,
    util,
    worker_endpoints,
    world_size,
)
from scull.errors import UnsupportedError

HARMLESS = ("find_unused_parameters", "fuse_all_reduce_ops", "sync_nccl_allreduce")


class DistributedStrategy:
    """How processes train together: noted as attributes; what changes training is refused."""

    def __init__(self) -> None:
        self.hybrid_configs: dict[str, Any] = {}

    def refuse(self) -> None:
        """Refuse what one process does not do, or scull does not."""
        degrees = {n: v for n, v in self.hybrid_configs.items() if n.endswith("_degree")}
        asked = [f"hybrid_configs['{n}']" for n, v in degrees.items() if v > 1]
        asked += [n for n, v in vars(self).items() if v is True and n not in HARMLESS]
        if asked:
            raise UnsupportedError(f"`DistributedStrategy.{asked[0]}` is not in scull")


def init(
    role_maker: Any = None,
    is_collective: bool = False,
    strategy: DistributedStrategy | None = None,
    log_level: Any = "INFO",
) -> None:
    """Begin to train as the only process.

    Args:
        role_maker (PaddleCloudRoleMaker, optional): says that there are no servers.
        is_collective (bool): of no effect.
        strategy (DistributedStrategy, optional): may ask for nothing that takes other processes.
        log_level (str | int): of no effect.

    Raises:
        UnsupportedError: this process was launched as one of several.
    """
    refuse_others("fleet.init")
    if not isinstance(role_maker, PaddleCloudRoleMaker | None):
        raise UnsupportedError("`role_maker` is not in scull: there are no parameter servers")
    if strategy is not None:
        strategy.refuse()


def worker_num() -> int:
    """How many processes train: 1."""
    return 1


def worker_index() -> int:
    """The number of this process: 0."""
    return 0


def is_first_worker() -> bool:
    """Whether this process is the first: True."""
    return True


def distributed_model(model: Any) -> Any:
    """The layer that one process trains: `model` itself."""
    return model


def distributed_optimizer(optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
    """The optimizer of one process: `optimizer` itself."""
    if strategy is not None:
        strategy.refuse()
    return optimizer


doors(__name__, "utils", "scull.distributed.fleet.tool")
doors(f"{__name__}.utils", "fs", "scull.distributed.fleet.filesystem")
doors(__name__, "base", "scull.distributed.fleet.solo")
doors(f"{__name__}.base", "role_maker util_factory", "scull.distributed.fleet.solo")
__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "CommunicateTopology Fleet HybridCommunicateGroup get_hybrid_communicate_group"
        ),
    },
)

__all__ = [
    "DistributedStrategy",
    "MultiSlotDataGenerator",
    "MultiSlotStringDataGenerator",
    "PaddleCloudRoleMaker",
    "Role",
    "UserDefinedRoleMaker",
    "UtilBase",
    "barrier_worker",
    "distributed_model",
    "distributed_optimizer",
    "init",
    "init_worker",
    "is_coordinator",
    "is_first_worker",
    "is_server",
    "is_worker",
    "local_rank",
    "node_num",
    "nranks",
    "rank",
    "rank_in_node",
    "recompute",
    "server_endpoints",
    "server_index",
    "server_num",
    "set_log_level",
    "stop_worker",
    "util",
    "worker_endpoints",
    "worker_index",
    "worker_num",
    "world_size",
]
