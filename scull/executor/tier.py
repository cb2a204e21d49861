"""How a plan runs: by its instructions, or as machine code made for what a run begins with."""

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from scull.errors import ArgumentError
from scull.executor.compiled import Row, Specialised, sizes_of
from scull.flags import flag
from scull.runtime import llvm
from scull.runtime.background import FAILED, READY, Task, background

if TYPE_CHECKING:
    from scull.executor.plan import Plan

MOST_VARIANTS = 8  # of what is fed, for each of which there is code; for others there is none
MODES = ("eager", "tiered")


class Tier:
    """The steps of a plan by the sizes of what it is fed.

    With `eager` the first run waits for its code. With `tiered` the instructions run until code is
    ready, which is made in the background from the second run on: many Programs run once.
    """

    def __init__(self, plan: "Plan") -> None:
        self.plan, self.mode = plan, flag("COMPILE")
        if self.mode not in MODES:
            raise ArgumentError(f"COMPILE is {self.mode!r}: it is off, {' or '.join(MODES)}")
        self.fed = [slot for _, slot, _ in plan.feeds]
        self.variants: dict[Any, tuple[Row, ...]] = {}
        self.seen: set[Any] = set()  # what was fed once
        self.tasks: dict[Any, Task[tuple[Row, ...]]] = {}

    def steps(self, frame: list[Any]) -> tuple[Row, ...]:
        """The steps of a run that begins with this frame."""
        begun = [frame[slot] for slot in self.fed]  # lists, too, and nothing of untaken branches
        key = tuple([(x.shape, x.dtype) if type(x) is ndarray else None for x in begun])
        found = self.variants.get(key)
        return self._new(key, frame) if found is None else found

    def _new(self, key: Any, frame: list[Any]) -> tuple[Row, ...]:
        if len(self.variants) >= MOST_VARIANTS or not llvm.available():
            return self.plan.loop
        task = self.tasks.get(key)
        if task is None and self.mode == "tiered" and key not in self.seen:
            self.seen.add(key)
            return self.plan.loop
        if task is None:
            made = Specialised(self.plan, sizes_of(frame))
            if self.mode == "eager":
                self.variants[key] = made.steps()
                return self.variants[key]
            if len(self.tasks) < MOST_VARIANTS:
                self.tasks[key] = background().submit("a plan", made.steps)
            return self.plan.loop
        if task.state == READY:
            self.variants[key] = task.result
            return task.result
        if task.state == FAILED:
            self.variants[key] = self.plan.loop
        return self.plan.loop
