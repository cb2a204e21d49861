"""Compiling in the background: one thread works while there is something to compile.

LLVM lets other Python threads run while it works, so the program goes on. The thread dies with the
process: `llvm` sees to it that LLVM is not at work then. A child that is forked goes on by itself
with what was waiting. Meanwhile threads take turns at the interpreter more often than Python lets
them: after each large NumPy operation a program would wait 5 ms to go on.
"""

import math
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

from scull.errors import RunError, located
from scull.flags import flag

Result = TypeVar("Result")

WAITING, COMPILING, READY = "waiting", "compiling", "ready"
FAILED, REFUSED = "failed", "refused"
LONGEST = 256  # tasks that wait
TURN = 5e-5  # seconds that a thread keeps the interpreter while others want it


class Task(Generic[Result]):
    """Something to compile: `state` tells how far it is; it is not changed again from READY on.

    `name` is what it is called in messages, such as the operator; `seconds` is the time of the
    processor it took; `error` says why it failed or was refused.
    """

    def __init__(self, name: str, make: Callable[[], Result], owner: "Background") -> None:
        self.name, self.state, self.seconds = name, WAITING, 0.0
        self.error: BaseException | None = None
        self._make: Callable[[], Result] | None = make
        self._result: Result | None = None
        self._owner = owner

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in (READY, FAILED, REFUSED)

    @property
    def result(self) -> Result:
        """What was made; the error where it failed or was refused, a RunError before it ended."""
        if self.state == READY:
            return self._result  # type: ignore[return-value]
        raise self.error or RunError(f"{self.name} is not compiled yet")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ended, for so many seconds at most; whether it did."""
        return self._owner.wait(self, timeout)

    def withdraw(self) -> bool:
        """Take it back where it waits, which refuses it; whether it did."""
        return self._owner.withdraw(self)

    def work(self) -> None:
        """Make it, in the thread of its owner."""
        make, self.state, start = self._make, COMPILING, time.thread_time()
        _here.seconds = 0.0
        assert make is not None
        try:
            self._result, state = make(), READY
        except Exception as error:
            self.error, state = located(error, f"compiling {self.name} in the background"), FAILED
        except BaseException as error:  # it would end the thread, and who waits would wait on
            self.error, state = error, FAILED
        self.seconds = time.thread_time() - start + _here.seconds
        self._make, self.state = None, state

    def refuse(self, reason: str) -> None:
        """It will not be made."""
        self.error, self._make, self.state = RunError(reason), None, REFUSED


class Background:
    """A queue of tasks and the thread that does them, one after the other, first come first served.

    `seconds` of the processor's time are spent at most in a process; 0 is any number.
    """

    def __init__(self, seconds: float = 0.0, longest: float = LONGEST) -> None:
        self.longest, self.spent = longest, 0.0
        self.seconds = seconds or math.inf
        self._queue: deque[Task[Any]] = deque()
        self._current: Task[Any] | None = None
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        _every.add(self)

    def submit(self, name: str, make: Callable[[], Result]) -> Task[Result]:
        """A task for `make`, which another thread calls; REFUSED at once where there is no room."""
        task = Task(name, make, self)
        with self._changed:
            if self.spent >= self.seconds:
                task.refuse(self._too_long(name))
            elif len(self._queue) >= self.longest:
                task.refuse(f"{name}: {self.longest} others wait to be compiled")
            else:
                self._queue.append(task)
                self._start()
        return task

    def tasks(self) -> list[Task[Any]]:
        """What is compiled now, then what waits."""
        with self._changed:
            first = [] if self._current is None else [self._current]
            return [*first, *(task for task in self._queue if task is not self._current)]

    def wait(self, task: Task[Any] | None = None, timeout: float | None = None) -> bool:
        """Wait until a task ended, or else all of them; whether that is so after the timeout."""

        def over() -> bool:
            return self._thread is None if task is None else task.ended

        with self._changed:
            self._start()
            return self._changed.wait_for(over, timeout)

    def withdraw(self, task: Task[Any]) -> bool:
        """Do not do a task that waits; whether it did."""
        with self._changed:
            waits = task in self._queue
            if waits:
                self._queue.remove(task)
                task.refuse(f"{task.name} was taken back")
            return waits

    def renew(self) -> None:
        """In a child that was forked: its parent's thread is not here, and nothing is spent."""
        self._changed, self._thread, self.spent = threading.Condition(), None, 0.0
        task, self._current = self._current, None
        if task is not None and not task.ended:
            task.state = WAITING
            if task not in self._queue:
                self._queue.appendleft(task)

    def _start(self) -> None:
        """Let a thread work if there is something to do; the lock is held."""
        if self._queue and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="scull compiler", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:  # there are too many, or the interpreter is ending
                self._thread = None
                while self._queue:
                    self._queue.popleft().refuse(str(error))

    def _work(self) -> None:
        while (task := self._next()) is not None:
            _turns.begin()
            task.work()
            _turns.end()
            with self._changed:
                self.spent += task.seconds
                self._current = None
                self._changed.notify_all()

    def _next(self) -> Task[Any] | None:
        with self._changed:
            while self._queue and self.spent >= self.seconds:
                task = self._queue.popleft()
                task.refuse(self._too_long(task.name))
            if not self._queue:
                self._thread = None
                self._changed.notify_all()
                return None
            # at no moment is it in neither place: a child may be forked at any
            self._current = self._queue[0]
            return self._queue.popleft()

    def _too_long(self, name: str) -> str:
        return f"{name}: {self.seconds:g} seconds of compiling in the background are spent"


class Turns:
    """How many threads work, meanwhile turns at the interpreter are short, and what they were."""

    def __init__(self) -> None:
        self.lock, self.threads, self.usual = threading.Lock(), 0, TURN

    def begin(self) -> None:
        """One more thread works."""
        with self.lock:
            self.threads += 1
            if self.threads == 1:
                self.usual = sys.getswitchinterval()
                sys.setswitchinterval(min(TURN, self.usual))

    def end(self, threads: int = 1) -> None:
        """So many fewer do. After the last, turns are as before, if nobody changed that."""
        with self.lock:
            self.threads = max(0, self.threads - threads)
            if self.threads == 0 and math.isclose(sys.getswitchinterval(), TURN):
                sys.setswitchinterval(self.usual)

    def renew(self) -> None:
        """In a child that was forked none of the threads works."""
        self.lock = threading.Lock()
        self.end(self.threads)


_every: weakref.WeakSet[Background] = weakref.WeakSet()
_turns = Turns()
_here = threading.local()  # `seconds` that others worked for the task of this thread


def also_took(seconds: float) -> None:
    """Another thread worked so long for the task of this one."""
    _here.seconds = getattr(_here, "seconds", 0.0) + seconds


def _renew_all() -> None:
    _turns.renew()
    for each in list(_every):
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


@cache
def background() -> Background:
    """That of this process, with the budget of SCULL_BACKGROUND_SECONDS."""
    return Background(flag("BACKGROUND_SECONDS"))
