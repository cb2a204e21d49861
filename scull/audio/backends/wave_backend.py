"""Files of sounds in the format WAV, of samples of 16 bits."""

import os
import wave
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    DtypeError,
    FileError,
    UnsupportedError,
)
from scull.tensor.creation import to_tensor
from scull.tensor.size import needs_tensor

NAME = "wave_backend"
ONE = 1 << 15  # what 1.0 is in a file
NEED = "files are read and written whose samples are PCM integers of 16 bits"


@dataclass
class AudioInfo:
    """What the head of a file says of the sound in it."""

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def list_available_backends():
    """What can read files of sounds.

    Returns:
        list[str]: ``["wave_backend"]``.
    """
    return [NAME]


def get_current_backend():
    """What reads files of sounds.

    Returns:
        str: ``"wave_backend"``.
    """
    return NAME


def set_backend(backend_name):
    """Choose what reads files of sounds.

    Args:
        backend_name (str): ``"wave_backend"``.

    Raises:
        NotImplementedError: another one.
    """
    if backend_name != NAME:
        raise UnsupportedError(f"there is no backend {backend_name!r}: files are read by {NAME!r}")


@contextmanager
def opened(filepath: Any) -> Any:
    """A file that is read, at its first sample; it is closed behind."""
    given = hasattr(filepath, "read")
    if not given and not isinstance(filepath, str | os.PathLike):
        raise ArgumentTypeError(f"`filepath` is a path or a file, not {type(filepath).__name__}")
    try:
        with filepath if given else open(filepath, "rb") as stream, wave.open(stream) as sound:
            yield sound
    except wave.Error as error:
        raise UnsupportedError(f"`{filepath}`: {error}; {NEED}") from None
    except (EOFError, RuntimeError) as error:  # a part is longer than the file
        raise FileError(f"`{filepath}` ends early {error}".rstrip()) from None


def info(filepath):
    """What the head of a file says of the sound in it.

    Args:
        filepath (str | PathLike | file): the file; one that is open is closed.

    Returns:
        AudioInfo: `sample_rate`, `num_samples` of each channel, `num_channels`,
        `bits_per_sample` and `encoding`, which is ``"PCM_S"``.

    Raises:
        FileNotFoundError: there is none.
        NotImplementedError: it is of another format.
        ValueError: it ends early.

    Examples:
        >>> import os, tempfile, scull as paddle
        >>> path = os.path.join(tempfile.mkdtemp(), "a.wav")
        >>> paddle.audio.save(path, paddle.zeros([2, 100]), 8000)
        >>> found = paddle.audio.info(path)
        >>> found.sample_rate, found.num_samples, found.num_channels, found.bits_per_sample
        (8000, 100, 2, 16)
    """
    with opened(filepath) as sound:
        rate, frames = sound.getframerate(), sound.getnframes()
        return AudioInfo(rate, frames, sound.getnchannels(), sound.getsampwidth() * 8, "PCM_S")


def load(filepath, frame_offset=0, num_frames=-1, normalize=True, channels_first=True):
    """The sound in a file.

    Args:
        filepath (str | PathLike | file): the file; one that is open is closed.
        frame_offset (int): the first sample of each channel that is given.
        num_frames (int): how many are; all of the file when -1, whatever `frame_offset` is.
        normalize (bool): whether samples lie between -1 and 1; else they are as in the file.
        channels_first (bool): whether channels are rows, else columns.

    Returns:
        tuple[Tensor, int]: float32[channels, samples], or the other way round, and how many
        samples there are a second.

    Raises:
        FileNotFoundError: there is none.
        NotImplementedError: it is of another format.
        ValueError: its samples have not 16 bits, or it ends early.

    Examples:
        >>> import os, tempfile, scull as paddle
        >>> path = os.path.join(tempfile.mkdtemp(), "a.wav")
        >>> paddle.audio.save(path, paddle.to_tensor([[0.0, 0.5, -0.5]]), 8000)
        >>> sound, rate = paddle.audio.load(path)
        >>> sound.tolist(), rate
        ([[0.0, 0.5, -0.5]], 8000)
    """
    with opened(filepath) as sound:
        channels, rate = sound.getnchannels(), sound.getframerate()
        bits = sound.getsampwidth() * 8
        if bits != 16:
            raise FileError(f"`{filepath}` has samples of {bits} bits; {NEED}")
        data = sound.readframes(sound.getnframes())
    whole = len(data) // (2 * channels) * channels
    samples = np.frombuffer(data, "<i2", whole).astype(np.float32).reshape(-1, channels)
    if num_frames != -1:
        samples = samples[frame_offset : frame_offset + num_frames]
    samples = samples / np.float32(ONE) if normalize else samples
    return to_tensor(samples.T if channels_first else samples), rate


def save(filepath, src, sample_rate, channels_first=True, encoding=None, bits_per_sample=16):
    """Write a sound into a file.

    Args:
        filepath (str | PathLike | file): the file.
        src (Tensor): [channels, samples]: of a floating-point dtype, between -1 and 1, or int16.
            What lies beyond is written as the nearest that can be.
        sample_rate (int): how many samples there are a second.
        channels_first (bool): whether channels are rows, else columns.
        encoding (str, optional): not looked at: samples are PCM integers.
        bits_per_sample (int, optional): 16.

    Raises:
        AssertionError: `src` has not two axes.
        ValueError: other bits, or another dtype.

    Examples:
        >>> import os, tempfile, scull as paddle
        >>> path = os.path.join(tempfile.mkdtemp(), "a.wav")
        >>> paddle.audio.save(path, paddle.zeros([1, 100]), 8000)
        >>> os.path.getsize(path)
        244
    """
    needs_tensor(src, "save", "src")
    if src.ndim != 2:
        raise AssertError(f"Expected 2D tensor, but `src` has {src.ndim} axes")
    if bits_per_sample not in (None, 16):
        raise ArgumentError(f"Invalid bits_per_sample, only support 16 bit, not {bits_per_sample}")
    if not isinstance(sample_rate, int | float) or not sample_rate >= 1:
        raise ArgumentError(f"`sample_rate` is a number above 0, not {sample_rate!r}")
    samples = src.numpy().T if channels_first else src.numpy()
    if src.dtype.is_float:
        samples = np.nan_to_num(samples.astype(np.float64)) * ONE
        samples = samples.clip(-ONE, ONE - 1)
    elif src.dtype.name != "int16":
        raise DtypeError(f"`src` has numbers with a fraction or of int16, not {src.dtype.name}")
    given = hasattr(filepath, "write")
    with nullcontext(filepath) if given else open(filepath, "wb") as stream:
        write(stream, samples.astype("<i2"), sample_rate)


def write(stream: Any, samples: Any, rate: Any) -> None:
    """Write [samples, channels] of int16 into an open file."""
    with wave.open(stream, "wb") as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(samples.tobytes())
