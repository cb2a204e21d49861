"""Every setting read from the environment; `with flags(DEBUG=2):` changes one for a while.

`scull.flags.debug = 2` changes it from then on. Each is read from `SCULL_<NAME>` once, when first
asked for. Paddle's own `FLAGS_<name>` are kept in `PADDLE`, which starts from the environment;
`set_flags` sets and `get_flags` reads them.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import Any


def _parse(name: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        return text.lower() in ("1", "true", "on", "yes")
    try:
        return type(default)(text)
    except ValueError:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise ValueError(f"{name} is {text!r}, not {kind}") from None


DEFAULTS: dict[str, Any] = {
    "DEBUG": 0,  # 1 prints compilations, 2 steps with times, 3 Programs after passes, 4 code, 5 why
    "VERIFY_PASSES": False,  # check a Program after every pass
    "EARLY_UPDATES": False,  # run updates right after their gradients, which go at once then
    "SCHEDULE_SEED": -1,  # any legal order of a plan, picked by this seed; -1: program order
    "POISON": False,  # fill freed memory of a run with NaN, so that a wrong lifetime is seen
    "SIM_SEED": 0,  # picks when the works of a simulated device run, in any order that is legal
    "DEVICE_STREAMS": 1,  # on which a device computes
    "NUM_THREADS": 0,  # that share one kernel of machine code; 0: as many as there are CPUs for us
    "HOST_THREADS": 1,  # on which large instructions of a Program that are independent run
    "MAX_MEMORY": 0,  # bytes that the temporaries of a run may take at most; 0: any
    "TURN_SECONDS": 60.0,  # that a run waits for one that is in a Python function; 0: any number
    "MAX_ROUNDS": 0,  # of one run of a loop in a Program; 0: any number
    "CONTROL_FLOW": "in-graph",  # the form in which Programs run: primitives, unrolled, or both, +
    "UNROLL_LIMIT": 1000,  # operators that a loop may become when it is written out
    "COMPILE": "tiered",  # Programs become machine code soon; eager: at their first run; off: never
    "CODE_FROM_RUN": 3,  # of training with `tiered`, which waits for its code; 0: when it is ready
    "FLUSH": "training",  # in which machine code numbers too small for all their digits are zero:
    # where values of the scope are updated, in none (never), in all (always)
    "AMX": True,  # code uses the matrix unit of a CPU that has one, for products in bfloat16
    "VECTORS": "",  # the widest that code has: avx512, avx2 or generic; "": the widest of the CPU
    "WINOGRAD": True,  # code for sums over windows of three has 16 products where there were 36
    "TUNE": False,  # time kernels with other tiles as well, once, and keep what is best
    "BATCH_SLICES": "beyond",  # when a batch of any size is computed in slices of a few sizes that
    # have code: beyond the first eight sizes, always, never
    "CACHE_DIR": "",  # where compiled code is kept; "": the user's folder of caches; off: nowhere
    "CACHE_MEGABYTES": 512,  # that it may take there
    "KEPT_MEGABYTES": 64,  # of free memory that stay with the process; 0: as the C library does
    "COMPILERS": -1,  # processes in which LLVM works on large programs; -1: one a CPU but one
    "BACKGROUND_SECONDS": 300.0,  # in which a process compiles in the background; 0: any number
    "WIDE_LAYER_NORM": True,  # in a Program of 16 bits it keeps scale and bias in float32
    "LEDGER": False,  # count the bytes of every temporary of a run
}

PADDLE: dict[str, Any] = {
    "FLAGS_check_nan_inf": False,
    "FLAGS_use_stride_kernel": True,
    "FLAGS_cudnn_deterministic": False,
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_sort_sum_gradient": False,
    "FLAGS_selected_gpus": "",
    "FLAGS_use_mkldnn": False,
    "FLAGS_enable_pir_in_executor": False,
    "FLAGS_print_extra_attrs": False,
    "FLAGS_new_einsum": True,
    "FLAGS_new_executor_sequential_run": False,
    "FLAGS_new_executor_use_inplace": True,
    "FLAGS_free_idle_chunk": False,
    "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_benchmark": False,
    "FLAGS_check_nan_inf_level": 0,
    "FLAGS_cpu_deterministic": False,
    "FLAGS_cudnn_exhaustive_search": False,
    "FLAGS_enable_pir_api": False,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0,
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92,
    "FLAGS_max_inplace_grad_add": 0,
    "FLAGS_paddle_num_threads": 1,
    "FLAGS_use_autotune": False,
    "FLAGS_set_to_1d": False,
    "FLAGS_retain_grad_for_all_tensor": False,
    "FLAGS_call_stack_level": 1,
}
# What Paddle's scripts set besides: nothing here depends on these.
IDLE: tuple[tuple[Any, str], ...] = (
    (
        True,
        "eager_delete_scope enable_api_kernel_fallback fast_eager_deletion_mode use_pinned_memory"
        " new_executor_use_local_scope use_stream_safe_cuda_allocator",
    ),
    (
        False,
        "apply_pass_to_program einsum_opt enable_unused_var_check init_allocated_mem print_ir"
        " log_memory_stats new_executor_serial_run new_executor_static_build prim_enabled"
        " new_executor_use_cuda_graph sync_after_alloc use_system_allocator",
    ),
    (0, "auto_growth_chunk_size_in_mb dygraph_debug gpu_memory_limit_mb initial_gpu_memory_in_mb"),
    (0, "inner_op_parallelism low_precision_op_list reallocate_gpu_memory_in_mb"),
    (500, "initial_cpu_memory_in_mb"),
    (10000, "gpu_allocator_retry_time"),
    (1.0, "memory_fraction_of_eager_deletion"),
    (0.5, "fraction_of_cuda_pinned_memory_to_use"),
)
PADDLE.update({"FLAGS_" + name: value for value, group in IDLE for name in group.split()})
PADDLE.update({n: _parse(n, os.environ[n], PADDLE[n]) for n in PADDLE.keys() & os.environ.keys()})

PRIVATE = frozenset({"FLAGS_free_idle_chunk"})  # read by `core.globals()` alone

_values: dict[str, Any] = {}
told: dict[str, Callable[[Any], None]] = {}  # by the name of a setting, who hears of its changes
changes = [0]  # how often a setting changed: what is kept by settings is kept by this number


def flag(name: str) -> Any:
    """The value of one setting."""
    if name not in _values:
        default = DEFAULTS[name]
        text = os.environ.get("SCULL_" + name)
        _values[name] = default if text is None else _parse("SCULL_" + name, text, default)
    return _values[name]


def put(**values: Any) -> None:
    """Change settings from now on."""
    _values.update(values)
    changes[0] += 1
    for name in told.keys() & values.keys():
        told[name](values[name])


@contextmanager
def flags(**values: Any) -> Iterator[None]:
    """Settings changed within the block."""
    before = {name: flag(name) for name in values}
    put(**values)
    try:
        yield
    finally:
        put(**before)


def _fitting(name: str, value: Any, default: Any) -> Any:
    """A value of the type that a setting has; texts are read as those of the environment are."""
    if isinstance(value, str) and not isinstance(default, str):
        return _parse(name, value, default)
    wanted = (int, float) if isinstance(default, float) else type(default)
    if isinstance(value, bool) is not isinstance(default, bool) or not isinstance(value, wanted):
        raise TypeError(f"{name} is {value!r}, no {type(default).__name__}")
    return value


class Module(ModuleType):
    """This module, whose attributes in small letters are the settings; called it is `flags`."""

    def __call__(self, **values: Any) -> AbstractContextManager[None]:
        return flags(**values)

    def __getattr__(self, name: str) -> Any:
        if name.islower() and name.upper() in DEFAULTS:
            return flag(name.upper())
        raise AttributeError(f"scull.flags has no setting {name!r}: {names()}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.islower() or name in globals() or name.startswith("_"):
            super().__setattr__(name, value)
        elif name.upper() in DEFAULTS:
            put(**{name.upper(): _fitting(name, value, DEFAULTS[name.upper()])})
        else:
            raise AttributeError(f"scull.flags has no setting {name!r}: {names()}")


def names() -> str:
    """The settings, as the attributes they are."""
    return ", ".join(sorted(map(str.lower, DEFAULTS)))


sys.modules[__name__].__class__ = Module
