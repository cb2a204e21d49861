"""Older doors to the one executor: a Program with strategies that say how it runs."""

import difflib
from copy import deepcopy
from enum import Enum
from numbers import Integral
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, RunError, SettingError
from scull.ir.program import Program
from scull.passes.selection import asked


class Choice(Enum):
    """One of several ways, with a number."""

    def __int__(self) -> int:
        return int(self.value)


class ReduceStrategy(Choice):
    """How gradients of several places become one."""

    AllReduce, Reduce, _NoReduce = 0, 1, 2


class GradientScaleStrategy(Choice):
    """What the gradient of the loss of each place is scaled by."""

    CoeffNumDevice, One, Customized = 0, 1, 2


class Device(Choice):
    """What places an older executor ran on."""

    CPU, CUDA, XPU = 0, 1, 2


class Strategy:
    """Named settings, each of the type of its default; an unknown one is refused."""

    settings: dict[str, Any] = {}  # noqa: RUF012
    counts: frozenset[str] = frozenset()  # which settings cannot be negative
    _finalized = False

    def __init__(self) -> None:
        self.__dict__.update(deepcopy(self.settings))

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self).__name__
        if name not in self.settings:
            near = difflib.get_close_matches(name, self.settings, 1, 0)[0]
            raise SettingError(
                f"{kind} has no setting `{name}`; the nearest is `{near}`, all are "
                f"{', '.join(self.settings)}"
            )
        if self._finalized:
            raise RunError(
                f"{kind} has been finalized, cannot be configured again: a Program was compiled "
                "with it"
            )
        self.__dict__[name] = accepted(f"{kind}.{name}", self.settings[name], value)
        if name in self.counts and self.__dict__[name] < 0:
            raise ArgumentTypeError(f"{kind}.{name} is a count, not {value}")

    def _clear_finalized(self) -> None:
        """Let settings change again."""
        self.__dict__.pop("_finalized", None)


def accepted(setting: str, default: Any, value: Any) -> Any:
    """`value` as the type of the setting's default; an error of type when it does not fit."""
    number = isinstance(value, bool | Integral | float | np.bool_)
    if isinstance(default, bool) and (number or value is None):
        return bool(value)
    if type(default) is int and number and not isinstance(value, float):
        return int(value)
    if default is None and (value is None or isinstance(value, bool)):
        return value
    if isinstance(default, Choice | str) and isinstance(value, type(default)):
        return value
    listed = isinstance(default, list | set) and isinstance(value, type(default))
    if listed and all(isinstance(v, str) for v in value):
        return value
    wanted = "bool or None" if default is None else type(default).__name__
    if isinstance(default, list | set):
        wanted += " of str"
    kind = ArgumentError if default is None else ArgumentTypeError
    raise kind(f"{setting} takes {wanted}, not {value!r} of type {type(value).__name__}")


class BuildStrategy(Strategy):
    """Which passes may change a Program before it runs.

    With `sequential_run`, `enable_sequential_execution` or `fix_op_run_order` each operator waits
    for the one before it. With `enable_inplace` a result may take the memory of an operand that
    nobody needs any more; with `enable_addto` alone a sum that of a summand. The switches that
    `scull.passes.selection.SWITCHES` lists let a copy of the Program go through passes, the others
    are kept. What is set between two runs holds for the second.

    Examples:
        >>> import scull as paddle
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.sequential_run = True
        >>> strategy.memory_optimise = True  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        scull.errors.SettingError: BuildStrategy has no setting `memory_optimise`; ...
    """

    ReduceStrategy, GradientScaleStrategy = ReduceStrategy, GradientScaleStrategy
    settings = {  # noqa: RUF012
        "reduce_strategy": ReduceStrategy.AllReduce,
        "gradient_scale_strategy": GradientScaleStrategy.CoeffNumDevice,
        "debug_graphviz_path": "",
        "enable_backward_optimizer_op_deps": True,
        "enable_sequential_execution": False,
        "remove_unnecessary_lock": True,
        "cache_runtime_context": False,
        "fix_op_run_order": False,
        "fuse_adamw": False,
        "fuse_bn_act_ops": False,
        "fuse_bn_add_act_ops": True,
        "fuse_elewise_add_act_ops": False,
        "enable_auto_fusion": False,
        "fuse_all_optimizer_ops": False,
        "fuse_all_reduce_ops": True,
        "fuse_relu_depthwise_conv": False,
        "fuse_broadcast_ops": True,
        "sync_batch_norm": False,
        "fuse_gemm_epilogue": False,
        "fused_attention": False,
        "fused_feedforward": False,
        "sequential_run": False,
        "mkldnn_enabled_op_types": set(),
        "memory_optimize": None,
        "enable_inplace": True,
        "enable_addto": False,
        "allow_cuda_graph_capture": False,
        "build_cinn_pass": False,
        "is_distribution": False,
        "async_mode": False,
        "num_trainers": 1,
        "trainer_id": 0,
        "trainers_endpoints": [],
        "nccl_comm_num": 1,
        "bkcl_comm_num": 1,
        "use_hierarchical_allreduce": False,
        "hierarchical_allreduce_inter_nranks": 0,
    }
    counts = frozenset(("nccl_comm_num", "bkcl_comm_num", "hierarchical_allreduce_inter_nranks"))

    def __str__(self) -> str:
        lines = [f"BuildStrategy: {id(self):#x}"]
        for name in self.settings:
            value = getattr(self, name)
            text = " ".join(value) if isinstance(value, list | set) else value
            stem = name.removesuffix("_strategy")
            lines.append(f"{stem}_: {text if isinstance(text, str) else int(text or 0)}")
        return "\n".join([*lines, ""])

    def _copy(self) -> "BuildStrategy":
        """Another strategy with the same settings, which can change."""
        made = type(self)()
        made.__dict__.update(deepcopy({n: getattr(self, n) for n in self.settings}))
        return made

    def _finalize_strategy_and_create_passes(self) -> None:
        """Let no setting change from now on."""
        self.__dict__["_finalized"] = True


class ExecutionStrategy(Strategy):
    """How a Program runs: on `num_threads` threads, unless that is 0. The rest is kept.

    Examples:
        >>> import scull as paddle
        >>> strategy = paddle.static.ExecutionStrategy()
        >>> strategy.num_threads = 4
    """

    settings = {  # noqa: RUF012
        "num_threads": 0,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "use_thread_barrier": False,
        "allow_op_delay": False,
        "use_experimental_executor": True,
        "_dry_run": False,
        "_use_device": Device.CUDA,
    }
    counts = frozenset(("num_threads", "num_iteration_per_drop_scope", "num_iteration_per_run"))


class Graph:
    """What is noted of a compiled Program: under `skip_gc_vars` the temporaries that stay.

    Their values are in the scope after each run, where a later Program finds them.
    """

    def __init__(self) -> None:
        self.skip_gc_vars: set[str] = set()

    def set(self, name: str, value: Any) -> None:
        """Note a set of names."""
        if name != "skip_gc_vars":
            raise SettingError(f"a graph notes `skip_gc_vars`, not `{name}`")
        if not isinstance(value, set | frozenset) or not all(isinstance(v, str) for v in value):
            raise ArgumentTypeError(f"skip_gc_vars takes a set of names, not {value!r}")
        self.skip_gc_vars = set(value)

    def has(self, name: str) -> bool:
        """Whether something is noted under `name`."""
        return name == "skip_gc_vars" and bool(self.skip_gc_vars)


class CompiledProgram:
    """A Program with strategies; an Executor runs it as the Program itself, in one scope.

    Args:
        program_or_graph (Program): what to run.
        build_strategy (BuildStrategy, optional): which passes may run.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [2]) * 2.0
        >>> compiled = paddle.static.CompiledProgram(main)
        >>> feed = {"x": np.ones(2, "float32")}
        >>> paddle.static.Executor().run(compiled, feed=feed, fetch_list=[y])[0].tolist()
        [2.0, 2.0]
        >>> paddle.disable_static()
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise ArgumentTypeError(
                "The type of program_to_graph parameter is wrong, expected Graph or Program, "
                f"but received {type(program_or_graph)}"
            )
        if not isinstance(build_strategy, BuildStrategy | None):
            raise ArgumentTypeError(
                f"build_strategy takes a BuildStrategy, not {type(build_strategy).__name__}"
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy
        self._graph = Graph()
        self._exec_strategy: ExecutionStrategy | None = None
        self._scope: Any = None
        self._place: Any = None
        self._compiled = False

    def _compile(self, scope: Any, place: Any) -> "CompiledProgram":
        """Note where it runs, which must stay the same."""
        for word, known, given in (("scope", self._scope, scope), ("place", self._place, place)):
            if self._compiled and known != given:
                raise ArgumentError(f"Cannot compile program with different {word}.")
        self._scope, self._place, self._compiled = scope, place, True
        return self

    def _settings(self) -> tuple[bool, int, bool, bool, tuple[str, ...], tuple[str, ...]]:
        """What its strategies say of a run, in the order of the executor's `Settings`."""
        build, run = self._build_strategy, self._exec_strategy
        named = ("sequential_run", "enable_sequential_execution", "fix_op_run_order")
        sequential = build is not None and any(getattr(build, name) for name in named)
        threads = 0 if run is None else run.num_threads
        inplace = build is None or build.enable_inplace
        addto = inplace or (build is not None and build.enable_addto)
        staying = tuple(sorted(self._graph.skip_gc_vars))
        passes = () if build is None else asked(build)
        return sequential, threads, inplace, addto, staying, passes
