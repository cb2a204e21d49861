"""Quanters: they round numbers to steps while a model trains."""

from scull.quantization.quanters.abs_max import FakeQuanterWithAbsMaxObserver

__all__ = ["FakeQuanterWithAbsMaxObserver"]
