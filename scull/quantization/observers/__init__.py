"""Observers: they watch how large numbers are, without changing them."""

from scull.quantization.observers.abs_max import AbsmaxObserver
from scull.quantization.observers.groupwise import GroupWiseWeightObserver

__all__ = ["AbsmaxObserver", "GroupWiseWeightObserver"]
