"""Layers, a family a module."""

import importlib
from typing import Any

from scull.core.door import doors, shown_by
from scull.nn.layer.layers import Layer

MODULES = "activation container loss norm pooling rnn transformer vision"  # as Paddle has them, too

doors(__name__, "common conv distance", "scull.nn")
shown = shown_by("scull.nn")


def __getattr__(name: str) -> Any:
    """A module that Paddle's users reach without importing it, or what `scull.nn` has."""
    return importlib.import_module(f"{__name__}.{name}") if name in MODULES.split() else shown(name)


__all__ = ["Layer"]
