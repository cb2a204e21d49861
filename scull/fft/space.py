"""Fourier transforms along any number of axes."""

from typing import Any

from scull.fft.transform import checked, real_signal, several_axes, spectrum


def fftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The Fourier transform along axes.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.fft.fftn(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(6+0j), 0j], [(2+0j), (-4+0j)]]
    """
    checked(x, norm, "fftn")
    sizes, where = several_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=True)


def ifftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse Fourier transform along axes.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.fft.ifftn(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(1.5+0j), 0j], [(0.5+0j), (-1+0j)]]
    """
    checked(x, norm, "ifftn")
    sizes, where = several_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=False)


def rfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The Fourier transform of real numbers along axes, half of it.

    Only the last axis is halved: to n // 2 + 1 of its n elements.

    Args:
        x (Tensor): integers, float32 or float64.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.fft.rfftn(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[(6+0j), 0j], [(2+0j), (-4+0j)]]
    """
    checked(x, norm, "rfftn")
    sizes, where = several_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=True, onesided=True)


def irfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The real numbers along axes whose Fourier transform `x` is half of.

    `x` is half only along the last axis.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements the result has along each axis; those of `x`
            when None, along the last axis 2 · (these - 1).
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.fft.irfftn(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[1.5, 0.0], [0.5, -1.0]]
    """
    checked(x, norm, "irfftn")
    sizes, where = several_axes(x, s, axes)
    return real_signal(x, sizes, where, norm, name, forward=False)


def hfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The real Fourier transform along axes of what `x` is half of.

    `x` is half only along the last axis.

    Args:
        x (Tensor): integers, float32, float64, complex64 or complex128.
        s (list | tuple, optional): how many elements the result has along each axis; those of `x`
            when None, along the last axis 2 · (these - 1).
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.fft.hfftn(paddle.to_tensor([[1.0, 3.0], [2.0, 0.0]])).tolist()
        [[6.0, 0.0], [2.0, -4.0]]
    """
    checked(x, norm, "hfftn")
    sizes, where = several_axes(x, s, axes)
    return real_signal(x, sizes, where, norm, name, forward=True)


def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Any:
    """The inverse Fourier transform of real numbers along axes, half of it.

    Only the last axis is halved: to n // 2 + 1 of its n elements.

    Args:
        x (Tensor): integers, float32 or float64.
        s (list | tuple, optional): how many elements count along each axis; `x` is cut or filled
            up with zeros.
        axes (list | tuple, optional): the axes; when None as many at the end as `s` has, or all.
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
        >>> paddle.real(paddle.fft.ihfftn(paddle.to_tensor([[1.0, 3.0], [2.0, 1.0]]))).tolist()
        [[1.75, -0.25], [0.25, -0.75]]
    """
    checked(x, norm, "ihfftn")
    sizes, where = several_axes(x, s, axes)
    return spectrum(x, sizes, where, norm, name, forward=False, onesided=True)
