"""Tables of a result, as `Profiler.summary` prints them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scull.errors import ArgumentError
from scull.profiler.result import ProfilerResult
from scull.profiler.state import SortedKeys, SummaryView
from scull.profiler.state import TracerEventType as Kind
from scull.profiler.statistics import MERGED, PHASES, Statistics, Times, Total, Totals, statistics

UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}
HOST = "CPU Total / Avg / Max / Min / Ratio(%)"
DEVICE = "GPU Total / Avg / Max / Min / Ratio(%)"
LONGEST = 52  # of an operator's name

Row = Sequence[Any] | str  # cells, or a line across the table


def tables(
    result: ProfilerResult,
    sorted_by: SortedKeys = SortedKeys.CPUTotal,
    op_detail: bool = True,
    thread_sep: bool = False,
    time_unit: str = "ms",
    views: Any = None,
) -> str:
    """The tables named in `views`, all by default, without those that would be empty."""
    if time_unit not in UNITS:
        raise ArgumentError(f"a time unit is one of {list(UNITS)}, not {time_unit!r}")
    wanted = (
        [views] if isinstance(views, SummaryView) else list(SummaryView if views is None else views)
    )
    if not all(isinstance(view, SummaryView) for view in wanted):
        raise ArgumentError(f"views are of SummaryView, got {views}")
    if not isinstance(sorted_by, SortedKeys):
        raise ArgumentError(f"sorted_by is one of SortedKeys, got {sorted_by!r}")
    tables = Tables(statistics(result.get_data()), sorted_by, op_detail, thread_sep, time_unit)
    made = []
    if SummaryView.DeviceView in wanted:
        made.append(devices(result.get_extra_info()))
    makers: dict[SummaryView, Callable[[], Iterator[str]]] = {
        SummaryView.OverView: tables.overview,
        SummaryView.ModelView: tables.model,
        SummaryView.OperatorView: tables.operators,
        SummaryView.UDFView: tables.named,
        SummaryView.MemoryView: tables.memory,
    }
    for view, make in makers.items():
        if view in wanted and tables.found.total:
            made.extend(make())
    return "".join(text + "\n\n\n" for text in made)


class Tables:
    """What makes the tables: the numbers, and how to show them."""

    def __init__(
        self,
        found: Statistics,
        sorted_by: SortedKeys,
        op_detail: bool,
        thread_sep: bool,
        time_unit: str,
    ) -> None:
        self.found, self.key, self.detailed = found, sorted_by, op_detail
        self.apart, self.unit = thread_sep, time_unit

    def time(self, nanoseconds: float) -> str:
        """A time in the unit of the tables."""
        return f"{nanoseconds / UNITS[self.unit]:.2f}" if nanoseconds != float("inf") else "-"

    def figures(self, times: Times, calls: int, whole: float) -> str:
        """The five figures of one cell."""
        mean = times.total / max(calls, 1)
        shown = [self.time(n) for n in (times.total, mean, times.most, times.least)]
        return " / ".join([*shown, percent(times.total, whole)])

    def row(self, name: str, total: Total, host: float, device: float) -> list[Any]:
        """Name, calls and the figures of host and device, relative to `host` and `device`."""
        calls = total.calls
        cells = self.figures(total.host, calls, host), self.figures(total.device, calls, device)
        return [name, calls, *cells]

    def titled(self, title: str, headers: Sequence[str], rows: Sequence[Row], *least: int) -> str:
        """A table with its time unit."""
        return table(title, headers, rows, least, [f"Time unit: {self.unit}"])

    def overview(self) -> Iterator[str]:
        """Each kind of span: how often, and how long at least one of it ran."""
        order = sorted(self.found.kinds.items(), key=lambda item: -item[1][1])
        rows: list[Row] = []
        for kind, (calls, time) in order:
            name = kind.name if kind is Kind.ProfileStep else f"  {kind.name}"
            rows.append([name, calls, self.time(time), percent(time, self.found.total)])
        headers = ["Event Type", "Calls", "CPU Time", "Ratio (%)"]
        text = self.titled("Overview Summary", headers, rows, 25, 25, 25, 25)
        yield noted(
            text,
            "Note:",
            "The time of a kind is that in which at least one span of it ran, on whatever thread.",
            "Kinds lie within each other, as OperatorInner in Operator: ratios add up to more "
            "than 100%.",
        )

    def model(self) -> Iterator[str]:
        """The phases of a step."""
        phases, whole = self.found.phases, self.found.total
        if len(phases) < 2 or Kind.ProfileStep not in phases:
            return
        steps = phases[Kind.ProfileStep]
        device = steps.device.total
        rows: list[Row] = [self.row("ProfileStep", steps, whole, device)]
        host_left, device_left = whole, device
        for kind in PHASES:
            if kind in phases:
                rows.append(self.row(f"  {kind.name}", phases[kind], whole, device))
                host_left -= phases[kind].host.total
                device_left -= phases[kind].device.total
        rows.append(
            [
                "  Others",
                "-",
                f"{self.time(host_left)} / - / - / - / {percent(host_left, whole)}",
                f"{self.time(device_left)} / - / - / - / {percent(device_left, device)}",
            ]
        )
        text = self.titled("Model Summary", ["Name", "Calls", HOST, DEVICE], rows, 15, 6, 40, 40)
        yield noted(text, "Note:", "GPU time is the sum of all that a phase launched on devices.")

    def operators(self) -> Iterator[str]:
        """Each operator, and what it is made of."""
        rows: list[Row] = []
        for thread, totals in self.threads(self.found.operators):
            rows.append(f"Thread: {thread}")
            host = sum(t.host.total for t in totals.values())
            device = sum(t.device.total for t in totals.values())
            for name, total in self.ordered(totals):
                rows.append([*self.row(short(name), total, host, device), total.flops])
                for inner, part in total.inner.items() if self.detailed else ():
                    cells = self.row(
                        short(f"  {inner}"), part, total.host.total, total.device.total
                    )
                    rows.append([*cells, "-"])
        if rows:
            headers = ["Name", "Calls", HOST, DEVICE, "FLOPs"]
            yield self.titled("Operator Summary", headers, rows, LONGEST, 6, 40, 40, 10)

    def named(self) -> Iterator[str]:
        """The spans that users name."""
        rows: list[Row] = []
        steps = self.found.phases.get(Kind.ProfileStep, Total())
        for thread, totals in self.threads(self.found.named):
            rows.append(f"Thread: {thread}")
            for name, total in self.ordered(totals):
                rows.append(self.row(name, total, self.found.total, steps.device.total))
        if rows:
            headers = ["Name", "Calls", HOST, DEVICE]
            yield self.titled("UserDefined Summary", headers, rows, 4, 6, 40, 40)

    def memory(self) -> Iterator[str]:
        """What each name took and gave back, a table a place."""
        headers = ["Name", "Type", "Allocation Count", "Free Count", "Allocation Size"]
        headers += ["Free Size", "Increased Size"]
        for place, every in self.found.memory.items():
            rows: list[Row] = [
                [short(name), "Allocated", t.allocations, t.frees, t.allocated, t.freed]
                + [t.allocated - t.freed]
                for name, t in every.items()
            ]
            rows.sort(key=lambda row: int(row[-1]), reverse=True)
            title = f"Memory Summary - {place}"
            above = [f"Peak Allocated Memory: {self.found.peaks[place]}"]
            yield table(title, headers, rows, (50, 12, 15, 15, 15, 15, 15), above)

    def threads(self, every: dict[Any, Totals]) -> list[tuple[Any, Totals]]:
        """All threads together or each by itself."""
        return [(t, found) for t, found in every.items() if (t != MERGED) == self.apart]

    def ordered(self, totals: Totals) -> list[tuple[str, Total]]:
        """The rows in the order asked for."""

        def rank(item: tuple[str, Total]) -> float:
            name, total = self.key.name, item[1]
            times = total.host if name.startswith("CPU") else total.device
            if name.endswith("Min"):
                return times.least
            mean = times.total / total.calls
            return -{"Total": times.total, "Avg": mean, "Max": times.most}[name[3:]]

        return sorted(totals.items(), key=rank)


def devices(extra: dict[str, str]) -> str:
    """How busy the processors were."""
    busy = {"CPU(Process)": "Process Cpu Utilization", "CPU(System)": "System Cpu Utilization"}
    rows = [[name, percent(float(extra.get(key, 0)), 1)] for name, key in busy.items()]
    text = table("Device Summary", ["Device", "Utilization (%)"], rows, (30, 20), [])
    return noted(
        text,
        "Note:",
        "CPU(Process): the time all cores spent on this process, relative to the time that passed: "
        "at most 100% a core.",
        "CPU(System): the share of their time in which the cores were busy, with whatever.",
    )


def table(
    title: str, headers: Sequence[str], rows: Sequence[Row], least: Sequence[int], above: list[str]
) -> str:
    """Rows below headers, each column as wide as it must be and `least` at least."""
    cells = [row for row in rows if not isinstance(row, str)]
    widths = [
        max([width, len(header), *(len(str(row[i])) for row in cells)])
        for i, (width, header) in enumerate(zip(least, headers, strict=True))
    ]
    length = sum(widths) + 2 * (len(widths) - 1)
    rule = line(["-" * width for width in widths], widths)
    lines = [centred(title, length), *above, rule, line(headers, widths), rule]
    for row in rows:
        lines.append(centred(row, length) if isinstance(row, str) else line(row, widths))
    return "\n".join([*lines, rule])


def line(cells: Sequence[Any], widths: Sequence[int]) -> str:
    """One line of a table."""
    return "".join(f"{cell!s:<{width}}  " for cell, width in zip(cells, widths, strict=True))


def centred(text: str, length: int) -> str:
    """A title in the middle of a rule."""
    left = max(length - len(text), 0)
    return "-" * (left // 2) + text + "-" * (left - left // 2)


def noted(text: str, *notes: str) -> str:
    """A table with what is to be known about it."""
    length = len(text.partition("\n")[0])
    return "\n".join([text, *notes, "-" * length])


def percent(part: float, whole: float) -> str:
    """`part` of `whole` in hundredths; of nothing, nothing."""
    return f"{part / whole * 100 if whole else 0:.2f}"


def short(name: str) -> str:
    """A name that fits into its column."""
    return name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
