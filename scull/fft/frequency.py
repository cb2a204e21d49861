"""The frequencies that the elements of a transform stand for, and their order."""

from typing import Any

from scull.core import session
from scull.core.meta import axis_of
from scull.errors import ArgumentError
from scull.ops import like
from scull.ops.join import concat
from scull.tensor.creation import arange
from scull.tensor.manipulation import roll
from scull.tensor.size import integer, integers, needs_tensor, number, whole


def fftfreq(n: Any, d: Any = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """The frequencies of `fft` over `n` elements: from 0 up, then the negative ones.

    Args:
        n (int): how many elements are transformed.
        d (float): how far they are apart.
        dtype (str, optional): not looked at, as in Paddle: `paddle.set_default_dtype` decides.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the default dtype and the shape [n].

    Raises:
        ValueError: `n` or `d` is 0, or `n` below it.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.fftfreq(4, 0.5).tolist()
        [0.0, 0.5, -1.0, -0.5]
    """
    n = integer(n, "n")
    step, below = frequency_step(n, d), n // 2
    found = arange(-below, n - below, dtype=session.default_dtype(), name=name)
    return roll(found, -below, name=name) * step


def rfftfreq(n: Any, d: Any = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """The frequencies of `rfft` over `n` elements.

    Args:
        n (int): how many elements are transformed.
        d (float): how far they are apart.
        dtype (str, optional): not looked at, as in Paddle: `paddle.set_default_dtype` decides.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the default dtype and the shape [n // 2 + 1].

    Raises:
        ValueError: `n` or `d` is 0, or `n` below it.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.rfftfreq(4, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    n = whole(n, "n")
    step = frequency_step(n, d)
    return arange(0, n // 2 + 1, dtype=session.default_dtype(), name=name) * step


def frequency_step(n: int, d: Any) -> float:
    """How far apart the frequencies of `n` elements are that are `d` apart."""
    span = n * number(d, "d")
    if span == 0:
        raise ArgumentError("d or n should not be 0.")
    if n < 0:
        raise ArgumentError(f"n is {n}, and no number of elements is below 0")
    return 1.0 / span


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """`x` with its halves along `axes` swapped, so that frequency 0 is in the middle.

    Args:
        x (Tensor): frequencies in the order of `fft`.
        axes (int | list | tuple, optional): the axes; all of them when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ValueError: `x` has no such axis.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.fftshift(paddle.to_tensor([0.0, 1.0, 2.0, -2.0, -1.0])).tolist()
        [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    needs_tensor(x, "fftshift")
    return moved(x, axes, 0, name)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """What `fftshift` gives in the order it had before.

    Args:
        x (Tensor): frequencies with 0 in the middle.
        axes (int | list | tuple, optional): the axes; all of them when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ValueError: `x` has no such axis.

    Examples:
        >>> import scull as paddle
        >>> paddle.fft.ifftshift(paddle.to_tensor([-2.0, -1.0, 0.0, 1.0, 2.0])).tolist()
        [0.0, 1.0, 2.0, -2.0, -1.0]
    """
    needs_tensor(x, "ifftshift")
    return moved(x, axes, 1, name)


def moved(x: Any, axes: Any, more: int, name: str | None) -> Any:
    """`x` rolled along `axes` by half their sizes, of odd ones by the lesser half and `more`."""
    sizes, ndim = like.shape(x), len(x.shape)
    if axes is None:
        return roll(x, halved(sizes, more), list(range(ndim)), name=name)
    if not isinstance(axes, list | tuple):
        axis = axis_of(integer(axes, "axes"), ndim)
        return roll(x, halved(sizes[axis], more), axis, name=name)
    where = [axis_of(a, ndim) for a in integers(axes, "axes")]
    if not where:
        raise ArgumentError("`axes` is empty: there is no axis to move along")
    shifts = concat([halved(sizes[a : a + 1], more) for a in where], axis=0)
    return roll(x, shifts, where, name=name)


def halved(sizes: Any, more: int) -> Any:
    """Half of each size, rounded down; up where there is one `more`."""
    return (sizes + more if more else sizes) // 2
