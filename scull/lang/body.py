"""How an output of a kernel comes about: element by element, or by accumulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def with_roots(body: Body, roots: Sequence[Expression]) -> Body:
    """A body of other expressions."""
    *index, value = roots
    if isinstance(body, Map):
        return replace(body, value=value)
    return replace(body, index=tuple(index), value=value)
