"""Fourier transforms along one axis."""

from typing import Any

from scull.fft.transform import checked, one_axis, real_signal, spectrum


def fft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    r"""The Fourier transform.

    .. math:: out_k = \sum_{j<n} x_j \, e^{-2 \pi i \, j k / n}

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        n (int, optional): how many elements count; `x` is cut or filled up with zeros.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.fft(paddle.to_tensor([1.0, 0.0, 2.0, 0.0])).tolist()
        [(3+0j), (-1+0j), (3+0j), (-1+0j)]
    """
    checked(x, norm, "fft")
    sizes, where = one_axis(x, n, axis)
    return spectrum(x, sizes, where, norm, name, forward=True)


def ifft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    r"""The inverse Fourier transform.

    .. math:: out_j = \frac 1 n \sum_{k<n} x_k \, e^{2 \pi i \, j k / n}

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        n (int, optional): how many elements count; `x` is cut or filled up with zeros.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.ifft(paddle.to_tensor([3.0, -1.0, 3.0, -1.0])).tolist()
        [(1+0j), 0j, (2+0j), 0j]
    """
    checked(x, norm, "ifft")
    sizes, where = one_axis(x, n, axis)
    return spectrum(x, sizes, where, norm, name, forward=False)


def rfft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The first half of the Fourier transform of real numbers.

    The second half mirrors it, with the other sign of the imaginary parts.

    Args:
        x (Tensor): integers, float32 or float64.
        n (int, optional): how many elements count; `x` is cut or filled up with zeros.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.rfft(paddle.to_tensor([1.0, 0.0, 2.0, 0.0])).tolist()
        [(3+0j), (-1+0j), (3+0j)]
    """
    checked(x, norm, "rfft")
    sizes, where = one_axis(x, n, axis)
    return spectrum(x, sizes, where, norm, name, forward=True, onesided=True)


def irfft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The real numbers whose Fourier transform begins with `x`.

    What follows `x` mirrors it, with the other sign of the imaginary parts.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        n (int, optional): how many elements the result has; 2 · (those of `x` - 1) when None.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: float32, or float64 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.irfft(paddle.to_tensor([3.0, -1.0, 3.0])).tolist()
        [1.0, 0.0, 2.0, 0.0]
    """
    checked(x, norm, "irfft")
    sizes, where = one_axis(x, n, axis)
    return real_signal(x, sizes, where, norm, name, forward=False)


def hfft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The Fourier transform, which is real, of what mirrors itself and begins with `x`.

    What follows `x` mirrors it, with the other sign of the imaginary parts.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        n (int, optional): how many elements the result has; 2 · (those of `x` - 1) when None.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: float32, or float64 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.hfft(paddle.to_tensor([1.0, 2.0, 1.0])).tolist()
        [6.0, 0.0, -2.0, 0.0]
    """
    checked(x, norm, "hfft")
    sizes, where = one_axis(x, n, axis)
    return real_signal(x, sizes, where, norm, name, forward=True)


def ihfft(
    x: Any, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Any:
    """The first half of the inverse Fourier transform of real numbers.

    The second half mirrors it, with the other sign of the imaginary parts.

    Args:
        x (Tensor): integers, float32 or float64.
        n (int, optional): how many elements count; `x` is cut or filled up with zeros.
        axis (int): along which axis.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `n` or `axis` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.real(paddle.fft.ihfft(paddle.to_tensor([4.0, 0.0, 0.0, 8.0]))).tolist()
        [3.0, 1.0, -1.0]
    """
    checked(x, norm, "ihfft")
    sizes, where = one_axis(x, n, axis)
    return spectrum(x, sizes, where, norm, name, forward=False, onesided=True)
