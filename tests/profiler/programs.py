"""Programs whose pages are looked at."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import scull as paddle


@dataclass
class Case:
    """A Program with what it is fed and gives, its parameters made in a scope of its own."""

    main: paddle.static.Program
    feed: dict[str, Any]
    fetches: list[Any]
    scope: paddle.static.Scope = field(default_factory=paddle.static.Scope)
    executor: paddle.static.Executor = field(default_factory=paddle.static.Executor)

    def explain(self, path, **options):
        """The page of the Program."""
        options = {"scope": self.scope} | options
        return self.executor.explain(self.main, self.feed, self.fetches, path, **options)


def described(make) -> tuple[paddle.static.Program, paddle.static.Program, Any]:
    """The main and startup Programs of what `make` records, and what it returns."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        found = make()
    paddle.disable_static()
    return main, startup, found


def trained() -> Case:
    """A training step: views, draws, values written in place, a shape that outlives its value."""

    def make():
        x, y = paddle.static.data("x", [None, 32]), paddle.static.data("y", [None, 1])
        hidden = paddle.tanh(paddle.nn.Linear(32, 64)(x))
        hidden = paddle.nn.functional.dropout(hidden, 0.1).reshape([-1, 64])
        loss = paddle.mean(paddle.square(paddle.nn.Linear(64, 1)(hidden) - y))
        paddle.optimizer.Adam(0.01).minimize(loss)
        return loss

    main, startup, loss = described(make)
    draw = np.random.default_rng(0)
    feed = {"x": draw.random((64, 32), np.float32), "y": draw.random((64, 1), np.float32)}
    case = Case(main, feed, [loss])
    case.executor.run(startup, scope=case.scope)
    return case


def looped() -> Case:
    """A loop, whose block has operators of its own."""

    def make():
        start, end, total = (paddle.full([1], value, "int64") for value in (0, 5, 1))
        loop = paddle.static.nn.while_loop
        found = loop(lambda i, t: i < end, lambda i, t: [i + 1, t * 2], [start, total])
        return found[1] + 1

    main, _, found = described(make)
    return Case(main, {}, [found])


def named(name: str) -> Case:
    """One operator on an input with this name."""
    main, _, found = described(lambda: paddle.tanh(paddle.static.data(name, [4])))
    return Case(main, {name: np.zeros(4, np.float32)}, [found])


def wide(chains: int, length: int) -> Case:
    """Chains of small operators that do not wait for each other, and their sum."""

    def make():
        x = paddle.static.data("x", [8])
        ends = []
        for _ in range(chains):
            ends.append(x)
            for _ in range(length):
                ends[-1] = paddle.tanh(ends[-1])
        return paddle.add_n(ends)

    main, _, found = described(make)
    return Case(main, {"x": np.ones(8, np.float32)}, [found])
