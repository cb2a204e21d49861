"""A profiler described by a file."""

import json

import pytest

from scull.profiler.configuration import get_profiler
from scull.profiler.session import SUPPORTED
from scull.profiler.state import ProfilerState, ProfilerTarget


@pytest.fixture
def described(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def profiler(**content):
        path = tmp_path / "profiler.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return get_profiler(str(path))

    return profiler


def call(**arguments):
    return {"module": "paddle.profiler", "use_direct": False, "args": [], "kwargs": arguments}


def test_a_file_gives_targets_a_schedule_and_a_folder(described, tmp_path, capsys):
    profiler = described(
        targets=["CPU"],
        scheduler=[3, 4],
        on_trace_ready={"export_chrome_tracing": call(dir_name="traces/")},
        timer_only=False,
    )
    assert profiler.targets == {ProfilerTarget.CPU} and (tmp_path / "traces").is_dir()
    assert [profiler.scheduler(i).name for i in (1, 2, 3)] == [
        "CLOSED",
        "READY",
        "RECORD_AND_RETURN",
    ]
    assert capsys.readouterr().out == ""


def test_a_schedule_can_be_made_by_a_function(described):
    profiler = described(scheduler={"make_scheduler": call(closed=1, ready=1, record=2)})
    assert profiler.scheduler(3) is ProfilerState.RECORD_AND_RETURN


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("targets", [1]),
        ("targets", ["toaster"]),
        ("scheduler", 3),
        ("scheduler", [4]),
        ("scheduler", {"system": call(command="true")}),
        ("scheduler", {"make_scheduler": call(closed=1)}),
        ("scheduler", {"make_scheduler": call(closed=-1, ready=1, record=1)}),
        ("on_trace_ready", {"export_chrome_tracing": {}}),
        ("on_trace_ready", "print"),
        ("timer_only", 1),
    ],
)
def test_what_is_wrong_is_told_and_left_out(described, capsys, name, value):
    profiler = described(**{name: value})
    assert f"Set {name} parameter error" in capsys.readouterr().out
    assert profiler.targets == SUPPORTED and profiler.timer_only is False


@pytest.mark.parametrize("text", ["", "[]", "{", '"text"', "\x00"])
def test_a_file_that_is_no_description_gives_a_plain_profiler(tmp_path, monkeypatch, capsys, text):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "profiler.json"
    path.write_text(text, encoding="utf-8")
    profiler = get_profiler(str(path))
    assert profiler.targets == SUPPORTED
    assert ("Load config file" in capsys.readouterr().out) == (text != "[]")


def test_no_file_gives_a_plain_profiler(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert get_profiler("nowhere.json").targets == SUPPORTED
    assert "Load config file for profiler error" in capsys.readouterr().out
