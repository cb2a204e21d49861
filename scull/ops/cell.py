"""One step of a recurrent network forward and backward: LSTM, GRU and the plain cell."""

from dataclasses import dataclass
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


@dataclass
class Lstm:
    """Long short-term memory: what is forgotten, written and shown is learnt."""

    hidden: int
    gates = 4  # how many numbers of a state the way back needs

    def step(self, along: Any, weight: Any, bias: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
        """The new states, and what the way back needs; `along` is what the input adds."""
        n = self.hidden
        gates = along + h @ weight.T + bias
        gates[:, : 2 * n] = sigmoid(gates[:, : 2 * n])
        np.tanh(gates[:, 2 * n : 3 * n], gates[:, 2 * n : 3 * n])
        gates[:, 3 * n :] = sigmoid(gates[:, 3 * n :])
        i, f, g, o = parts = [gates[:, k * n : k * n + n] for k in range(4)]
        new = f * c + i * g
        return o * np.tanh(new), new, parts

    def back(
        self, dh: Any, dc: Any, weight: Any, kept: Any, states: tuple[Any, ...]
    ) -> tuple[Any, Any, Any, Any]:
        """The gradients of the gates (from the input's side, the state's) and the old states."""
        (_, c, _, new), (i, f, g, o) = states, kept
        shown = np.tanh(new)
        dc = dc + dh * o * (1 - shown * shown)
        parts = (dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g))
        d = np.concatenate([*parts, dh * shown * o * (1 - o)], axis=1)
        return d, d, d @ weight, dc * f


@dataclass
class Gru:
    """The gated recurrent unit: what is reset and kept is learnt."""

    hidden: int
    gates = 4

    def step(self, along: Any, weight: Any, bias: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
        """The new states, and what the way back needs."""
        n, own = self.hidden, h @ weight.T + bias
        r, z = (sigmoid(along[:, k * n : k * n + n] + own[:, k * n : k * n + n]) for k in (0, 1))
        new = np.tanh(along[:, 2 * n :] + r * own[:, 2 * n :])
        return (h - new) * z + new, c, [r, z, new, own[:, 2 * n :]]

    def back(
        self, dh: Any, dc: Any, weight: Any, kept: Any, states: tuple[Any, ...]
    ) -> tuple[Any, Any, Any, Any]:
        """The gradients of the gates (from the input's side, the state's) and the old states."""
        h, (r, z, new, own) = states[0], kept
        dnew = dh * (1 - z) * (1 - new * new)
        dr, dz = dnew * own * r * (1 - r), dh * (h - new) * z * (1 - z)
        outer = np.concatenate([dr, dz, dnew], axis=1)
        inner = np.concatenate([dr, dz, dnew * r], axis=1)
        return outer, inner, dh * z + inner @ weight, dc


@dataclass
class Plain:
    """A cell without gates."""

    hidden: int
    straight: bool  # rectified, else the hyperbolic tangent
    gates = 1

    def step(self, along: Any, weight: Any, bias: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
        """The new states, and what the way back needs."""
        new = along + h @ weight.T + bias
        new = np.maximum(new, 0) if self.straight else np.tanh(new)
        return new, c, [new]

    def back(
        self, dh: Any, dc: Any, weight: Any, kept: Any, states: tuple[Any, ...]
    ) -> tuple[Any, Any, Any, Any]:
        """The gradients of the gates (from the input's side, the state's) and the old states."""
        (shown,) = kept
        d = dh * (shown > 0) if self.straight else dh * (1 - shown * shown)
        return d, d, d @ weight, dc


def cell_of(mode: str, hidden: int) -> Any:
    """The cell of a mode."""
    if mode == "LSTM":
        return Lstm(hidden)
    return Gru(hidden) if mode == "GRU" else Plain(hidden, mode == "RNN_RELU")


# Sequences: a cell through all steps. Steps beyond the end of a sequence show 0 and change nothing.
