"""Tiles of contractions that this machine was found to run best: where TUNE is set, they are timed.

Each kernel that is not known yet is made with other tiles, too, and all run by turns over memory
of zeros. What was best is kept on disk beside the code, under a key of what the kernel says: it is
timed once, whatever Program it occurs in next. Tiles change no bit of what is computed.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from statistics import median
from typing import Any

import numpy as np

from scull.compiler.arena import bytes_of
from scull.compiler.group import Group
from scull.compiler.kernel import (
    Tilings,
    arrays_of,
    choices,
    code_of,
    said_of,
    schedules,
)
from scull.compiler.recall import named
from scull.compiler.schedule import Schedule, Tiling
from scull.compiler.target import Target
from scull.compiler.timing import clock, repeating
from scull.flags import flag
from scull.runtime import llvm
from scull.runtime.entry import address_of
from scull.runtime.line import aligned
from scull.runtime.object_cache import object_cache

LEAST = 10e-6  # seconds of a kernel that is worth it
TURN = 5e-4  # seconds of one measurement
FIRST, LAST = 3, 12  # measurements of each, and of each that is still among the best then
FINALISTS = 5
GAIN = 0.98  # of the usual time, that other tiles have to stay below
MEMORY = 1 << 25  # bytes that runs go through, so that near caches hold little of what they read


class Table:
    """The addresses of pieces of memory, as code reads them."""

    def __init__(self, memory: list[np.ndarray[Any, Any]]) -> None:
        self.memory = memory
        self.words = np.array([address_of(x) for x in memory], np.uint64)
        self.address = address_of(self.words)


@dataclass(frozen=True)
class Candidate:
    """A kernel with some tiles; `run` takes how often and gives the seconds of one time."""

    tilings: Tilings
    library: llvm.Library
    run: Callable[[int], float]


def tilings_of(group: Group, machine: Target) -> Tilings:
    """The tiles of each stage of a kernel; nothing where they are the usual ones."""
    if not flag("TUNE") or not any(choices(group, machine)):
        return ()
    key = named(f"tiles of {machine.name} {said_of(group)}", "compiler", "lang")
    kept = object_cache().find(key)
    if kept is not None:
        return tuple(None if x is None else Tiling(**x) for x in json.loads(kept))
    found = tuned(group, machine)
    rows = [None if x is None else asdict(x) for x in found]
    object_cache().keep(key, json.dumps(rows).encode())
    return found


def tiles_of(group: Group, machine: Target) -> list[Schedule | None]:
    """How each stage of a kernel is cut, with what was found best."""
    return schedules(group, machine, tilings_of(group, machine))


def tuned(group: Group, machine: Target) -> Tilings:
    """The tiles that run best here: one stage after another, each beside what is best so far."""
    start, tried = time.perf_counter(), 0
    memory = memory_of(group)
    found: Tilings = (None,) * len(group.stages)
    usual = candidate(group, machine, found, memory)
    if min(usual.run(1) for _ in range(FIRST)) < LEAST:
        return ()
    for number, tilings in enumerate(choices(group, machine)):
        if not tilings:
            continue
        others = [(*found[:number], x, *found[number + 1 :]) for x in tilings]
        made = [candidate(group, machine, x, memory) for x in (found, *others)]
        tried += len(made)
        found = best_of(made)
    took = time.perf_counter() - start
    if flag("DEBUG") >= 1:
        print(f"tuned a kernel: {tried} tilings in {took:.1f} s, {found}", file=sys.stderr)
    return found


def best_of(made: Sequence[Candidate]) -> Tilings:
    """The tiles of the fastest, of the first if none is faster by enough.

    Times are compared with that of the first in the same round: what disturbs a round for both
    does not count.
    """
    count = max(1, round(TURN / max(made[0].run(1), 1e-9)))
    ratios: list[list[float]] = [[] for _ in made]
    left = list(range(1, len(made)))
    for rounds in (FIRST, LAST):
        for _ in range(rounds):
            beside = made[0].run(count)
            for n in left:
                ratios[n].append(made[n].run(count) / beside)
        left = sorted(left, key=lambda n: median(ratios[n]))[:FINALISTS]
    return made[left[0] if left and median(ratios[left[0]]) < GAIN else 0].tilings


def memory_of(group: Group) -> Iterator[Table]:
    """Tables of what a kernel reads and writes, all zeros: as many as fill some memory, in turn.

    All candidates take the next one for each run: none finds in a cache what another has read.
    """
    sizes = [bytes_of(array) for array in arrays_of(group)]
    found = []
    for _ in range(max(1, MEMORY // sum(sizes))):
        memory = [aligned(size) for size in sizes]
        for each in memory:
            each[:] = 0
        found.append(Table(memory))
    return cycle(found)


def candidate(
    group: Group, machine: Target, tilings: Tilings, memory: Iterator[Table]
) -> Candidate:
    """A kernel with some tiles, which runs over one piece of memory after another."""
    code = code_of(group, machine, tilings)
    library = llvm.link([llvm.object_code(code.text)], [code.name])
    repeat, now, place = repeating(len(arrays_of(group))), clock(), library.addresses[code.name]

    def run(count: int) -> float:
        start = now()
        for table in islice(memory, count):
            repeat(place, code.chunks, table.address, 1)
        return (now() - start) / count

    return Candidate(tilings, library, run)
