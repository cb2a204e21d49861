"""How a plan runs: by its instructions, or as machine code made for what a run begins with."""

import sys
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from scull.deferred import load
from scull.eager.prefer import asking_nothing
from scull.errors import ArgumentError
from scull.executor.instruction import whole
from scull.executor.run import run
from scull.flags import flag
from scull.runtime import llvm
from scull.runtime.background import READY, Task, background
from scull.runtime.garbage import uncollected

if TYPE_CHECKING:
    from scull.executor.call import Row
    from scull.executor.compiled import Specialised
    from scull.executor.plan import Plan
    from scull.executor.sliced import Fed, Sliced

# these load the compiler
COMPILED, SLICED = "scull.executor.compiled", "scull.executor.sliced"
STRAIGHT = "scull.executor.straight"

MOST_VARIANTS = 8  # of what is fed, for each of which there is code; for others there is none
MOST_SEEN = 64  # of what is fed, of which it is known that it came before
MODES = ("eager", "tiered")
PATIENCE = 2.0  # seconds of waiting for code that nobody is told of


def form_at(value: Any) -> Any:
    """What is known of a value that is fed and is no array; None for nothing."""
    return None if value is None else load(COMPILED, "form_at")(value)


def name_of(plan: "Plan") -> str:
    """What tells the plans of one scope apart, in other processes, too."""
    fed = ", ".join(v.name for v, _, _ in plan.feeds)
    fetched = ", ".join(plan.variables[slot].name for slot, _ in plan.fetches)
    return f"{fed} -> {fetched}: {len(plan.instructions)}"


def awaited(task: Task[Any]) -> bool:
    """Wait until a task ended; whoever sits before a terminal is told after a while."""
    if not task.wait(PATIENCE) and sys.stderr.isatty():
        print("scull: a Program becomes machine code, which is kept on disk", file=sys.stderr)
    return task.wait()


def prepared(made: "Specialised", known: dict[int, Any]) -> "tuple[Row, ...]":
    """The steps, in which what is computed once of `known` values is there."""
    steps = made.steps()
    for call, *_ in steps:
        if not getattr(call, "ready", True):
            call.prepare(map(known.get, call.slots))
    return steps


class Tier:
    """The steps of a plan by the sizes of what it is fed.

    With `eager` the first run waits for its code. With `tiered` code that is on the disk is used at
    once; else the instructions run until it is ready, which is made in the background from the
    second run on: many Programs run once. What `trains` has the same bits in every process: there
    the instructions run up to one run, CODE_FROM_RUN, which waits for code, and none after it: the
    first of several does not even load the compiler. How many there were is in `counts`, by what is
    fed and fetched, which checkpoints carry: training that goes on has code where it had it. When
    code was made for as many sizes as there may be, batches of further sizes are computed in
    slices.
    """

    def __init__(
        self,
        plan: "Plan",
        threads: int = 0,
        trains: bool = False,
        counts: dict[str, int] | None = None,
    ) -> None:
        self.plan, self.mode = plan, flag("COMPILE")
        first = flag("CODE_FROM_RUN") if trains and self.mode == "tiered" else 0
        self.ahead = max(0, first - 1)  # runs of the instructions, of which so many were
        self.counts, self.name = {} if counts is None else counts, name_of(plan)
        if first == 1:
            self.mode = "eager"
        self.threads = threads  # that share a kernel at most; 0: as many as the pool has
        if self.mode not in MODES:
            raise ArgumentError(f"COMPILE is {self.mode!r}: it is off, {' or '.join(MODES)}")
        self.fixed: frozenset[int] = frozenset()  # slots whose values are the same in every run
        self.fed = [slot for _, slot, _ in plan.feeds]
        self.variants: dict[Any, tuple[Row, ...]] = {}
        self.seen: set[Any] = set()  # what was fed once
        self.tasks: dict[Any, Task[tuple[Row, ...]]] = {}
        self.slices: dict[Any, Sliced] = {}
        self.ways: dict[Any, Any] = {}  # the short way of runs that are one region, by that
        self.waiting = waiting(plan)

    @cached_property
    def batches(self) -> "Fed":
        """Which of what is fed are batches."""
        found: Fed = load(SLICED, "Fed")(self.plan)
        return found

    def steps(self, frame: list[Any]) -> "tuple[Row, ...]":
        """The steps of a run that begins with this frame."""
        begun = [frame[slot] for slot in self.fed]  # lists, too, and nothing of untaken branches
        key = tuple([(x.shape, x.dtype) if type(x) is ndarray else form_at(x) for x in begun])
        found = self.variants.get(key)
        return self._new(key, frame) if found is None else found

    def straight(self, bound: Any, steps: "tuple[Row, ...]") -> Any:
        """The short way of a bound plan whose runs are these steps; None where there is none."""
        call = steps[0][0] if len(steps) == 1 else None
        if not hasattr(call, "native"):
            return None
        if call not in self.ways:
            self.ways[call] = load(STRAIGHT, "straight_of")(bound, call)
        return self.ways[call]

    def _new(self, key: Any, frame: list[Any]) -> "tuple[Row, ...]":
        if self.ahead:
            runs = self.counts.get(self.name, 0)
            if runs < self.ahead:
                self.counts[self.name] = runs + 1
                return self._before(key, frame, runs + 1)
            self.mode = "eager"
        if not llvm.available():
            return self.plan.loop
        beyond = len(self.variants) >= MOST_VARIANTS
        if self.batches.always or beyond or len(self.seen - {key}) >= MOST_VARIANTS:
            found = self._in_slices(frame)
            if found is not None:
                return found
        if beyond:
            return self.plan.loop
        if self.mode == "eager":
            self.variants[key] = self._at_once(key, frame)
            return self.variants[key]
        if key in self.tasks:
            return self._perhaps(key, self.tasks[key])
        if key not in self.seen:
            if len(self.seen) >= MOST_SEEN:
                return self.plan.loop
            self.seen.add(key)
            found = self._made(frame).recalled()
            if found is None:
                return self.waiting
            self.variants[key] = found
            return found
        if len(self.tasks) >= MOST_VARIANTS:
            return self.plan.loop
        self._submit(key, frame)
        return self.waiting

    def _before(self, key: Any, frame: list[Any], number: int) -> "tuple[Row, ...]":
        """The steps of a run that comes before code, which is made meanwhile from the second on."""
        if number == 1 < self.ahead or not llvm.available():
            return self.waiting
        if key not in self.tasks:
            self._submit(key, frame)
        return self.waiting

    def _submit(self, key: Any, frame: list[Any]) -> None:
        known = {slot: frame[slot] for slot in self.fixed}
        self.tasks[key] = background().submit("a plan", partial(prepared, self._made(frame), known))

    def _at_once(self, key: Any, frame: list[Any]) -> "tuple[Row, ...]":
        """The code for this run, which waits for it."""
        task = self.tasks.pop(key, None)
        if task is not None and awaited(task) and task.state == READY:
            return task.result
        with uncollected():
            return self._made(frame).steps()

    def _made(self, frame: list[Any]) -> "Specialised":
        sizes = load(COMPILED, "sizes_of")(frame)
        found: Specialised = load(COMPILED, "Specialised")(
            self.plan, sizes, threads=self.threads, fixed=self.fixed
        )
        return found

    def _perhaps(self, key: Any, task: "Task[tuple[Row, ...]]") -> "tuple[Row, ...]":
        """The code of a task, if it has ended."""
        if not task.ended:
            return self.waiting
        self.variants[key] = task.result if task.state == READY else self.plan.loop
        return self.variants[key]

    def _in_slices(self, frame: list[Any]) -> "tuple[Row, ...] | None":
        """The steps for a batch of any size; None where there are none for this one."""
        batches = self.batches
        begun = [(slot, frame[slot]) for slot in self.fed]
        if not all(type(x) is ndarray for _, x in begun):
            return None
        count = 0 if batches.refusal else batches.count(frame)
        if not count:
            return None
        key = tuple([(x.shape[slot in batches.slots :], x.dtype) for slot, x in begun])
        sliced = self.slices.get(key)
        if sliced is None and len(self.slices) >= MOST_VARIANTS:
            return None
        if sliced is None:
            sliced = self.slices[key] = load(SLICED, "Sliced")(
                self.plan,
                load(COMPILED, "sizes_of")(frame),
                batches.slots,
                threads=self.threads,
                fixed=self.fixed,
            )
        if not sliced.refusal and not sliced.has(count):
            if self.mode == "tiered":
                return self._later(sliced, count)
            sliced.make(count)
        return None if sliced.refusal else sliced.steps

    def _later(self, sliced: "Sliced", count: int) -> "tuple[Row, ...]":
        """Have code for so many rows made in the background."""
        task = sliced.task
        if task is None or task.state == READY:
            sliced.task = background().submit("a plan in slices", partial(sliced.make, count))
        elif task.ended:
            sliced.refusal = str(task.error)
        return self.waiting


def waiting(plan: "Plan") -> "tuple[Row, ...]":
    """The one step of a run whose code is to come: all instructions, which ask for no code."""

    def by_kernels(frame: list[Any]) -> tuple[()]:
        with asking_nothing():
            run(plan, plan.loop, frame)
        return ()

    return ((by_kernels, whole, slice(0, 0), ()),)
