"""What a model of the zoo brings, and the step most of them train by."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import scull as paddle


class Case(NamedTuple):
    """A model with its data.

    `nets` are its layers, each with descriptions of what it is called with, where the batch is
    left open. `step` trains once on the arrays of `batch(i)`; what it returns besides the loss is
    given to the next step after the batch. `decode` is what the model does with a batch once it is
    trained, and `rate` a schedule that goes on after each step.
    """

    nets: list[tuple[Any, list[Any]]]
    batch: Callable[[int], tuple[Any, ...]]
    step: Callable[..., Any]
    decode: Callable[..., Any]
    rate: Any = None
    carried: tuple[Any, ...] = ()


def spec(shape: list[int | None], dtype: str = "float32") -> Any:
    """The description of an argument."""
    return paddle.static.InputSpec(shape, dtype)


def draws(i: int) -> np.random.Generator:
    """The random numbers of step `i`."""
    return np.random.default_rng(100 + i)


def adam(*nets: Any, rate: float = 0.01, **options: Any) -> Any:
    """The optimizer of most models."""
    parameters = [p for net in nets for p in net.parameters()]
    return paddle.optimizer.Adam(rate, parameters=parameters, **options)


def trained(net: Any, optimizer: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
    """A step of training; `loss` is of what the net returns and of the batch."""

    def step(*batch: Any) -> Any:
        cost = loss(net(*batch), *batch)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        return cost

    return step
