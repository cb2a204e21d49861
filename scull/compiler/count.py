"""Numbers that nodes make of constants alone, known before anything runs: how long lists become."""

from typing import Any

import numpy as np

from scull import lang
from scull.compiler.act import Demand
from scull.compiler.flow import Branch, Loop, Nodes, arrays_read, pruned
from scull.compiler.trace import Statement
from scull.errors import ScullError
from scull.lang.expression import Array
from scull.lang.kernel import Kernel

MOST = 4096  # rounds that are counted one by one
LARGEST = 64  # elements of an array that is looked at


class Unknown(Exception):
    """Something depends on what is not known yet."""


def known(nodes: Nodes, array: Array) -> np.ndarray[Any, Any] | None:
    """What nodes make of an array; None where that depends on more than constants."""
    counting = Counting()
    try:
        counting.run(pruned(undemanding(nodes), {array}))
    except (Unknown, ScullError):
        return None
    return counting.values.get(array)


def undemanding(nodes: Nodes) -> list[Any]:
    """The same without what ends a run."""
    found = []
    for node in nodes:
        if isinstance(node, Loop | Branch):
            node = node.with_bodies([undemanding(body) for body in node.bodies])
        if not isinstance(node, Demand):
            found.append(node)
    return found


class Counting:
    """Computes what nodes make; Unknown where that cannot be."""

    def __init__(self) -> None:
        self.values: dict[Array, np.ndarray[Any, Any]] = {}
        self.kernels: dict[Array, Kernel] = {}  # by what they make: rounds come again

    def run(self, nodes: Nodes) -> None:
        """Compute what some nodes make."""
        for node in nodes:
            if isinstance(node, Statement):
                self.compute(node)
            elif isinstance(node, Branch):
                holds = self.found(node.condition).item()
                self.run(node.then if holds else node.otherwise)
                for c in node.results:
                    self.values[c.out] = self.found(c.then if holds else c.otherwise)
            elif isinstance(node, Loop):
                self.rounds(node)
            else:
                raise Unknown

    def rounds(self, loop: Loop) -> None:
        """Compute what a loop makes."""
        if loop.condition is None or loop.reads or loop.writes:
            raise Unknown
        self.values |= {c.now: self.found(c.first) for c in loop.carries}
        for _ in range(MOST):
            if not self.found(loop.condition).item():
                return
            self.run(loop.body)
            self.values |= {c.now: self.found(c.next) for c in loop.carries}
        raise Unknown

    def compute(self, statement: Statement) -> None:
        """Compute one array."""
        out = statement.out
        kernel = self.kernels.get(out)
        if kernel is None:
            read = tuple(arrays_read(statement))
            if any(x.size > LARGEST for x in (out, *read)):
                raise Unknown
            kernel = Kernel(statement.origin, read, (out,), (statement.body,))
            self.kernels[out] = kernel
        (self.values[out],) = lang.run(kernel, [self.found(x) for x in kernel.inputs])

    def found(self, array: Array) -> np.ndarray[Any, Any]:
        """The value of an array that was computed."""
        if array not in self.values:
            raise Unknown
        return self.values[array]
