"""Loading of data under its older name."""

from scull.core.absent import absent
from scull.io import DataLoader

__getattr__ = absent(__name__, {"data is loaded by paddle.io.DataLoader": "PyReader"})

__all__ = ["DataLoader"]
