"""Signals: their spectra over time, and back."""

from scull.deferred import deferred

__getattr__, __dir__ = deferred(
    __name__, {"framing": "frame overlap_add", "spectrogram": "istft stft"}
)
__all__ = ["istft", "stft"]
