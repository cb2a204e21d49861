"""JAX, by `jit`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.compiled.network import EPSILON, MOMENTUM, Vocabulary
from benchmarks.compiled.workload import ADAM_EPSILON, BETAS, DECAY, Prediction, Training


class Jax(Vocabulary):
    """Layers by JAX's functions; `updates` are the new statistics of normalisations."""

    def __init__(self, take: Callable[[Any], Any], training: bool) -> None:
        super().__init__(take)
        self.training, self.updates = training, list[Any]()

    def apply_linear(self, x: Any, w: Any, b: Any) -> Any:
        return x @ w + b

    def apply_convolution(
        self, x: Any, w: Any, b: Any, stride: int, padding: int, groups: int
    ) -> Any:
        out = lax.conv_general_dilated(
            x, w, (stride, stride), [(padding, padding)] * 2, feature_group_count=groups
        )
        return out if b is None else out + b[:, None, None]

    def apply_batch_norm(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        if self.training:
            now, spread = jnp.mean(x, (0, 2, 3)), jnp.var(x, (0, 2, 3))
            share = x.shape[0] * x.shape[2] * x.shape[3]
            unbiased = spread * (share / (share - 1))
            self.updates.append(mean + MOMENTUM * (now - mean))
            self.updates.append(variance + MOMENTUM * (unbiased - variance))
            mean, variance = now, spread
        factor = scale * lax.rsqrt(variance + EPSILON)
        return x * factor[:, None, None] + (bias - mean * factor)[:, None, None]

    def apply_layer_norm(self, x: Any, scale: Any, bias: Any) -> Any:
        centred = x - jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(centred * centred, -1, keepdims=True)
        return centred * lax.rsqrt(variance + EPSILON) * scale + bias

    def apply_embedding(self, tokens: Any, table: Any) -> Any:
        return table[tokens]

    def attend(self, packed: Any, heads: int, causal: bool) -> Any:
        batch, length, width = packed.shape
        parts = jnp.moveaxis(packed.reshape(batch, length, 3, heads, -1), 2, 0)
        mixed = jax.nn.dot_product_attention(*parts, is_causal=causal)
        return mixed.reshape(batch, length, width // 3)

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def relu(self, x: Any) -> Any:
        return jnp.maximum(x, 0)

    def relu6(self, x: Any) -> Any:
        return jnp.clip(x, 0, 6)

    def gelu(self, x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    def tanh(self, x: Any) -> Any:
        return jnp.tanh(x)

    def softmax(self, x: Any) -> Any:
        return jax.nn.softmax(x)

    def first(self, x: Any) -> Any:
        return x[:, 0]

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        window, steps = (1, 1, size, size), (1, 1, stride, stride)
        borders = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
        return lax.reduce_window(x, -jnp.inf, lax.max, window, steps, borders)

    def mean_of_image(self, x: Any) -> Any:
        return jnp.mean(x, (2, 3))

    def flatten(self, x: Any) -> Any:
        return x.reshape(x.shape[0], -1)


def training(work: Training, threads: int, form: str) -> Callable[[], Any]:
    """A step of training; what it replaces is given away."""
    trained = [p.trained for p in work.parameters]
    label = jnp.asarray(work.label.reshape(-1))

    def loss_of(p: Sequence[Any], fixed: Sequence[Any], inputs: Sequence[Any]) -> Any:
        sources = iter(fixed), iter(p)
        f = Jax(lambda q: next(sources[q.trained]), True)
        out = work.network(f, *inputs)
        logits = jax.nn.log_softmax(out.reshape(-1, out.shape[-1]))
        return -jnp.mean(jnp.take_along_axis(logits, label[:, None], 1)), f.updates

    def step(p: Any, fixed: Any, state: Any, inputs: Any) -> Any:
        (loss, fixed), g = jax.value_and_grad(loss_of, has_aux=True)(p, fixed, inputs)
        p, state = UPDATES[work.optimizer](work.rate, p, g, state)
        return p, fixed, state, loss

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    values = [jnp.asarray(x) for x in work.values]
    p = [x for x, t in zip(values, trained, strict=True) if t]
    fixed = [x for x, t in zip(values, trained, strict=True) if not t]
    zeros = [[jnp.zeros_like(x) for x in p] for _ in range(2)]
    held: list[Any] = [p, fixed, (*zeros, jnp.asarray(0.0))]
    inputs = [jnp.asarray(x) for x in work.inputs]

    def run() -> Any:
        *held[:], loss = compiled(*held, inputs)
        return loss.block_until_ready()

    return run


def momentum(rate: float, p: Any, g: Any, state: Any) -> Any:
    """Momentum."""
    m, v, t = state
    m = [0.9 * a + b for a, b in zip(m, g, strict=True)]
    return [a - rate * b for a, b in zip(p, m, strict=True)], (m, v, t)


def adam(rate: float, p: Any, g: Any, state: Any, decay: float = 0.0) -> Any:
    """Adam; with `decay` weights shrink before."""
    m, v, t = state
    t = t + 1
    m = [BETAS[0] * a + (1 - BETAS[0]) * b for a, b in zip(m, g, strict=True)]
    v = [BETAS[1] * a + (1 - BETAS[1]) * b * b for a, b in zip(v, g, strict=True)]
    near = jnp.sqrt(1 - BETAS[1] ** t)
    pace, least = rate * near / (1 - BETAS[0] ** t), ADAM_EPSILON * near
    p = [
        a * (1 - rate * decay) - pace * b / (jnp.sqrt(c) + least)
        for a, b, c in zip(p, m, v, strict=True)
    ]
    return p, (m, v, t)


def adamw(rate: float, p: Any, g: Any, state: Any) -> Any:
    """AdamW."""
    return adam(rate, p, g, state, DECAY)


UPDATES = {"momentum": momentum, "adam": adam, "adamw": adamw}


def prediction(work: Prediction, threads: int, form: str) -> Callable[[], Any]:
    """A prediction, from NumPy to NumPy."""
    values = [jnp.asarray(x) for x in work.values]

    @jax.jit
    def forward(values: Any, inputs: Any) -> Any:
        source = iter(values)
        return work.network(Jax(lambda _: next(source), False), *inputs)

    return lambda: np_of(forward(values, work.inputs))


def np_of(x: Any) -> Any:
    """A result when it is there."""
    return jax.device_get(x)
