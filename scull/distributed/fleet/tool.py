"""What Paddle has in `fleet.utils`."""

import logging
from typing import Any, NoReturn

from scull.core.absent import absent
from scull.distributed.fleet.filesystem import LocalFS
from scull.distributed.fleet.recompute import recompute, recompute_sequential
from scull.errors import AssertError


def is_timer_initialized() -> bool:
    """Whether there are timers of stages on several processes: False."""
    return False


def get_timers() -> NoReturn:
    """Refuse to give the timers of stages on several processes: there are none."""
    raise AssertError("timers is not initialized.")


logger = logging.getLogger("FleetLog")


def fused_allreduce_gradients(parameter_list: Any, hcg: Any) -> None:
    """Share the gradients of parameters among processes: nothing to do, this one is alone."""


__getattr__ = absent(
    __name__,
    {
        "there are no servers of files": "HDFSClient",
        "processes do not work together": (
            "DistributedInfer MixPrecisionLayer MixPrecisionOptimizer MixPrecisionScaler"
            " fused_allreduce_gradients_with_group"
            " obtain_optimizer_parameters_list"
        ),
    },
)

__all__ = ["LocalFS", "fused_allreduce_gradients", "recompute", "recompute_sequential"]
