"""One step of a gated recurrent unit whose input is projected before."""

from typing import Any

from scull.core.eager import composite
from scull.core.meta import agree
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError, UnknownSizeError
from scull.ops.compare import where
from scull.ops.join import concat
from scull.ops.like import reshape_like
from scull.ops.linear import matmul
from scull.ops.math import relu, sigmoid, tanh
from scull.ops.move import reshape
from scull.ops.reduce import reduce_sum
from scull.ops.slicing import slice

# By the number of an activation: it, and its slope as a function of its result.
ACTIVATIONS = (
    (lambda x: x * 1.0, None),
    (sigmoid, lambda y: (1.0 - y) * y),
    (tanh, lambda y: 1.0 - y * y),
    (relu, lambda y: where(y > 0.0, y * 0.0 + 1.0, 0.0)),
)


def check(input: Any, hidden_prev: Any, weight: Any, bias: Any, numbers: Any) -> int:
    """The size of the state; refuses operands that do not go together."""
    for number in numbers:
        if not 0 <= number < len(ACTIVATIONS):
            raise ArgumentError(f"activation {number} is not 0, 1, 2 or 3")
    given = {"input": input, "hidden_prev": hidden_prev, "weight": weight, "bias": bias}
    for name, x in given.items():
        if x is None:
            continue
        if len(x.shape) != 2:
            raise ShapeError(f"{name} has {len(x.shape)} axes, 2 are needed")
        dtypes = meta_of(x).dtype, meta_of(input).dtype
        if dtypes[0] is not dtypes[1]:
            raise DtypeError(f"{name} is {dtypes[0].name} and input is {dtypes[1].name}")
    size = weight.shape[0]
    if size == -1:
        raise UnknownSizeError("the size of the state, the first of weight, is not known")
    agree(weight.shape[1], 3 * size, "weight has {} columns, three times its rows are {}")
    agree(hidden_prev.shape[1], size, "hidden_prev has {} columns, the state is of size {}")
    agree(input.shape[1], 3 * size, "input has {} columns, three times the state is {}")
    agree(input.shape[0], hidden_prev.shape[0], "input has {} rows and hidden_prev {}")
    if bias is not None:
        agree(bias.shape[0], 1, "bias has {} rows, {} is needed")
        agree(bias.shape[1], 3 * size, "bias has {} columns, three times the state is {}")
    return int(size)


def columns(x: Any, start: int, end: int) -> Any:
    """Some columns of a matrix."""
    return slice(x, axes=(1,), starts=(start,), ends=(end,))


def weights(weight: Any, n: int) -> tuple[Any, Any]:
    """The weights of the gates and of the new state, which lie behind one another in memory."""
    flat = reshape(weight, shape=(-1,))
    gates = slice(flat, axes=(0,), starts=(0,), ends=(2 * n * n,))
    state = slice(flat, axes=(0,), starts=(2 * n * n,), ends=(3 * n * n,))
    return reshape(gates, shape=(n, 2 * n)), reshape(state, shape=(n, n))


@composite(outputs=("gate", "reset_hidden_prev", "hidden"), hidden=("gate", "reset_hidden_prev"))
def gru_unit(
    input,
    hidden_prev,
    weight,
    bias=None,
    *,
    activation: int = 2,
    gate_activation: int = 1,
    origin_mode: bool = False,
):
    """The gates, the state as far as it is not reset, and the new state.

    The new state is the old one where the update gate is open if `origin_mode`, else where it is
    closed.
    """
    n = check(input, hidden_prev, weight, bias, (activation, gate_activation))
    of_gates, of_state = weights(weight, n)
    along = input if bias is None else input + bias
    both = columns(along, 0, 2 * n) + matmul(hidden_prev, of_gates)
    both = ACTIVATIONS[gate_activation][0](both)
    update, reset = columns(both, 0, n), columns(both, n, 2 * n)
    kept = reset * hidden_prev
    new = ACTIVATIONS[activation][0](columns(along, 2 * n, 3 * n) + matmul(kept, of_state))
    old, other = (new, hidden_prev) if origin_mode else (hidden_prev, new)
    return concat([both, new], axis=1), kept, old + update * (other - old)


@gru_unit.grad
def gru_unit_grad(
    input: Any,
    hidden_prev: Any,
    weight: Any,
    bias: Any,
    gate: Any,
    reset_hidden_prev: Any,
    dhidden: Any,
    activation: int,
    gate_activation: int,
    origin_mode: bool,
    dgate: Any = None,
    dreset_hidden_prev: Any = None,
) -> Any:
    """Of the gates and of what is reset too, since the rule itself names them."""
    n = weight.shape[0]
    of_gates, of_state = weights(weight, n)
    update, reset, new = (columns(gate, i * n, i * n + n) for i in range(3))
    dupdate = dhidden * ((hidden_prev - new) if origin_mode else (new - hidden_prev))
    dnew, dprev = dhidden * update, dhidden * (1.0 - update)
    if origin_mode:
        dnew, dprev = dprev, dnew
    dboth = None if dgate is None else columns(dgate, 0, 2 * n)
    dnew = sloped(
        added(dnew, None if dgate is None else columns(dgate, 2 * n, 3 * n)), new, activation
    )
    dkept = added(matmul(dnew, of_state, transpose_y=True), dreset_hidden_prev)
    dgates = added(concat([dupdate, dkept * hidden_prev], axis=1), dboth)
    dgates = sloped(dgates, columns(gate, 0, 2 * n), gate_activation)
    dprev = dprev + dkept * reset + matmul(dgates, of_gates, transpose_y=True)
    parts = (
        matmul(hidden_prev, dgates, transpose_x=True),
        matmul(reset_hidden_prev, dnew, transpose_x=True),
    )
    dweight = concat([reshape(p, shape=(-1,)) for p in parts])
    dinput = concat([dgates, dnew], axis=1)
    dbias = None if bias is None else reduce_sum(dinput, axis=(0,), keepdim=True)
    return dinput, dprev, reshape_like(dweight, weight), dbias


def added(x: Any, y: Any) -> Any:
    """`x + y`, where `y` may be absent."""
    return x if y is None else x + y


def sloped(dy: Any, y: Any, number: int) -> Any:
    """The gradient of what an activation was given, whose result is `y`."""
    slope = ACTIVATIONS[number][1]
    return dy if slope is None else dy * slope(y)
