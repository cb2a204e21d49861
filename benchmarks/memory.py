"""Memory of a run: the ledger beside tracemalloc, the peak beside what lifetimes allow."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.harness import Row
from scull.autograd.version import owner
from scull.cli.demo.static import build
from scull.cli.demo.task import BATCH
from scull.core.tensor import Rows
from scull.executor.binding import Bound, bind, filled
from scull.executor.lifetime import shape_readers
from scull.flags import flags
from scull.vision import Digits


@dataclass(frozen=True)
class Run:
    """A Program with what it is fed, in a scope of its own."""

    main: paddle.static.Program
    feed: dict[str, Any]
    fetches: list[Any]
    executor: paddle.static.Executor = field(default_factory=paddle.static.Executor)
    scope: paddle.static.Scope = field(default_factory=paddle.static.Scope)

    def __call__(self) -> None:
        """Run it once."""
        self.executor.run(self.main, feed=self.feed, fetch_list=self.fetches, scope=self.scope)

    def started(self, startup: paddle.static.Program) -> "Run":
        """The same, its parameters made."""
        self.executor.run(startup, scope=self.scope)
        return self


def perceptron(trained: bool, batch: int = 1024, width: int = 256) -> Run:
    """A perceptron of three layers, ready to run; `trained` by a step, or forward alone."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, width], "float32")
        hidden = x
        for _ in range(3):
            hidden = paddle.tanh(paddle.nn.Linear(width, width)(hidden))
        loss = paddle.mean(paddle.square(hidden))
        if trained:
            paddle.optimizer.SGD(0.01).minimize(loss)
    paddle.disable_static()
    return Run(main, {"x": np.ones((batch, width), np.float32)}, [loss]).started(startup)


def demo() -> Run:
    """The demo's training step, ready to run."""
    paddle.enable_static()
    built = build(0.01)
    paddle.disable_static()
    train = Digits("train")
    feed = {"image": train.images[:BATCH], "label": train.labels[:BATCH]}
    return Run(built.main, feed, [built.loss]).started(built.startup)


def resnet(batch: int = 4, size: int = 64) -> Run:
    """A training step of ResNet-18 on small images, ready to run."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        image = paddle.static.data("image", [batch, 3, size, size])
        label = paddle.static.data("label", [batch, 1], "int64")
        scores = paddle.vision.models.resnet18(num_classes=10)(image)
        loss = paddle.nn.functional.cross_entropy(scores, label)
        paddle.optimizer.Momentum(0.01, 0.9).minimize(loss)
    paddle.disable_static()
    chance = np.random.default_rng(0)
    feed = {
        "image": chance.random((batch, 3, size, size), np.float32),
        "label": chance.integers(0, 10, (batch, 1)),
    }
    return Run(main, feed, [loss]).started(startup)


def traced_peak(run: Run) -> int:
    """The bytes a run allocates at most at once, by tracemalloc.

    That traces other threads, too, which only add: of three runs the least counts.
    """
    run()
    tracemalloc.start()
    found = []
    for _ in range(3):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run()
        found.append(tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    return min(found)


def ledger_peak(run: Run) -> int:
    """The bytes of a run's temporaries and scratch at most at once, by the ledger."""
    with flags(LEDGER=True):
        run()
    return run.executor.ledger.peak


def lifetime_peak(run: Run) -> int:
    """The least bytes a run in this order needs: each value from its making to its last reading.

    Found without the plan's own frees: by a run that frees nothing and notes where memory is read.
    """
    names = tuple(variable.name for variable in run.fetches)
    bound = bind(run.main, run.scope, tuple(run.feed), names)
    steps = [step for step in bound.plan.steps if not step.is_shape]
    made, last, size = {}, {}, {}
    frame = filled(bound, run.feed)
    given = {id(owner(value)) for value in frame if isinstance(value, np.ndarray)}
    alive = []  # so that no memory is used twice
    for number, step in enumerate(steps):
        shapes = shaped_only(bound, step)
        for slot in step.reads:
            for memory in memories(frame[slot]):
                if slot not in shapes and id(memory) not in given:
                    last[id(memory)] = number
        frame[step.put] = step.call(*step.get(frame))
        for slot in step.writes:
            for memory in memories(frame[slot]):
                alive.append(memory)
                if id(memory) not in given:
                    made.setdefault(id(memory), number)
                    last[id(memory)] = number
                    size[id(memory)] = memory.nbytes
    for slot, _ in bound.plan.fetches:
        last.update((id(memory), len(steps)) for memory in memories(frame[slot]))
    return max(
        sum(size[m] for m in made if made[m] <= number <= last[m]) for number in range(len(steps))
    )


def shaped_only(bound: Bound, step: Any) -> set[int]:
    """The slots of which a step looks at the shape alone."""
    names = {variable.name for variable in shape_readers(step.operator)}
    return {slot for slot in step.reads if bound.plan.names[slot] in names}


def memories(value: Any) -> list[np.ndarray]:
    """The arrays that own the memory of a value."""
    parts = [value.rows, value.values] if isinstance(value, Rows) else [value]
    return [owner(part) for part in parts if isinstance(part, np.ndarray)]


def rows() -> Iterator[Row]:
    """The figures of memory; the scratch of kernels is in both."""
    for name, run, most in (
        ("perceptron forward", perceptron(trained=False), 1.2),
        ("perceptron's step", perceptron(trained=True), 1.2),
        ("the demo's step", demo(), 1.2),
        ("a step of ResNet-18", resnet(), 1.05),
        ("the same, a batch of 16", resnet(16), 1.05),
    ):
        traced, ledger, least = traced_peak(run), ledger_peak(run), lifetime_peak(run)
        apart = f"{abs(ledger - traced) / traced:.1%}"
        detail = f"ledger {kib(ledger)}, tracemalloc {kib(traced)}"
        yield Row(f"memory: ledger beside tracemalloc, {name}", "<= 5 %", apart, detail)
        detail = f"least {kib(least)}; by the ledger {ledger / least:.2f}x"
        measured = f"{traced / least:.2f}x"
        yield Row(f"memory: peak over lifetimes, {name}", f"<= {most}x", measured, detail)


def kib(size: int) -> str:
    """Bytes as text."""
    return f"{size / 1024:,.0f} KiB"
