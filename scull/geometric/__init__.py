"""Graphs: messages along edges, neighbours drawn, and rows combined by segments."""

from scull.geometric.message import send_u_recv, send_ue_recv, send_uv
from scull.geometric.neighbor import sample_neighbors, weighted_sample_neighbors
from scull.geometric.reindex import reindex_graph, reindex_heter_graph
from scull.geometric.segment import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "reindex_graph",
    "reindex_heter_graph",
    "sample_neighbors",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
    "weighted_sample_neighbors",
]
