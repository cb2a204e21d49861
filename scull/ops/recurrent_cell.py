"""One step of a recurrent network forward and back: LSTM, GRU and the cell without gates.

A step forward takes what the input and the state add, the bias of the latter, and the state that it
reads; it gives the new states [sequence, number] and what the way back needs. A step back takes the
gradients of the new states and those values; it gives the gradients of what was added, and what
else the old states' gradients consist of. With gates, what is added is that for all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from scull.core.eager import composite, gradient
from scull.core.meta import Meta
from scull.ops.join import concat, split
from scull.ops.math import relu, sigmoid, tanh


@composite(outputs=("h_new", "c_new", "i", "f", "g", "o"))
def lstm_step(along: Meta, own: Meta, bias: Meta, c: Meta) -> Any:
    """What is read is multiplied by f, and i * g is added; o of it is shown."""
    a, b, d, e = split(along + (own + bias), num=4, axis=1)
    i, f, g, o = sigmoid(a), sigmoid(b), tanh(d), sigmoid(e)
    new = f * c + i * g
    return o * tanh(new), new, i, f, g, o


@composite(outputs=("d", "dc"))
def lstm_step_back(
    dh: Meta, dc_new: Meta, c: Meta, c_new: Meta, i: Meta, f: Meta, g: Meta, o: Meta
) -> Any:
    """The gradients of the gates' arguments, and of the old state."""
    shown = tanh(c_new)
    dc = dc_new + dh * o * (1 - shown * shown)
    parts = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g)]
    return concat([*parts, dh * shown * o * (1 - o)], axis=1), dc * f


@composite(outputs=("h_new", "r", "z", "n", "s"))
def gru_step(along: Meta, own: Meta, bias: Meta, h: Meta) -> Any:
    """The share z of the state stays, the rest is n, to which the state adds r * s."""
    a, b, d = split(along, num=3, axis=1)
    p, q, s = split(own + bias, num=3, axis=1)
    r, z = sigmoid(a + p), sigmoid(b + q)
    n = tanh(d + r * s)
    return (h - n) * z + n, r, z, n, s


@composite(outputs=("douter", "dinner", "dh_old"))
def gru_step_back(dh: Meta, h: Meta, r: Meta, z: Meta, n: Meta, s: Meta) -> Any:
    """The gradients of what the input adds, of what the state adds, and of what stays."""
    dn = dh * (1 - z) * (1 - n * n)
    dr, dz = dn * s * r * (1 - r), dh * (h - n) * z * (1 - z)
    return concat([dr, dz, dn], axis=1), concat([dr, dz, dn * r], axis=1), dh * z


@composite
def tanh_step(along: Meta, own: Meta, bias: Meta) -> Any:
    """The new state."""
    return tanh(along + (own + bias))


@composite
def tanh_step_back(dh: Meta, h_new: Meta) -> Any:
    """The gradient of what is added."""
    return dh * (1 - h_new * h_new)


@composite
def relu_step(along: Meta, own: Meta, bias: Meta) -> Any:
    """The new state."""
    return relu(along + (own + bias))


@composite
def relu_step_back(dh: Meta, h_new: Meta) -> Any:
    """The gradient of what is added."""
    return gradient(relu)(h_new, dh)


def over(body: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a step: what its body gives, written into `out` if that is given."""

    @wraps(body)
    def kernel(xp: Any, *operands: Any, out: Any = None) -> Any:
        found = body(*operands)
        if out is None:
            return found
        several = type(out) is tuple
        for target, value in zip(*((out, found) if several else ((out,), (found,))), strict=True):
            target[...] = value
        return out

    return kernel


@dataclass(frozen=True)
class Cell:
    """Both steps of a cell.

    Attributes:
        states: how many states there are; the last is the one that a step reads.
        kept: how many values beside the states the way back needs.
        parts: for how many of input and state the way back gives gradients of its own.
        reads: the operands of a step back beside the gradients: of the old state, the new one, and
            what was kept.
    """

    step: Any
    back: Any
    states: int
    kept: int
    parts: int
    reads: Callable[[Any, Any, Any], list[Any]]

    def forward(self, along: Any, own: Any, bias: Any, state: Any) -> tuple[Any, ...]:
        """The operands of a step forward."""
        return (along, own, bias, state) if self.kept else (along, own, bias)


CELLS = {
    "LSTM": Cell(lstm_step, lstm_step_back, 2, 4, 1, lambda old, new, kept: [old, new, *kept]),
    "GRU": Cell(gru_step, gru_step_back, 1, 4, 2, lambda old, new, kept: [old, *kept]),
    "RNN_TANH": Cell(tanh_step, tanh_step_back, 1, 0, 1, lambda old, new, kept: [new]),
    "RNN_RELU": Cell(relu_step, relu_step_back, 1, 0, 1, lambda old, new, kept: [new]),
}
for cell in CELLS.values():
    cell.step.kernel(over(cell.step.op.body))
    cell.back.kernel(over(cell.back.op.body))
    cell.back.no_grad("recurrent networks are differentiable once")
