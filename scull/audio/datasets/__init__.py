"""Data sets of sounds, from files that are there: nothing is downloaded."""

from scull.audio.datasets.dataset import AudioClassificationDataset  # noqa: F401
from scull.audio.datasets.esc50 import ESC50
from scull.audio.datasets.tess import TESS

__all__ = ["ESC50", "TESS"]
