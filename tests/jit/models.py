"""Networks and comparisons that the tests of to_static share."""

from collections.abc import Callable
from typing import Any

import numpy as np

import scull as paddle


def small_net() -> Any:
    """Layers with parameters, buffers that change, and random numbers."""
    nn = paddle.nn
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Dropout(0.5))


def copied_state(net: Any) -> dict[str, Any]:
    """Copies of all parameters and buffers."""
    return {n: paddle.to_tensor(v.numpy()) for n, v in net.state_dict().items()}


def gradients(net: Any, *others: Any) -> list[Any]:
    """The gradients of all parameters and of `others`, as arrays."""
    tensors = [*net.parameters(), *others]
    return [None if t.grad is None else t.grad.numpy() for t in tensors]


def buffers(net: Any) -> list[Any]:
    """The buffers as arrays."""
    return [b.numpy() for b in net.buffers()]


def started(net: Any, state: dict[str, Any], seed: int = 3) -> None:
    """Let `net` begin from `state`, without gradients, and numbers from `seed`."""
    paddle.seed(seed)
    net.set_state_dict(state)
    net.clear_gradients()


def assert_equal(found: list[Any], expected: list[Any]) -> None:
    """Equal bit for bit."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def losses(step: Callable[[Any], Any], x: Any, count: int = 5) -> list[float]:
    """What `step` returns, time after time."""
    return [step(x).item() for _ in range(count)]
