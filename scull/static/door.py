"""Older doors to the one executor: they hold a Program and settings nobody needs to read."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import Program


class Strategy:
    """Named settings; an unknown one is refused."""

    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.__dict__.update(self.settings)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.settings:
            raise AttributeError(
                f"{type(self).__name__} has no setting `{name}`; it has {', '.join(self.settings)}"
            )
        self.__dict__[name] = value


class BuildStrategy(Strategy):
    """Which passes may run."""

    class ReduceStrategy:
        AllReduce, Reduce = 0, 1

    class GradientScaleStrategy:
        CoeffNumDevice, One, Customized = 0, 1, 2

    settings = {  # noqa: RUF012
        "reduce_strategy": 0,
        "gradient_scale_strategy": 0,
        "debug_graphviz_path": "",
        "enable_sequential_execution": False,
        "fuse_elewise_add_act_ops": False,
        "fuse_bn_act_ops": False,
        "fuse_bn_add_act_ops": False,
        "fuse_gemm_epilogue": False,
        "fuse_relu_depthwise_conv": False,
        "fuse_broadcast_ops": False,
        "fuse_all_optimizer_ops": False,
        "fuse_all_reduce_ops": False,
        "enable_inplace": False,
        "enable_addto": False,
        "memory_optimize": False,
        "sync_batch_norm": False,
        "cache_runtime_context": False,
        "sequential_run": False,
        "build_cinn_pass": False,
        "remove_unnecessary_lock": True,
        "trainers_endpoints": [],
        "num_trainers": 1,
        "trainer_id": 0,
    }


class ExecutionStrategy(Strategy):
    """How a Program runs."""

    settings = {  # noqa: RUF012
        "num_threads": 0,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "use_thread_barrier": False,
        "allow_op_delay": False,
    }


class CompiledProgram:
    """A Program with a strategy; an Executor runs it as the Program itself.

    Args:
        program_or_graph (Program): what to run.
        build_strategy (BuildStrategy, optional): which passes may run.
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise ArgumentTypeError(
                "The type of program_to_graph parameter is wrong, expected Graph or Program, "
                f"but received {type(program_or_graph)}"
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy or BuildStrategy()
        self._scope = self._place = None

    def _compile(self, scope: Any, place: Any) -> "CompiledProgram":
        """Note where it will run, which must stay the same."""
        for word, known, given in (("scope", self._scope, scope), ("place", self._place, place)):
            if known is not None and known != given:
                raise ArgumentError(f"Cannot compile program with different {word}.")
        self._scope, self._place = scope, place
        return self
