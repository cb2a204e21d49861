"""Linear algebra by its public name."""

from scull.tensor.linalg import matmul, norm

__all__ = ["matmul", "norm"]
