"""Loading of data under its older name."""

from scull.base.reader import DataLoader, PyReader

__all__ = ["DataLoader", "PyReader"]
