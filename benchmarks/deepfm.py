"""A training step of DeepFM: 26 fields of a table with 100 000 rows of 16, beside PyTorch and JAX.

The table's gradient has few rows: `dense` updates every row by Adam, `row-sparse` those that occur.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module, util
from itertools import cycle, pairwise
from typing import Any

import numpy as np

import scull as paddle
import scull.nn.functional as F
from benchmarks.harness import Row, beside, rounds, seconds_of, torch
from scull.flags import flags

FIELDS, WIDTH, HEIGHT, BATCH = 26, 16, 100_000, 512
HIDDEN = (FIELDS * WIDTH, 400, 400, 1)
RATE, BETAS, EPSILON = 1e-3, (0.9, 0.999), 1e-8
STEPS, TOLERANCE = 12, 2e-3  # whose losses are compared, and how near they are
Contender = Callable[[], Any]


def batches() -> list[dict[str, Any]]:
    """What is fed, in turn: numbers of rows and clicks."""
    rng = np.random.default_rng(0)
    return [
        {
            "x": rng.integers(0, HEIGHT, (BATCH, FIELDS)),
            "y": rng.integers(0, 2, (BATCH, 1)).astype("float32"),
        }
        for _ in range(4)
    ]


def ours(data: list[dict[str, Any]], sparse: bool) -> tuple[Contender, list[Any]]:
    """Steps of ours, and the first values of the parameters in their order."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [BATCH, FIELDS], "int64")
        y = paddle.static.data("y", [BATCH, 1])
        tables = [paddle.nn.Embedding(HEIGHT, n, sparse=sparse) for n in (1, WIDTH)]
        layers = [paddle.nn.Linear(*sizes) for sizes in pairwise(HIDDEN)]
        first, e = (table(x) for table in tables)
        total = e.sum(1)
        pairs = (total * total - (e * e).sum(1)).sum(1, keepdim=True) * 0.5
        h = e.reshape([BATCH, HIDDEN[0]])
        for layer in layers[:-1]:
            h = F.relu(layer(h))
        out = first.sum(1) + pairs + layers[-1](h)
        loss = F.binary_cross_entropy_with_logits(out, y)
        paddle.optimizer.Adam(RATE, *BETAS, EPSILON, lazy_mode=sparse).minimize(loss)
    executor, scope, feeds = paddle.static.Executor(), paddle.static.Scope(), cycle(data)
    with paddle.static.scope_guard(scope):
        executor.run(startup)
    paddle.disable_static()
    order = [t.weight for t in tables] + [p for each in layers for p in (each.weight, each.bias)]
    values = [np.array(scope.find_var(p.name).get_tensor()) for p in order]

    def step() -> Any:
        return executor.run(main, feed=next(feeds), fetch_list=[loss], scope=scope)[0]

    return step, values


def pytorch(data: list[dict[str, Any]], values: list[Any], sparse: bool) -> Contender | None:
    """The same in PyTorch, with its fused Adam, and SparseAdam for tables."""
    found = torch()
    if found is None:
        return None
    given = cycle([[found.from_numpy(v) for v in each.values()] for each in data])
    p = [found.tensor(v, requires_grad=True) for v in values]
    rest = p[2:] if sparse else p
    optimizers = [found.optim.Adam(rest, RATE, BETAS, EPSILON, fused=True)]
    if sparse:
        optimizers.append(found.optim.SparseAdam(p[:2], RATE, BETAS, EPSILON))
    functional = found.nn.functional

    def step() -> Any:
        x, y = next(given)
        first, e = (functional.embedding(x, table, sparse=sparse) for table in p[:2])
        total = e.sum(1)
        pairs = (total * total - (e * e).sum(1)).sum(1, keepdim=True) * 0.5
        h = e.reshape(BATCH, HIDDEN[0])
        for n in range(2, len(p), 2):
            h = h @ p[n] + p[n + 1]
            h = found.relu(h) if n + 2 < len(p) else h
        loss = functional.binary_cross_entropy_with_logits(first.sum(1) + pairs + h, y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach()

    return step


def jax(data: list[dict[str, Any]], values: list[Any], sparse: bool) -> Contender | None:
    """The same in JAX, which has no row-sparse gradients."""
    found = None
    with suppress(ImportError, ValueError):
        found = import_module("jax") if util.find_spec("jax") else None
    if found is None or sparse:
        return None
    jnp = found.numpy

    def loss_of(p: list[Any], x: Any, y: Any) -> Any:
        first, e = p[0][x], p[1][x]
        total = e.sum(1)
        pairs = (total * total - (e * e).sum(1)).sum(1, keepdims=True) * 0.5
        h = e.reshape(BATCH, HIDDEN[0])
        for n in range(2, len(p), 2):
            h = h @ p[n] + p[n + 1]
            h = jnp.maximum(h, 0) if n + 2 < len(p) else h
        out = first.sum(1) + pairs + h
        return jnp.mean(jnp.maximum(out, 0) - out * y + jnp.log1p(jnp.exp(-jnp.abs(out))))

    def update(p: Any, m: Any, v: Any, t: Any, x: Any, y: Any) -> Any:
        loss, g = found.value_and_grad(loss_of)(p, x, y)
        m = [BETAS[0] * a + (1 - BETAS[0]) * b for a, b in zip(m, g, strict=True)]
        v = [BETAS[1] * a + (1 - BETAS[1]) * b * b for a, b in zip(v, g, strict=True)]
        near = jnp.sqrt(1 - BETAS[1] ** t)
        rate = RATE * near / (1 - BETAS[0] ** t)
        p = [a - rate * b / (jnp.sqrt(c) + EPSILON * near) for a, b, c in zip(p, m, v, strict=True)]
        return p, m, v, t + 1, loss

    compiled = found.jit(update, donate_argnums=(0, 1, 2))
    state: list[Any] = [[jnp.asarray(w) for w in values]]
    state += [[jnp.zeros_like(w) for w in values] for _ in range(2)]
    state.append(jnp.asarray(1.0))
    given = cycle([[jnp.asarray(v) for v in each.values()] for each in data])

    def step() -> Any:
        *state[:], loss = compiled(*state, *next(given))
        return loss.block_until_ready()

    return step


def rows(count: int) -> Iterator[Row]:
    """The figures, from about so many rounds."""
    data = batches()
    with flags(COMPILE="eager", NUM_THREADS=1):
        for form, sparse in (("dense", False), ("row-sparse", True)):
            yield from figures(data, form, sparse, count)


def figures(data: list[dict[str, Any]], form: str, sparse: bool, count: int) -> Iterator[Row]:
    """One form beside every peer."""
    step, values = ours(data, sparse)
    losses = [float(step().item()) for _ in range(STEPS)]
    for name, make in (("PyTorch", pytorch), ("JAX", jax)):
        title = f"machine code: step of DeepFM, batch {BATCH}, Adam, {form}, {name}"
        other = make(data, values, sparse)
        if other is None:
            yield Row(title, "report", f"{name} is not installed, or has no such gradients")
            continue
        gap = max(abs(float(other()) / a - 1) for a in losses)
        assert gap < TOLERANCE, f"{name}'s losses differ by {gap}"
        pair = {"scull": seconds_of(step), name: seconds_of(other)}
        yield beside(title, "report", rounds(pair, max(2, count // 12)), unit="ms")
