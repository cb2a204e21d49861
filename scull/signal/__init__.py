"""Signals: their spectra over time, and back."""

from scull.deferred import deferred, listed

NAMES = {"spectrogram": "istft stft"}
OWN = {"framing": "frame overlap_add"}

__getattr__, __dir__ = deferred(__name__, NAMES, OWN)
__all__ = listed(NAMES)
