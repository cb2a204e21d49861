"""The spectra of what is seen of signals through a window that moves on, and back."""

from typing import Any

from scull.errors import ArgumentError, AssertError
from scull.fft.transform import real_signal, spectrum
from scull.nn.functional.padding import pad
from scull.ops import like, move
from scull.ops.complex import REAL
from scull.signal.framing import frame, overlap_add
from scull.tensor.attribute import shape
from scull.tensor.creation import ones
from scull.tensor.elementwise import multiply
from scull.tensor.manipulation import slice, tile
from scull.tensor.size import integer, is_static, needs_tensor

LEAST = 1e-11  # of the sum of squares over an element, by which it is divided


def require(holds: bool, law: str) -> None:
    """Refuse what breaks a law of these functions."""
    if not holds:
        raise AssertError(law)


def lengths(n_fft: Any, hop_length: Any, win_length: Any) -> tuple[int, int, int]:
    """What is transformed at once, and the distance and length of windows.

    By default these are a quarter and the whole of the first.
    """
    n_fft = integer(n_fft, "n_fft")
    hop_length = n_fft // 4 if hop_length is None else integer(hop_length, "hop_length")
    require(hop_length > 0, f"hop_length should be > 0, but got {hop_length}")
    win_length = n_fft if win_length is None else integer(win_length, "win_length")
    law = f"win_length should be in (0, n_fft({n_fft})], but got {win_length}"
    require(0 < win_length <= n_fft, law)
    return n_fft, hop_length, win_length


def widened(window: Any, n_fft: int, win_length: int, dtype: Any, function: str) -> Any:
    """A window, ones where none is given, with zeros around it up to `n_fft` elements."""
    if window is None:
        window = ones([win_length], dtype)
    needs_tensor(window, function, "window")
    law = f"window should have the shape [{win_length}] of win_length, but got {window.shape}"
    require(list(window.shape) in ([win_length], [-1]), law)
    before = (n_fft - win_length) // 2
    if n_fft == win_length:
        return window
    return pad(window, [before, n_fft - win_length - before])


def stft(
    x: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    pad_mode: Any = "reflect",
    normalized: Any = False,
    onesided: Any = True,
    name: str | None = None,
) -> Any:
    r"""The Fourier transforms of what is seen of signals through a window, place by place.

    .. math:: out_{f,t} = \sum_{j<n} window_j \, x_{t \cdot hop + j} \, e^{-2 \pi i \, f j / n}

    Args:
        x (Tensor): [elements] or [signals, elements], real or complex.
        n_fft (int): n, how many elements are transformed.
        hop_length (int, optional): how far the window moves each time; n_fft // 4 when None.
        win_length (int, optional): how many elements it shows; `n_fft` when None.
        window (Tensor, optional): [win_length], the factors of these; ones when None.
        center (bool): whether `x` is padded by n_fft // 2 on both sides, so that the window at t
            has element t · hop_length in the middle.
        pad_mode (str): with what: "reflect" or "constant".
        normalized (bool): whether sums are divided by the root of `n_fft`.
        onesided (bool): whether the second half of each transform is left out, which of real
            numbers mirrors the first.
        name (str, optional): the name of the transforms in a Program.

    Returns:
        Tensor: complex, [frequencies, places] or [signals, frequencies, places].

    Raises:
        AssertionError: a length is out of range, or the window has another.
        ValueError: the same.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0])
        >>> paddle.signal.stft(x, 4, center=False).abs().tolist()
        [[0.0, 0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    needs_tensor(x, "stft")
    axes = len(x.shape)
    require(axes in (1, 2), f"x should be a 1D or 2D tensor, but got rank of x is {axes}")
    x = like.unsqueeze(x, axes=(0,)) if axes == 1 else x
    n_fft, hop_length, win_length = lengths(n_fft, hop_length, win_length)
    size = x.shape[-1]
    law = f"n_fft should be in (0, seq_length({size})], but got {n_fft}"
    require(size == -1 or 0 < n_fft <= size, law)
    window = widened(window, n_fft, win_length, x.dtype, "stft")
    if center:
        law = f'pad_mode should be "reflect" or "constant", but got "{pad_mode}"'
        require(pad_mode in ("constant", "reflect"), law)
        around = [n_fft // 2, n_fft // 2]
        columns = like.unsqueeze(x, axes=(-1,))
        x = like.squeeze(pad(columns, around, pad_mode, data_format="NLC"), axes=(-1,))
    frames = move.transpose(frame(x, n_fft, hop_length), perm=(0, 2, 1))
    frames = multiply(frames, window)
    law = "onesided should be False when input or window is a complex Tensor"
    require(not (onesided and frames.dtype.is_complex), law)
    norm = "ortho" if normalized else "backward"
    found = spectrum(frames, None, (2,), norm, name, forward=True, onesided=bool(onesided))
    found = move.transpose(found, perm=(0, 2, 1))
    return like.squeeze(found, axes=(0,)) if axes == 1 else found


def istft(
    x: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    normalized: Any = False,
    onesided: Any = True,
    length: Any = None,
    return_complex: Any = False,
    name: str | None = None,
) -> Any:
    r"""The signals of which `stft` gave `x`: what the windows showed, added and divided by them.

    .. math:: out_j = \frac {\sum_t window_{j - t \cdot hop} \, y_{t, j - t \cdot hop}}
        {\sum_t window^2_{j - t \cdot hop}}

    y are the inverse transforms.

    Args:
        x (Tensor): complex, [frequencies, places] or [signals, frequencies, places].
        n_fft (int): how many elements were transformed.
        hop_length (int, optional): how far the window moved each time; n_fft // 4 when None.
        win_length (int, optional): how many elements it showed; `n_fft` when None.
        window (Tensor, optional): [win_length], the factors of these; ones when None.
        center (bool): whether the signals were padded, which is cut off.
        normalized (bool): whether sums were divided by the root of `n_fft`.
        onesided (bool): whether `x` has the first half of the frequencies only.
        length (int, optional): how long the signals are; as long as the windows reach when None.
        return_complex (bool): whether the signals are complex; needs all frequencies.
        name (str, optional): not looked at, as in Paddle.

    Returns:
        Tensor: [elements] or [signals, elements].

    Raises:
        AssertionError: a length is out of range, or `x` or the window does not go with it.
        ValueError: the same, and in eager mode where no window shows an element.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        >>> spectra = paddle.signal.stft(x, 4)
        >>> [round(v, 4) for v in paddle.signal.istft(spectra, 4).tolist()]
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    needs_tensor(x, "istft")
    axes = len(x.shape)
    require(axes in (2, 3), f"x should be a 2D or 3D complex tensor, but got rank of x is {axes}")
    x = like.unsqueeze(x, axes=(0,)) if axes == 2 else x
    n_fft, hop_length, win_length = lengths(n_fft, hop_length, win_length)
    law = f"hop_length should be in (0, win_length({win_length})], but got {hop_length}"
    require(hop_length <= win_length, law)
    known, needed = x.shape[-2], n_fft // 2 + 1 if onesided else n_fft
    law = f"x should have {needed} frequencies where onesided is {onesided}, but got {known}"
    require(known in (-1, needed), law)
    window = widened(window, n_fft, win_length, REAL.get(x.dtype, x.dtype), "istft")
    frames = move.transpose(x, perm=(0, 2, 1))
    out = multiply(seen(frames, window, n_fft, normalized, onesided, return_complex), window)
    out = overlap_add(move.transpose(out, perm=(0, 2, 1)), hop_length)
    out, squares = within(out, envelope(x, window, hop_length), n_fft, center, length)
    if not is_static() and not squares.abs().min().item() >= LEAST:
        law = "no window shows some element, or all with a factor of 0"
        raise ArgumentError(f"{law}: the signals cannot be found (NOLA condition)")
    out = out / squares
    return like.squeeze(out, axes=(0,)) if axes == 2 else out


def seen(
    frames: Any, window: Any, n_fft: Any, normalized: Any, onesided: Any, return_complex: Any
) -> Any:
    """What the window showed at each place."""
    norm = "ortho" if normalized else "backward"
    if return_complex:
        require(not onesided, "onesided should be False when return_complex is True")
        return spectrum(frames, None, (2,), norm, None, forward=False)
    law = "Data type of window should not be complex when return_complex is False"
    require(not window.dtype.is_complex, law)
    if not onesided:
        frames = slice(frames, [2], [0], [n_fft // 2 + 1])
    sizes = (n_fft,) if n_fft % 2 else None  # even is what a transform assumes
    return real_signal(frames, sizes, (2,), norm, None, forward=False)


def envelope(x: Any, window: Any, hop_length: Any) -> Any:
    """The sum of the squares of the factors with which each element was seen."""
    places = x.shape[-1] if x.shape[-1] != -1 else shape(x)[2]
    squares = like.unsqueeze(multiply(window, window), axes=(0,))
    squares = move.transpose(tile(squares, [places, 1]), perm=(1, 0))
    return overlap_add(squares, hop_length)


def within(out: Any, squares: Any, n_fft: Any, center: Any, length: Any) -> tuple[Any, Any]:
    """The elements that are asked for, and the sums of squares over them."""
    start = n_fft // 2 if center else 0
    if length is not None:
        length = integer(length, "length")
        require(length > 0, f"length should be > 0, but got {length}")
        return out[:, start : start + length], squares[start : start + length]
    return (out[:, start:-start], squares[start:-start]) if start else (out, squares)
