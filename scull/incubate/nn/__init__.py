"""Layers that are several others, by the names that models for GPUs call them by."""

from scull.core.absent import absent
from scull.incubate.nn import functional, layer, loss
from scull.incubate.nn.layer.fused_dropout_add import FusedDropoutAdd
from scull.incubate.nn.layer.fused_dropout_nd import FusedDropout
from scull.incubate.nn.layer.fused_linear import FusedLinear
from scull.incubate.nn.layer.fused_transformer import (
    FusedBiasDropoutResidualLayerNorm,
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)

__getattr__ = absent(
    __name__,
    {
        "what a GPU's kernel of generation keeps between steps is not known here": (
            "FusedMultiTransformer"
        ),
        "experts are chosen by a kernel of GPUs": "FusedEcMoe",
    },
)
__all__ = [
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropout",
    "FusedDropoutAdd",
    "FusedFeedForward",
    "FusedLinear",
    "FusedMultiHeadAttention",
    "FusedTransformerEncoderLayer",
    "functional",
    "layer",
    "loss",
]
