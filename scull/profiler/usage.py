"""How busy the processors are."""

import os
import time
from pathlib import Path

COUNTS = Path("/proc/stat")  # on Linux, the ticks of all cores by what they did
IDLE = (3, 4)  # the ticks in which a core had nothing to do, or waited for a disk


class Usage:
    """The work of this process and of all, from now until it is asked."""

    def __init__(self) -> None:
        self.moment, self.process, self.system = time.perf_counter(), process_seconds(), ticks()

    def shares(self) -> dict[str, str]:
        """The time of this process relative to what passed, and the share of busy cores."""
        passed = max(time.perf_counter() - self.moment, 1e-9)
        process = (process_seconds() - self.process) / passed
        found = {"Process Cpu Utilization": f"{process:.6f}"}
        counts = [after - before for before, after in zip(self.system, ticks(), strict=True)]
        idle, every = sum(counts[i] for i in IDLE if i < len(counts)), sum(counts)
        busy = 1 - idle / every if every else process / (os.cpu_count() or 1)
        return {"System Cpu Utilization": f"{max(busy, 0.0):.6f}", **found}


def process_seconds() -> float:
    """What all cores spent on this process."""
    times = os.times()
    return times.user + times.system


def ticks() -> list[int]:
    """The counts of the system; none where it does not tell them."""
    if not COUNTS.exists():
        return []
    return [int(n) for n in COUNTS.read_text().partition("\n")[0].split()[1:9]]
