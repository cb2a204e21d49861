"""What a network consists of, layer by layer, and how many operations it takes."""

from scull.hapi.dynamic_flops import flops
from scull.hapi.model_summary import summary

__all__ = ["flops", "summary"]
