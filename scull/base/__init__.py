"""Paddle's older door: everything here is found elsewhere, and code that comes in here works."""
# ruff: noqa: F401  what a door shows, it imports

from scull import framework as public
from scull.base import (
    backward,
    compiler,
    core,
    data_feeder,
    dataset,
    default_scope_funcs,
    dygraph,
    executor,
    framework,
    initializer,
    io,
    layer_helper,
    layer_helper_base,
    layers,
    lod_tensor,
    log_helper,
    param_attr,
    proto,
    reader,
    unique_name,
    variable_index,
    wrapped_decorator,
)
from scull.base.backward import append_backward, gradients
from scull.base.compiler import BuildStrategy, CompiledProgram, ExecutionStrategy
from scull.base.core import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    LoDTensor,
    LoDTensorArray,
)
from scull.base.data_feeder import DataFeeder
from scull.base.dataset import DatasetFactory, InMemoryDataset
from scull.base.dygraph.base import disable_dygraph, enable_dygraph
from scull.base.executor import Executor, global_scope, scope_guard
from scull.base.framework import (
    Program,
    Variable,
    cpu_places,
    cuda_places,
    default_main_program,
    default_startup_program,
    device_guard,
    get_flags,
    in_dygraph_mode,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    name_scope,
    program_guard,
    require_version,
    set_flags,
)
from scull.base.initializer import set_global_initializer
from scull.base.lod_tensor import create_lod_tensor, create_random_int_lodtensor
from scull.base.param_attr import ParamAttr, WeightNormParamAttr
from scull.core.absent import absent
from scull.runtime.scope import Scope

libpaddle, Tensor = core, LoDTensor
disable_imperative, enable_imperative, _Scope = disable_dygraph, enable_dygraph, Scope

SHOWN = (  # by `paddle.framework` too
    "OpProtoHolder",
    "_current_expected_place",
    "_dygraph_tracer",
    "_get_paddle_place",
    "convert_np_dtype_to_dtype_",
    "core",
    "dygraph_not_support",
    "dygraph_only",
    "switch_main_program",
    "switch_startup_program",
)
for name in SHOWN:
    setattr(public, name, getattr(framework, name))

__getattr__ = absent(
    __name__,
    {
        "scull runs on the CPU": (
            "IPUPlace IpuCompiledProgram IpuStrategy XPUPlace cuda_pinned_places"
            " ipu_shard_guard set_ipu_shard xpu_places"
        ),
        "data is loaded by paddle.io.DataLoader": ("DataFeedDesc TrainerDesc"),
    },
)
