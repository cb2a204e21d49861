"""Windows: the factors by which a part of a signal is shown, most of its middle."""

import math
from typing import Any

import numpy as np

from scull.audio.functional.mel import count, fixed
from scull.errors import ArgumentError, ArgumentTypeError


def centred(size: int) -> Any:
    """The places of a window, counted from its middle."""
    return np.arange(size) - (size - 1) / 2


def general_cosine(size: int, factors: Any) -> Any:
    """The sum of the cosines of multiples of an angle that goes around once."""
    angle = np.linspace(-math.pi, math.pi, size)
    return sum(factor * np.cos(k * angle) for k, factor in enumerate(factors))


def general_hamming(size: int, alpha: float) -> Any:
    """A cosine raised by `alpha`."""
    return general_cosine(size, (alpha, 1 - alpha))


def hamming(size: int) -> Any:
    """A raised cosine that does not reach 0 at its ends."""
    return general_hamming(size, 0.54)


def hann(size: int) -> Any:
    """A raised cosine from 0 to 0."""
    return general_hamming(size, 0.5)


def blackman(size: int) -> Any:
    """Two raised cosines."""
    return general_cosine(size, (0.42, 0.5, 0.08))


def general_gaussian(size: int, p: float, sig: float) -> Any:
    """exp(-½ |n / sig|^(2p))."""
    return np.exp(-0.5 * np.abs(centred(size) / sig) ** (2 * p))


def gaussian(size: int, std: float) -> Any:
    """The density of a normal distribution, 1 in the middle."""
    return np.exp(-0.5 * (centred(size) / std) ** 2)


def exponential(size: int, center: Any = None, tau: float = 1.0) -> Any:
    """exp(-|n - center| / tau)."""
    center = (size - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(size) - center) / tau)


def triang(size: int) -> Any:
    """A triangle that would reach 0 beyond its ends."""
    return 1 - np.abs(centred(size)) * 2 / (size + size % 2)


def bohman(size: int) -> Any:
    """The autocorrelation of a cosine."""
    part = np.abs(np.linspace(-1, 1, size))
    found = (1 - part) * np.cos(math.pi * part) + np.sin(math.pi * part) / math.pi
    found[[0, -1]] = 0.0
    return found


def cosine(size: int) -> Any:
    """Half a sine."""
    return np.sin(math.pi * (np.arange(size) + 0.5) / size)


def tukey(size: int, alpha: float = 0.5) -> Any:
    """Ones between the halves of a Hann window that is the part `alpha` of the whole."""
    if alpha <= 0:
        return np.ones(size)
    alpha = min(alpha, 1.0)
    edge = np.minimum(np.arange(size), np.arange(size)[::-1]) * 2 / (alpha * (size - 1))
    return 0.5 - 0.5 * np.cos(math.pi * np.minimum(edge, 1.0))


def taylor(size: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> Any:
    """The first `nbar` - 1 side lobes of its spectrum lie `sll` decibels below the main one.

    T. T. Taylor, "Design of line-source antennas for narrow beamwidth and low side lobes" (1955).
    """
    if nbar < 2:
        raise ArgumentError(f"a Taylor window has an `nbar` of 2 at least, not {nbar}")
    a = math.acosh(10 ** (sll / 20)) / math.pi
    widening = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    lobes = np.arange(1, nbar)

    def coefficient(m: int) -> Any:
        others = lobes[lobes != m]
        zeros = np.prod(1 - m**2 / widening / (a**2 + (lobes - 0.5) ** 2))
        return (-1) ** (m + 1) * zeros / np.prod(1 - m**2 / others**2)

    def seen(places: Any) -> Any:
        angles = 2 * math.pi * np.outer(lobes, places) / size
        return 1 + np.array([coefficient(int(m)) for m in lobes]) @ np.cos(angles)

    found = seen(centred(size))
    return found / seen([0.0]) if norm else found


SHAPES = {
    shape.__name__: shape
    for shape in (
        *(blackman, bohman, cosine, exponential, gaussian, general_cosine, general_gaussian),
        *(general_hamming, hamming, hann, taylor, triang, tukey),
    )
}


def get_window(window: Any, win_length: Any, fftbins: Any = True, dtype: Any = "float64") -> Any:
    """A window, by its name.

    There are blackman, bohman, cosine, exponential, gaussian, general_cosine, general_gaussian,
    general_hamming, hamming, hann, taylor, triang and tukey, as SciPy has them.

    Args:
        window (str | tuple): its name, or the name and its parameters: ``("gaussian", 7)``.
        win_length (int): how many factors.
        fftbins (bool): whether it is periodic, so that the factor behind its last would be its
            first again; else it is symmetric.
        dtype (str): a floating-point dtype.

    Returns:
        Tensor: [win_length].

    Raises:
        ValueError: there is no such window, it needs parameters, or the length is none; an
            exponential window that is symmetric has a center.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.get_window("hann", 4).tolist()
        [0.0, 0.5, 1.0, 0.5]
        >>> paddle.audio.functional.get_window(("tukey", 0.5), 5, fftbins=False).tolist()
        [0.0, 1.0, 1.0, 1.0, 0.0]
    """
    if not isinstance(window, str | tuple):
        raise ArgumentTypeError(f"{type(window)} as window type is not supported.")
    name, *parameters = (window,) if isinstance(window, str) else window or ("",)
    if name not in SHAPES:
        raise ArgumentError(f"Unknown window type {name!r}: there are {', '.join(SHAPES)}")
    if isinstance(window, str) and name in ("gaussian", "exponential"):
        raise ArgumentError(f"The '{name}' window needs parameters: pass a tuple.")
    size = count(win_length, "win_length")
    if size != win_length:
        raise ArgumentError(f"Window length M must be a non-negative integer, not {win_length}")
    if name == "exponential" and not fftbins and parameters and parameters[0] is not None:
        raise ArgumentError("an exponential window that is symmetric has its center in the middle")
    shown = SHAPES[name](size + bool(fftbins), *parameters)[:size] if size > 1 else np.ones(size)
    return fixed(shown, dtype)
