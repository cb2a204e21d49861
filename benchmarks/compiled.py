"""Programs as machine code, beside the fastest of what is installed: JAX, PyTorch, ONNX Runtime."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module, util
from itertools import pairwise
from typing import Any

import numpy as np

import scull as paddle
import scull.nn.functional as F
from benchmarks.harness import Row, beside, rounds, seconds_of, torch
from benchmarks.tiny import LENGTH, OPERANDS, calls, chain, program
from scull.flags import flags

SIZES, BATCH = (64, 64, 64, 64, 10), 32
ROWS, COLUMNS = 4096, 1024
TENSORS, PARAMETERS = 64, 1 << 20
RATE, BETAS, EPSILON = 1e-3, (0.9, 0.999), 1e-8
Contender = Callable[[], Any]


@cache
def module(name: str) -> Any:
    """A peer; None when it is not installed."""
    with suppress(ImportError, ValueError):
        return import_module(name) if util.find_spec(name.split(".")[0]) else None
    return None


def static(build: Callable[[], Any]) -> tuple[Any, Any]:
    """A Program whose startup has run, and what `build` returns."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        out = build()
    paddle.static.Executor().run(startup)
    paddle.disable_static()
    return main, out


def ours(main: Any, out: Any, feed: dict[str, Any]) -> Contender:
    """A run of a Program by the Executor."""
    executor = paddle.static.Executor()

    def run() -> Any:
        return executor.run(main, feed=feed, fetch_list=[out])[0]

    return run


def perceptron(count: int) -> Iterator[Row]:
    """A training step of a small perceptron, with Adam."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, SIZES[0])).astype("float32")
    y = rng.integers(0, SIZES[-1], (BATCH, 1))

    def build() -> Any:
        h = paddle.static.data("x", [BATCH, SIZES[0]])
        for n, (rows, columns) in enumerate(pairwise(SIZES)):
            h = paddle.nn.Linear(rows, columns)(h if n == 0 else F.relu(h))
        loss = F.cross_entropy(h, paddle.static.data("y", [BATCH, 1], "int64"))
        paddle.optimizer.Adam(RATE).minimize(loss)
        return loss

    main, loss = static(build)
    values = [
        np.array(paddle.static.global_scope().find_var(p.name).get_tensor())
        for p in main.all_parameters()
    ]
    step = ours(main, loss, {"x": x, "y": y})
    peers = {"JAX": jax_perceptron, "PyTorch": torch_perceptron}
    losses = [float(step()) for _ in range(20)]
    for name, make in peers.items():
        title = f"machine code: step of a perceptron 64-64-64-64-10, batch 32, Adam, {name}"
        other = make(values, x, y)
        if other is None:
            yield Row(title, "<= 0.5x", f"{name} is not installed")
            continue
        gap = max(abs(float(other()) / a - 1) for a in losses)
        assert gap < 1e-3, f"{name}'s losses differ by {gap}"
        yield compared(title, "<= 0.5x", step, name, other, count)


def compared(
    title: str, asked: str, own: Contender, name: str, other: Contender, count: int
) -> Row:
    """Our time over a peer's, interleaved."""
    pair = {"scull": seconds_of(own), name: seconds_of(other)}
    return beside(title, asked, rounds(pair, count))


def jax_perceptron(values: list[Any], x: Any, y: Any) -> Contender | None:
    """The same step in JAX."""
    jax = module("jax")
    if jax is None:
        return None
    jnp, label = jax.numpy, jax.numpy.asarray(y[:, 0])

    def loss_of(p: list[Any], x: Any) -> Any:
        for n in range(0, len(p), 2):
            x = x @ p[n] + p[n + 1]
            x = jnp.maximum(x, 0) if n + 2 < len(p) else x
        return -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(len(label)), label])

    def step(p: Any, m: Any, v: Any, t: Any, x: Any) -> Any:
        loss, g = jax.value_and_grad(loss_of)(p, x)
        m = [BETAS[0] * a + (1 - BETAS[0]) * b for a, b in zip(m, g, strict=True)]
        v = [BETAS[1] * a + (1 - BETAS[1]) * b * b for a, b in zip(v, g, strict=True)]
        near = jnp.sqrt(1 - BETAS[1] ** t)
        rate = RATE * near / (1 - BETAS[0] ** t)
        p = [a - rate * b / (jnp.sqrt(c) + EPSILON * near) for a, b, c in zip(p, m, v, strict=True)]
        return p, m, v, t + 1, loss

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    state: list[Any] = [[jnp.asarray(w) for w in values]]
    state += [[jnp.zeros_like(w) for w in values] for _ in range(2)]
    state.append(jnp.asarray(1.0))
    given = jnp.asarray(x)

    def run() -> Any:
        *state[:], loss = compiled(*state, given)
        return loss.block_until_ready()

    return run


def torch_perceptron(values: list[Any], x: Any, y: Any) -> Contender | None:
    """The same step in PyTorch, eager, with its fused Adam."""
    found = torch()
    if found is None:
        return None
    p = [found.tensor(w, requires_grad=True) for w in values]
    optimizer = found.optim.Adam(p, RATE, BETAS, EPSILON, fused=True)
    given, label = found.from_numpy(x), found.from_numpy(y[:, 0])

    def run() -> Any:
        h = given
        for n in range(0, len(p), 2):
            h = h @ p[n] + p[n + 1]
            h = found.relu(h) if n + 2 < len(p) else h
        loss = found.nn.functional.cross_entropy(h, label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return run


def prediction(count: int) -> Iterator[Row]:
    """One row through a tiny perceptron, NumPy in and out."""
    title, asked = "machine code: prediction of a tiny perceptron, batch 1", "<= 0.5x ONNX Runtime"
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
    onnx, runtime = module("onnx"), module("onnxruntime")
    if onnx is None or runtime is None:
        yield Row(title, asked, "onnx and onnxruntime are not installed")
        return

    x = np.full((1, 4), 0.5, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        spec = [paddle.static.InputSpec([None, 4], "float32")]
        paddle.jit.save(net, f"{folder}/net", input_spec=spec)
        config = paddle.inference.Config(f"{folder}/net.pdmodel", f"{folder}/net.pdiparams")
        predictor = paddle.inference.create_predictor(config)
    w = [p.numpy() for p in net.parameters()]
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            node("Gemm", ["x", "w0", "b0"], ["h"]),
            node("Relu", ["h"], ["r"]),
            node("Gemm", ["r", "w1", "b1"], ["y"]),
        ],
        "net",
        [info("x", 1, [None, 4])],
        [info("y", 1, [None, 2])],
        [
            onnx.numpy_helper.from_array(a, n)
            for a, n in zip(w, ("w0", "b0", "w1", "b1"), strict=True)
        ],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options)
    for _ in range(3):
        got = predictor(x)
    np.testing.assert_allclose(got, session.run(None, {"x": x})[0], rtol=1e-5)
    many = 100
    pair = {
        "scull": seconds_of(lambda: [predictor(x) for _ in range(many)]),
        "ONNX Runtime": seconds_of(lambda: [session.run(None, {"x": x}) for _ in range(many)]),
    }
    yield beside(title, asked, rounds(pair, max(2, count // 3)), many)


def rows_of_a_block(count: int) -> Iterator[Row]:
    """gelu, a residual, layer_norm, softmax over a large matrix."""
    title = "machine code: gelu, residual, layer_norm, softmax, 4096 x 1024"
    found = torch()
    if found is None:
        yield Row(title, "<= 0.4x PyTorch", "torch not installed")
        return
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(ROWS, COLUMNS)).astype("float32") for _ in range(2))

    def build() -> Any:
        h, r = (paddle.static.data(n, [ROWS, COLUMNS]) for n in "xy")
        return F.softmax(paddle.nn.LayerNorm(COLUMNS)(F.gelu(h) + r))

    main, out = static(build)
    own = ours(main, out, {"x": x, "y": y})
    tx, ty, w, b = (
        found.from_numpy(a) for a in (x, y, np.ones(COLUMNS, "f4"), np.zeros(COLUMNS, "f4"))
    )
    functional = found.nn.functional

    def other() -> Any:
        with found.no_grad():
            return found.softmax(
                functional.layer_norm(functional.gelu(tx) + ty, (COLUMNS,), w, b), -1
            )

    np.testing.assert_allclose(own(), other().numpy(), rtol=1e-4, atol=1e-7)
    pair = {"scull": seconds_of(own), "PyTorch": seconds_of(other)}
    yield beside(title, "<= 0.4x PyTorch", rounds(pair, max(2, count // 12)), unit="ms")


def adam(count: int) -> Iterator[Row]:
    """Adam over a million numbers in 64 tensors."""
    title, found = "machine code: Adam over 2^20 numbers in 64 tensors", torch()
    if found is None:
        yield Row(title, "<= 0.67x PyTorch, fused", "torch not installed")
        return
    shape = [PARAMETERS // TENSORS]

    def build() -> Any:
        kept = [paddle.create_parameter(shape, "float32") for _ in range(TENSORS)]
        grads = [paddle.create_parameter(shape, "float32") for _ in range(TENSORS)]
        paddle.optimizer.Adam(RATE).apply_gradients(list(zip(kept, grads, strict=True)))
        return kept[0]

    main, _ = static(build)
    executor = paddle.static.Executor()
    p = [found.zeros(shape, requires_grad=True) for _ in range(TENSORS)]
    for each in p:
        each.grad = found.ones(shape)
    optimizer = found.optim.Adam(p, RATE, BETAS, EPSILON, fused=True)
    pair = {
        "scull": seconds_of(lambda: executor.run(main)),
        "PyTorch": seconds_of(optimizer.step),
    }
    yield beside(title, "<= 0.67x PyTorch, fused", rounds(pair, max(2, count // 5)))


def tiny_operators(count: int) -> Iterator[Row]:
    """Two hundred tiny operators, one function."""
    title, jax = "machine code: 200 tiny operators, per operator", module("jax")
    if jax is None:
        yield Row(title, "<= 0.5x JAX", "JAX is not installed")
        return
    main, out = program(paddle)
    own = ours(main, out, OPERANDS)
    given = {n: jax.numpy.asarray(v) for n, v in OPERANDS.items()}
    compiled = jax.jit(lambda operands: chain(calls(jax.numpy), operands))
    np.testing.assert_allclose(own(), compiled(given), rtol=1e-3)
    pair = {
        "scull": seconds_of(own),
        "JAX": seconds_of(lambda: compiled(given).block_until_ready()),
    }
    yield beside(title, "<= 0.5x JAX", rounds(pair, count), LENGTH)


def rows(count: int) -> Iterator[Row]:
    """All figures of machine code, from about so many rounds."""
    with flags(COMPILE="eager"):
        for figure in (perceptron, prediction, rows_of_a_block, adam, tiny_operators):
            yield from figure(count)
