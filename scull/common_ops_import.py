"""What code that declares operators of its own imports at once."""

from scull import base
from scull.base import core
from scull.base.core import VarDesc
from scull.base.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype
from scull.base.framework import (
    OpProtoHolder,
    Variable,
    _create_tensor,
    _dygraph_tracer,
    convert_np_dtype_to_dtype_,
    default_main_program,
    device_guard,
    dygraph_only,
    in_dygraph_mode,
)
from scull.base.layer_helper import LayerHelper
from scull.nn.param_attr import ParamAttr

__all__ = [
    "LayerHelper",
    "OpProtoHolder",
    "ParamAttr",
    "VarDesc",
    "Variable",
    "_create_tensor",
    "_dygraph_tracer",
    "base",
    "check_dtype",
    "check_type",
    "check_variable_and_dtype",
    "convert_dtype",
    "convert_np_dtype_to_dtype_",
    "core",
    "default_main_program",
    "device_guard",
    "dygraph_only",
    "in_dygraph_mode",
]
