"""How an output of a kernel comes about: element by element, or by accumulation."""

from dataclasses import dataclass
from typing import TypeAlias

from scull.lang.expression import Axis, Expression


@dataclass(frozen=True)
class Map:
    """An output whose element at the position `axes` is `value`."""

    axes: tuple[Axis, ...]
    value: Expression

    @property
    def roots(self) -> tuple[Expression, ...]:
        """The expressions it is made of."""
        return (self.value,)


@dataclass(frozen=True)
class Scatter:
    """An output of zeros to which `value` is added at `index`, for each position of `over`.

    The positions run in order, the last axis fastest. What falls outside the shape is dropped.
    """

    shape: tuple[int, ...]
    index: tuple[Expression, ...]
    value: Expression
    over: tuple[Axis, ...]

    @property
    def roots(self) -> tuple[Expression, ...]:
        """The expressions it is made of."""
        return (*self.index, self.value)


Body: TypeAlias = Map | Scatter
