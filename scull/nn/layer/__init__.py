"""Layers, a family a module."""

from scull.core.door import doors, shown_by
from scull.nn.layer.layers import Layer

doors(__name__, "common conv distance", "scull.nn")
__getattr__ = shown_by("scull.nn")
__all__ = ["Layer"]
