"""Fourier transforms along two axes."""

from typing import Any

from scull.fft.transform import checked, real_signal, spectrum, two_axes


def fft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The Fourier transform along two axes.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.fft2(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(6+0j), 0j], [(2+0j), (-4+0j)]]
    """
    checked(x, norm, "fft2")
    sizes, where = two_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=True)


def ifft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse Fourier transform along two axes.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.ifft2(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(1.5+0j), 0j], [(0.5+0j), (-1+0j)]]
    """
    checked(x, norm, "ifft2")
    sizes, where = two_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=False)


def rfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The Fourier transform of real numbers along two axes, half of it.

    Only the last axis is halved: to n // 2 + 1 of its n elements.

    Args:
        x (Tensor): integers, float32 or float64.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.rfft2(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(6+0j), 0j], [(2+0j), (-4+0j)]]
    """
    checked(x, norm, "rfft2")
    sizes, where = two_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=True, onesided=True)


def irfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The real numbers along two axes whose Fourier transform `x` is half of.

    `x` is half only along the last axis.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements the result has along each axis; those of `x`
            when None, along the last axis 2 · (these - 1).
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: float32, or float64 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.irfft2(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[1.5, 0.0], [0.5, -1.0]]
    """
    checked(x, norm, "irfft2")
    sizes, where = two_axes(x, s, axes)
    return real_signal(x, sizes, where, norm, name, forward=False)


def hfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The real Fourier transform along two axes of what `x` is half of.

    `x` is half only along the last axis.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements the result has along each axis; those of `x`
            when None, along the last axis 2 · (these - 1).
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: float32, or float64 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.hfft2(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[6.0, 0.0], [2.0, -4.0]]
    """
    checked(x, norm, "hfft2")
    sizes, where = two_axes(x, s, axes)
    return real_signal(x, sizes, where, norm, name, forward=True)


def ihfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse Fourier transform of real numbers along two axes, half of it.

    Only the last axis is halved: to n // 2 + 1 of its n elements.

    Args:
        x (Tensor): integers, float32 or float64.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple): the two axes.
        norm (str): where sums are divided by their number of elements: "backward" in the inverse
            transform, "forward" in the other, "ortho" by its root in both.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: complex64, or complex128 for operands of double precision.

    Raises:
        ValueError: `s` or `axes` is out of range or of another kind, or `norm` is unknown.
        TypeError: the elements of `x` are of another type.

    Examples:
        >>> import scull as paddle
        >>> paddle.real(paddle.fft.ihfft2(paddle.to_tensor([[1.0, 3.0], [2.0, 1.0]]))).tolist()
        [[1.75, -0.25], [0.25, -0.75]]
    """
    checked(x, norm, "ihfft2")
    sizes, where = two_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=False, onesided=True)
