"""Frequencies and pitches, filters over them, decibels, and windows."""

from scull.core.door import doors
from scull.deferred import deferred, listed

NAMES = {
    "mel": """
        compute_fbank_matrix create_dct fft_frequencies hz_to_mel mel_frequencies mel_to_hz
        power_to_db""",
    "window": "get_window",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
doors(__name__, "functional")
__all__ = listed(NAMES)
