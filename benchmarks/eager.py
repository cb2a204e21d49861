"""Eager mode beside PyTorch: a chain of small operators, a step of a small perceptron."""

from collections.abc import Callable, Iterator

import numpy as np

import scull as paddle
from benchmarks.harness import Row, beside, cpu_time, rounds, seconds_of, torch, without_torch

LENGTH = 100  # operators of the chain
SMALL = np.random.default_rng(0).random((2, 4, 4), np.float32) * 0.1 + np.float32(0.9)
BATCH, INPUTS, HIDDEN, OUTPUTS = 32, 64, 64, 10


def by_operators(x, y):
    """The chain by Python's operators."""
    for _ in range(LENGTH // 2):
        x = (x + y) * y
    return x


def by_functions(add: Callable, multiply: Callable) -> Callable:
    """The chain by functions."""

    def chain(x, y):
        for _ in range(LENGTH // 2):
            x = multiply(add(x, y), y)
        return x

    return chain


def our_chain(chain: Callable, backward: bool = True) -> Callable[[], float]:
    """The chain of scull."""
    seed = paddle.ones([4, 4])

    def measured() -> float:
        x, y = (paddle.to_tensor(array, stop_gradient=False) for array in SMALL)
        start = cpu_time()
        out = chain(x, y)
        if backward:
            out.backward(seed)
        return cpu_time() - start

    return measured


def their_chain(chain: Callable, backward: bool = True) -> Callable[[], float]:
    """The chain of PyTorch."""
    seed = torch().ones(4, 4)

    def measured() -> float:
        x, y = (torch().tensor(array, requires_grad=True) for array in SMALL)
        start = cpu_time()
        out = chain(x, y)
        if backward:
            out.backward(seed)
        return cpu_time() - start

    return measured


def our_perceptron(update: bool) -> Callable[[], None]:
    """A training step of scull; with `update` the optimizer's too."""
    nn = paddle.nn
    layers = nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, OUTPUTS)
    network = nn.Sequential(*layers)
    optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
    x, y = paddle.randn([BATCH, INPUTS]), paddle.randn([BATCH, OUTPUTS])

    def step() -> None:
        loss = nn.functional.mse_loss(network(x), y)
        loss.backward()
        if update:
            optimizer.step()
        optimizer.clear_grad()

    return step


def their_perceptron(update: bool) -> Callable[[], None]:
    """The same step of PyTorch."""
    nn = torch().nn
    layers = nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, OUTPUTS)
    network = nn.Sequential(*layers)
    optimizer = torch().optim.SGD(network.parameters(), lr=0.01)
    x, y = torch().randn(BATCH, INPUTS), torch().randn(BATCH, OUTPUTS)

    def step() -> None:
        loss = nn.functional.mse_loss(network(x), y)
        loss.backward()
        if update:
            optimizer.step()
        optimizer.zero_grad()

    return step


def compared(name: str, asked: str, ours: Callable, theirs: Callable, per: int, count: int) -> Row:
    """A row beside PyTorch's; `theirs` makes the contender where PyTorch is installed."""
    if torch() is None:
        return without_torch(name, asked, rounds({"scull": ours}, count)["scull"], per)
    return beside(name, asked, rounds({"scull": ours, "torch": theirs()}, count), per)


def rows(count: int) -> Iterator[Row]:
    """The figures of eager mode, `count` rounds each."""
    yield compared(
        f"eager: {LENGTH} adds and multiplies, 4x4, and backward, each",
        "<= 0.75x torch",
        our_chain(by_operators),
        lambda: their_chain(by_operators),
        LENGTH,
        count,
    )
    yield compared(
        "eager: the same by add() and multiply()",
        "",
        our_chain(by_functions(paddle.add, paddle.multiply)),
        lambda: their_chain(by_functions(torch().add, torch().mul)),
        LENGTH,
        count,
    )
    yield compared(
        "eager: the same, forward alone, recording",
        "",
        our_chain(by_operators, backward=False),
        lambda: their_chain(by_operators, backward=False),
        LENGTH,
        count,
    )
    for update, title, asked in (
        (False, "forward and backward", "<= 1.2x torch"),
        (True, "with SGD's update", ""),
    ):
        yield compared(
            f"eager: perceptron {INPUTS}-{HIDDEN}-{OUTPUTS}, batch {BATCH}, {title}",
            asked,
            seconds_of(our_perceptron(update)),
            lambda update=update: seconds_of(their_perceptron(update)),
            1,
            count,
        )
