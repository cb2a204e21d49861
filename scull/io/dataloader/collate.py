"""Collating under the name of Paddle's module."""

from scull.io.collate import default_collate_fn, default_convert_fn

__all__ = ["default_collate_fn", "default_convert_fn"]
