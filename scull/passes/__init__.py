"""Passes: functions from Programs to Programs."""

from scull.deferred import deferred, listed

NAMES = {
    "dataflow": "lowered",
    "decompose": "decomposed",
    "graph": "IrGraph",
    "pipeline": "Pipeline",
    "rewrite": "Rewrite require",
    "unroll": "unrolled",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
