"""Object files that others make while a thread goes on writing texts.

Half of the time of compiling is LLVM's. In this process LLVM works for one thread at a time, and
lets Python threads run meanwhile; in processes of its own it works for all at once.
"""

import math
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Self

from scull.runtime import llvm
from scull.runtime.background import REFUSED, Background, Task, also_took
from scull.runtime.elsewhere import Compiler, started
from scull.runtime.object_cache import object_cache


class Beside:
    """The object files of texts, from when these are told.

    Each of so many `processes` makes them for one thread; without any, a thread of this one does.
    """

    def __init__(self, target: llvm.Target | None = None, processes: int = 0) -> None:
        self._target = target or llvm.host()
        self._tasks: dict[str, Task[bytes]] = {}
        self._threads = [Background(longest=math.inf) for _ in range(max(processes, 1))]
        self._compilers: list[Compiler | None] = [None] * len(self._threads)
        self._processes = processes

    def __enter__(self) -> Self:
        try:
            for number in range(self._processes):
                self._compilers[number] = started()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        for task in self._tasks.values():
            task.withdraw()
        for compiler in self._compilers:
            if compiler is not None:
                compiler.close()

    def begin(self, text: str, name: str) -> None:
        """Let the object file of a text be made, which messages call `name`."""
        if text not in self._tasks:
            number = len(self._tasks) % len(self._threads)
            make = partial(self._made, text, self._compilers[number])
            self._tasks[text] = self._threads[number].submit(name, make)

    def codes_of(self, texts: Sequence[str]) -> list[bytes]:
        """The object files of texts; this thread makes those nobody has begun, the last first."""
        found: dict[str, bytes] = {}
        for text in reversed(texts):
            task = self._tasks.get(text)
            if task is None or task.withdraw() or task.state == REFUSED:
                found[text] = self._made(text, None)
        for text in texts:
            if text not in found:
                task = self._tasks[text]
                task.wait()
                also_took(task.seconds)
                found[text] = task.result
        return [found[text] for text in texts]

    def _made(self, text: str, compiler: Compiler | None) -> bytes:
        make = llvm.object_code if compiler is None else compiler.object_code
        key = llvm.code_key(text, self._target)
        return object_cache().get(key, partial(make, text, self._target))
