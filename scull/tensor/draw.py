"""Random numbers whose distribution tensors say, and those drawn into a tensor in place."""

import math
from typing import Any

import numpy as np

from scull.core import random, session
from scull.core.meta import broadcast
from scull.core.tensor import Tensor
from scull.eager.change import draw_into, precise
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops import sampling
from scull.tensor.size import integer, needs_tensor, number


def poisson(x: Any, name: str | None = None) -> Any:
    """How many events there are, for the mean number that each element says.

    Args:
        x (Tensor): the mean numbers, of float32 or float64, 0 or more.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.poisson(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    needs_tensor(x, "poisson")
    return sampling.poisson(x, name=name)


def exponential_(x: Any, lam: float = 1.0, name: str | None = None) -> Any:
    """Fill `x` with exponentially distributed numbers of a rate.

    Args:
        x (Tensor): of floating-point elements.
        lam (float): the rate, above 0.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.exponential_(paddle.zeros([2])).shape
        [2]
    """
    needs_tensor(x, "exponential_")
    found = sampling.exponential(x, rate=number(lam, "lam"))
    if not isinstance(x, Tensor):
        return found
    return draw_into(x, found.array, "exponential_", leaf=True)


def eager_only(x: Any, function: str) -> None:
    """Refuse Variables: no operator of a Program draws so."""
    needs_tensor(x, function)
    if not isinstance(x, Tensor):
        raise UnsupportedError(f"`{function}` draws in eager mode only; in a Program draw anew")


def unit(x: Any) -> Any:
    """Numbers between 0 and 1 in the shape of `x`, neither of them."""
    found = random.uniform(session.generator().draw(), x.array.shape, np.float64)
    return np.maximum(found, np.finfo("float32").tiny)


def cauchy_(x: Any, loc: Any = 0, scale: Any = 1, name: str | None = None) -> Any:
    """Fill `x` with numbers of a Cauchy distribution.

    Args:
        x (Tensor): of floating-point elements.
        loc (float): the middle of the distribution.
        scale (float): half of its width at half of its height.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.cauchy_(paddle.zeros([2])).shape
        [2]
    """
    eager_only(x, "cauchy_")
    numbers = np.tan((unit(x) - 0.5) * math.pi) * beside(x, scale, "scale")
    return draw_into(x, numbers + beside(x, loc, "loc"), "cauchy_", writes=6)


def geometric_(x: Any, probs: Any, name: str | None = None) -> Any:
    """Fill `x` with numbers of a geometric distribution, which are not rounded, as in Paddle.

    Args:
        x (Tensor): of floating-point elements.
        probs (float | Tensor): the probability of an end at each step, between 0 and 1.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.geometric_(paddle.zeros([2]), 0.3).shape
        [2]
    """
    eager_only(x, "geometric_")
    chance = np.asarray(beside(x, probs, "probs"), "float64")
    if not ((chance > 0) & (chance < 1)).all():
        raise ArgumentError("a probability of an end lies between 0 and 1")
    return draw_into(x, np.log(unit(x)) / np.log1p(-chance), "geometric_", writes=3)


def beside(x: Any, value: Any, name: str) -> Any:
    """A number, or the array of a tensor that stretches to the shape of `x`."""
    if not isinstance(value, Tensor):
        return number(value, name)
    if broadcast(tuple(x.shape), tuple(value.shape)) != tuple(x.shape):
        raise ShapeError(f"`{name}` is {value.meta}, which does not stretch to {x.meta}")
    return value.array


def normal_(x: Any, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Any:
    """Fill `x` with normal numbers.

    Args:
        x (Tensor): of floating-point elements.
        mean (float): what they lie around.
        std (float): their deviation.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.normal_(paddle.zeros([2])).shape
        [2]
    """
    eager_only(x, "normal_")
    numbers = random.gaussian(session.generator().draw(), x.array.shape, precise(x))
    return draw_into(x, numbers * beside(x, std, "std") + beside(x, mean, "mean"), "normal_")


def gaussian_(
    x: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """Fill `x` with normal numbers.

    Args:
        x (Tensor): of floating-point elements.
        mean (float): what they lie around.
        std (float): their deviation.
        seed (int): of these numbers; 0 takes the generator's next.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.random.gaussian_(paddle.zeros([2])).shape
        [2]
    """
    eager_only(x, "gaussian_")
    center, deviation = number(mean, "mean"), number(std, "std")
    draw = session.generator().draw(integer(seed, "seed"))
    numbers = random.gaussian(draw, x.array.shape, precise(x))
    return draw_into(x, numbers * deviation + center, "gaussian_")


def uniform_(
    x: Any, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """Fill `x` with numbers between `min` and `max`, all equally likely.

    Args:
        x (Tensor): of floating-point elements.
        min (float): the least.
        max (float): the bound they stay below.
        seed (int): of these numbers; 0 takes the generator's next.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.uniform_(paddle.zeros([2])).shape
        [2]
    """
    eager_only(x, "uniform_")
    low, high = number(min, "min"), number(max, "max")
    draw = session.generator().draw(integer(seed, "seed"))
    numbers = random.uniform(draw, x.array.shape, precise(x))
    return draw_into(x, numbers * (high - low) + low, "uniform_")
