"""What a program spends its time on: recorded by `Profiler`, shown as tables and in trace viewers.

Everything is written on timelines, which `scull.core.timeline` keeps.
"""

import sys

from scull.core.door import doors
from scull.deferred import deferred, listed, load

NAMES = {
    "event": "RecordEvent",
    "export": "export_chrome_tracing export_protobuf",
    "result": "load_profiler_result",
    "scheduler": "make_scheduler",
    "session": "Profiler",
    "state": "ProfilerState ProfilerTarget SortedKeys SummaryView",
}
MORE = {
    "configuration": "get_profiler",
    "event": "in_profiler_mode",
    "state": "TracerEventType TracerMemEventType",
}

__getattr__, __dir__ = deferred(__name__, NAMES, MORE)
doors(__name__, "profiler profiler_statistic utils")
vars(sys.modules[f"{__name__}.utils"])["__getattr__"] = lambda name: (
    load("scull.profiler.event", "in_profiler_mode")()
    if name == "_is_profiler_used"
    else load(__name__, name)
)
__all__ = listed(NAMES)
