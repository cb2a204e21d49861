"""Functions that are integrals or series."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import special
from scull.tensor.size import needs_tensor


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
        n (int): 0 or more.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.polygamma(paddle.to_tensor(1.0), 1).item(), 4)
        1.6449
    """
    needs_tensor(x, "polygamma")
    if not isinstance(n, int) or n < 0:
        raise ArgumentError(f"`n` is an integer from 0 on, not {n!r}")
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
