"""What must happen before what: the graph of a run.

Two operators that touch the same place, memory or part of the world, one of them writing, keep
their order: read after write, write after read, write after write.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scull.executor.access import Touch


class Reason(NamedTuple):
    """Why one operator waits for another: the kind, and the variable they meet in."""

    kind: str  # RAW, WAR, WAW; of no variable: effect, order
    name: str
    stored: bool  # whether the elements of a value are at stake, and not its place alone


class Edge(NamedTuple):
    """`after` waits for `before`."""

    before: int
    after: int
    reasons: tuple[Reason, ...]

    @property
    def why(self) -> str:
        """The reasons; that of a place and of the elements in it is one."""
        return ", ".join(dict.fromkeys(f"{r.kind} {r.name}" for r in self.reasons))


@dataclass(frozen=True)
class Graph:
    """Operators by their number in program order, and what each waits for."""

    conflicts: tuple[Edge, ...]  # every pair that meets
    edges: tuple[Edge, ...]  # those that do not follow from others
    before: tuple[int, ...]  # for each operator the set of all that happen before it, in bits
    successors: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]  # for each operator how many it waits for

    def precedes(self, a: int, b: int) -> bool:
        """Whether `a` happens before `b` in every run."""
        return bool(self.before[b] >> a & 1)

    def __str__(self) -> str:
        lines = [f"edges: {len(self.edges)} of {len(self.conflicts)}, the others follow"]
        lines += [f"  {e.before:>4} -> {e.after:<4} {e.why}" for e in self.edges]
        return "\n".join([*lines, f"counts: {' '.join(map(str, self.counts)) or 'none'}"])


def graph_of(touched: Sequence[tuple[Touch, ...]], sequential: bool = False) -> Graph:
    """The graph of operators that touch this; `sequential`: each waits for the one before it."""
    conflicts: list[Edge] = []
    for i, needs in enumerate(meetings(touched)):
        if sequential and i:
            needs.setdefault(i - 1, {})[Reason("order", "program", False)] = None
        conflicts += [Edge(j, i, tuple(reasons)) for j, reasons in sorted(needs.items())]
    return linked(conflicts, len(touched))


def linked(conflicts: Sequence[Edge], size: int) -> Graph:
    """The graph of `size` operators with these edges, in the order of what waits."""
    into: list[list[Edge]] = [[] for _ in range(size)]
    for edge in conflicts:
        into[edge.after].append(edge)
    before: list[int] = []
    edges: list[Edge] = []
    for waited in into:
        behind = reached = 0
        for edge in waited:
            behind |= before[edge.before]
            reached |= 1 << edge.before
        before.append(behind | reached)
        edges += [e for e in waited if not behind >> e.before & 1]
    successors: list[list[int]] = [[] for _ in range(size)]
    counts = [0] * size
    for edge in edges:
        successors[edge.before].append(edge.after)
        counts[edge.after] += 1
    return Graph(
        tuple(conflicts), tuple(edges), tuple(before), tuple(map(tuple, successors)), tuple(counts)
    )


def meetings(touched: Sequence[tuple[Touch, ...]]) -> Iterator[dict[int, dict[Reason, None]]]:
    """For every operator the earlier ones it meets, each with the reasons."""
    meters: defaultdict[Any, Meeting] = defaultdict(Meeting)
    for i, touches in enumerate(touched):
        needs: dict[int, dict[Reason, None]] = {}
        for touch in touches:
            for kind, j in meters[touch.what].met(touch):
                effect = isinstance(touch.what, str)
                reason = Reason("effect" if effect else kind, touch.name, touch.stored)
                needs.setdefault(j, {})[reason] = None
        for touch in touches:
            meters[touch.what].note(i, touch)
        yield needs


class Meeting:
    """Who wrote and who read one thing last, by its parts."""

    __slots__ = ("readers", "writers")

    def __init__(self) -> None:
        self.writers: dict[Any, int] = {}
        self.readers: dict[Any, list[int]] = {}

    def met(self, touch: Touch) -> Iterator[tuple[str, int]]:
        """Whom this touch must wait for, and how they meet."""
        whole = touch.part is None
        for part, j in self.writers.items():
            if whole or part is None or part is touch.part:
                yield "WAW" if touch.writes else "RAW", j
        if touch.writes:
            for part, found in self.readers.items():
                if whole or part is None or part is touch.part:
                    yield from (("WAR", j) for j in found)

    def note(self, i: int, touch: Touch) -> None:
        """`i` touches it from now on; whoever comes later and waits for `i` need not look back."""
        if not touch.writes:
            self.readers.setdefault(touch.part, []).append(i)
            return
        if touch.part is None:
            self.writers.clear()
            self.readers.clear()
        self.readers.pop(touch.part, None)
        self.writers[touch.part] = i


def legal_order(graph: Graph, seed: int) -> tuple[int, ...]:
    """Any order that respects the graph, picked by `seed`."""
    chance = random.Random(seed)
    waiting = list(graph.counts)
    ready = [i for i, count in enumerate(waiting) if not count]
    order = []
    while ready:
        i = ready.pop(chance.randrange(len(ready)))
        order.append(i)
        for j in graph.successors[i]:
            waiting[j] -= 1
            if not waiting[j]:
                ready.append(j)
    return tuple(order)
