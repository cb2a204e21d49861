"""The world outside the Programs of the corpus, and the operators that reach into it.

What they give depends on how many came before, so that two in the wrong order give other numbers.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.core.op import BY_TYPE, REGISTRY

PATIENCE = 60.0  # seconds after which nobody serves any more


class World:
    """What the operators here change, from the start of a run on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.servant = ThreadPoolExecutor(1, thread_name_prefix="servant")
        self.services: dict[str, Callable[[Any], Any]] = {"double": lambda x: x + x}
        self.begin()

    def begin(self) -> None:
        """Nothing has happened."""
        self.level = 0  # how often something was written outside
        self.turns = 0  # how often something was sent
        self.calls: list[tuple[Any, ...]] = []  # what must keep its order
        self.served: list[tuple[Any, ...]] = []  # what need not

    def noted(self, name: str, *facts: Any) -> None:
        """`name` happened, after all that must come before it."""
        with self.lock:
            self.calls.append((name, *facts))

    def serve(self, name: str, x: Any) -> Any:
        """What the other thread makes of `x`; this one waits for it."""
        done, answer = threading.Event(), []
        served = self.served  # of this run, which may have been left when the answer comes

        def work() -> None:
            try:
                answer.append(self.services[name](np.array(x)))
            finally:
                done.set()

        self.servant.submit(work)
        if not done.wait(PATIENCE) or not answer:
            raise TimeoutError(f"nobody served `{name}`")
        with self.lock:
            served.append((name, float(np.sum(x))))
        return answer[0]

    def history(self) -> tuple[Any, ...]:
        """All that happened; what may come in any order is sorted."""
        return (self.level, self.turns, *self.calls, *sorted(self.served))


WORLD = World()


@primitive(effects=("communicates",))
def in_turn(x: Meta) -> Meta:
    """What everybody who takes part gets; the n-th call of one meets the n-th of the others."""
    return x


@in_turn.kernel
def in_turn_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    with WORLD.lock:
        WORLD.turns += 1
        WORLD.calls.append(("in turn", WORLD.turns))
        return x * x.dtype.type(1 + WORLD.turns / 8)


@primitive(effects=("blocks",))
def served(x: Meta, *, service: str = "double") -> Meta:
    """What another thread makes of `x`."""
    return x


@served.kernel
def served_kernel(xp: Any, x: Any, *, out: Any = None, service: str) -> Any:
    return WORLD.serve(service, x)


@primitive(effects=("reads",))
def read_level(x: Meta) -> Meta:
    """`x`, and how often somebody wrote outside."""
    return x


@read_level.kernel
def read_level_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return x + x.dtype.type(WORLD.level / 4)


@primitive(effects=("writes",))
def raise_level(x: Meta) -> Meta:
    """`x`, once it is written outside."""
    return x


@raise_level.kernel
def raise_level_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    with WORLD.lock:
        WORLD.level += 1
    return x + x.dtype.type(1)


for operator in (in_turn, served, read_level, raise_level):
    operator.no_grad("it is there for tests of the executor")
    operator.no_lowering("it reaches outside")
    for table in (REGISTRY, BY_TYPE):  # nobody else has it
        table.pop(operator.op.name)
