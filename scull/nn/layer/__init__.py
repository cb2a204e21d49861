"""Layers, a family a module."""

import importlib
from typing import Any

from scull.core.door import doors, shown_by
from scull.nn.layer.layers import Layer

# As Paddle has them, too.
MODULES = "activation container conv loss norm pooling rnn transformer vision"

doors(__name__, "common distance", "scull.nn")
shown = shown_by("scull.nn")


def __getattr__(name: str) -> Any:
    """A module that Paddle's users reach without importing it, or what `scull.nn` has."""
    return importlib.import_module(f"{__name__}.{name}") if name in MODULES.split() else shown(name)


__all__ = ["Layer"]
