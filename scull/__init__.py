"""scull: a deep-learning framework in Python, with the API of PaddlePaddle 2.6.

    import scull as paddle

One set of operators serves eager mode (every line computes at once) and static mode (a network is
described as a Program, then run by an Executor). Packages beyond Tensors load when first used.
"""
# ruff: noqa: F401  it imports what it shows

import importlib

import scull.core.heap  # keeps the memory that arrays leave
import scull.eager  # gives Tensor its methods
import scull.ops  # declares the operators
from scull import autograd, flags, tensor
from scull.autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from scull.core.dtype import DType as dtype
from scull.core.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from scull.core.dtype import bool_ as bool
from scull.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace
from scull.core.tensor import Tensor
from scull.flags import PADDLE
from scull.ir.mode import disable_static, enable_static, in_dynamic_mode
from scull.version import full_version as __version__

paddle = scull  # `paddle.paddle` is there in Paddle, and scripts use it
PACKAGES = (
    "_C_ops amp audio base callbacks common_ops_import compat compiler cost_model dataset device"
    " distributed distribution executor fft files framework geometric hapi hub incubate inference"
    " io ir jit lang linalg metric nn onnx optimizer pir pir_utils profiler quantization reader"
    " regularizer _legacy_C_ops"
    " runtime signal sparse static sysconfig text utils version vision"
)
ORIGINS = {  # where names come from that load when first used
    "device": "IPUPlace XPUPlace get_cudnn_version get_device is_compiled_with_cinn"
    " is_compiled_with_cuda is_compiled_with_custom_device is_compiled_with_distribute"
    " is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu set_device",
    "base.data_feeder": "check_shape",
    "distributed.parallel": "DataParallel",
    "framework": "async_save clear_async_save_task_queue load save",
    "framework.random": "get_cuda_rng_state set_cuda_rng_state",
    "framework.setting": "disable_signal_handler finfo get_default_dtype get_flags iinfo"
    " set_default_dtype set_flags",
    "hapi": "Model flops summary",
    "nn.lazy": "LazyGuard",
    "nn.param_attr": "ParamAttr",
    "reader.batching": "batch",
    "runtime.pool": "get_num_threads set_num_threads",
}
NAMES = {name: (module, name) for module, names in ORIGINS.items() for name in names.split()}
NAMES |= {name: ("tensor", name) for name in tensor.__all__}
NAMES["create_parameter"] = ("nn.parameter", "free_parameter")


def __getattr__(name: str):
    if name in NAMES:
        module, own = NAMES[name]
        value = getattr(importlib.import_module("scull." + module), own)
    elif name in PACKAGES.split():
        value = importlib.import_module("scull." + name)
    else:
        raise AttributeError(f"module 'scull' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *PACKAGES.split(), *NAMES})


if PADDLE["FLAGS_check_nan_inf"]:  # the environment said so
    importlib.import_module("scull.core.check").follow()
