"""A run on several threads: large instructions side by side, small ones where they become ready."""

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from scull.core.meta import Kind
from scull.core.tensor import stub
from scull.executor.instruction import Instruction
from scull.executor.plan import Plan
from scull.executor.run import Frame, explained
from scull.ir.operator import Operator

LARGE = 1 << 18  # bytes that an instruction touches to be worth another thread
GUESS = 32  # for a size that is known only when run


class Spread:
    """What a run on several threads needs of a plan, found once."""

    __slots__ = ("ends", "large", "lives", "own", "pays", "starts")

    def __init__(self, plan: Plan) -> None:
        graph, steps = plan.graph, plan.instructions
        self.large = tuple(map(is_large, steps))
        self.own = tuple("python" in step.operator.op.effects for step in steps)
        self.starts = tuple(i for i, count in enumerate(graph.counts) if not count)
        lives = [life for life in plan.lifetimes if life.last]
        self.lives = tuple((life.slot, life.keeps_shape, len(life.last)) for life in lives)
        ends: list[list[int]] = [[] for _ in steps]
        for n, life in enumerate(lives):
            for i in life.last:
                ends[i].append(n)
        self.ends = tuple(map(tuple, ends))
        earlier, self.pays = 0, False  # whether two large ones need not wait for each other
        for i, large in enumerate(self.large):
            if large:
                self.pays = self.pays or bool(earlier & ~graph.before[i])
                earlier |= 1 << i


def is_large(step: Instruction) -> bool:
    """Whether an instruction is worth another thread, as far as that is known ahead."""
    return touched_bytes(step.operator) >= LARGE


def touched_bytes(operator: Operator) -> int:
    """The bytes an operator reads and fills, as far as they are known ahead; none for a view."""
    total = 0
    if operator.op.views:
        return total
    for v in (*operator.operands(), *operator.results()):
        size = v.dtype.itemsize if v.kind is Kind.DENSE else 0
        for n in v.shape:
            size *= GUESS if n == -1 else n
        total += size
    return total


class Crew:
    """One run: its counts, which begin anew with it, and what is ready for whichever thread."""

    def __init__(self, plan: Plan, spread: Spread, frame: Frame) -> None:
        self.plan, self.spread, self.frame = plan, spread, frame
        self.waiting = list(plan.graph.counts)
        self.living = [count for _, _, count in spread.lives]
        self.left, self.busy = len(self.waiting), 0
        self.ready: deque[int] = deque()
        self.own: deque[int] = deque()  # what calls Python, for the thread that asked for the run
        self.failed: tuple[BaseException, Instruction] | None = None
        self.change = threading.Condition()
        for i in spread.starts:
            (self.own if spread.own[i] else self.ready).append(i)

    def work(self, leads: bool) -> None:
        """Run what is ready until nothing is left; the thread that `leads` waits for the others."""
        i: int | None = None
        while True:
            if i is None:
                i = self.next(leads)
                if i is None:
                    return
            try:
                step = self.plan.instructions[i]
                self.frame[step.put] = step.call(*step.get(self.frame))
            except BaseException as error:
                self.stop(error, step)
                return
            i = self.done(i, leads)

    def next(self, leads: bool) -> int | None:
        """An instruction that is ready, once there is one; None when all are done or one failed."""
        with self.change:
            while True:
                if self.failed or not self.left:
                    if not (leads and self.busy):
                        return None
                elif leads and self.own:
                    self.busy += 1
                    return self.own.popleft()
                elif self.ready:
                    self.busy += 1
                    return self.ready.popleft()
                self.change.wait()

    def done(self, i: int, leads: bool) -> int | None:
        """Let go what `i` used last and start what waited for it; what this thread runs next."""
        spread, following, calls = self.spread, None, False
        with self.change:
            self.left -= 1
            for n in spread.ends[i]:
                self.living[n] -= 1
                if not self.living[n]:
                    slot, keeps_shape, _ = spread.lives[n]
                    self.frame[slot] = stub(self.frame[slot]) if keeps_shape else None
            for j in self.plan.graph.successors[i]:
                self.waiting[j] -= 1
                if self.waiting[j]:
                    continue
                if spread.own[j] and not leads:
                    self.own.append(j)
                    calls = True
                elif following is None:
                    following = j
                else:  # an own one, of the thread that leads, too: it takes it next
                    (self.own if spread.own[j] else self.ready).append(j)
                    calls = calls or spread.large[j]  # small ones are for this thread
            if following is None or self.failed:
                self.busy -= 1
                following = None
            if calls or self.failed or not self.left:
                self.change.notify_all()
        return following

    def stop(self, error: BaseException, step: Instruction) -> None:
        """The first error ends the run; what others are doing they finish."""
        with self.change:
            self.failed = self.failed or (error, step)
            self.busy -= 1
            self.change.notify_all()


def run_spread(plan: Plan, spread: Spread, frame: Frame, threads: int) -> None:
    """Run `plan` once on this thread and `threads - 1` others."""
    crew = Crew(plan, spread, frame)
    helpers = workers(threads - 1, os.getpid())
    for _ in range(threads - 1):
        helpers.submit(crew.work, False)
    crew.work(True)
    with crew.change:
        while crew.busy:
            crew.change.wait()
    if crew.failed:
        error, step = crew.failed
        if not isinstance(error, Exception):
            raise error
        raise explained(error, step, frame) from None


@cache
def workers(count: int, process: int) -> ThreadPoolExecutor:
    """The threads that help, made once in a process."""
    return ThreadPoolExecutor(count, thread_name_prefix="scull")
