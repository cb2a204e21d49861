"""Sounds: their files, their spectra on the scale of pitches, and data sets of them."""

from scull.deferred import deferred, listed

NAMES = {"": "backends datasets features functional", "backends.wave_backend": "info load save"}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
