"""Loops and recurrent layers as machine code, training steps, beside JAX and PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.compiled import BETAS, EPSILON, RATE, Contender, compared, module, ours, static
from benchmarks.harness import Row, torch
from scull.flags import flags

BATCH, SIZE, MOST, STILL, STEP = 16, 64, 50, 1e-3, 0.1
STEPS, SEQUENCES, INPUTS, HIDDEN = 64, 32, 64, 128


def losses_agree(name: str, own: Contender, other: Contender) -> None:
    """Twenty steps of both have the same losses."""
    for _ in range(20):
        a, b = float(own()), float(other())
        assert abs(b / a - 1) < 1e-3, f"{name}'s losses differ: {b}, not {a}"


def parameters(main: Any) -> list[Any]:
    """The values of a Program's parameters."""
    scope = paddle.static.global_scope()
    return [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]


def until_still(count: int) -> Iterator[Row]:
    """A layer again and again until it changes little, its gradient, an update."""
    x = np.random.default_rng(0).normal(size=(BATCH, SIZE)).astype("float32")

    def build() -> Any:
        h = paddle.static.data("x", [BATCH, SIZE])
        h.stop_gradient = False
        weight = paddle.create_parameter([SIZE, SIZE], "float32")
        bias = paddle.create_parameter([SIZE], "float32", is_bias=True)

        def body(i: Any, h: Any, change: Any) -> list[Any]:
            new = paddle.tanh(paddle.matmul(h, weight) + bias)
            return [i + 1, new, paddle.sum((new - h) * (new - h), keepdim=True).reshape([1])]

        i, most, change = paddle.full([1], 0, "int64"), paddle.full([1], MOST, "int64"), 1.0
        found = paddle.static.nn.while_loop(
            lambda i, h, change: paddle.logical_and(i < most, change > STILL),
            body,
            [i, h, paddle.full([1], change)],
        )
        loss = paddle.mean(found[1] * found[1])
        paddle.optimizer.SGD(STEP).minimize(loss)
        return loss

    for name, make in (("a masked scan", masked), ("while loops, its gradient by hand", by_hand)):
        main, loss = static(build)
        title = f"machine code: step through <= {MOST} rounds of tanh(Wh+b), JAX: {name}"
        jax = module("jax")
        if jax is None:
            yield Row(title, "<= 0.25x JAX", "JAX is not installed")
            continue
        weight, bias = sorted(parameters(main), key=lambda p: -p.ndim)
        own, other = ours(main, loss, {"x": x}), jax_step(jax, make(jax, x), weight, bias)
        losses_agree("JAX", own, other)
        yield compared(title, "<= 0.25x JAX", own, "JAX", other, count)


def jax_step(jax: Any, last: Callable[..., Any], weight: Any, bias: Any) -> Contender:
    """The step in JAX; `last` is what the rounds leave."""

    def step(w: Any, b: Any) -> Any:
        loss, (dw, db) = jax.value_and_grad(lambda w, b: (last(w, b) ** 2).mean(), (0, 1))(w, b)
        return w - STEP * dw, b - STEP * db, loss

    compiled = jax.jit(step, donate_argnums=(0, 1))
    state = [jax.numpy.asarray(weight), jax.numpy.asarray(bias)]

    def run() -> Any:
        *state[:], loss = compiled(*state)
        return loss.block_until_ready()

    return run


def masked(jax: Any, x: Any) -> Callable[..., Any]:
    """All rounds, of which those after the end change nothing."""
    jnp = jax.numpy

    def last(w: Any, b: Any) -> Any:
        def body(carried: Any, _: None) -> Any:
            h, change = carried
            new = jnp.tanh(h @ w + b)
            moved = jnp.sum((new - h) ** 2)
            goes = change > STILL
            return (jnp.where(goes, new, h), jnp.where(goes, moved, change)), None

        return jax.lax.scan(body, (jnp.asarray(x), jnp.float32(1)), None, length=MOST)[0][0]

    return last


def by_hand(jax: Any, x: Any) -> Callable[..., Any]:
    """As many rounds as there are, forward and back, over a buffer for the most there may be."""
    jnp = jax.numpy

    def forward(w: Any, b: Any) -> Any:
        kept = jnp.zeros((MOST + 1, *x.shape), x.dtype).at[0].set(x)

        def body(carried: Any) -> Any:
            i, h, _, kept = carried
            new = jnp.tanh(h @ w + b)
            return i + 1, new, jnp.sum((new - h) ** 2), kept.at[i + 1].set(new)

        first = (0, jnp.asarray(x), jnp.float32(1), kept)
        goes = jax.lax.while_loop(lambda c: (c[0] < MOST) & (c[2] > STILL), body, first)
        return goes[1], (w, goes[0], goes[3])

    def backward(found: Any, dh: Any) -> Any:
        w, count, kept = found

        def body(carried: Any) -> Any:
            i, dh, dw, db = carried
            d = dh * (1 - kept[i] ** 2)
            return i - 1, d @ w.T, dw + kept[i - 1].T @ d, db + d.sum(0)

        first = (count, dh, jnp.zeros_like(w), jnp.zeros(w.shape[1], w.dtype))
        return jax.lax.while_loop(lambda c: c[0] > 0, body, first)[2:]

    last = jax.custom_vjp(lambda w, b: forward(w, b)[0])
    last.defvjp(forward, backward)
    return last  # type: ignore[no-any-return]


def lstm(count: int) -> Iterator[Row]:
    """A training step of an LSTM over whole sequences, with Adam."""
    title = f"machine code: step of an LSTM {INPUTS} to {HIDDEN}, length {STEPS}, batch {SEQUENCES}"
    found = torch()
    if found is None:
        yield Row(title, "<= 0.71x PyTorch", "torch not installed")
        return
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SEQUENCES, STEPS, INPUTS)).astype("float32")
    y = rng.normal(size=(SEQUENCES, STEPS, HIDDEN)).astype("float32")

    names: list[str] = []

    def build() -> Any:
        given, wanted = (paddle.static.data(n, v.shape) for n, v in (("x", x), ("y", y)))
        layer = paddle.nn.LSTM(INPUTS, HIDDEN)
        names[:] = [p.name for p in layer.parameters()]
        out, _ = layer(given)
        loss = paddle.mean((out - wanted) * (out - wanted))
        paddle.optimizer.Adam(RATE).minimize(loss)
        return loss

    main, loss = static(build)
    net = found.nn.LSTM(INPUTS, HIDDEN, batch_first=True)
    scope = paddle.static.global_scope()
    for name, other in zip(names, net.parameters(), strict=True):
        other.data = found.from_numpy(np.array(scope.find_var(name).get_tensor()))
    optimizer = found.optim.Adam(net.parameters(), RATE, BETAS, EPSILON, fused=True)
    given, wanted = found.from_numpy(x), found.from_numpy(y)

    def step() -> Any:
        loss = ((net(given)[0] - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    own = ours(main, loss, {"x": x, "y": y})
    losses_agree("PyTorch", own, step)
    yield compared(title, "<= 0.71x PyTorch", own, "PyTorch", step, max(2, count // 6))


def rows(count: int) -> Iterator[Row]:
    """The figures of loops and recurrent layers, from about so many rounds."""
    with flags(COMPILE="eager"):
        yield from until_still(count)
        yield from lstm(count)
