"""Layers as functions that append operators and parameters to the default Programs."""

from scull.core.door import doors
from scull.static.calling import py_func
from scull.static.nn import control_flow
from scull.static.nn.activation import prelu
from scull.static.nn.branch import case, cond, switch_case
from scull.static.nn.convolution import conv2d, conv2d_transpose, conv3d, conv3d_transpose
from scull.static.nn.linear import bilinear_tensor_product, embedding, fc, row_conv
from scull.static.nn.loop import while_loop
from scull.static.nn.norm import (
    batch_norm,
    data_norm,
    group_norm,
    instance_norm,
    layer_norm,
    spectral_norm,
)
from scull.static.scope import create_parameter

doors(__name__, "common")
doors(__name__, "loss metric", "scull.static")
__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "control_flow",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "create_parameter",
    "data_norm",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "py_func",
    "row_conv",
    "spectral_norm",
    "switch_case",
    "while_loop",
]
