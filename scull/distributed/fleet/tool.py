"""What Paddle has in `fleet.utils`."""

from scull.core.absent import absent
from scull.distributed.fleet.filesystem import LocalFS
from scull.distributed.fleet.recompute import recompute, recompute_sequential

__getattr__ = absent(
    __name__,
    {
        "there are no servers of files": "HDFSClient",
        "processes do not work together": "DistributedInfer",
    },
)

__all__ = ["LocalFS", "recompute", "recompute_sequential"]
