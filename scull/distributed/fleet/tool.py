"""What Paddle has in `fleet.utils`."""

import logging

from scull.core.absent import absent
from scull.distributed.fleet.filesystem import LocalFS
from scull.distributed.fleet.recompute import recompute, recompute_sequential

logger = logging.getLogger("FleetLog")
__getattr__ = absent(
    __name__,
    {
        "there are no servers of files": "HDFSClient",
        "processes do not work together": (
            "DistributedInfer MixPrecisionLayer MixPrecisionOptimizer MixPrecisionScaler"
            " fused_allreduce_gradients fused_allreduce_gradients_with_group get_timers"
            " obtain_optimizer_parameters_list"
        ),
    },
)

__all__ = ["LocalFS", "recompute", "recompute_sequential"]
