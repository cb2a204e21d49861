"""Spans that users name."""

import warnings
from contextlib import ContextDecorator
from threading import get_ident
from typing import Any

from scull.core.timeline import active, note, now
from scull.errors import ArgumentTypeError
from scull.profiler.state import TracerEventType

NAMED = (  # kinds that are not the framework's own
    TracerEventType.Dataloader,
    TracerEventType.ProfileStep,
    TracerEventType.Forward,
    TracerEventType.Backward,
    TracerEventType.Optimization,
    TracerEventType.PythonOp,
    TracerEventType.PythonUserDefined,
)

in_use: list[Any] = []  # the profilers that were started


def in_profiler_mode() -> bool:
    """Whether a profiler was started, whatever its state."""
    return bool(in_use)


class RecordEvent(ContextDecorator):
    """A named span of time: a block, a function it decorates, or from `begin` to `end`.

    It is recorded while a `Profiler` records. It starts and ends in one thread.

    Args:
        name (str): what the span is called.
        event_type (TracerEventType, optional): its kind.

    Examples:
        >>> import scull as paddle
        >>> with paddle.profiler.RecordEvent("add"):
        ...     y = paddle.ones([3]) + paddle.ones([3])
        >>> event = paddle.profiler.RecordEvent("subtract")
        >>> event.begin()
        >>> z = y - paddle.ones([3])
        >>> event.end()
    """

    def __init__(
        self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined
    ) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a span has a text as its name, got {name!r}")
        self.name, self.event_type = name, event_type
        self.starts: dict[int, list[int]] = {}  # by thread

    def __enter__(self) -> "RecordEvent":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """The span starts now."""
        if not (in_use or active):
            return
        if self.event_type in NAMED:
            self.starts.setdefault(get_ident(), []).append(now())
        else:
            names = ", ".join(str(kind) for kind in NAMED)
            warnings.warn(f"Only TracerEvent Type in [{names}] can be recorded.", stacklevel=2)

    def end(self) -> None:
        """The span ends now."""
        starts = self.starts.get(get_ident())
        if starts:
            note(self.name, self.event_type.name, starts.pop())
