"""Loops and recurrent layers: steps of training through them."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.compiled.direct import RATE, Direct
from benchmarks.compiled.workload import ADAM_EPSILON, BETAS, STEPS, Step

BATCH, SIZE, MOST, STILL, STEP = 16, 64, 50, 1e-3, 0.1
LENGTH, SEQUENCES, INPUTS, HIDDEN = 64, 32, 64, 128

NumpyArray = np.ndarray[Any, Any]


def layer() -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """The input of a layer, its weight, its bias."""
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, np.float32) for shape in ((BATCH, SIZE), (SIZE, SIZE)))
    return x, w * np.float32(SIZE**-0.5), np.zeros(SIZE, np.float32)


def program_of(
    paddle: Any, build: Callable[[], tuple[Any, Any]], values: list[NumpyArray], feed: Any
) -> Step:
    """Runs of a Program; `build` gives what is fetched and the parameters that get `values`."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        out, parameters = build()
    executor, scope = paddle.static.Executor(), paddle.static.global_scope()
    executor.run(startup)
    for made, value in zip(parameters, values, strict=True):
        scope.find_var(made.name).get_tensor().set(value, paddle.CPUPlace())
    return lambda: executor.run(main, feed=feed, fetch_list=[out])[0]


def still_by_paddle(name: str, threads: int) -> Step:
    """A layer again and again until it changes little, its gradient, an update."""
    paddle = import_module(name)
    x, w, b = layer()

    def build() -> Any:
        h = paddle.static.data("x", [BATCH, SIZE])
        h.stop_gradient = False
        weight = paddle.create_parameter([SIZE, SIZE], "float32")
        bias = paddle.create_parameter([SIZE], "float32", is_bias=True)

        def body(i: Any, h: Any, change: Any) -> list[Any]:
            new = paddle.tanh(paddle.matmul(h, weight) + bias)
            return [i + 1, new, paddle.sum((new - h) * (new - h), keepdim=True).reshape([1])]

        i, most = paddle.full([1], 0, "int64"), paddle.full([1], MOST, "int64")
        found = paddle.static.nn.while_loop(
            lambda i, h, change: paddle.logical_and(i < most, change > STILL),
            body,
            [i, h, paddle.full([1], 1.0)],
        )
        loss = paddle.mean(found[1] * found[1])
        paddle.optimizer.SGD(STEP).minimize(loss)
        return loss, [weight, bias]

    return program_of(paddle, build, [w, b], {"x": x})


def still_by_jax(make: Callable[[Any, Any], Callable[..., Any]], threads: int) -> Step:
    """The step in JAX; what `make` gives is what the rounds leave."""
    jax = import_module("jax")
    x, weight, bias = layer()
    last = make(jax, x)

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


def sequences() -> tuple[NumpyArray, NumpyArray, list[NumpyArray]]:
    """Sequences, what an LSTM is to make of them, its parameters."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((SEQUENCES, LENGTH, n), np.float32) for n in (INPUTS, HIDDEN))
    shapes = ((4 * HIDDEN, INPUTS), (4 * HIDDEN, HIDDEN), (4 * HIDDEN,), (4 * HIDDEN,))
    reach = np.float32(HIDDEN**-0.5)
    return x, y, [(rng.random(shape, np.float32) * 2 - 1) * reach for shape in shapes]


def lstm_by_paddle(name: str, threads: int) -> Step:
    """An LSTM over whole sequences, its gradient, Adam."""
    paddle = import_module(name)
    x, y, values = sequences()

    def build() -> Any:
        given, wanted = (paddle.static.data(n, v.shape) for n, v in (("x", x), ("y", y)))
        layer = paddle.nn.LSTM(INPUTS, HIDDEN)
        out, _ = layer(given)
        loss = paddle.mean((out - wanted) * (out - wanted))
        paddle.optimizer.Adam(RATE, *BETAS, ADAM_EPSILON).minimize(loss)
        return loss, layer.parameters()

    return program_of(paddle, build, values, {"x": x, "y": y})


def lstm_by_torch(threads: int) -> Step:
    """The same in PyTorch."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    x, y, values = sequences()
    net = torch.nn.LSTM(INPUTS, HIDDEN, batch_first=True)
    for parameter, value in zip(net.parameters(), values, strict=True):
        parameter.data = torch.from_numpy(value)
    optimizer = torch.optim.Adam(net.parameters(), RATE, BETAS, ADAM_EPSILON, fused=True)
    given, wanted = torch.from_numpy(x), torch.from_numpy(y)

    def step() -> Any:
        loss = ((net(given)[0] - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach().numpy()

    return step


STILL_LAYER = Direct(
    title=f"step through up to {MOST} rounds of tanh(Wh+b), {BATCH} x {SIZE}",
    asked={1: 4.0},
    peers=("jax/scan", "jax/while by hand"),
    contenders={
        "scull": partial(still_by_paddle, "scull"),
        "jax/scan": partial(still_by_jax, masked),
        "jax/while by hand": partial(still_by_jax, by_hand),
    },
    before=STEPS,
)
LSTM = Direct(
    title=f"step of an LSTM {INPUTS} to {HIDDEN}, length {LENGTH}, batch {SEQUENCES}, Adam",
    asked={1: 1.4, 2: 1.4},
    peers=("torch",),
    contenders={"scull": partial(lstm_by_paddle, "scull"), "torch": lstm_by_torch},
    before=STEPS,
)
