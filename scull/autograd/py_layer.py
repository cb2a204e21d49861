"""PyLayer under the name of its older module."""

from scull.autograd.layer import PyLayer, PyLayerContext

__all__ = ["PyLayer", "PyLayerContext"]
