"""Training in several processes: this one is alone, the first of one."""

from typing import Any

from scull.core.absent import absent
from scull.core.door import doors
from scull.distributed import communication as communication
from scull.distributed import fleet, io
from scull.distributed.alone import init_parallel_env
from scull.distributed.fleet.dataset import InMemoryDataset, QueueDataset
from scull.distributed.launch.main import launch
from scull.distributed.parallel import DataParallel, ParallelEnv, ParallelMode, ReduceOp
from scull.distributed.spawning import spawn


def get_rank(group: Any = None) -> int:
    """The number of this process: 0."""
    return 0


def get_world_size(group: Any = None) -> int:
    """How many processes train together: 1."""
    return 1


def get_group(id: int = 0) -> None:
    """The processes of a group: None, there are none beside this one."""


def is_initialized() -> bool:
    """Whether processes found each other: False."""
    return False


def is_available() -> bool:
    """Whether training in several processes is possible: False."""
    return False


__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "P2POp Strategy"
            " all_gather all_gather_object all_reduce alltoall alltoall_single barrier"
            " batch_isend_irecv broadcast broadcast_object_list"
            " destroy_process_group gather get_backend gloo_barrier"
            " gloo_init_parallel_env gloo_release group_sharded_parallel irecv"
            " isend new_group passes recv reduce reduce_scatter rpc"
            " save_group_sharded_model scatter scatter_object_list send split"
            " stream wait"
        ),
        "tensors are not spread over processes": (
            "DistAttr Partial Placement ProcessMesh ReduceType Replicate Shard auto_parallel"
            " checkpoint dtensor_from_fn load_state_dict reshard save_state_dict shard_layer"
            " shard_op shard_optimizer shard_tensor to_static"
        ),
        "there are no parameter servers": "CountFilterEntry ProbabilityEntry ShowClickEntry ps",
    },
)

doors(__name__, "collective sharding")
__all__ = [
    "DataParallel",
    "InMemoryDataset",
    "ParallelEnv",
    "ParallelMode",
    "QueueDataset",
    "ReduceOp",
    "fleet",
    "get_group",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "io",
    "is_available",
    "is_initialized",
    "launch",
    "spawn",
]
