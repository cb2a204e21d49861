"""The tables of a result: the same rows that Paddle prints, aligned, nothing that is empty."""

import re
from pathlib import Path

import pytest

from scull.errors import ArgumentError
from scull.profiler import SortedKeys, SummaryView, load_profiler_result
from scull.profiler.result import ProfilerResult, Thread
from scull.profiler.state import TracerEventType
from scull.profiler.table import tables
from scull.profiler.tree import Span
from tests.profiler.recording import recorded

REFERENCE = Path(__file__).resolve().parent.parent / "data" / "reference"


def cells(text):
    """The rows of tables as lists of their cells."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.split("\n") if line.strip()]
    return [row for row in rows if len(row) > 1 and not row[0].startswith("---")]


def result(*spans):
    """A result of one thread; a span is given as name, kind, start and end."""
    found = tuple(Span(name, kind, start, end) for name, kind, start, end in spans)
    return ProfilerResult((Thread(1, "main", found),))


EXAMPLE = result(
    ("ProfileStep#0", "ProfileStep", 0, 1000),
    ("few", "Operator", 0, 300),
    ("part", "Operator", 100, 200),
    ("many", "Operator", 300, 500),
    ("many", "Operator", 500, 600),
    ("many", "Operator", 600, 650),
    ("mine", "PythonUserDefined", 700, 900),
)


def names(text, heading="Operator Summary"):
    """The first column of one table."""
    [_, part] = text.split(heading)
    part = part.split("\n\n\n")[0].split("\n")[5:]
    return [line.split("  ")[0] for line in part if line and not line.startswith("-")]


def test_the_rows_are_those_that_paddle_prints_of_the_same_result():
    expected = cells((REFERENCE / "profile.txt").read_text(encoding="utf-8"))
    found = cells(tables(load_profiler_result(str(REFERENCE / "profile.pb")), time_unit="ns"))
    missing = [r for r in expected if r not in found and r[0] not in ("Calls", "Name")]
    assert len(expected) > 50 and missing == []


def test_every_line_of_a_table_is_as_long_as_its_title():
    text = tables(recorded().profiler_result, time_unit="us")
    for table in text.split("\n\n\n"):
        lines = [line for line in table.split("\n") if line]
        rows = [line for line in lines if line.endswith("  ")]
        assert rows or not lines
        assert {len(line) - 2 for line in rows} <= {len(lines[0])} if lines else True
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (SortedKeys.CPUTotal, ["many", "few"]),
        (SortedKeys.CPUAvg, ["few", "many"]),
        (SortedKeys.CPUMax, ["few", "many"]),
        (SortedKeys.CPUMin, ["many", "few"]),
    ],
)
def test_operators_are_ordered_as_asked(key, order):
    text = tables(EXAMPLE, sorted_by=key, op_detail=False, views=[SummaryView.OperatorView])
    assert names(text) == order


def test_what_an_operator_is_made_of_stands_below_it():
    text = tables(EXAMPLE, time_unit="ns", views=SummaryView.OperatorView)
    rows = cells(text)
    assert rows[2][:3] == ["few", "1", "300.00 / 300.00 / 300.00 / 300.00 / 46.15"]
    assert rows[3][:3] == ["part", "1", "100.00 / 100.00 / 100.00 / 100.00 / 33.33"]
    assert "part" not in tables(EXAMPLE, op_detail=False)


def test_only_the_tables_asked_for_are_printed():
    headings = {
        SummaryView.DeviceView: "Device Summary",
        SummaryView.OverView: "Overview Summary",
        SummaryView.OperatorView: "Operator Summary",
        SummaryView.UDFView: "UserDefined Summary",
    }
    for view, heading in headings.items():
        text = tables(EXAMPLE, views=view)
        assert [h for h in headings.values() if h in text] == [heading]
        assert [h for h in headings.values() if h in tables(EXAMPLE, views=[view])] == [heading]
    assert all(heading in tables(EXAMPLE) for heading in headings.values())


def test_tables_without_rows_are_left_out():
    text = tables(result(("ProfileStep#0", "ProfileStep", 0, 1000)))
    assert "Overview" in text
    assert not any(word in text for word in ("Operator Summary", "Model", "UserDefined", "Memory"))


def test_without_a_step_only_the_processor_is_shown():
    text = tables(result(("few", "Operator", 0, 300)))
    assert "Device Summary" in text and "Overview" not in text


def test_threads_stand_apart_when_asked():
    profiler = recorded()
    [first, *others] = profiler.profiler_result.threads
    text = tables(profiler.profiler_result, thread_sep=True)
    assert f"Thread: {first.number}" in text and "All threads merged" not in text
    assert any(f"Thread: {other.number}" in text for other in others)
    assert "All threads merged" in tables(profiler.profiler_result)


@pytest.mark.parametrize(
    ("unit", "shown"), [("s", "0.00"), ("ms", "0.00"), ("us", "0.30"), ("ns", "300.00")]
)
def test_times_are_in_the_unit_asked_for(unit, shown):
    text = tables(EXAMPLE, time_unit=unit, views=SummaryView.OperatorView)
    assert f"Time unit: {unit}" in text and f" {shown} / {shown} / " in text


@pytest.mark.parametrize(
    "wrong", [{"time_unit": "hours"}, {"views": ["OverView"]}, {"sorted_by": "CPUTotal"}]
)
def test_a_unit_a_view_or_an_order_nobody_knows_is_refused(wrong):
    with pytest.raises(ArgumentError):
        tables(EXAMPLE, **wrong)


def test_phases_and_what_is_left_of_a_step_add_up():
    text = tables(
        result(
            ("ProfileStep#0", "ProfileStep", 0, 1000),
            ("load", "Dataloader", 0, 100),
            ("Net", "Forward", 100, 400),
            ("Linear", "Forward", 150, 250),
            ("Gradient Backward", "Backward", 400, 900),
        ),
        time_unit="ns",
        views=SummaryView.ModelView,
    )
    totals = {row[0]: row[2].split(" / ")[0] for row in cells(text)[1:]}
    assert totals == {
        "ProfileStep": "1000.00",
        "Dataloader": "100.00",
        "Forward": "300.00",
        "Backward": "500.00",
        "Others": "100.00",
    }


def test_time_on_several_threads_counts_once_in_the_overview():
    spans = (("a", "Operator", 0, 600), ("b", "Operator", 400, 1000))
    threads = [
        Thread(n, "", (Span(*span), *(Span("ProfileStep#0", "ProfileStep", 0, 1000),) * (n == 1)))
        for n, span in enumerate(spans, start=1)
    ]
    text = tables(ProfilerResult(tuple(threads)), time_unit="ns", views=SummaryView.OverView)
    assert ["Operator", "2", "1000.00", "100.00"] in cells(text)


def test_the_operations_of_layers_are_printed_when_asked_for(capsys):
    recorded().summary(views=SummaryView.OperatorView)
    text = capsys.readouterr().out
    assert "Flops Profiler Begin" in text
    assert re.search(r"^Linear latency: \S+ \S+, FLOPs: 36, FLOPS: ", text, re.MULTILINE)
    assert re.search(r"^ linear latency: \S+ \S+, FLOPs: 36, FLOPS: ", text, re.MULTILINE)
    row = next(r for r in cells(text) if r[0] == "linear")
    assert row[-1] == "72"


def test_kinds_have_the_numbers_of_paddle():
    assert [kind.value for kind in TracerEventType] == list(range(15))
    assert [view.value for view in SummaryView] == list(range(9))
