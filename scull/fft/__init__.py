"""Discrete Fourier transforms, and what belongs to them: frequencies and their order."""

from scull.deferred import deferred, listed

NAMES = {
    "line": "fft hfft ifft ihfft irfft rfft",
    "plane": "fft2 hfft2 ifft2 ihfft2 irfft2 rfft2",
    "space": "fftn hfftn ifftn ihfftn irfftn rfftn",
    "frequency": "fftfreq fftshift ifftshift rfftfreq",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
