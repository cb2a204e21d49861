"""Images: ready-made networks, what they are built of, and handwritten digits to learn."""

import importlib

from scull.vision.digits import Digits

PACKAGES = ("models", "ops")

__all__ = ["Digits"]


def __getattr__(name: str):
    if name in PACKAGES:
        return importlib.import_module(f"scull.vision.{name}")
    models = importlib.import_module("scull.vision.models")
    if name not in models.__all__:
        raise AttributeError(f"module 'scull.vision' has no attribute {name!r}")
    return getattr(models, name)
