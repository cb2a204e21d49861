"""The profiler: which steps it records, and what it does with what it recorded."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from scull.core.timeline import Timeline, begin, end
from scull.errors import ArgumentTypeError
from scull.profiler.event import RecordEvent, in_use
from scull.profiler.export import export_chrome_tracing
from scull.profiler.layer_flops import layers_text
from scull.profiler.result import ProfilerResult, result_of
from scull.profiler.scheduler import Scheduler, always, between
from scull.profiler.state import ProfilerState, ProfilerTarget, SortedKeys, TracerEventType
from scull.profiler.table import tables
from scull.profiler.timer import benchmark
from scull.profiler.usage import Usage

SUPPORTED = [ProfilerTarget.CPU, ProfilerTarget.CUSTOM_DEVICE]
CLOSED, READY = ProfilerState.CLOSED, ProfilerState.READY
RECORD, RETURN = ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN
RECORDING = (RECORD, RETURN)


class Profiler:
    """Records operators, instructions of Programs, loading, and the spans users name.

    It is started and stopped as a context manager or by `start` and `stop`; `step` says that the
    next step of training begins.

    Args:
        targets (list, optional): kinds of devices, those of ProfilerTarget.
        scheduler (Callable|tuple, optional): a function from a step's number to a ProfilerState, or
            the first step to record and the one after the last; every step by default.
        on_trace_ready (Callable, optional): called with the profiler when a result is there; by
            default it writes a trace into `./profiler_log/`.
        record_shapes (bool, optional): note shapes, element types, attributes and the user's lines.
        profile_memory (bool, optional): note what is taken and given back.
        timer_only (bool, optional): time steps and loading, record nothing.
        emit_nvtx (bool, optional): without effect on a CPU.
        custom_device_types (list, optional): without effect on a CPU.
        with_flops (bool, optional): count operations.

    Examples:
        >>> import scull as paddle
        >>> profiler = paddle.profiler.Profiler(on_trace_ready=lambda profiler: None)
        >>> profiler.start()
        >>> for _ in range(2):
        ...     y = paddle.ones([3]) + 1.0
        ...     profiler.step()
        >>> profiler.stop()
        >>> [tree] = profiler.profiler_result.get_data().values()
        >>> [node.name for node in tree.walk()][:3]
        ['ProfileStep#0', 'fill_constant', 'add']
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Scheduler | tuple[int, int] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool | None = False,
        profile_memory: bool | None = False,
        timer_only: bool | None = False,
        emit_nvtx: bool | None = False,
        custom_device_types: list[str] | None = [],  # noqa: B006  as Paddle has it, never changed
        with_flops: bool | None = False,
    ) -> None:
        self.targets: Any = supported(targets) if targets else SUPPORTED
        self.scheduler = scheduled(scheduler)
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise ArgumentTypeError(f"on_trace_ready takes a function, got {on_trace_ready!r}")
        self.on_trace_ready = on_trace_ready or export_chrome_tracing("./profiler_log/")
        self.step_num = 0
        self.previous_state = CLOSED
        self.current_state = self.scheduler(self.step_num)
        self.record_event: RecordEvent | None = None
        self.profiler_result: ProfilerResult | None = None
        self.timer_only, self.emit_nvtx, self.with_flops = timer_only, emit_nvtx, with_flops
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.timeline: Timeline | None = None
        self.usage = Usage()
        self.results = 0

    def __enter__(self) -> "Profiler":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step.

        Examples:
            >>> import scull as paddle
            >>> profiler = paddle.profiler.Profiler(timer_only=True)
            >>> profiler.start()
            >>> profiler.stop()
        """
        benchmark().begin()
        if self.timer_only:
            return
        in_use.append(self)
        if self.current_state in RECORDING:
            self.record()
        self.open_step()

    def stop(self) -> None:
        """End the last step; what was recorded is the result, whatever the schedule says.

        Examples:
            >>> import scull as paddle
            >>> profiler = paddle.profiler.Profiler(timer_only=True)
            >>> profiler.start()
            >>> profiler.stop()
        """
        benchmark().end()
        if self.timer_only:
            return
        self.close_step()
        if self.current_state is READY:
            warnings.warn(
                "Inproper Profiler state transform: READY->CLOSED, profiler will start and stop "
                "without saving data",
                stacklevel=2,
            )
        if self in in_use:
            in_use.remove(self)
        if self.timeline is not None:
            self.finish()
            self.on_trace_ready(self)

    def step(self, num_samples: int | None = None) -> None:
        """The next step begins.

        Args:
            num_samples (int|None, optional): how many samples the last one had.

        Examples:
            >>> import scull as paddle
            >>> with paddle.profiler.Profiler(timer_only=True) as profiler:
            ...     profiler.step(num_samples=4)
        """
        benchmark().step(num_samples)
        if self.timer_only:
            return
        self.close_step()
        self.step_num += 1
        self.previous_state, self.current_state = (
            self.current_state,
            self.scheduler(self.step_num),
        )
        self.turn()
        self.open_step()

    def step_info(self, unit: str | None = None) -> str:
        """The times of the steps since it was asked last: loading, all, and samples a second.

        Args:
            unit (str, optional): what a sample is called; "samples" by default. Where `step` is
                not told how many there are, steps are counted.

        Returns:
            str: such as " reader_cost: 0.00010 s batch_cost: 0.00400 s ips: 1000.000 samples/s".

        Examples:
            >>> import scull as paddle
            >>> with paddle.profiler.Profiler(timer_only=True) as profiler:
            ...     profiler.step()
            ...     "steps/s" in profiler.step_info()
            True
        """
        return benchmark().step_info("samples" if unit is None else unit)

    def export(self, path: str = "", format: str = "json") -> None:
        """Write the result to a file; nothing as long as there is none.

        Args:
            path (str): the file; one that ends with ".gz" is packed.
            format (str, optional): "json" for trace viewers, "pb" for Paddle.

        Examples:
            >>> import os, tempfile
            >>> import scull as paddle
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
            ...     y = paddle.ones([3]) + 1.0
            >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
            >>> profiler.export(path)
            >>> os.path.exists(path)
            True
        """
        if self.profiler_result:
            self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: Any = None,
    ) -> None:
        """Print the result as tables; nothing as long as there is none.

        Args:
            sorted_by (SortedKeys, optional): what orders operators.
            op_detail (bool, optional): also what operators are made of.
            thread_sep (bool, optional): the operators of each thread apart.
            time_unit (str, optional): "s", "ms", "us" or "ns".
            views (SummaryView|list[SummaryView], optional): which tables; all by default.

        Examples:
            >>> import scull as paddle
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
            ...     y = paddle.ones([3]) + 1.0
            >>> profiler.summary(op_detail=False, time_unit="us")  # doctest: +ELLIPSIS
            ---...Device Summary---...
        """
        if self.profiler_result:
            print(
                tables(
                    self.profiler_result,
                    sorted_by,
                    op_detail,
                    thread_sep,
                    time_unit,
                    views,
                )
            )
            if self.with_flops:
                print(" Flops Profiler Begin ".center(100, "-"))
                print(layers_text(self.profiler_result.get_data()))
                print("- Flops Profiler End -".center(100, "-"))

    def turn(self) -> None:
        """Begin or end recording as the states before and after say."""
        before, after = self.previous_state, self.current_state
        if before is RETURN:
            self.finish()
        elif before in (READY, RECORD) and after not in RECORDING and before is not after:
            warnings.warn(
                f"Improper schedule: {before.name}->{after.name}, what was recorded is not saved",
                stacklevel=3,
            )
            self.discard()
        if after in RECORDING and self.timeline is None:
            self.record()
        if before is RETURN:
            self.on_trace_ready(self)

    def record(self) -> None:
        """Begin to record."""
        details = bool(self.record_shapes or self.with_flops)
        self.timeline = Timeline(details=details, memory=bool(self.profile_memory))
        self.usage = Usage()
        begin(self.timeline)

    def finish(self) -> None:
        """Record no more: what there is is the result."""
        timeline = self.discard()
        if timeline is not None:
            self.profiler_result = result_of(timeline, self.results, self.usage.shares())
            self.results += 1

    def discard(self) -> Timeline | None:
        """Record no more; what there is."""
        timeline, self.timeline = self.timeline, None
        if timeline is not None:
            end(timeline)
        return timeline

    def open_step(self) -> None:
        """The span of the step starts."""
        self.record_event = RecordEvent(f"ProfileStep#{self.step_num}", TracerEventType.ProfileStep)
        self.record_event.begin()

    def close_step(self) -> None:
        """The span of the step ends."""
        if self.record_event:
            self.record_event.end()
            self.record_event = None


def scheduled(given: Any) -> Scheduler:
    """The schedule that is given as a function, by two numbers, or not at all."""
    if given is None or callable(given):
        return given or always
    if not isinstance(given, tuple | list):
        raise ArgumentTypeError(f"scheduler takes a function or two numbers, got {given!r}")
    if len(given) != 2:
        raise AssertionError(f"scheduler takes two numbers of steps, got {given!r}")
    return between(*given)


def supported(targets: Iterable[ProfilerTarget]) -> set[ProfilerTarget]:
    """The targets there are; the others are warned of."""
    wanted = set(targets)
    for target in wanted - set(SUPPORTED):
        warnings.warn(f"Profiling {target} is not supported in current context.", stacklevel=3)
    return wanted & set(SUPPORTED)
