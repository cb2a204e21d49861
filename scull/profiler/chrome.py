"""Traces as Chrome and Perfetto read them: a JSON list of events, times in microseconds."""

import json
from collections.abc import Iterator
from typing import Any

from scull.core.timeline import Change, Span
from scull.errors import FileError
from scull.profiler.result import ProfilerResult, Thread
from scull.profiler.state import TracerEventType

MEMORY = "[memory]"
LIVE = "live bytes"
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
BASE = "baseTimeNanoseconds"  # the time since 1970 that all others count from


def written(result: ProfilerResult) -> bytes:
    """The result as a trace."""
    moments = [s.start for t in result.threads for s in t.spans]
    base = min([*moments, *(c.moment for c in result.changes)], default=0)
    trace = {
        "displayTimeUnit": "ms",
        "schemaVersion": result.version,
        "span_indx": str(result.index),
        BASE: base,
        "traceEvents": list(events(result, base)),
        "ExtraInfo": result.extra,
    }
    return json.dumps(trace, separators=(",", ":"), default=str).encode()


def events(result: ProfilerResult, base: int) -> Iterator[dict[str, Any]]:
    """The events: names of process and threads, then spans, then memory."""
    process = result.process
    name = {"name": f"Process {process} (CPU)"}
    yield {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": name}
    for order, thread in enumerate(result.threads):
        place = {"pid": process, "tid": thread.number}
        name = {"name": f"thread {thread.number}: {thread.name}"}
        yield {"name": "thread_name", "ph": "M", **place, "args": name}
        yield {"name": "thread_sort_index", "ph": "M", **place, "args": {"sort_index": order}}
        for span in thread.spans:
            yield {
                "name": span.name,
                "cat": span.category,
                "ph": "X",
                **place,
                "ts": microseconds(span.start - base),
                "dur": microseconds(span.end - span.start),
                "args": span.arguments or {},
            }
    for change in result.changes:
        yield from changed(change, process, microseconds(change.moment - base))


def changed(change: Change, process: int, moment: float) -> Iterator[dict[str, Any]]:
    """The instant at which memory was taken or given back, and the count of what is live."""
    yield {
        "name": MEMORY,
        "cat": "Allocate" if change.size > 0 else "Free",
        "ph": "i",
        "s": "t",
        "pid": process,
        "tid": change.thread,
        "ts": moment,
        "args": {
            "place": "Place(cpu)",
            "addr": str(change.address),
            "increase_bytes": change.size,
            "current_allocated": change.live,
            "peak_allocated": change.peak,
        },
    }
    place = {"pid": process, "tid": change.thread, "ts": moment}
    yield {"name": LIVE, "ph": "C", **place, "args": {"allocated": change.live}}


def microseconds(nanoseconds: int) -> float:
    """A time in microseconds from which the nanoseconds can be told."""
    return nanoseconds / 1000


def read(content: bytes) -> ProfilerResult:
    """The result that `written` made a trace of."""
    try:
        trace = json.loads(content)
        return result_in(trace)
    except MALFORMED as error:
        kind = type(error).__name__
        raise FileError(f"this is not a trace that scull wrote: {kind}: {error}") from None


def result_in(trace: dict[str, Any]) -> ProfilerResult:
    """The result within a trace."""
    base, every = int(trace[BASE]), trace["traceEvents"]
    names = dict(trace["ExtraInfo"])
    spans: dict[int, list[Span]] = {}
    for event in every:
        if event["name"] == "thread_name" and event["ph"] == "M":
            spans[int(event["tid"])] = []
    for event in every:
        if event["ph"] == "X":
            category = TracerEventType[event["cat"]].name
            start = base + nanoseconds(event["ts"])
            row = Span(str(event["name"]), category, start, start + nanoseconds(event["dur"]))
            spans[int(event["tid"])].append(row._replace(arguments=event["args"] or None))
    changes = [
        Change(
            base + nanoseconds(event["ts"]),
            int(event["tid"]),
            int(event["args"]["addr"]),
            int(event["args"]["increase_bytes"]),
            int(event["args"]["current_allocated"]),
            int(event["args"]["peak_allocated"]),
        )
        for event in every
        if event["ph"] == "i"
    ]
    threads = tuple(Thread(n, str(names.get(str(n), "")), tuple(s)) for n, s in spans.items())
    process = next((int(event["pid"]) for event in every), 0)
    index, version = int(trace["span_indx"]), str(trace["schemaVersion"])
    return ProfilerResult(threads, tuple(changes), process, index, names, version)


def nanoseconds(microseconds: float) -> int:
    """A time of a trace."""
    found = round(microseconds * 1000)
    if found < 0:
        raise ValueError(f"a time is {microseconds} microseconds")
    return found
