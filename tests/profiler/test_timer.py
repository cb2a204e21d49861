"""Times of steps and of loading, samples a second, and the summary at the end."""

import re

import pytest

from scull.profiler import timer
from scull.profiler.timer import Benchmark


class Clock:
    """A clock that goes as it is told."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(timer, "time", found)
    return found


def steps(benchmark, clock, count, samples=None, reading=0.1, computing=0.3, data="data"):
    for _ in range(count):
        benchmark.before_reader(data)
        clock.now += reading
        benchmark.after_reader()
        clock.now += computing
        benchmark.step(samples)


def test_the_information_is_the_average_since_it_was_asked(clock):
    benchmark = Benchmark()
    benchmark.begin()
    steps(benchmark, clock, 2, samples=8)
    text = " reader_cost: 0.10000 s batch_cost: 0.40000 s ips: 20.000 images/s"
    assert benchmark.step_info("images") == text
    steps(benchmark, clock, 1, samples=8, reading=0.2, computing=0.6)
    text = " reader_cost: 0.20000 s batch_cost: 0.80000 s ips: 10.000 samples/s"
    assert benchmark.step_info("samples") == text
    assert benchmark.step_info("samples") == ""


def test_without_samples_steps_are_counted(clock):
    benchmark = Benchmark()
    benchmark.begin()
    clock.now += 0.5
    benchmark.step()
    assert benchmark.step_info("samples") == " batch_cost: 0.50000 s ips: 2.000 steps/s"


def test_the_summary_leaves_the_first_ten_steps_out(clock, capsys):
    benchmark = Benchmark()
    benchmark.begin()
    steps(benchmark, clock, 10, samples=4, computing=9.0)
    steps(benchmark, clock, 1, samples=4, reading=0.2, computing=0.2)
    steps(benchmark, clock, 1, samples=4, reading=0.2, computing=0.6)
    benchmark.step_info("images")
    benchmark.end()
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "Perf Summary".center(100, "=")
    assert lines[1:3] == ["Reader Ratio: 33.333%", "Time Unit: s, IPS Unit: images/s"]
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in lines[3:7]]
    assert cells == [
        ["avg", "max", "min"],
        ["reader_cost", "0.20000", "0.20000", "0.20000"],
        ["batch_cost", "0.60000", "0.80000", "0.40000"],
        ["ips", "6.66667", "10.00000", "5.00000"],
    ]
    assert len({len(line) for line in lines[3:7]}) == 1


def test_ten_steps_have_no_summary(clock, capsys):
    benchmark = Benchmark()
    benchmark.begin()
    steps(benchmark, clock, 10)
    benchmark.end()
    assert capsys.readouterr().out == ""


def test_while_other_data_is_read_nothing_counts(clock):
    benchmark = Benchmark()
    benchmark.begin()
    steps(benchmark, clock, 1)
    benchmark.step_info("samples")
    steps(benchmark, clock, 5, computing=7.0, data="other")
    assert benchmark.step_info("samples") == ""
    steps(benchmark, clock, 1)
    assert "batch_cost: 0.40000 s" in benchmark.step_info("samples")


def test_what_is_measured_within_is_measured_apart(clock):
    benchmark = Benchmark()
    benchmark.begin()
    clock.now += 1.0
    benchmark.begin()
    clock.now += 0.25
    benchmark.step()
    assert "0.25000" in benchmark.step_info("samples")
    benchmark.end()
    clock.now += 0.5
    benchmark.step()
    assert "batch_cost: 0.50000 s" in benchmark.step_info("samples")
    benchmark.end()


def test_while_nothing_is_measured_nothing_is_said(capsys):
    benchmark = Benchmark()
    steps_without_clock = (benchmark.step, benchmark.after_reader, benchmark.end)
    for call in steps_without_clock:
        call()
    assert benchmark.step_info("samples") == "" and capsys.readouterr().out == ""
