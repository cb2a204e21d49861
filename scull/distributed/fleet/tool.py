"""What Paddle has in `fleet.utils`."""

from typing import Any

from scull.core.absent import absent
from scull.distributed.fleet.filesystem import LocalFS
from scull.distributed.fleet.recompute import recompute, recompute_sequential


def fused_allreduce_gradients(parameter_list: Any, hcg: Any) -> None:
    """Share the gradients of parameters among processes: nothing to do, this one is alone."""


__getattr__ = absent(
    __name__,
    {
        "there are no servers of files": "HDFSClient",
        "processes do not work together": "DistributedInfer",
    },
)

__all__ = ["LocalFS", "fused_allreduce_gradients", "recompute", "recompute_sequential"]
