"""In which steps a profiler records."""

import warnings
from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentTypeError
from scull.profiler.state import ProfilerState

Scheduler = Callable[[int], ProfilerState]


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Scheduler:
    """A function from the number of a step to what a profiler does in it.

    After `skip_first` steps come periods of `closed` steps in which nothing happens, `ready` steps
    before recording and `record` steps that are recorded; the result comes with the last of them.

    Args:
        closed (int): steps of a period in state CLOSED.
        ready (int): steps in state READY.
        record (int): steps in state RECORD, the last in state RECORD_AND_RETURN.
        repeat (int, optional): how many periods; 0: until the profiler stops.
        skip_first (int, optional): steps before the first period.

    Returns:
        Callable: takes the number of a step, returns a ProfilerState.

    Examples:
        >>> import scull as paddle
        >>> states = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
        >>> [states(step).name for step in range(5)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    for number in (closed, ready, record, repeat, skip_first):
        refuse_other(number)
    if min(closed, ready, record - 1, repeat, skip_first) < 0:
        raise AssertionError(
            "Invalid profiler scheduler arguments: record must be at least 1 and the others 0, "
            f"got closed={closed}, ready={ready}, record={record}, repeat={repeat}, "
            f"skip_first={skip_first}"
        )
    if ready == 0:
        warnings.warn(
            "Profiler will record data after enabling profiler immediately: with no step in state "
            "READY the first recorded step also pays for starting to record",
            stacklevel=2,
        )
    period = closed + ready + record

    def state_of(step: int) -> ProfilerState:
        if step < 0:
            raise AssertionError(f"steps count from 0, got {step}")
        number, place = divmod(step - skip_first, period)
        if step < skip_first or place < closed or 0 < repeat <= number:
            return ProfilerState.CLOSED
        if place < closed + ready:
            return ProfilerState.READY
        last = place == period - 1
        return ProfilerState.RECORD_AND_RETURN if last else ProfilerState.RECORD

    return state_of


def refuse_other(number: Any) -> None:
    """Refuse what is no number of steps."""
    if not isinstance(number, int):
        raise ArgumentTypeError(f"a schedule counts steps, got {number!r}")


def always(step: int) -> ProfilerState:
    """Record every step, until the profiler stops."""
    return ProfilerState.RECORD


def between(start: int, end: int) -> Scheduler:
    """Record the steps from `start` until before `end`."""
    refuse_other(start)
    refuse_other(end)
    if end <= start:
        raise AssertionError(f"the steps to record end at {end}, before they start at {start}")
    start = max(start, 0)
    ready = int(start > 0)
    return make_scheduler(closed=start - ready, ready=ready, record=end - start, repeat=1)
