"""How long steps take, how long they wait for data, and how many samples a second that makes."""

import time
from dataclasses import dataclass, field
from typing import Any

WARMING = 10  # steps that no summary counts
WIDTH = 15


@dataclass
class Average:
    """A time that is measured again and again."""

    count: int = 0
    total: float = 0.0
    most: float = 0.0
    least: float = float("inf")

    def add(self, value: float) -> None:
        """Count one more."""
        self.count, self.total = self.count + 1, self.total + value
        self.most, self.least = max(self.most, value), min(self.least, value)

    @property
    def mean(self) -> float:
        """The average; 0 of nothing."""
        return self.total / self.count if self.count else 0.0


@dataclass
class Part:
    """The steps of a stretch of time."""

    reader: Average = field(default_factory=Average)
    batch: Average = field(default_factory=Average)
    speed: Average = field(default_factory=Average)
    samples: int = 0

    def rate(self, counts_samples: bool) -> float:
        """Samples or steps a second."""
        amount = self.samples if counts_samples else self.batch.count
        return amount / self.batch.total if self.batch.total else 0.0


class Pace:
    """What is measured from a `begin` of the benchmark to its `end`."""

    def __init__(self) -> None:
        self.all, self.recent = Part(), Part()
        self.steps = 0
        self.unit = "samples/s"
        self.dataset: Any = None  # what the steps read; while another is read nothing counts
        self.pauses = False
        self.start = self.asked = time.perf_counter()

    def parts(self) -> list[Part]:
        """Where a measure goes: the summary lacks the first steps."""
        return [self.recent, self.all] if self.steps >= WARMING else [self.recent]

    def reads(self, dataset: Any) -> None:
        """A batch of `dataset` is asked for."""
        if self.dataset is None:
            self.dataset = dataset
        if self.pauses and dataset is self.dataset:
            self.start = time.perf_counter()
        self.pauses = dataset is not self.dataset
        self.asked = time.perf_counter()

    def read(self) -> None:
        """The batch is there."""
        took = time.perf_counter() - self.asked
        if not self.pauses:
            for part in self.parts():
                part.reader.add(took)

    def step(self, samples: int | None) -> None:
        """A step is done."""
        if self.pauses:
            return
        took = max(time.perf_counter() - self.start, 1e-9)
        self.unit = "steps/s" if samples is None else self.unit
        for part in self.parts():
            part.batch.add(took)
            part.speed.add((samples or 0 if self.counts_samples else 1) / took)
            part.samples += samples or 0
        self.steps += 1
        self.start = time.perf_counter()

    @property
    def counts_samples(self) -> bool:
        """Whether every step told how many samples it has."""
        return self.unit != "steps/s"

    def info(self, unit: str) -> str:
        """The averages since this was asked last."""
        part, self.recent = self.recent, Part()
        text = f" reader_cost: {part.reader.mean:.5f} s" if part.reader.mean else ""
        if part.batch.mean:
            self.unit = f"{unit}/s" if self.counts_samples else self.unit
            text += f" batch_cost: {part.batch.mean:.5f} s"
        rate = part.rate(self.counts_samples)
        return text + (f" ips: {rate:.3f} {self.unit}" if rate else "")

    def summary(self) -> str:
        """The averages, the most and the least over all steps but the first."""
        part = self.all
        if not part.batch.count:
            return ""
        lines = ["Perf Summary".center(100, "=")]
        if part.reader.mean:
            lines.append(f"Reader Ratio: {part.reader.total / part.batch.total * 100:.3f}%")
        lines.append(f"Time Unit: s, IPS Unit: {self.unit}")
        lines.append(row("", "avg", "max", "min"))
        if part.reader.mean:
            lines.append(numbers("reader_cost", part.reader, part.reader.mean))
        lines.append(numbers("batch_cost", part.batch, part.batch.mean))
        lines.append(numbers("ips", part.speed, part.rate(self.counts_samples)))
        return "\n".join(lines)


def row(*cells: str) -> str:
    """One line of the summary."""
    return "| " + " | ".join(cell.center(WIDTH) for cell in cells) + " |"


def numbers(name: str, average: Average, mean: float) -> str:
    """The line of one measure."""
    return row(name, *(f"{n:.5f}" for n in (mean, average.most, average.least)))


class Benchmark:
    """The paces being measured: a profiler within another has its own."""

    def __init__(self) -> None:
        self.paces: list[Pace] = []

    def begin(self) -> None:
        """Measure from now on."""
        self.paces.append(Pace())

    def before_reader(self, dataset: Any) -> None:
        """A batch of `dataset` is asked for."""
        if self.paces:
            self.paces[-1].reads(dataset)

    def after_reader(self) -> None:
        """The batch is there."""
        if self.paces:
            self.paces[-1].read()

    def step(self, num_samples: int | None = None) -> None:
        """A step with so many samples is done."""
        if self.paces:
            self.paces[-1].step(num_samples)

    def step_info(self, unit: str) -> str:
        """The averages since this was asked last; nothing while nothing is measured."""
        return self.paces[-1].info(unit) if self.paces else ""

    def end(self) -> None:
        """Print the summary and measure on for whoever began before."""
        if self.paces:
            text = self.paces.pop().summary()
            if text:
                print(text)
            for outer in self.paces[-1:]:
                outer.start = time.perf_counter()


_benchmark = Benchmark()


def benchmark() -> Benchmark:
    """The one of this process."""
    return _benchmark
