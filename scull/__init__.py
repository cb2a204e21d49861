"""scull: a deep-learning framework in Python, with the API of PaddlePaddle 2.6.

    import scull as paddle

One set of operators serves eager mode (every line computes at once) and static mode (a network is
described as a Program, then run by an Executor).
"""

import scull.ops  # noqa: F401  declares the operators
import scull.eager  # isort: skip  # noqa: F401  gives Tensor its methods
from scull import (
    autograd,
    base,
    device,
    distributed,
    framework,
    io,
    metric,
    nn,
    optimizer,
    regularizer,
    static,
    tensor,
    utils,
    version,
    vision,
)
from scull.autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from scull.core.dtype import DType as dtype  # noqa: N813
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
from scull.core.dtype import bool_ as bool  # noqa: A004
from scull.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from scull.core.tensor import Tensor
from scull.device import (
    get_cudnn_version,
    get_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    set_device,
)
from scull.flags import flags
from scull.framework import load, save
from scull.framework.setting import (
    finfo,
    get_default_dtype,
    get_flags,
    iinfo,
    set_default_dtype,
    set_flags,
)
from scull.ir.mode import disable_static, enable_static, in_dynamic_mode
from scull.nn.param_attr import ParamAttr
from scull.nn.parameter import free_parameter as create_parameter
from scull.tensor import *  # noqa: F403
from scull.version import full_version as __version__
