"""Programs by hand: build a network, run it with an Executor, save it."""

from scull.core.place import Place
from scull.executor.executor import Executor
from scull.ir.program import Program, program_guard
from scull.ir.program import main_program as default_main_program
from scull.ir.program import startup_program as default_startup_program
from scull.runtime.scope import Scope, global_scope
from scull.static import io, member, nn  # noqa: F401  `member` gives Variables their methods
from scull.static.backward import append_backward, gradients
from scull.static.door import BuildStrategy, CompiledProgram, ExecutionStrategy
from scull.static.input import InputSpec, data, setitem
from scull.static.kind import Variable
from scull.static.layer_helper import LayerHelper
from scull.static.metric import accuracy
from scull.static.model import (
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
)
from scull.static.moving_average import ExponentialMovingAverage
from scull.static.printing import Print
from scull.static.scope import (
    cpu_places,
    create_global_var,
    create_parameter,
    cuda_places,
    device_guard,
    name_scope,
    scope_guard,
)

__all__ = [
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "LayerHelper",
    "Place",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "accuracy",
    "append_backward",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "global_scope",
    "gradients",
    "io",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
    "setitem",
]
