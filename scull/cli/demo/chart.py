"""Pictures of the report, as text of SVG. Colours are those of the page's style."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 34  # margins of a chart


@dataclass(frozen=True)
class Axis:
    """A range of values along some pixels, logarithmic or not."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.scaled(self.low), self.scaled(self.high)
        part = (self.scaled(value) - low) / (high - low)
        return round(self.start + part * (self.end - self.start), 1)

    def scaled(self, value: float) -> float:
        """The value, or its logarithm."""
        return math.log10(max(value, self.low)) if self.log else value

    def ticks(self, wanted: int = 6) -> list[float]:
        """Round values within the range: some `wanted` of them, or 1, 2 and 5 of each decade."""
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            digits = (1, 2, 5) if len(decades) < 4 else (1,)
            every = [digit * 10.0**decade for decade in decades for digit in digits]
            return [value for value in every if self.low <= value <= self.high]
        step = nice((self.high - self.low) / wanted)
        first = math.ceil(self.low / step)
        return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def nice(step: float) -> float:
    """The next of 1, 2, 5, 10, ... that is no smaller."""
    decade = 10.0 ** math.floor(math.log10(step))
    return next(n * decade for n in (1, 2, 5, 10) if n * decade >= step * (1 - 1e-9))


def frame(x: Axis, y: Axis, label_x: str, label_y: str) -> Iterator[str]:
    """Grid lines with their values, and what the axes mean."""
    for value in y.ticks(4):
        at = y.at(value)
        yield f'<line class="grid" x1="{x.start}" x2="{x.end}" y1="{at}" y2="{at}"/>'
        yield words(x.start - 6, at + 3.5, f"{value:g}", "end")
    for value in x.ticks():
        yield words(x.at(value), y.start + 15, f"{value:g}", "middle")
    yield f'<line class="axis" x1="{x.start}" x2="{x.end}" y1="{y.start}" y2="{y.start}"/>'
    yield words((x.start + x.end) / 2, y.start + 30, label_x, "middle")
    yield words(2, y.end - 4, label_y, "start")


def words(x: float, y: float, text: str, anchor: str) -> str:
    """Text that starts, ends or has its middle at `x`."""
    return f'<text class="tick" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A picture of some parts."""
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
    return "\n".join([head, *parts, "</svg>"])


def curves(series: dict[str, list[float]], title: str, width: int = 520, height: int = 250) -> str:
    """Lines over steps, on a logarithmic scale; `series` by class of the style, bottom first."""
    values = [value for line in series.values() for value in line if value > 0]
    x = Axis(1, max(2, *map(len, series.values())), LEFT, width - RIGHT)
    low, high = min(values), max(values)
    y = Axis(low / 1.1, high * 1.1, height - BOTTOM, TOP + 6, log=True)
    parts = list(frame(x, y, "step", "loss"))
    for name, line in series.items():
        points = " ".join(f"{x.at(i + 1)},{y.at(value)}" for i, value in enumerate(line))
        parts.append(f'<polyline class="{name}" points="{points}"/>')
    return svg(width, height, title, parts)


def columns(
    heights: list[tuple[str, int]], title: str, width: int = 1080, height: int = 220
) -> str:
    """A column for each step of a plan: its name shows when it is pointed at."""
    kib = [(name, size / 1024) for name, size in heights]
    x = Axis(0, len(kib), LEFT, width - RIGHT)
    y = Axis(0, max(1.0, *(size for _, size in kib)) * 1.05, height - BOTTOM, TOP + 6)
    parts = list(frame(x, y, "step of the plan", "KiB"))
    wide = max(1.0, x.at(1) - x.at(0) - 1)
    for i, (name, size) in enumerate(kib):
        top = y.at(size)
        box = f'x="{x.at(i)}" y="{top}" width="{wide:.1f}" height="{y.start - top:.1f}"'
        title_of = f"<title>{i} {escape(name)}: {size:,.0f} KiB</title>"
        parts.append(f'<rect class="column" {box}>{title_of}</rect>')
    return svg(width, height, title, parts)


def digit(image: np.ndarray, title: str) -> str:
    """An image of 8 × 8 pixels from 0 to 1, dark on light."""
    parts = [f"<title>{escape(title)}</title>", '<rect class="paper" width="8" height="8"/>']
    for (row, column), value in np.ndenumerate(image):
        if value > 0:
            place = f'x="{column}" y="{row}" width="1.02" height="1.02"'
            parts.append(f'<rect class="ink" {place} opacity="{value:.3g}"/>')
    return svg(8, 8, title, parts)
