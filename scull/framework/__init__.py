"""Saving and loading of objects: state dictionaries, tensors, nested containers."""

from scull.framework.storage import load, save

__all__ = ["load", "save"]
