"""`python -m scull.distributed.launch train.py` runs a script as the only process that trains."""

from scull.distributed.launch.main import launch

__all__ = ["launch"]
