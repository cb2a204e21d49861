"""Computations that are no networks, each with a function for every contender."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.compiled.workload import ADAM_EPSILON, BETAS, STEPS, Step, Workload
from benchmarks.tiny import OPERANDS, calls, chain, program

TENSORS, EACH, RATE = 64, 1 << 14, 1e-3


@dataclass(frozen=True, kw_only=True)
class Direct(Workload):
    """`contenders` make a step of a framework, for a number of threads."""

    contenders: dict[str, Callable[[int], Step]]
    before: int = 1  # steps before the result is compared

    def is_done_by(self, contender: str) -> bool:
        """Whether a contender has a function."""
        return contender in self.contenders

    def step(self, contender: str, threads: int) -> Step:
        """What a contender does again and again."""
        return self.contenders[contender](threads)

    def result(self, step: Step) -> np.ndarray[Any, Any]:
        """What the last of some steps gives."""
        for _ in range(self.before - 1):
            step()
        return np.asarray(step())


def gradients() -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    """Of the parameters that Adam changes."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(EACH, np.float32) for _ in range(TENSORS)]


def adam_by_paddle(name: str, threads: int) -> Step:
    """Adam as a Program."""
    paddle = import_module(name)
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        zero = paddle.nn.initializer.Constant(0.0)
        p, g = (
            [
                paddle.create_parameter([EACH], "float32", default_initializer=zero)
                for _ in range(TENSORS)
            ]
            for _ in range(2)
        )
        optimizer = paddle.optimizer.Adam(RATE, *BETAS, ADAM_EPSILON)
        optimizer.apply_gradients(list(zip(p, g, strict=True)))
    executor, scope = paddle.static.Executor(), paddle.static.global_scope()
    executor.run(startup)
    for made, value in zip(g, gradients(), strict=True):
        scope.find_var(made.name).get_tensor().set(value, paddle.CPUPlace())
    changed = scope.find_var(p[0].name).get_tensor()

    def step() -> Any:
        executor.run(main)
        return changed

    return step


def adam_by_torch(threads: int) -> Step:
    """Adam by the fused optimizer."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    p = [torch.zeros(EACH, requires_grad=True) for _ in range(TENSORS)]
    for x, g in zip(p, gradients(), strict=True):
        x.grad = torch.tensor(g)
    optimizer = torch.optim.Adam(p, RATE, BETAS, ADAM_EPSILON, fused=True)
    changed = p[0].detach()

    def step() -> Any:
        optimizer.step()
        return changed

    return step


def adam_by_jax(threads: int) -> Step:
    """Adam by `jit`, which may write over what it is given."""
    jax = import_module("jax")
    update = import_module("benchmarks.compiled.framework.jax").adam
    g = [jax.numpy.asarray(x) for x in gradients()]
    zeros = [[jax.numpy.zeros(EACH) for _ in range(TENSORS)] for _ in range(3)]
    held = [zeros[0], (zeros[1], zeros[2], jax.numpy.asarray(0.0))]
    compiled = jax.jit(lambda p, g, state: update(RATE, p, g, state), donate_argnums=(0, 2))

    def step() -> Any:
        held[:] = compiled(held[0], g, held[1])
        return jax.block_until_ready(held)[0][0]

    return step


def tiny_by_paddle(name: str, threads: int) -> Step:
    """Two hundred operators as a Program."""
    paddle = import_module(name)
    main, out = program(paddle)
    paddle.enable_static()
    executor = paddle.static.Executor()
    return lambda: executor.run(main, feed=OPERANDS, fetch_list=[out])[0]


def tiny_by_jax(threads: int) -> Step:
    """The same by `jit`."""
    jax = import_module("jax")
    given = {n: jax.numpy.asarray(v) for n, v in OPERANDS.items()}
    compiled = jax.jit(lambda operands: chain(calls(jax.numpy), operands))
    return lambda: compiled(given).block_until_ready()


def tiny_by_torch(threads: int) -> Step:
    """The same by `torch.compile`."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    given = {n: torch.tensor(v) for n, v in OPERANDS.items()}
    compiled = torch.compile(lambda operands: chain(calls(torch), operands))

    def step() -> Any:
        with torch.inference_mode():
            return compiled(given)

    return step


def factors(size: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Two square matrices."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((size, size), np.float32) for _ in range(2))
    return x, y


def product_by_scull(size: int, threads: int) -> Step:
    """A product by the code that the compiler makes of the operator, nothing around it."""
    lang, native = import_module("scull.lang"), import_module("scull.compiler.native")
    matmul, meta_of = import_module("scull.ops.linear").matmul.op, import_module("scull.core.op")
    x, y = factors(size)
    meta = meta_of.meta_of(x)
    attrs = {"transpose_x": False, "transpose_y": False}
    kernel = lang.trace(matmul.lowering, [meta, meta], [meta], attrs, "matmul")
    out = np.empty_like(x)
    enter = native.compile(kernel).bind([x, y], [out])

    def step() -> Any:
        enter()
        return out

    return step


def product_by_torch(size: int, threads: int) -> Step:
    """A product by PyTorch's library (MKL) into memory that is there."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    x, y = map(torch.tensor, factors(size))
    return partial(torch.mm, x, y, out=torch.empty_like(x))


def product_by_numpy(size: int, threads: int) -> Step:
    """A product by NumPy's library (OpenBLAS) into memory that is there."""
    x, y = factors(size)
    return partial(np.matmul, x, y, np.empty_like(x))


def product_by_jax(size: int, threads: int) -> Step:
    """A product by `jit`."""
    jax = import_module("jax")
    x, y = map(jax.numpy.asarray, factors(size))
    compiled = jax.jit(lambda x, y: x @ y)
    return lambda: compiled(x, y).block_until_ready()


def product(size: int) -> Direct:
    """A product of two square matrices."""
    made = {
        "scull": product_by_scull,
        "torch": product_by_torch,
        "numpy": product_by_numpy,
        "jax": product_by_jax,
    }
    return Direct(
        title=f"product of matrices, {size}",
        asked={1: 1.0, 2: 1.0},
        peers=("torch", "numpy", "jax"),
        contenders={n: partial(step, size) for n, step in made.items()},
    )


ADAM = Direct(
    title="Adam over 2^20 numbers in 64 tensors",
    asked={1: 1.5, 2: 1.5},
    peers=("torch", "jax"),
    contenders={
        "scull": partial(adam_by_paddle, "scull"),
        "paddle": partial(adam_by_paddle, "paddle"),
        "torch": adam_by_torch,
        "jax": adam_by_jax,
    },
    before=STEPS,
)

TINY = Direct(
    title="200 tiny operators",
    asked={1: 2.0},
    peers=("jax", "torch/compile"),
    contenders={
        "scull": partial(tiny_by_paddle, "scull"),
        "paddle": partial(tiny_by_paddle, "paddle"),
        "jax": tiny_by_jax,
        "torch/compile": tiny_by_torch,
    },
)
