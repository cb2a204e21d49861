"""Traces: every event is as viewers want it, and nothing is lost on the way back."""

import gzip
import json
import math

import pytest
from hypothesis import given

import scull as paddle
from scull.errors import FileError, ScullError
from scull.profiler import Profiler, load_profiler_result
from scull.profiler.chrome import read, written
from tests.profiler.recording import recorded, results

FIELDS = {  # of the kinds of events, besides name, process and thread
    "M": {"args"},
    "X": {"cat", "ts", "dur", "args"},
    "i": {"cat", "ts", "s", "args"},
    "C": {"ts", "args"},
}


def refused(constant):
    raise ValueError(f"JSON has no {constant}")


def events(content):
    """The events of a trace, which is strict JSON."""
    return json.loads(content, parse_constant=refused)["traceEvents"]


def check(content):
    """Demand that every event is well-formed and that the spans of each thread nest."""
    spans, named = {}, set()
    for event in events(content):
        kind = event["ph"]
        assert event.keys() == {"name", "ph", "pid", "tid"} | FIELDS[kind]
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is int and type(event["tid"]) is int
        for key in ("ts", "dur"):
            assert math.isfinite(event.get(key, 0.0)) and event.get(key, 0.0) >= 0
        if kind == "X":
            start = round(event["ts"] * 1000)
            spans.setdefault(event["tid"], []).append((start, start + round(event["dur"] * 1000)))
        if kind == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
        if event["name"] == "thread_name":
            named.add(event["tid"])
    for thread, found in spans.items():
        assert thread in named
        outer = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            while outer and outer[-1] <= start and outer[-1] < end:
                outer.pop()
            assert not outer or end <= outer[-1]
            outer.append(end)
    return spans


@given(results())
def test_any_result_is_a_well_formed_trace(result):
    content = written(result)
    assert sum(map(len, check(content).values())) == sum(len(t.spans) for t in result.threads)


@given(results())
def test_any_result_comes_back_as_it_was(result):
    assert read(written(result)) == result


def test_what_ran_is_a_well_formed_trace_and_comes_back(tmp_path):
    profiler = recorded()
    path = tmp_path / "trace.json"
    profiler.export(str(path))
    assert len(check(path.read_bytes())) >= 2
    assert load_profiler_result(str(path)) == profiler.profiler_result


def test_a_trace_can_be_packed(tmp_path):
    profiler = recorded()
    plain, packed = tmp_path / "trace.json", tmp_path / "trace.json.gz"
    profiler.export(str(plain))
    profiler.export(str(packed))
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert load_profiler_result(str(packed)) == profiler.profiler_result


def test_the_count_of_live_bytes_is_a_counter():
    content = written(recorded().profiler_result)
    live = [e["args"]["allocated"] for e in events(content) if e["ph"] == "C"]
    assert live and live[-1] < max(live)


def test_numbers_that_json_lacks_are_text():
    with Profiler(record_shapes=True, on_trace_ready=lambda profiler: None) as profiler:
        paddle.full([2], math.inf)
    content = written(profiler.profiler_result)
    check(content)
    [made] = [e for e in events(content) if e["name"] == "fill_constant"]
    assert made["args"]["attributes"]["value"] == "inf"


def test_a_file_that_is_there_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    profiler = recorded()
    path = tmp_path / "trace.json"
    path.write_text("before")
    monkeypatch.setattr("scull.profiler.chrome.written", lambda result: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        profiler.export(str(path))
    assert path.read_text() == "before" and len(list(tmp_path.iterdir())) == 1


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ScullError, match=r"\['json', 'pb'\], not 'xml'"):
        recorded().export(str(tmp_path / "trace.xml"), "xml")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere\.json"):
        load_profiler_result(str(tmp_path / "nowhere.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"{}",
        b"[]",
        b'{"traceEvents": 3}',
        b"[" * 100_000,
        b"\x1f\x8b broken",
        gzip.compress(b"{" * 1000, mtime=0)[:-9],
        b"\xff\xfe\x00",
        b'{"baseTimeNanoseconds": 1, "ExtraInfo": {}, "traceEvents": [3]}',
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, content):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(FileError):
        load_profiler_result(str(path))


@pytest.mark.parametrize(
    ("key", "value"),
    [("ts", -1), ("ts", "soon"), ("dur", None), ("cat", "Unheard"), ("tid", 99), ("ts", 1e400)],
)
def test_a_span_that_cannot_be_is_refused(key, value):
    trace = json.loads(written(recorded().profiler_result))
    span = next(event for event in trace["traceEvents"] if event["ph"] == "X")
    span[key] = value
    with pytest.raises(FileError):
        read(json.dumps(trace).encode())
