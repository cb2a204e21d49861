"""A run by counts on several threads: whoever finishes a task starts what waited for it.

There are queues of what calls Python (for the thread that asked for the run), of what is launched
on a device, of what the host computes, and of what waits or communicates. The last kind has
threads of its own, so that it keeps nobody from working.
"""

import os
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from typing import Protocol

from scull.executor.schedule import DEVICE, OWN, Schedule
from scull.executor.stream import EVENT, SYNCHRONIZE
from scull.executor.transfer import BLOCKING, HOST
from scull.runtime.blas import one_thread
from scull.runtime.workers import workers

LEADS, HELPS, BLOCKS = (OWN, DEVICE, HOST), (DEVICE, HOST), (BLOCKING,)
MOST_BLOCKED = 4096  # threads are made as they are needed


class Work(Protocol):
    """What the tasks of a run do."""

    def perform(self, i: int) -> None:
        """Do task `i`, or launch it."""

    def release(self, n: int) -> None:
        """Let the value of life `n` go."""

    def explained(self, error: Exception, i: int) -> Exception:
        """What to say of an error in task `i`."""


class Crew:
    """One run: its counts, which begin anew with it, and what is ready for whichever thread."""

    def __init__(self, schedule: Schedule, work: Work) -> None:
        self.schedule, self.work = schedule, work
        self.waiting = list(schedule.counts)
        self.living = [count for _, _, count in schedule.lives]
        self.left = len(self.waiting)
        self.busy: dict[int, int] = {}  # by the thread its task
        self.ready: dict[str, deque[int]] = {q: deque() for q in (*LEADS, BLOCKING)}
        self.failed: tuple[BaseException, int] | None = None
        self.change = threading.Condition()
        for i, count in enumerate(schedule.counts):  # others may already be at work
            if not count:
                self.offer(i)

    def offer(self, i: int) -> None:
        """Task `i` is for whoever serves its queue."""
        queue = self.schedule.queues[i]
        self.ready[queue].append(i)
        if queue == BLOCKING:
            blockers(os.getpid()).submit(self.serve, BLOCKS)

    def serve(self, queues: tuple[str, ...]) -> None:
        """Do what is ready in `queues`; the leader stays until the others are done, too."""
        mine: deque[int] = deque()
        while mine or self.take(mine, queues):
            i = mine.popleft()
            try:
                self.work.perform(i)
                self.done(i, mine, queues)
            except BaseException as error:
                self.stop(error, i)
                return

    def take(self, mine: deque[int], queues: tuple[str, ...]) -> bool:
        """Wait for a ready task; False when there is nothing more to do for these queues."""
        with self.change:
            while True:
                if self.failed or not self.left:
                    if queues is not LEADS or self.is_over():
                        return False
                else:
                    queue = next((q for q in queues if self.ready[q]), None)
                    if queue is not None:
                        mine.append(self.ready[queue].popleft())
                        self.at_work(mine[0])
                        return True
                    if queues is BLOCKS:
                        return False
                self.change.wait()

    def done(self, i: int, mine: deque[int], queues: tuple[str, ...]) -> None:
        """Let go what `i` used last and start what waited for it, here or elsewhere."""
        schedule, calls = self.schedule, False
        launched = schedule.queues[i] == DEVICE
        with self.change:
            if self.failed:  # the run may have been left: nobody asks for more
                mine.clear()
                self.busy.pop(threading.get_ident(), None)
                self.change.notify_all()
                return
            self.left -= 1
            for n in schedule.ends[i]:
                self.living[n] -= 1
                if not self.living[n]:
                    self.work.release(n)
            for j, kind in schedule.successors[i]:
                self.waiting[j] -= 1
                if self.waiting[j]:
                    continue
                if schedule.queues[j] in queues and stays(launched, kind, mine):
                    mine.append(j)
                else:  # what is small is for this thread: nobody else is called
                    self.offer(j)
                    calls = calls or schedule.large[j] or schedule.queues[j] not in queues
            if mine:
                self.at_work(mine[0])
            else:
                self.busy.pop(threading.get_ident(), None)
            if calls or not self.left:
                self.change.notify_all()

    def at_work(self, i: int) -> None:
        """This thread does task `i`."""
        self.busy[threading.get_ident()] = i

    def stop(self, error: BaseException, i: int) -> None:
        """The first error ends the run; what others are doing they finish."""
        with self.change:
            self.failed = self.failed or (error, i)
            self.busy.pop(threading.get_ident(), None)
            self.change.notify_all()

    def interrupt(self, error: BaseException) -> None:
        """Whoever waits for this run wants to wait no more; an error before that is its context."""
        with self.change:
            if self.failed and self.failed[0] is not error:
                error.__context__ = self.failed[0]
            self.failed = None
        self.stop(error, -1)

    def is_over(self) -> bool:
        """Whether nobody is at work.

        After an interrupt that leaves out who waits for something outside: it may never come, and
        what is made of it nobody sees.
        """
        if self.failed is None or isinstance(self.failed[0], Exception):
            return not self.busy
        return all(self.schedule.leavable[i] for i in self.busy.values())

    def drain(self) -> None:
        """Wait until nobody is at work."""
        with self.change:
            while not self.is_over():
                self.change.wait()


def stays(launched: bool, kind: str, mine: deque[int]) -> bool:
    """Whether the thread that finished a task goes on with one that waited for it so.

    After a launch it does unless the next must wait for the device; after work of the host it
    takes one, and none that waits by an event.
    """
    if launched:
        return kind != SYNCHRONIZE
    return not mine and kind != EVENT


def run_crew(schedule: Schedule, work: Work, threads: int) -> None:
    """Run once on this thread, `threads - 1` others and those of what blocks."""
    crew = Crew(schedule, work)
    helpers = workers(threads - 1, os.getpid()) if threads > 1 else None
    for _ in range(threads - 1):
        helpers.submit(crew.serve, HELPS)  # type: ignore[union-attr]
    with one_thread() if threads > 1 else nullcontext():
        try:
            crew.serve(LEADS)
            crew.drain()
        except BaseException as error:  # an interrupt while it waited
            crew.interrupt(error)
            crew.drain()
        finally:  # a thread of what blocks holds the crew until it waits again
            del crew.work
    if crew.failed:
        first, i = crew.failed
        if not isinstance(first, Exception):
            raise first
        raise work.explained(first, i) from None


def run_ordered(schedule: Schedule, work: Work, order: Iterable[int]) -> None:
    """Run once on this thread, in an order that the schedule allows."""
    living = [count for _, _, count in schedule.lives]
    for i in order:
        try:
            work.perform(i)
        except Exception as error:
            raise work.explained(error, i) from None
        for n in schedule.ends[i]:
            living[n] -= 1
            if not living[n]:
                work.release(n)


@cache
def blockers(process: int) -> ThreadPoolExecutor:
    """The threads of what blocks; one that is idle is used again."""
    return ThreadPoolExecutor(MOST_BLOCKED, thread_name_prefix="scull-waits")
