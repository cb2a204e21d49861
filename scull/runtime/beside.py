"""Object files that a thread makes while another goes on writing texts.

Half of the time of compiling is LLVM's, which lets Python threads run while it works.
"""

import math
from functools import partial

from scull.runtime.background import REFUSED, Background, Task, also_took
from scull.runtime.llvm import Target, cached_code


class Beside:
    """The object files of texts, from when these are told."""

    def __init__(self, target: Target | None = None) -> None:
        self._target = target
        self._tasks: dict[str, Task[bytes]] = {}
        self._thread = Background(longest=math.inf)

    def begin(self, text: str, name: str) -> None:
        """Let the object file of a text be made, which messages call `name`."""
        if text not in self._tasks:
            make = partial(cached_code, text, self._target)
            self._tasks[text] = self._thread.submit(name, make)

    def code_of(self, text: str) -> bytes:
        """The object file of a text, once; waits for it where it is being made."""
        task = self._tasks.pop(text, None)
        if task is None or not task.wait() or task.state == REFUSED:
            return cached_code(text, self._target)
        also_took(task.seconds)
        return task.result
