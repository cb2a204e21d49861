"""Functions that are integrals or series."""

import math
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ops import bessel, special
from scull.tensor.size import needs_tensor

MOST = 10_000  # dimensions of a gamma function: more would only seem to hang


def erfinv(x: Any, name: str | None = None) -> Any:
    """The number whose error function is given.

    Args:
        x (Tensor): numbers between -1 and 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.erfinv(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "erfinv")
    return special.erfinv(x, name)


def lgamma(x: Any, name: str | None = None) -> Any:
    """The logarithm of the size of the gamma function.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.lgamma(paddle.to_tensor([1.0, 2.0])).tolist()
        [0.0, 0.0]
    """
    needs_tensor(x, "lgamma")
    return special.lgamma(x, name)


def digamma(x: Any, name: str | None = None) -> Any:
    """The derivative of `lgamma`; NaN at 0 and at negative whole numbers.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.digamma(paddle.to_tensor([float("inf")])).tolist()
        [inf]
    """
    needs_tensor(x, "digamma")
    return special.digamma(x, name)


def polygamma(x: Any, n: int, name: str | None = None) -> Any:
    """The `n`-th derivative of `digamma`.

    Args:
        x (Tensor): the operand.
        n (int): from 0 to 170.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.polygamma(paddle.to_tensor(1.0), 1).item(), 4)
        1.6449
    """
    needs_tensor(x, "polygamma")
    if not isinstance(n, int):
        raise ArgumentTypeError(f"`n` is an integer from 0 on, not {n!r}")
    if n < 0:
        raise ArgumentError(f"`n` is an integer from 0 on, not {n}")
    return special.digamma(x, name) if n == 0 else special.polygamma(x, n=n, name=name)


def logit(x: Any, eps: float | None = None, name: str | None = None) -> Any:
    """``log(x / (1 - x))``, the inverse of `sigmoid`.

    Args:
        x (Tensor): numbers between 0 and 1.
        eps (float, optional): `x` is kept within `eps` and ``1 - eps``.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logit(paddle.to_tensor([0.5])).tolist()
        [0.0]
    """
    needs_tensor(x, "logit")
    return special.logit(x, eps=0.0 if eps is None else eps, name=name)


def i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Args:
        x (Tensor): the operand, of float32 or float64.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.i0(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """
    needs_tensor(x, "i0")
    return bessel.i0(x, name=name)


def i0e(x: Any, name: str | None = None) -> Any:
    """`i0` times ``exp(-|x|)``, which does not overflow.

    Args:
        x (Tensor): the operand, of float32 or float64.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.i0e(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """
    needs_tensor(x, "i0e")
    return bessel.i0e(x, name=name)


def i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind of order 1.

    Args:
        x (Tensor): the operand, of float32 or float64.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.i1(paddle.to_tensor(1.0)).item(), 4)
        0.5652
    """
    needs_tensor(x, "i1")
    return bessel.i1(x, name=name)


def i1e(x: Any, name: str | None = None) -> Any:
    """`i1` times ``exp(-|x|)``, which does not overflow.

    Args:
        x (Tensor): the operand, of float32 or float64.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.i1e(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "i1e")
    return bessel.i1e(x, name=name)


def multigammaln(x: Any, p: int, name: str | None = None) -> Any:
    """The logarithm of the gamma function of `p` dimensions.

    Args:
        x (Tensor): numbers above ``(p - 1) / 2``, of float32 or float64.
        p (int): the number of dimensions, from 1 to 10000.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.multigammaln(paddle.to_tensor(2.0), 2).item(), 4)
        0.4516
    """
    needs_tensor(x, "multigammaln")
    if not isinstance(p, int) or not 1 <= p <= MOST:
        raise AssertError(f"`p` is an integer in [1, {MOST}], not {p!r}")
    lower = [special.lgamma(x - 0.5 * k) for k in range(p - 1, -1, -1)]
    total = lower[0]
    for part in lower[1:]:
        total = total + part
    return total + 0.25 * p * (p - 1) * math.log(math.pi)
