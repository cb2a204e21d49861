"""Initializers under their older name."""

from scull.nn.initializer import *  # noqa: F403
from scull.nn.initializer import set_global_initializer

__all__ = ["set_global_initializer"]
