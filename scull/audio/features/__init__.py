"""Layers that make spectra of signals, on the scale of pitches and as their own coefficients."""

from scull.core.door import doors
from scull.deferred import deferred, listed

NAMES = {
    "spectrum": "Spectrogram",
    "pitch": "LogMelSpectrogram MFCC MelSpectrogram",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
doors(__name__, "layers")
__all__ = listed(NAMES)
