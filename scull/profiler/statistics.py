"""How often things happened and how long they took, added up over trees of spans."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scull.profiler.flops import flops
from scull.profiler.state import TracerEventType as Kind
from scull.profiler.tree import Node

PHASES = (Kind.Dataloader, Kind.Forward, Kind.Backward, Kind.Optimization)
MERGED = "All threads merged"


@dataclass
class Times:
    """Times that are added up, in nanoseconds."""

    total: int = 0
    most: int = 0
    least: float = float("inf")

    def add(self, time: int) -> None:
        """Count one more."""
        self.total += time
        self.most, self.least = max(self.most, time), min(self.least, time)


@dataclass
class Total:
    """All that happened under one name, on the host and on devices."""

    calls: int = 0
    host: Times = field(default_factory=Times)
    device: Times = field(default_factory=Times)
    flops: int = 0
    inner: dict[str, "Total"] = field(default_factory=dict)  # what operators are made of

    def add(self, node: Any) -> None:
        """Count one span."""
        self.calls += 1
        self.host.add(node.end_ns - node.start_ns)
        self.device.add(device_time(node))


@dataclass
class Taken:
    """Memory that was taken and given back under one name."""

    allocations: int = 0
    frees: int = 0
    allocated: int = 0
    freed: int = 0

    def add(self, size: int) -> None:
        """Count one change."""
        if size > 0:
            self.allocations, self.allocated = self.allocations + 1, self.allocated + size
        else:
            self.frees, self.freed = self.frees + 1, self.freed - size


Totals = dict[str, Total]


@dataclass
class Statistics:
    """What a result says when it is added up."""

    kinds: dict[Kind, tuple[int, int]]  # calls, and nanoseconds in which at least one ran
    phases: dict[Kind, Total]  # the outermost spans of each phase, and the steps
    operators: dict[Any, Totals]  # by thread, and of all threads
    named: dict[Any, Totals]  # by users
    memory: dict[str, dict[str, Taken]]  # by place
    peaks: dict[str, int]

    @property
    def total(self) -> int:
        """The nanoseconds of all steps."""
        return self.kinds.get(Kind.ProfileStep, (0, 0))[1]


def statistics(trees: dict[int, Node]) -> Statistics:
    """The trees added up."""
    spans: dict[Kind, list[tuple[int, int]]] = defaultdict(list)
    operators: dict[Any, Totals] = defaultdict(dict)
    named: dict[Any, Totals] = defaultdict(dict)
    for root in trees.values():
        for node in root.walk():
            spans[node.type].append((node.start_ns, node.end_ns))
            for thread in (MERGED, node.thread_id):
                if node.type is Kind.Operator:
                    add_operator(operators[thread], node)
                elif node.type is Kind.PythonUserDefined:
                    named[thread].setdefault(node.name, Total()).add(node)
    phases: dict[Kind, Total] = {}
    for node in (n for root in trees.values() for n in outermost(root)):
        phases.setdefault(node.type, Total()).add(node)
    kinds = {kind: (len(found), covered(found)) for kind, found in spans.items()}
    for kind in PHASES:
        if kind in phases:
            kinds[kind] = (phases[kind].calls, phases[kind].host.total)
    return Statistics(kinds, phases, operators, named, *memory_of(trees))


def add_operator(totals: Totals, node: Node) -> None:
    """Count an operator, and what it is made of."""
    total = totals.setdefault(node.name, Total())
    total.add(node)
    total.flops += flops_of(node)
    for child in node.children_node:
        total.inner.setdefault(child.name, Total()).add(child)


def flops_of(node: Node) -> int:
    """The operations of an operator, those of what it is made of where it is not counted itself."""
    own = flops(node.name, node.input_shapes, node.attributes)
    return own or sum(flops_of(child) for child in node.children_node)


def outermost(root: Node) -> Iterator[Node]:
    """The steps, and the spans of a phase that lie in no other phase."""
    for child in root.children_node:
        if child.type in PHASES:
            yield child
        else:
            if child.type is Kind.ProfileStep:
                yield child
            yield from outermost(child)


def memory_of(trees: dict[int, Node]) -> tuple[dict[str, dict[str, Taken]], dict[str, int]]:
    """What each name took and gave back by place, and the most that was live there."""
    taken: dict[str, dict[str, Taken]] = defaultdict(dict)
    peaks: dict[str, int] = defaultdict(int)
    pending = [(node, node.name) for root in trees.values() for node in root.children_node]
    while pending:
        node, name = pending.pop()
        for change in node.mem_node:
            taken[change.place].setdefault(name, Taken()).add(change.increase_bytes)
            peaks[change.place] = max(peaks[change.place], change.peak_allocated)
        operator = node.type in (Kind.Operator, Kind.OperatorInner)
        pending += [(child, name if operator else child.name) for child in node.children_node]
    return taken, peaks


def device_time(node: Any) -> int:
    """The nanoseconds of all that a span launched on devices."""
    launched = (work for call in node.runtime_node for work in call.device_node)
    own: int = sum(work.end_ns - work.start_ns for work in (*node.device_node, *launched))
    return own + sum(map(device_time, node.children_node))


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """The nanoseconds in which at least one span ran."""
    total, until = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total
