"""Programs by hand: build a network, run it with an Executor, save it."""

from typing import Any

from scull.core.absent import absent
from scull.core.place import Place
from scull.deferred import deferred, listed
from scull.executor.executor import Executor
from scull.ir.program import Program, program_guard
from scull.ir.program import main_program as default_main_program
from scull.ir.program import startup_program as default_startup_program
from scull.runtime.scope import Scope, global_scope
from scull.static import alike, member  # noqa: F401  they give Variables their methods

NAMES = {
    "": "amp io log_helper nn",
    "backward": "append_backward gradients",
    "calling": "py_func",
    "door": "BuildStrategy CompiledProgram ExecutionStrategy",
    "input": "InputSpec data setitem",
    "io": "load_vars save_vars",
    "kind": "Variable",
    "layer_helper": "LayerHelper",
    "metric": "accuracy auc ctr_metric_bundle",
    "model": """
        deserialize_persistables deserialize_program load_from_file load_inference_model
        normalize_program save_inference_model save_to_file serialize_persistables
        serialize_program""",
    "moving_average": "ExponentialMovingAverage",
    "printing": "Print",
    "scope": """
        WeightNormParamAttr cpu_places create_global_var create_parameter cuda_places
        device_guard name_scope scope_guard""",
    "state": "load load_program_state save set_program_state",
}

LACKING = "IpuCompiledProgram IpuStrategy ipu_shard_guard set_ipu_shard xpu_places"
# what is there in Paddle, too, and in none of its lists
MORE = {"": "quantization", "kind": "Parameter"}
found, __dir__ = deferred(__name__, NAMES, MORE)
lacking = absent(__name__, {"there are no XPUs and no IPUs": LACKING})


def __getattr__(name: str) -> Any:
    return lacking(name) if name in LACKING.split() else found(name)


__all__ = [
    "Executor",
    "Place",
    "Program",
    "Scope",
    "default_main_program",
    "default_startup_program",
    "global_scope",
    "program_guard",
    *listed(NAMES),
]
