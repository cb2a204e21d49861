"""Streams and events: on which queue each task runs, and how one waits for another."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scull.core.place import Place
from scull.executor.dependency import Edge, graph_of
from scull.executor.transfer import COMPUTE, COPY_IN, Spot, Task, tasks_of

DIRECT, SYNCHRONIZE, EVENT = "direct", "synchronize", "event"
ASYNCHRONOUS = frozenset({COMPUTE, COPY_IN})  # what is launched goes on by itself


@dataclass(frozen=True)
class Wait:
    """How `after` waits for `before`, and the variables it does so for."""

    before: int
    after: int
    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Streams:
    """The tasks of a plan on a place, their streams, and the waits between them."""

    place: str
    tasks: tuple[Task, ...]
    streams: tuple[str, ...]  # by task
    waits: tuple[Wait, ...]
    kept: frozenset[Spot]  # what is never dropped
    homes: Mapping[int, str]  # where what goes to the scope is in the end

    @property
    def events(self) -> dict[int, tuple[str, ...]]:
        """The tasks after which an event is recorded, each with the variables that cross."""
        found: dict[int, dict[str, None]] = {}
        for wait in self.waits:
            if wait.kind == EVENT:
                found.setdefault(wait.before, {}).update(dict.fromkeys(wait.names))
        return {i: tuple(names) for i, names in sorted(found.items())}

    def __str__(self) -> str:
        return streams_text(self)


def streams_of(plan: Any, place: Place, count: int = 1, copies: Collection[int] = ()) -> Streams:
    """The streams of a plan on `place`, whose device computes on `count` of them.

    The instructions `copies` make no views there.
    """
    laid = tasks_of(plan, place, copies)
    tasks = laid.tasks
    graph = graph_of([task.touches for task in tasks], plan.sequential)
    streams = assigned(tasks, graph.edges, count)
    waits = tuple(waits_of(tasks, streams, graph.conflicts))
    return Streams(place.name, tasks, streams, waits, laid.kept, laid.homes)


def assigned(tasks: Sequence[Task], edges: Sequence[Edge], count: int) -> tuple[str, ...]:
    """The stream of every task.

    One that computes goes on where one it waits for was the last; else it takes the stream whose
    last task is longest ago.
    """
    into: dict[int, list[int]] = {}
    for edge in edges:
        into.setdefault(edge.after, []).append(edge.before)
    last = dict.fromkeys(range(count), -1)
    streams = []
    for i, task in enumerate(tasks):
        if task.queue != COMPUTE:
            streams.append(task.queue)
            continue
        following = [n for n, j in last.items() if j in into.get(i, ())]
        chosen = following[0] if following else min(last, key=lambda n: last[n])
        last[chosen] = i
        streams.append(f"{COMPUTE} {chosen}" if count > 1 else COMPUTE)
    return tuple(streams)


def waits_of(
    tasks: Sequence[Task], streams: Sequence[str], conflicts: Sequence[Edge]
) -> list[Wait]:
    """Every wait that does not follow from others.

    Of a place of the frame alone a task is done once it is launched: such a wait orders launches,
    and no other follows from it.
    """
    into: list[list[tuple[Edge, str, bool]]] = [[] for _ in tasks]
    for edge in conflicts:
        a, b = tasks[edge.before].queue, tasks[edge.after].queue
        together = streams[edge.before] == streams[edge.after]
        stored = any(reason.stored for reason in edge.reasons)
        kind = kind_of(a, b, together) if stored else DIRECT
        into[edge.after].append((edge, kind, stored or together or a not in ASYNCHRONOUS))
    done: list[int] = []  # for each task those finished when it starts, in bits
    launched: list[int] = []
    waits = []
    for found in into:
        over = under = reached = seen = 0
        for edge, _, finishes in found:
            over |= launched[edge.before]
            seen |= 1 << edge.before
            if finishes:
                under |= done[edge.before]
                reached |= 1 << edge.before
        done.append(under | reached)
        launched.append(over | seen)
        for edge, kind, finishes in found:
            if not (under if finishes else over) >> edge.before & 1:
                waits.append(Wait(edge.before, edge.after, kind, crossing(edge, kind)))
    return waits


def kind_of(before: str, after: str, together: bool) -> str:
    """How a task of one queue waits for one of another, or of its own stream."""
    if together or before not in ASYNCHRONOUS:
        return DIRECT
    return EVENT if after in ASYNCHRONOUS else SYNCHRONIZE


def crossing(edge: Edge, kind: str) -> tuple[str, ...]:
    """The variables of a wait: of an event those whose elements are at stake."""
    return tuple(dict.fromkeys(r.name for r in edge.reasons if r.stored or kind != EVENT))


def streams_text(streams: Streams) -> str:
    """Tasks with their streams and events, then the waits."""
    events = {i: f"e{n}" for n, i in enumerate(streams.events)}
    before: dict[int, list[str]] = {}
    for wait in streams.waits:
        if wait.kind == EVENT:
            before.setdefault(wait.after, []).append(events[wait.before])
    width = max(map(len, streams.streams), default=0)
    lines = [f"streams on {streams.place}: {len(streams.tasks)} tasks, {len(events)} events"]
    for i, (task, stream) in enumerate(zip(streams.tasks, streams.streams, strict=True)):
        text = f"  {i:>4}   {stream:<{width}}   {task.text}"
        text += f"   waits for {', '.join(before[i])}" if i in before else ""
        lines.append(text + (f"   records {events[i]}" if i in events else ""))
    for wait in streams.waits:
        names = ", ".join(wait.names)
        lines.append(f"  {wait.before:>4} -> {wait.after:<4} {wait.kind:<11}   {names}")
    return "\n".join(lines)
