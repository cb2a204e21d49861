"""Images: networks and what they are built of, transforms, data sets, and digits to learn."""

import importlib

from scull.vision.digits import Digits

PACKAGES = ("models", "ops", "transforms", "datasets", "image")
SHOWN = ("models", "transforms", "datasets", "image")  # whose names are names here too

__all__ = ["Digits", "get_image_backend", "image_load", "set_image_backend"]


def __getattr__(name: str):
    if name in PACKAGES:
        return importlib.import_module(f"scull.vision.{name}")
    if not name.startswith("_"):
        for package in SHOWN:
            module = importlib.import_module(f"scull.vision.{package}")
            if name in getattr(module, "__all__", vars(module)):
                return getattr(module, name)
    raise AttributeError(f"module 'scull.vision' has no attribute {name!r}")
