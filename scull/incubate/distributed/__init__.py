"""What Paddle has in preparation for training on many machines, as far as one process uses it."""

from scull.core.door import doors

doors(__name__, "fleet", "scull.distributed.fleet.recompute")
