"""Passes: functions from Programs to Programs."""

from scull.deferred import deferred, listed

NAMES = {"dataflow": "lowered", "unroll": "unrolled"}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
