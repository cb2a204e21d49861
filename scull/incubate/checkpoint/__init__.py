"""Epochs that a cloud of Paddle's goes on with after a break."""

from scull.incubate.checkpoint import auto_checkpoint

__all__ = ["auto_checkpoint"]
