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
from tests.profiler.trace import TraceError, check

SPAN = {"name": "exp", "cat": "Operator", "ph": "X", "pid": 1, "tid": 2, "ts": 5.0, "dur": 4.0}
NAMES = [
    {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "p"}},
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, "args": {"name": "t"}},
]


def spans(content):
    """The spans of a trace that viewers read, by their threads."""
    found = {}
    for event in check(content):
        if event["ph"] == "X":
            found.setdefault(event["tid"], []).append(event)
    return found


@given(results())
def test_any_result_is_a_well_formed_trace(result):
    content = written(result)
    assert sum(map(len, spans(content).values())) == sum(len(t.spans) for t in result.threads)


@given(results())
def test_any_result_comes_back_as_it_was(result):
    assert read(written(result)) == result


def test_what_ran_is_a_well_formed_trace_and_comes_back(tmp_path):
    profiler = recorded()
    path = tmp_path / "trace.json"
    profiler.export(str(path))
    assert len(spans(path.read_bytes())) >= 2
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
    live = [e["args"]["allocated"] for e in check(content) if e["ph"] == "C"]
    assert live and live[-1] < max(live)


def test_numbers_that_json_lacks_are_text():
    with Profiler(record_shapes=True, on_trace_ready=lambda profiler: None) as profiler:
        paddle.full([2], math.inf)
    content = written(profiler.profiler_result)
    [made] = [e for e in check(content) if e["name"] == "fill_constant"]
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


def trace_of(*rest):
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": [*NAMES, *rest]}).encode()


def flow(phase, moment, **more):
    place = {"pid": 1, "tid": 2, "ts": moment, "cat": "c", "id": 7}
    return {"name": "f", "ph": phase, **place, **more}


def test_the_check_of_traces_takes_every_kind_of_event():
    begin = {"name": "b", "ph": "B", "pid": 1, "tid": 2, "ts": 1}
    count = {"name": "live", "ph": "C", "pid": 1, "tid": 2, "ts": 1, "args": {"n": 3}}
    instant = {"name": "now", "ph": "i", "s": "t", "pid": 1, "tid": 2, "ts": 1}
    every = (SPAN, begin, begin | {"ph": "E", "ts": 2}, count, instant)
    assert len(check(trace_of(*every, flow("s", 5.0), flow("t", 6), flow("f", 9)))) == 10


@pytest.mark.parametrize(
    "wrong",
    [
        [SPAN | {"ph": "Q"}],
        [{k: v for k, v in SPAN.items() if k != "dur"}],
        [SPAN | {"ts": -1.0}],
        [SPAN | {"dur": "4"}],
        [SPAN | {"ts": 2.0**53}],
        [SPAN | {"tid": 3}],
        [SPAN | {"pid": 9}],
        [SPAN | {"tid": "2"}],
        [SPAN | {"args": [1]}],
        [SPAN | {"colour": "red"}],
        [SPAN, SPAN | {"ts": 7.0}],
        [SPAN, NAMES[1]],
        [NAMES[1] | {"args": {"name": 3}}],
        [NAMES[0], SPAN],
        [SPAN | {"ph": "B"}],
        [{"name": "n", "ph": "C", "pid": 1, "tid": 2, "ts": 1, "args": {"n": "3"}}],
        [SPAN, flow("s", 5.0)],
        [SPAN, flow("s", 8.0), flow("f", 6.0)],
        [SPAN, flow("s", 6.0), flow("f", 20.0)],
    ],
)
def test_the_check_of_traces_refuses_what_viewers_would(wrong):
    with pytest.raises(TraceError):
        check(trace_of(*wrong))
