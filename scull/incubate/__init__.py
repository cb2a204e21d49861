"""What Paddle has in preparation: derivatives of functions, optimizers, rows of graphs."""

from scull.deferred import deferred
from scull.geometric import segment_max, segment_mean, segment_min, segment_sum
from scull.incubate import asp, autograd, autotune, layers, nn, optimizer
from scull.incubate.attention import softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from scull.incubate.graph import (
    graph_khop_sampler,
    graph_reindex,
    graph_sample_neighbors,
    graph_send_recv,
)
from scull.incubate.loss import identity_loss
from scull.incubate.optimizer import LookAhead, ModelAverage

__getattr__, __dir__ = deferred(__name__, {"": "checkpoint multiprocessing"})
__all__ = [
    "LookAhead",
    "ModelAverage",
    "asp",
    "autograd",
    "autotune",
    "graph_khop_sampler",
    "graph_reindex",
    "graph_sample_neighbors",
    "graph_send_recv",
    "identity_loss",
    "layers",
    "nn",
    "optimizer",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "softmax_mask_fuse",
    "softmax_mask_fuse_upper_triangle",
]
