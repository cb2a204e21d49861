"""Mixed precision: losses scaled up so that small gradients survive fewer digits."""

from scull.deferred import deferred, listed

NAMES = {"": "debugging", "grad_scaler": "GradScaler"}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
