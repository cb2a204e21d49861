"""What viewers demand of a trace: the Trace Event Format, as Chrome and Perfetto read it."""

import json
import math
from collections import defaultdict

FIELDS = {  # by the phase of an event what it needs besides name, phase, process and thread
    "X": {"ts", "dur"},
    "B": {"ts"},
    "E": {"ts"},
    "i": {"ts", "s"},
    "C": {"ts", "args"},
    "M": {"args"},
    "s": {"ts", "id", "cat"},
    "t": {"ts", "id", "cat"},
    "f": {"ts", "id", "cat"},
}
MAY = {"args", "cat", "cname", "bp"}
METADATA = {  # by the name of an event of metadata its one argument
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
LARGEST = 2**32  # of a process or thread; viewers keep them in 32 bits
EXACT = 2**53  # up to here a number of JSON is a whole one in every reader


class TraceError(AssertionError):
    """A trace that a viewer refuses or shows wrongly."""


def demand(truth, law, event=None):
    """TraceError unless `truth`."""
    if not truth:
        raise TraceError(f"{law}: {event}")


def refused(constant):
    raise TraceError(f"JSON has no {constant}")


def unique(pairs):
    """An object, no key of which occurs twice."""
    found = dict(pairs)
    demand(len(found) == len(pairs), "a key occurs twice", pairs)
    return found


def parsed(content):
    """A trace: strict JSON in UTF-8, an object with its events and the unit of times."""
    trace = json.loads(content.decode(), parse_constant=refused, object_pairs_hook=unique)
    demand(isinstance(trace, dict), "a trace is an object")
    demand(isinstance(trace.get("traceEvents"), list), "events are a list")
    demand(trace.get("displayTimeUnit", "ms") in ("ms", "ns"), "times are shown in ms or ns")
    for key in ("stackFrames", "samples", "systemTraceEvents"):
        demand(key not in trace, "a viewer reads it in a way of its own", key)
    return trace


def check_event(event):
    """Demand the fields of one event, and their types."""
    demand(isinstance(event, dict) and event.get("ph") in FIELDS, "no phase", event)
    needed = {"name", "ph", "pid", "tid"} | FIELDS[event["ph"]]
    demand(needed <= event.keys(), f"it lacks {needed - event.keys()}", event)
    rest = event.keys() - needed - MAY
    demand(not rest, f"nobody reads {rest}", event)
    demand(isinstance(event["name"], str), "a name is a text", event)
    event["name"].encode()  # no half of a character
    for key in ("pid", "tid"):
        demand(type(event[key]) is int and 0 <= event[key] < LARGEST, f"bad {key}", event)
    for key in ("ts", "dur"):
        time = event.get(key, 0)
        demand(type(time) in (int, float) and math.isfinite(time), f"bad {key}", event)
        demand(0 <= time * 1000 < EXACT, f"{key} is no exact number of nanoseconds", event)
    demand(isinstance(event.get("args", {}), dict), "args are an object", event)
    demand(isinstance(event.get("cat", ""), str), "a category is a text", event)
    if event["ph"] == "i":
        demand(event["s"] in ("g", "p", "t"), "an instant is of all, a process, a thread", event)
    if event["ph"] == "C":
        numbers = event["args"].values()
        demand(numbers and all(type(v) in (int, float) for v in numbers), "counts numbers", event)
    if event["ph"] == "M":
        demand(event["name"] in METADATA, "no such metadata", event)
        name, kind = METADATA[event["name"]]
        demand(event["args"].keys() == {name}, f"it tells `{name}`", event)
        demand(type(event["args"][name]) is kind, f"`{name}` is no {kind.__name__}", event)


def check_metadata(events):
    """Demand that every thread that shows has one name, and each process."""
    told = set()
    for event in events:
        if event["ph"] == "M":
            place = (event["pid"], event["tid"])[: 2 if event["name"].startswith("thread") else 1]
            demand((event["name"], *place) not in told, "it is told twice", event)
            told.add((event["name"], *place))
    for event in events:
        demand(("process_name", event["pid"]) in told, "its process has no name", event)
        if event["ph"] in "XBE":
            place = event["pid"], event["tid"]
            demand(("thread_name", *place) in told, "its thread has no name", event)


def check_nesting(events):
    """Demand that spans of one thread lie within one another or apart, begins have their ends."""
    spans, opened = defaultdict(list), defaultdict(list)
    for event in events:
        place = event["pid"], event["tid"]
        start = round(event.get("ts", 0) * 1000)
        if event["ph"] == "X":
            spans[place].append((start, start + round(event["dur"] * 1000)))
        elif event["ph"] == "B":
            opened[place].append((start, event["name"]))
        elif event["ph"] == "E":
            demand(opened[place], "an end without a begin", event)
            begin, name = opened[place].pop()
            demand(name == event["name"] and begin <= start, "it ends another", event)
    demand(not any(opened.values()), "a begin has no end", opened)
    for found in spans.values():
        outer = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            while outer and outer[-1] <= start and outer[-1] < end:
                outer.pop()
            demand(not outer or end <= outer[-1], "spans cross", (start, end))
            outer.append(end)


def check_flows(events):
    """Demand that every flow starts once, ends once, goes forward, and touches a span each time."""
    flows = defaultdict(list)
    spans = [e for e in events if e["ph"] == "X"]
    for event in events:
        if event["ph"] in "stf":
            flows[event["cat"], event["id"]].append(event)
            inside = (
                e["ts"] <= event["ts"] <= e["ts"] + e["dur"]
                for e in spans
                if (e["pid"], e["tid"]) == (event["pid"], event["tid"])
            )
            demand(any(inside), "a flow begins and ends in a span", event)
    for found in flows.values():
        found.sort(key=lambda event: event["ts"])
        phases = "".join(event["ph"] for event in found)
        demand(phases == "s" + "t" * (len(phases) - 2) + "f", "a flow is s, t ..., f", phases)


def check_counters(events):
    """Demand that each count is told in the order of time."""
    last = {}
    for event in events:
        if event["ph"] == "C":
            key = event["pid"], event["name"]
            demand(event["ts"] >= last.get(key, 0), "a count goes back in time", event)
            last[key] = event["ts"]


def check(content):
    """Demand that viewers read a trace as it is meant; its events."""
    events = parsed(content)["traceEvents"]
    for event in events:
        check_event(event)
    for checked in (check_metadata, check_nesting, check_flows, check_counters):
        checked(events)
    return events
