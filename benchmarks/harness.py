"""Measuring: rounds in which every contender has its turn, medians with spread, a table."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module, util
from itertools import chain
from statistics import quantiles
from typing import Any

cpu_time = time.process_time


@dataclass(frozen=True)
class Spread:
    """The median of some measurements, between their 10th and 90th percentile."""

    median: float
    low: float
    high: float

    def times(self, factor: float) -> "Spread":
        """The same in another unit."""
        return Spread(self.median * factor, self.low * factor, self.high * factor)

    def show(self, unit: str) -> str:
        """As text: the median, then the spread in brackets."""
        return f"{short(self.median)}{unit} ({short(self.low)}..{short(self.high)})"


def short(value: float) -> str:
    """A number in three digits, or whole."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(values: list[float]) -> Spread:
    """The spread of some measurements; of one, the value itself."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    parts = quantiles(values, n=20, method="inclusive")
    return Spread(parts[9], parts[1], parts[17])


@dataclass(frozen=True)
class Row:
    """A figure: what is asked of it, what was measured, and the times behind it."""

    name: str
    asked: str
    measured: str
    detail: str = ""


def rounds(contenders: dict[str, Callable[[], float]], count: int) -> dict[str, list[float]]:
    """The seconds of every contender in each round; the first tenth of the rounds is dropped.

    A contender returns its own seconds, so that it can prepare without being measured.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    dropped = count // 10
    for number in range(count + dropped):
        for name, contender in contenders.items():
            taken = contender()
            if number >= dropped:
                seconds[name].append(taken)
    return seconds


def seconds_of(call: Callable[[], Any]) -> Callable[[], float]:
    """A contender that is measured from end to end."""

    def measured() -> float:
        start = cpu_time()
        call()
        return cpu_time() - start

    return measured


def beside(
    name: str, asked: str, measured: dict[str, list[float]], per: int = 1, unit: str = "us"
) -> Row:
    """The row of two contenders, ours first: the ratio of each round, and both times."""
    (ours, first), (peer, second) = measured.items()
    ratio = spread([a / b for a, b in zip(first, second, strict=True)])
    factor = {"us": 1e6, "ms": 1e3}[unit] / per
    times = [spread(values).times(factor).show(f" {unit}") for values in (first, second)]
    return Row(name, asked, ratio.show("x"), f"{ours} {times[0]}, {peer} {times[1]}")


@cache
def torch() -> Any:
    """PyTorch on one thread, None when it is not installed."""
    if util.find_spec("torch") is None:
        return None
    module = import_module("torch")
    module.set_num_threads(1)
    return module


def without_torch(name: str, asked: str, seconds: list[float], per: int = 1) -> Row:
    """The row of a figure whose peer is not there."""
    ours = spread(seconds).times(1e6 / per).show(" us")
    return Row(name, asked, "torch not installed", f"scull {ours}")


WIDTHS = (78, 12, 22)  # of the columns before the detail


def table(rows: Iterable[Row]) -> Iterator[str]:
    """The rows below each other, each as soon as it is measured."""
    for line in chain((Row("figure", "asked", "measured", "detail"),), rows):
        cells = zip((line.name, line.asked, line.measured), WIDTHS, strict=True)
        yield "  ".join([*(cell.ljust(width) for cell, width in cells), line.detail]).rstrip()
