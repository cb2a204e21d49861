"""What Paddle's compiled core answers: places, enumerations, scopes, what is built in."""
# ruff: noqa: F401  what a door shows, it imports

import os
import platform
from types import SimpleNamespace
from typing import Any

from scull.core import session
from scull.core.absent import absent
from scull.core.dtype import dtype_of
from scull.core.meta import broadcast
from scull.core.op import by_type, op_of
from scull.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, Place
from scull.core.random import Generator
from scull.core.tensor import Parameter
from scull.core.tensor import Tensor as EagerTensor
from scull.device import (
    get_all_custom_device_type,
    get_all_device_type,
    get_available_custom_device,
    get_available_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from scull.errors import ScullError, SlotError
from scull.flags import PADDLE
from scull.framework.derivative import get_grad_op_desc
from scull.framework.op_proto import OpProtoHolder, get_all_op_protos
from scull.framework.operator import Operator
from scull.framework.property import Property
from scull.framework.setting import finfo, iinfo
from scull.framework.stream import (
    load_lod_tensor,
    load_selected_rows,
    save_lod_tensor,
    save_selected_rows,
)
from scull.framework.var_desc import AttrType, DataType, DeviceType, VarDesc
from scull.ir.operator import EMPTY
from scull.ir.program import Program
from scull.runtime.scope import Cell as Variable
from scull.runtime.scope import Scope
from scull.runtime.scope import ScopeTensor as LoDTensor
from scull.runtime.selected_rows import SelectedRows
from scull.static.standalone import Job, Plan, StandaloneExecutor, set_feed_variable

_Scope, EnforceNotMet = Scope, ScullError
Tensor = DenseTensor = LoDTensor

eager = SimpleNamespace(Tensor=EagerTensor, EagerParamBase=Parameter)


class EOFException(Exception):
    """A reader has no more data."""


class LoDTensorArray(list[Any]):
    """The values of an array variable."""


def globals() -> dict[str, Any]:
    """Paddle's flags by name; changing one here sets it."""
    return PADDLE


def is_float16_supported(place: Any) -> bool:
    """Whether a place computes in float16 as fast as in float32: the CPU does not."""
    return False


def is_bfloat16_supported(place: Any) -> bool:
    """Whether a place computes in bfloat16."""
    return True


def supports_bfloat16() -> bool:
    """Whether the CPU computes in bfloat16."""
    return True


def supports_bfloat16_fast_performance() -> bool:
    """Whether the CPU has instructions for bfloat16 that scull uses: False."""
    return False


def answer(value: Any) -> Any:
    """A function that always says `value`."""
    return lambda *_: value


supports_int8 = supports_vnni = is_compiled_with_avx = avx_supported = answer(False)
is_compiled_with_dist = is_compiled_with_brpc = is_compiled_with_nccl = answer(False)
is_compiled_with_mkldnn = is_compiled_with_mpi = is_compiled_with_mpi_aware = answer(False)
is_run_with_cinn = is_cuda_graph_capturing = is_profiler_enabled = answer(False)
use_layout_autotune = op_support_gpu = answer(False)
get_custom_device_count = _dygraph_debug_level = answer(0)
empty_var_name = kEmptyVarName = answer(EMPTY)
grad_var_suffix = kGradVarSuffix = answer("@GRAD")


def get_all_op_names() -> list[str]:
    """The types of all declared operators."""
    return list(by_type())


def has_grad_op_maker(type: str) -> bool:
    """Whether an operator has a gradient."""
    return op_of(type).gradient is not None


has_non_empty_grad_op_maker = has_grad_op_maker


def has_empty_grad_op_maker(type: str) -> bool:
    """Whether an operator is declared to have no gradient."""
    return op_of(type).gradient is None


def get_op_attrs_default_value(type: Any) -> dict[str, Any]:
    """The attributes of an operator that have defaults, as a Program spells them."""
    op = op_of(type.decode() if isinstance(type, bytes) else type)
    return {op.attribute(n): op.kinds[n].spelt(v) for n, v in op.attrs.items()}


def get_op_extra_attrs(type: Any) -> dict[str, Any]:
    """The attributes that mean nothing here and stand in Programs all the same."""
    return dict(op_of(type.decode() if isinstance(type, bytes) else type).fixed)


def get_attrtibute_type(type: str, name: str) -> AttrType:
    """The kind of one attribute of an operator; Paddle spells the function so.

    Args:
        type (str): of the operator.
        name (str): of the attribute.
    """
    message = OpProtoHolder.instance().get_op_proto(type)
    kinds = {a.name: a.type for a in message.attrs}
    if name in kinds:
        return AttrType(kinds[name])
    value = op_of(type).fixed.get(name)
    words = {bool: "BOOL", int: "INT", float: "FLOAT", str: "STRING", list: "INTS"}
    if value.__class__ not in words:
        raise SlotError(f"`{type}` has no attribute `{name}`")
    return AttrType[words[value.__class__]]


def infer_no_need_buffer_slots(type: str, inputs: Any, outputs: Any, attrs: Any) -> set[str]:
    """The input slots of an operator of which it reads shapes alone."""
    op = op_of(type)
    return {op.slot(n) for n in op.shape_only}


def size_of_dtype(dtype: Any) -> int:
    """The bytes of one element."""
    return dtype_of(dtype).itemsize


def broadcast_shape(x: Any, y: Any) -> list[int]:
    """The shape that two shapes stretch to."""
    return list(broadcast(tuple(x), tuple(y)))


def default_cpu_generator() -> Generator:
    """The generator that operators draw from."""
    return session.generator()


def set_num_threads(count: int) -> None:
    """Let libraries that start later use `count` threads."""
    os.environ["OMP_NUM_THREADS"] = str(int(count))


def set_autotune_range(start: int, end: int) -> None:
    """Note in which steps kernels would be chosen by measuring them; each has one kernel."""


update_autotune_status = enable_autotune = disable_autotune = answer(None)


def get_libc_ver() -> tuple[str, str]:
    """The C library of this process and its version."""
    return platform.libc_ver()


PRIMITIVE = ("FLAGS_prim_forward", "FLAGS_prim_backward", "FLAGS_prim_eager")


def _set_prim_all_enabled(value: bool) -> None:
    """Note that operators may be taken apart into primitives; results do not depend on it."""
    PADDLE.update(dict.fromkeys(PRIMITIVE[:2], bool(value)))


def _set_prim_forward_enabled(value: bool) -> None:
    """Note the same for operators alone."""
    PADDLE["FLAGS_prim_forward"] = bool(value)


def _set_prim_backward_enabled(value: bool) -> None:
    """Note the same for gradients alone."""
    PADDLE["FLAGS_prim_backward"] = bool(value)


def set_prim_eager_enabled(value: bool) -> None:
    """Note the same for eager mode."""
    PADDLE["FLAGS_prim_eager"] = bool(value)


def _is_fwd_prim_enabled() -> bool:
    """What was noted for operators."""
    return bool(PADDLE.get("FLAGS_prim_forward", False))


def _is_bwd_prim_enabled() -> bool:
    """What was noted for gradients."""
    return bool(PADDLE.get("FLAGS_prim_backward", False))


def _is_eager_prim_enabled() -> bool:
    """What was noted for eager mode."""
    return bool(PADDLE.get("FLAGS_prim_eager", False))


def _is_all_prim_enabled() -> bool:
    """Whether both were noted."""
    return _is_fwd_prim_enabled() and _is_bwd_prim_enabled()


def Graph(desc: Any) -> Program:
    """What an IrGraph is made of: the Program that `desc` is a view of."""
    program: Program = desc.program
    return program


def _set_eager_deletion_mode(threshold: float, fraction: float, fast: bool) -> None:
    """Note from which size on memory is freed early; every value is, after its last use."""
    PADDLE["FLAGS_eager_delete_tensor_gb"] = threshold


__getattr__ = absent(
    "scull.base.core",
    {
        "a Program is Python objects, there is no description beside it": (
            "ProgramDesc BlockDesc OpDesc prune_backward"
        ),
        "passes work on Programs, there is no graph beside them": (
            "Node Pass PassBuilder get_pass apply_pass register_pass CpuPassStrategy"
            " PaddlePassBuilder has_circle graph_num topology_sort build_adjacency_list"
        ),
        "paddle.static.Executor runs Programs": "Executor ParallelExecutor",
        "scull runs on the CPU": (
            "XPUPlace IPUPlace CUDAStream CUDAEvent DeviceContext"
            " cuda_empty_cache default_cuda_generator"
        ),
        "saved models are run by paddle.static.load_inference_model and an Executor": (
            "AnalysisConfig AnalysisPredictor NativeConfig PaddleDType PaddleTensor PaddlePredictor"
            " PaddleInferPredictor PaddleInferTensor create_paddle_predictor create_predictor"
            " PaddleBuf PaddlePlace ZeroCopyTensor"
        ),
        "operators are written in Python": (
            "_get_all_register_op_kernels _get_phi_kernel_name load_op_meta_info_and_register_op"
            " get_op_version_map call_vjp has_vjp"
        ),
        "processes do not train together": (
            "ProcessGroup ProcessGroupGloo TCPStore ReduceOp Fleet DistTensor TensorDistAttr"
            " OperatorDistAttr ProcessMesh ParallelContext ParallelStrategy"
        ),
        "code is traced by calling it": "Tracer set_eval_frame pir",
    },
)
