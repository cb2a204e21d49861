"""Layers as functions that append operators and parameters to the default Programs."""

from scull.core.absent import absent
from scull.core.door import doors
from scull.static.calling import py_func
from scull.static.nn import control_flow, sequence_lod
from scull.static.nn.activation import prelu
from scull.static.nn.branch import case, cond, switch_case
from scull.static.nn.click import continuous_value_model
from scull.static.nn.convolution import (
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    deform_conv2d,
    deformable_conv,  # noqa: F401  old code looks for it in `common`
)
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
from scull.static.nn.recurrence import StaticRNN
from scull.static.nn.sampling import nce
from scull.static.nn.sequence_lod import (
    sequence_concat,
    sequence_conv,
    sequence_enumerate,
    sequence_expand,
    sequence_expand_as,
    sequence_first_step,
    sequence_last_step,
    sequence_pad,
    sequence_pool,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_softmax,
    sequence_unpad,
)
from scull.static.nn.static_pylayer import static_pylayer
from scull.static.scope import create_parameter

__getattr__ = absent(
    __name__,
    {
        "there are no parameter servers": "sparse_embedding",
        "it serves models that detect objects in the form of an older release": "multi_box_head",
    },
)
doors(__name__, "common")
doors(__name__, "loss metric", "scull.static")
__all__ = [
    "StaticRNN",
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "continuous_value_model",
    "control_flow",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "create_parameter",
    "data_norm",
    "deform_conv2d",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "nce",
    "prelu",
    "py_func",
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_lod",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_unpad",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]
