"""What turns functions into Programs, under its older name."""

from scull.jit import not_to_static, to_static

__all__ = ["not_to_static", "to_static"]
