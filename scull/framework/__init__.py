"""What programs are made of, settings of the process, saving and loading of objects."""

import importlib
from contextlib import nullcontext
from typing import Any

from scull.autograd import grad, no_grad
from scull.core import session
from scull.core.dtype import DType as dtype
from scull.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from scull.deferred import load as load_name
from scull.framework import io, random
from scull.framework.io import async_save, clear_async_save_task_queue
from scull.framework.random import seed
from scull.framework.setting import (
    get_default_dtype,
    get_flags,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    set_default_dtype,
    set_flags,
    use_pir_api,
)
from scull.framework.storage import load, save
from scull.ir.block import Block
from scull.ir.mode import disable_static, enable_static, in_dynamic_mode
from scull.ir.program import Program
from scull.ir.variable import ParameterVariable as Parameter
from scull.nn.param_attr import ParamAttr
from scull.static.layer_helper import LayerHelper

_current_expected_place = session.place
_no_check_dy2st_diff = nullcontext  # eager mode and Programs agree
LISTED = {  # by the module from which names load that are asked for
    "scull": "CustomPlace IPUPlace XPUPlace ir",
    "scull.base.dygraph": "to_variable",
    "scull.base.framework": (
        "_apply_pass _create_tensor _current_expected_place_ _dygraph_tracer _get_paddle_place"
        " _global_flags _set_expected_place convert_np_dtype_to_dtype_ dygraph_not_support"
        " dygraph_only switch_main_program switch_startup_program"
    ),
    "scull.framework.op_proto": "OpProtoHolder",
    "scull.framework.setting": "disable_signal_handler",
    "scull.passes.graph": "IrGraph",
    "scull.static.io": "is_parameter is_persistable",
}
LATER = {name: module for module, names in LISTED.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in LATER:  # it loads when asked for
        return load_name(LATER[name], name)
    if name not in ("core", "io_utils"):
        raise AttributeError(f"module 'scull.framework' has no attribute {name!r}")
    return importlib.import_module(f"scull.framework.{name}")


__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "LayerHelper",
    "ParamAttr",
    "Parameter",
    "Program",
    "async_save",
    "clear_async_save_task_queue",
    "disable_static",
    "dtype",
    "enable_static",
    "get_default_dtype",
    "get_flags",
    "grad",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "io",
    "load",
    "no_grad",
    "random",
    "save",
    "seed",
    "set_default_dtype",
    "set_flags",
    "use_pir_api",
]
