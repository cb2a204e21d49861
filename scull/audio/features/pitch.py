"""Powers of pitches over time."""

from typing import Any

from scull.audio.features.spectrum import Spectrogram
from scull.audio.functional.mel import compute_fbank_matrix, create_dct, power_to_db
from scull.errors import AssertError
from scull.nn.layer.layers import Layer
from scull.tensor.linalg import matmul


class MelSpectrogram(Layer):
    """The powers of pitches in signals over time: filters over those of frequencies.

    Args:
        sr (int): samples a second.
        n_fft (int): how many samples are transformed.
        hop_length (int, optional): how far the window moves each time; n_fft // 4 when None.
        win_length (int, optional): how many samples it shows; `n_fft` when None.
        window (str | tuple): the window, as `audio.functional.get_window` takes it.
        power (float): to which power magnitudes are taken.
        center (bool): whether signals are padded, so that windows have their place in the middle.
        pad_mode (str): with what: "reflect" or "constant".
        n_mels (int): how many pitches.
        f_min (float): the least frequency, in hertz.
        f_max (float, optional): the greatest; half of `sr` when None.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.
        norm (str | float, optional): how filters are made equal, as in
            `audio.functional.compute_fbank_matrix`.
        dtype (str): that of the window and the filters.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.audio.features.MelSpectrogram(8000, n_fft=64, hop_length=32, n_mels=4)
        >>> layer(paddle.zeros([2, 320])).shape
        [2, 4, 11]
    """

    def __init__(
        self,
        sr: Any = 22050,
        n_fft: Any = 2048,
        hop_length: Any = 512,
        win_length: Any = None,
        window: Any = "hann",
        power: Any = 2.0,
        center: Any = True,
        pad_mode: Any = "reflect",
        n_mels: Any = 64,
        f_min: Any = 50.0,
        f_max: Any = None,
        htk: Any = False,
        norm: Any = "slaney",
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(
            n_fft, hop_length, win_length, window, power, center, pad_mode, dtype
        )
        self.n_mels, self.f_min, self.f_max, self.htk, self.norm = n_mels, f_min, f_max, htk, norm
        filters = compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", filters)

    def forward(self, x: Any) -> Any:
        """The powers in [samples] or [signals, samples]: [..., n_mels, places]."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """The powers of pitches in signals over time, in decibels.

    Args:
        sr (int): samples a second.
        n_fft (int): how many samples are transformed.
        hop_length (int, optional): how far the window moves each time; n_fft // 4 when None.
        win_length (int, optional): how many samples it shows; `n_fft` when None.
        window (str | tuple): the window, as `audio.functional.get_window` takes it.
        power (float): to which power magnitudes are taken.
        center (bool): whether signals are padded, so that windows have their place in the middle.
        pad_mode (str): with what: "reflect" or "constant".
        n_mels (int): how many pitches.
        f_min (float): the least frequency, in hertz.
        f_max (float, optional): the greatest; half of `sr` when None.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.
        norm (str | float, optional): how filters are made equal, as in
            `audio.functional.compute_fbank_matrix`.
        ref_value (float): the power of 0 decibels.
        amin (float): the least power that is told from less.
        top_db (float, optional): how far below the greatest the least may lie.
        dtype (str): that of the window and the filters.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.audio.features.LogMelSpectrogram(8000, n_fft=64, n_mels=4)
        >>> layer(paddle.zeros([160]))[:, 0].tolist()
        [-100.0, -100.0, -100.0, -100.0]
    """

    def __init__(
        self,
        sr: Any = 22050,
        n_fft: Any = 512,
        hop_length: Any = None,
        win_length: Any = None,
        window: Any = "hann",
        power: Any = 2.0,
        center: Any = True,
        pad_mode: Any = "reflect",
        n_mels: Any = 64,
        f_min: Any = 50.0,
        f_max: Any = None,
        htk: Any = False,
        norm: Any = "slaney",
        ref_value: Any = 1.0,
        amin: Any = 1e-10,
        top_db: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            *(sr, n_fft, hop_length, win_length, window, power, center, pad_mode),
            *(n_mels, f_min, f_max, htk, norm, dtype),
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Any) -> Any:
        """The decibels in [samples] or [signals, samples]: [..., n_mels, places]."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """The mel-frequency cepstral coefficients of signals over time.

    They are the cosine transform of the decibels of pitches.

    Args:
        sr (int): samples a second.
        n_mfcc (int): how many coefficients.
        n_fft (int): how many samples are transformed.
        hop_length (int, optional): how far the window moves each time; n_fft // 4 when None.
        win_length (int, optional): how many samples it shows; `n_fft` when None.
        window (str | tuple): the window, as `audio.functional.get_window` takes it.
        power (float): to which power magnitudes are taken.
        center (bool): whether signals are padded, so that windows have their place in the middle.
        pad_mode (str): with what: "reflect" or "constant".
        n_mels (int): how many pitches.
        f_min (float): the least frequency, in hertz.
        f_max (float, optional): the greatest; half of `sr` when None.
        htk (bool): whether the scale is that of the Hidden Markov Toolkit.
        norm (str | float, optional): how filters are made equal, as in
            `audio.functional.compute_fbank_matrix`.
        ref_value (float): the power of 0 decibels.
        amin (float): the least power that is told from less.
        top_db (float, optional): how far below the greatest the least may lie.
        dtype (str): that of the window, the filters and the matrix of cosines.

    Raises:
        AssertionError: there are more coefficients than pitches.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.audio.features.MFCC(8000, n_mfcc=3, n_fft=64, n_mels=4)
        >>> layer(paddle.zeros([2, 160])).shape
        [2, 3, 11]
    """

    def __init__(
        self,
        sr: Any = 22050,
        n_mfcc: Any = 40,
        n_fft: Any = 512,
        hop_length: Any = None,
        win_length: Any = None,
        window: Any = "hann",
        power: Any = 2.0,
        center: Any = True,
        pad_mode: Any = "reflect",
        n_mels: Any = 64,
        f_min: Any = 50.0,
        f_max: Any = None,
        htk: Any = False,
        norm: Any = "slaney",
        ref_value: Any = 1.0,
        amin: Any = 1e-10,
        top_db: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise AssertError(f"n_mfcc cannot be larger than n_mels: {n_mfcc} vs {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            *(sr, n_fft, hop_length, win_length, window, power, center, pad_mode),
            *(n_mels, f_min, f_max, htk, norm, ref_value, amin, top_db, dtype),
        )
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The coefficients of [samples] or [signals, samples]: [..., n_mfcc, places]."""
        return matmul(self.dct_matrix, self._log_melspectrogram(x), transpose_x=True)
