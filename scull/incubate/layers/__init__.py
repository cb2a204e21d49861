"""Layers of recommendation and detection; others, for parameter servers, can be imported."""

from scull.core.absent import absent
from scull.incubate.layers import nn
from scull.incubate.layers.nn import (
    batch_fc,
    fused_embedding_seq_pool,
    multiclass_nms2,
    partial_concat,
    partial_sum,
    shuffle_batch,
)

__getattr__ = absent(__name__, {nn.REASON: nn.NAMES})
__all__ = [
    "batch_fc",
    "fused_embedding_seq_pool",
    "multiclass_nms2",
    "nn",
    "partial_concat",
    "partial_sum",
    "shuffle_batch",
]
