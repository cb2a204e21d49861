"""Scopes, places, parameters and variables of a Program."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import interpreting
from scull.core.meta import Meta
from scull.core.op import op_of
from scull.core.place import CPUPlace
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program, startup_program
from scull.ir.recorder import Recorder
from scull.ir.variable import with_batch
from scull.nn.param_attr import WeightNormParamAttr
from scull.nn.parameter import free_parameter as create_parameter
from scull.runtime.scope import Scope


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """`scope` is the global one within the block."""
    with session.guarded(scope=scope):
        yield


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Operators made within carry `prefix` in their `op_namescope`, those of the start too."""
    program, start = main_program(), startup_program()
    counts = program.scope_counts
    key = program.namescope + (prefix or "")
    n = counts[key] = counts.get(key, -1) + 1
    inner = f"{program.namescope}{prefix or ''}{f'_{n}' if n else ''}/"
    with (
        program.serving(program.role, program.role_var, inner),
        start.serving(start.role, start.role_var, inner),
    ):
        yield


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Operators made within name `device` as where they run."""
    if device is not None and device.split(":")[0] not in ("cpu", "gpu", "xpu", ""):
        raise ArgumentError(
            "The Attr(device) should be 'cpu', 'xpu', 'gpu' or custom device, and it can also be "
            "empty string or None when there is no need to specify device. But received "
            f"{device}"
        )
    block = main_program().current_block()
    before = len(block.ops)
    yield
    for o in block.ops[before:]:
        o.device = device or ""


def cpu_places(device_count: int | None = None) -> list[Any]:
    """The host, once or `device_count` times."""
    return [CPUPlace() for _ in range(device_count or 1)]


def cuda_places(device_ids: Any = None) -> list[Any]:
    """The GPUs of this process: none."""
    return []


def create_global_var(
    shape: Any,
    value: Any,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Any:
    """A variable of the global block that the startup Program fills with `value`.

    Args:
        shape (list | tuple): its sizes.
        value (float): what fills it.
        dtype (str): its element type.
        persistable (bool): whether it outlives a run.
        force_cpu (bool): kept for Paddle's signature.
        name (str, optional): its name.
    """
    check_shape(shape, "create_global_var")
    name = name or session.unique_name("_generated_var")
    meta, value = Meta(with_batch(shape), filled_dtype(dtype)), float(np.asarray(value).item())
    made = (
        main_program()
        .global_block()
        .variable(name, meta, persistable=persistable, stop_gradient=True)
    )
    block = startup_program().global_block()
    twin = block.variable(name, meta, persistable=persistable, stop_gradient=True)
    recorder = Recorder(block)
    with interpreting(recorder), recorder.into(twin):
        op_of("fill_constant").call(
            shape=meta.shape, value=value, dtype=meta.dtype, str_value=str(value)
        )
    return made


def check_shape(shape: Any, function: str) -> None:
    """Refuse what is no list of integers."""
    if not isinstance(shape, list | tuple | np.ndarray):
        raise ArgumentTypeError(
            f"The type of 'shape' in {function} must be list, tuple or numpy.ndarray, but received "
            f"{type(shape)}."
        )
    for n in shape:
        if not isinstance(n, int | np.integer):
            raise ArgumentTypeError(
                f"The type of 'item of shape' in {function} must be an integer, but received "
                f"{type(n)}."
            )


def filled_dtype(dtype: Any) -> DType:
    """An element type that `create_global_var` fills with a number."""
    found = dtype_of(dtype)
    if found.is_complex:
        raise ArgumentTypeError(
            "The data type of 'dtype' in create_global_var must be bool, integer or float, but "
            f"received {found.name}."
        )
    return found


__all__ = [
    "WeightNormParamAttr",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "cuda_places",
    "device_guard",
    "name_scope",
    "scope_guard",
]
