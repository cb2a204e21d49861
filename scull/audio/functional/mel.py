"""The mel scale of pitches, on which equal steps sound equal, and what is measured on it."""

import math
from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, AssertError, DtypeError
from scull.ir.variable import Variable
from scull.tensor.creation import full_like, to_tensor
from scull.tensor.elements import element_type
from scull.tensor.elementwise import maximum
from scull.tensor.function import exp, log, log10
from scull.tensor.search import where
from scull.tensor.size import needs_tensor, number, whole

STRAIGHT = 200 / 3  # hertz a mel, as far as the scale is straight
BEND, BEND_MEL = 1000.0, 15.0  # where it ends to be, in hertz and in mels
STEP = math.log(6.4) / 27  # above, frequencies grow by a factor: by 6.4 over 27 mels
HTK_BEND, HTK_STEP = 700.0, 2595.0 / math.log(10)
MOST = 1 << 24  # of what a window or a transform has
HIGHEST = 10_000  # in mels, of a pitch whose frequency is a number
LEAST = 1e-12  # of a norm by which filters are divided


def fixed(values: Any, dtype: Any) -> Any:
    """A tensor of these numbers, which are of a floating-point dtype."""
    found = element_type(dtype)
    if not found.is_float:
        raise DtypeError(f"`dtype` is a floating-point one, not {found.name}")
    return to_tensor(np.asarray(values, np.float64), found)


def count(value: Any, name: str, least: int = 0) -> int:
    """How many of something a tensor has."""
    found = whole(value, name)
    if not least <= found <= MOST:
        raise ArgumentError(f"`{name}` is a number from {least} to {MOST}, not {found}")
    return found


def hz_to_mel(freq: Any, htk: Any = False) -> Any:
    r"""Frequencies as pitches on the mel scale.

    .. math:: mel = \begin{cases} 3 f / 200 & f < 1000 \\
        15 + 27 \ln(f / 1000) / \ln 6.4 & else \end{cases}

    That is the scale of Slaney's Auditory Toolbox (1998).

    Args:
        freq (Tensor | float): frequencies in hertz.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit instead:
            2595 · log10(1 + f / 700).

    Returns:
        Tensor | float: of the shape of `freq`.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.hz_to_mel(200)
        3.0
        >>> paddle.audio.functional.hz_to_mel(paddle.to_tensor([200.0, 1000.0])).tolist()
        [3.0, 15.0]
    """
    if not isinstance(freq, Tensor | Variable):
        freq = number(freq, "freq")
        if htk:
            return HTK_STEP * math.log(1 + freq / HTK_BEND)
        bent = freq >= BEND
        return BEND_MEL + math.log(freq / BEND) / STEP if bent else freq / STRAIGHT
    if htk:
        return log(freq / HTK_BEND + 1.0) * HTK_STEP
    straight = freq / STRAIGHT
    below = freq < BEND
    above = where(below, full_like(straight, BEND_MEL), straight)  # no logarithm of what is below
    return where(below, straight, log(above / BEND_MEL) / STEP + BEND_MEL)


def mel_to_hz(mel: Any, htk: Any = False) -> Any:
    r"""Pitches on the mel scale as frequencies: the inverse of `hz_to_mel`.

    Args:
        mel (Tensor | float): pitches in mels.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.

    Returns:
        Tensor | float: frequencies in hertz, of the shape of `mel`.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.mel_to_hz(3.0)
        200.0
    """
    if not isinstance(mel, Tensor | Variable):
        mel = number(mel, "mel")
        if not mel < HIGHEST:
            raise ArgumentError(f"`mel` is a pitch below {HIGHEST}, not {mel}")
        if htk:
            return HTK_BEND * (math.exp(mel / HTK_STEP) - 1)
        bent = mel >= BEND_MEL
        return BEND * math.exp((mel - BEND_MEL) * STEP) if bent else mel * STRAIGHT
    if htk:
        return (exp(mel / HTK_STEP) - 1.0) * HTK_BEND
    straight = mel * STRAIGHT
    below = mel < BEND_MEL
    above = where(below, full_like(straight, BEND), straight)  # no power of what is below
    return where(below, straight, exp((above / BEND - 1.0) * (BEND_MEL * STEP)) * BEND)


def pitches(n_mels: Any, f_min: Any, f_max: Any, htk: Any) -> Any:
    """Frequencies between two, which lie equally far apart on the mel scale."""
    n_mels = count(n_mels, "n_mels", 1)
    ends = (hz_to_mel(number(f, name), htk) for f, name in ((f_min, "f_min"), (f_max, "f_max")))
    return np.array([mel_to_hz(float(mel), htk) for mel in np.linspace(*ends, n_mels)])


def mel_frequencies(
    n_mels: Any = 64,
    f_min: Any = 0.0,
    f_max: Any = 11025.0,
    htk: Any = False,
    dtype: Any = "float32",
) -> Any:
    """Frequencies which lie equally far apart on the mel scale.

    Args:
        n_mels (int): how many.
        f_min (float): the least, in hertz.
        f_max (float): the greatest.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.
        dtype (str): a floating-point dtype.

    Returns:
        Tensor: [n_mels].

    Raises:
        ValueError: there are none, or the dtype is none of floating-point numbers.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.mel_frequencies(3, 0, 800).tolist()
        [0.0, 400.0, 800.0]
    """
    return fixed(pitches(n_mels, f_min, f_max, htk), dtype)


def bins(sr: Any, n_fft: Any) -> Any:
    """The frequencies of a one-sided Fourier transform of real signals."""
    return np.linspace(0, number(sr, "sr") / 2, 1 + count(n_fft, "n_fft") // 2)


def fft_frequencies(sr: Any, n_fft: Any, dtype: Any = "float32") -> Any:
    """The frequencies of a one-sided Fourier transform: equally far apart, up to half the rate.

    Args:
        sr (int): samples a second.
        n_fft (int): how many samples are transformed.
        dtype (str): a floating-point dtype.

    Returns:
        Tensor: [1 + n_fft // 2].

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.fft_frequencies(8000, 8).tolist()
        [0.0, 1000.0, 2000.0, 3000.0, 4000.0]
    """
    return fixed(bins(sr, n_fft), dtype)


def compute_fbank_matrix(
    sr: Any,
    n_fft: Any,
    n_mels: Any = 64,
    f_min: Any = 0.0,
    f_max: Any = None,
    htk: Any = False,
    norm: Any = "slaney",
    dtype: Any = "float32",
) -> Any:
    """Triangular filters, which sum the powers of frequencies to those of pitches.

    A filter rises from 0 at the pitch before its own to 1 at its own, and falls to 0 at the next.

    Args:
        sr (int): samples a second.
        n_fft (int): how many samples a Fourier transform has taken.
        n_mels (int): how many filters.
        f_min (float): where the first begins to rise, in hertz.
        f_max (float, optional): where the last ends; half of `sr` when None.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.
        norm (str | float, optional): "slaney": filters have the area of 1; a number: each is
            divided by its norm of that order; otherwise they are left as they are.
        dtype (str): a floating-point dtype.

    Returns:
        Tensor: [n_mels, 1 + n_fft // 2].

    Raises:
        ValueError: there are no filters, or the dtype is none of floating-point numbers.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.compute_fbank_matrix(800, 8, 3, norm=None).tolist()
        [[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]
    """
    top = number(sr, "sr") / 2 if f_max is None else f_max
    n_mels = count(n_mels, "n_mels", 1)
    edges = pitches(n_mels + 2, f_min, top, htk)
    below, own, next_ = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    frequencies = bins(sr, n_fft)
    with np.errstate(all="ignore"):
        rise, fall = (frequencies - below) / (own - below), (next_ - frequencies) / (next_ - own)
        weights = np.maximum(0.0, np.minimum(rise, fall))
        if norm == "slaney":
            weights *= 2 / (next_ - below)
        elif isinstance(norm, int | float):
            weights /= np.maximum(
                np.linalg.norm(weights, float(norm), axis=-1, keepdims=True), LEAST
            )
    return fixed(weights, dtype)


def power_to_db(spect: Any, ref_value: Any = 1.0, amin: Any = 1e-10, top_db: Any = 80.0) -> Any:
    r"""Powers in decibels.

    .. math:: out = 10 \, \log_{10} \frac {\max(spect, amin)} {\max(ref\_value, amin)}

    Args:
        spect (Tensor): powers, of a floating-point dtype.
        ref_value (float): the power of 0 decibels.
        amin (float): the least power that is told from less.
        top_db (float, optional): how far below the greatest the least may lie; any way when None.

    Returns:
        Tensor: of the shape and dtype of `spect`.

    Raises:
        ValueError: `ref_value` or `amin` is not above 0, or `top_db` below it.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 10.0, 100.0])).tolist()
        [0.0, 10.0, 20.0]
    """
    needs_tensor(spect, "power_to_db", "spect")
    amin, ref_value = number(amin, "amin"), number(ref_value, "ref_value")
    if amin <= 0:
        raise ArgumentError(f"amin must be strictly positive, not {amin}")
    if ref_value <= 0:
        raise ArgumentError(f"ref_value must be strictly positive, not {ref_value}")
    if not spect.dtype.is_float:
        raise DtypeError(f"`spect` is of a floating-point dtype, not {spect.dtype.name}")
    decibels = log10(maximum(full_like(spect, amin), spect)) * 10.0
    decibels = decibels - 10.0 * math.log10(max(ref_value, amin))
    if top_db is None:
        return decibels
    top_db = number(top_db, "top_db")
    if top_db < 0:
        raise ArgumentError(f"top_db must be non-negative, not {top_db}")
    return maximum(decibels, decibels.max() - top_db)


def create_dct(n_mfcc: Any, n_mels: Any, norm: Any = "ortho", dtype: Any = "float32") -> Any:
    r"""The matrix of the discrete cosine transform of the second kind.

    .. math:: out_{n,k} = 2 \cos \frac {\pi k (2 n + 1)} {2 \, n\_mels}

    Args:
        n_mfcc (int): how many coefficients it gives.
        n_mels (int): of how many values.
        norm (str, optional): "ortho": columns have the length of 1; None: they are as above.
        dtype (str): a floating-point dtype.

    Returns:
        Tensor: [n_mels, n_mfcc].

    Raises:
        AssertionError: another `norm`.

    Examples:
        >>> import scull as paddle
        >>> paddle.audio.functional.create_dct(1, 4).tolist()
        [[0.5], [0.5], [0.5], [0.5]]
    """
    if norm not in (None, "ortho"):
        raise AssertError(f'`norm` is "ortho" or None, not {norm!r}')
    rows = np.arange(count(n_mels, "n_mels"))[:, None]
    columns = np.arange(count(n_mfcc, "n_mfcc"))
    matrix = 2 * np.cos(np.pi * columns * (rows + 0.5) / max(len(rows), 1))
    if norm:
        matrix *= np.where(columns == 0, 0.5, math.sqrt(0.5)) / math.sqrt(max(len(rows), 1))
    return fixed(matrix, dtype)
