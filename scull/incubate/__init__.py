"""What Paddle has in preparation: derivatives of functions, optimizers, rows of graphs."""

from scull.geometric import segment_max, segment_mean, segment_min, segment_sum
from scull.incubate import autograd, layers, optimizer
from scull.incubate.graph import graph_send_recv
from scull.incubate.optimizer import LookAhead, ModelAverage

__all__ = [
    "LookAhead",
    "ModelAverage",
    "autograd",
    "graph_send_recv",
    "layers",
    "optimizer",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
]
