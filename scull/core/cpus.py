"""How many CPUs this process may use: by affinity, and by the quotas of its control groups."""

import math
import os
import sys
from functools import cache
from pathlib import Path

from scull.core.memory import control_groups, words


def affinity() -> int:
    """The cores the scheduler lets this process run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_quota(root: Path = Path("/")) -> float | None:
    """The cores' worth of time the control groups of this process allow; None: any.

    `root` is where `proc` and `sys` are.
    """
    found = []
    for folder in control_groups(root, "cpu"):
        limit = words(folder / "cpu.max") or [
            *words(folder / "cpu.cfs_quota_us"),
            *words(folder / "cpu.cfs_period_us"),
        ]
        if len(limit) == 2 and limit[0] not in ("max", "-1"):
            found.append(int(limit[0]) / int(limit[1]))
    return min(found, default=None)


def usable(affine: int, quota: float | None) -> int:
    """The cores that can be kept busy, where a quota allows a part of those by affinity."""
    return max(1, min(affine, math.ceil(quota or affine)))


def usable_cpus() -> int:
    """The cores this process may keep busy now, under the quota it had when it first asked."""
    return usable(affinity(), own_quota())


@cache
def own_quota() -> float | None:
    """The quota of this process: to read it takes longer than small work."""
    return cpu_quota()
