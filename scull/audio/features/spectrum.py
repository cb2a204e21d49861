"""Powers of frequencies over time."""

from typing import Any

from scull.audio.functional.window import get_window
from scull.errors import AssertError
from scull.nn.layer.layers import Layer
from scull.signal.spectrogram import stft
from scull.tensor.size import number


class Spectrogram(Layer):
    """The magnitudes of the frequencies in signals over time, to a power.

    Args:
        n_fft (int): how many samples are transformed.
        hop_length (int, optional): how far the window moves each time; n_fft // 4 when None.
        win_length (int, optional): how many samples it shows; `n_fft` when None.
        window (str | tuple): the window, as `audio.functional.get_window` takes it.
        power (float): to which power: 1 are magnitudes, 2 are powers.
        center (bool): whether signals are padded, so that windows have their place in the middle.
        pad_mode (str): with what: "reflect" or "constant".
        dtype (str): that of the window.

    Raises:
        AssertionError: `power` is not above 0.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.audio.features.Spectrogram(n_fft=8, hop_length=4)
        >>> layer(paddle.zeros([2, 40])).shape
        [2, 5, 11]
    """

    def __init__(
        self,
        n_fft: Any = 512,
        hop_length: Any = 512,
        win_length: Any = None,
        window: Any = "hann",
        power: Any = 1.0,
        center: Any = True,
        pad_mode: Any = "reflect",
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if not number(power, "power") > 0:
            raise AssertError("Power of spectrogram must be > 0.")
        self.power = power
        win_length = n_fft if win_length is None else win_length
        self.register_buffer("fft_window", get_window(window, win_length, True, dtype))
        self._settings = {
            **{"n_fft": n_fft, "hop_length": hop_length, "win_length": win_length},
            **{"center": center, "pad_mode": pad_mode},
        }

    def forward(self, x: Any) -> Any:
        """The spectra of [samples] or [signals, samples]: [..., 1 + n_fft // 2, places]."""
        return stft(x, window=self.fft_window, **self._settings).abs() ** self.power
