"""The gradients of Programs by the name Paddle's new representation gives them."""

from scull.autograd.interface import grad

__all__ = ["grad"]
