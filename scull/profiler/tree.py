"""Spans as trees: what happened within what, a tree for each thread."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scull.core.timeline import INNER, OPERATOR, Change, Span
from scull.profiler.state import TracerEventType, TracerMemEventType

LAST = 2**64 - 1  # when a root ends


@dataclass(slots=True)
class MemoryNode:
    """Memory that was taken or given back."""

    timestamp_ns: int
    addr: int
    type: TracerMemEventType
    process_id: int
    thread_id: int
    increase_bytes: int
    current_allocated: int
    peak_allocated: int
    place: str = "Place(cpu)"
    current_reserved: int = 0
    peak_reserved: int = 0


@dataclass(slots=True)
class Node:
    """A span and those within it, under the names that Paddle gives them."""

    name: str
    type: TracerEventType
    start_ns: int
    end_ns: int
    process_id: int
    thread_id: int
    children_node: list["Node"] = field(default_factory=list)
    runtime_node: list["Node"] = field(default_factory=list)  # calls that launch work on a device
    device_node: list["Node"] = field(default_factory=list)  # such work
    mem_node: list[MemoryNode] = field(default_factory=list)
    input_shapes: dict[str, Any] = field(default_factory=dict)
    dtypes: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    callstack: str = ""

    @property
    def time(self) -> int:
        """How long it took, in nanoseconds."""
        return self.end_ns - self.start_ns

    def holds(self, other: Any) -> bool:
        """Whether `other` lies within it."""
        return bool(self.start_ns <= other.start_ns and other.end_ns <= self.end_ns)

    def walk(self) -> Iterator["Node"]:
        """Every node below, an outer one before those within."""
        pending = self.children_node[::-1]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children_node))


def tree(spans: Iterable[Span], process: int, thread: int) -> Node:
    """The spans of one thread, each below the smallest one that holds it.

    Operators that an operator is made of are its inner ones.
    """
    root = Node("root node", TracerEventType.UserDefined, 0, LAST, process, thread)
    open_nodes = [root]
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        node = node_of(span, process, thread)
        while not open_nodes[-1].holds(node):
            open_nodes.pop()
        if span.category == OPERATOR and any(
            n.type is TracerEventType.Operator for n in open_nodes
        ):
            node.type = TracerEventType[INNER]
        open_nodes[-1].children_node.append(node)
        open_nodes.append(node)
    return root


def node_of(span: Span, process: int, thread: int) -> Node:
    """The node of one span."""
    kind, told = TracerEventType[span.category], span.arguments or {}
    node = Node(span.name, kind, span.start, span.end, process, thread)
    node.input_shapes, node.dtypes = told.get("shapes", {}), told.get("dtypes", {})
    node.attributes, node.callstack = told.get("attributes", {}), told.get("line", "")
    return node


def place_changes(roots: dict[int, Node], changes: Iterable[Change], process: int) -> None:
    """Hang every change of memory at the innermost span in which it happened."""
    starts: dict[int, list[int]] = {}  # of the children of a node, by its id
    for change in changes:
        found = roots.get(change.thread)
        if found is None:
            continue
        while True:
            children = found.children_node
            begun = starts.setdefault(id(found), [n.start_ns for n in children])
            place = bisect_right(begun, change.moment) - 1
            if place < 0 or change.moment > children[place].end_ns:
                break
            found = children[place]
        kind = TracerMemEventType.Allocate if change.size > 0 else TracerMemEventType.Free
        found.mem_node.append(
            MemoryNode(
                change.moment,
                change.address,
                kind,
                process,
                change.thread,
                change.size,
                change.live,
                change.peak,
            )
        )
