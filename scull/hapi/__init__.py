"""A network trained by one call; and what a network consists of, layer by layer."""

from scull.hapi.dynamic_flops import flops
from scull.hapi.model import Model
from scull.hapi.model_summary import summary

__all__ = ["Model", "flops", "summary"]
