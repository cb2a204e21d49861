"""Layers, a family a module."""

from scull.nn.layer.layers import Layer

__all__ = ["Layer"]
