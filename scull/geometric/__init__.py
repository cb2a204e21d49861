"""Graphs: messages along edges, and rows combined by segments."""

from scull.geometric.message import send_u_recv, send_ue_recv, send_uv
from scull.geometric.segment import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
]
