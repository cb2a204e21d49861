"""One Program of the corpus run again and again, each time as if for the first time."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import scull as paddle
from scull.core.memory import owner
from scull.core.tensor import Rows
from scull.executor.binding import Bound, fetched, filled
from scull.executor.instruction import flat
from scull.executor.plan import Plan
from scull.runtime.resident import Resident
from tests.executor.corpus.case import SEED, Case
from tests.executor.corpus.world import WORLD

Runner = Callable[["Trial", list[Any]], None]  # runs the plan of a trial over a frame
Outcome = tuple[Any, ...]
POISON = 0xFF  # in every byte: NaN, -1
FREE = 3  # references to memory that nobody else has: a name, an argument, and the one counted by


class Poisoned(list[Any]):
    """A frame that overwrites the memory of what it lets go, if somebody still has it."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__(values)
        self.outside = set(map(id, map(owner, flat(values))))

    def __setitem__(self, place: Any, value: Any) -> None:
        old = self[place] if isinstance(place, slice) else (self[place],)
        memories = list(map(owner, flat(old)))
        del old
        super().__setitem__(place, value)
        while memories:
            self.let_go(memories.pop())

    def let_go(self, memory: Any) -> None:
        """Overwrite memory that some holder outside this frame believes is still a value."""
        if id(memory) in self.outside or not memory.flags.writeable:
            return
        if sys.getrefcount(memory) > FREE and id(memory) not in map(id, map(owner, flat(self))):
            memory.ravel(order="K").view(np.uint8).fill(POISON)


class Trial:
    """A case bound to a scope of its own, which begins anew with every run."""

    def __init__(self, case: Case, plan: Plan | None = None) -> None:
        self.case, self.scope = case, paddle.static.Scope()
        self.plan = case.plan() if plan is None else plan
        self.begin()
        self.bound = Bound(self.plan, self.scope)
        self.launches: dict[int, dict[Any, Any]] = {}  # on a device, by the number of its streams

    def begin(self) -> None:
        """Let the scope, the generator and the world outside be as before the first run."""
        paddle.seed(SEED)
        WORLD.begin()
        for name, cell in self.scope.cells.items():
            cell.value = self.case.begins.get(name)
        for name, value in self.case.begins.items():
            self.scope.var(name).value = value.copy()

    def frame(self) -> list[Any]:
        """What a run begins with."""
        feeds = {name: value.copy() for name, value in self.case.feeds.items()}
        return Poisoned(filled(self.bound, feeds))

    def run(self, runner: Runner) -> Outcome:
        """The bits of all that a run gives and leaves behind."""
        self.begin()
        frame = self.frame()
        runner(self, frame)
        return self.outcome(frame)

    def outcome(self, frame: list[Any]) -> Outcome:
        """The bits of what is fetched, of the scope, and what happened outside."""
        for cell, slot in self.bound.stores:
            cell.value = frame[slot]
        values = fetched(self.bound, frame, True)
        return (*map(bits, values), *self.kept(), WORLD.history())

    def kept(self) -> Outcome:
        """The bits of the scope."""
        return tuple((name, bits(cell.value)) for name, cell in sorted(self.scope.cells.items()))


def bits(value: Any) -> Any:
    """All that can be seen of a value, to be compared."""
    if isinstance(value, Rows):
        return ("rows", value.height, bits(value.rows), bits(value.values))
    if isinstance(value, Resident):
        return bits(value.host())
    if isinstance(value, list | tuple):
        return tuple(map(bits, value))
    array = np.asarray(value)
    return (array.dtype.str, array.shape, array.tobytes())
