"""Mixed precision: losses scaled up so that small gradients survive fewer digits."""

from scull.amp.grad_scaler import GradScaler

__all__ = ["GradScaler"]
