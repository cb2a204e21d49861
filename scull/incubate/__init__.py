"""What Paddle has in preparation: derivatives of functions."""

from scull.incubate import autograd

__all__ = ["autograd"]
