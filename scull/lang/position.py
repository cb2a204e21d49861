"""Positions in row-major order: what changes of shape are made of."""

from collections.abc import Sequence
from typing import Any

from scull.lang.expression import Array, Expression, constant


def ravel(index: Sequence[Any], shape: Sequence[int]) -> Any:
    """The row-major position of `index` in an array of `shape`."""
    position: Any = constant(0, "int64")
    for i, n in zip(index, shape, strict=True):
        if n != 1:
            position = position * n + i
    return position


def flat(x: Array, position: Any) -> Expression:
    """The element of `x` at a row-major position."""
    spots: list[Any] = []
    for n in reversed(x.shape):
        spots.append(position % n if n > 0 else position)
        position = position // n if n > 0 else position
    return x[tuple(reversed(spots))]


def unravel(position: Any, shape: Sequence[int]) -> list[Any]:
    """The index, in an array of `shape`, of a row-major position within it."""
    spots: list[Any] = []
    for n in reversed(shape[1:]):
        spots.append(position % n)
        position = position // n
    return [position, *reversed(spots)]
