"""How an output of a kernel comes about: element by element, or by accumulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from scull.lang.expression import Array, Axis, Expression


@dataclass(frozen=True)
class Map:
    """An output whose element at the position `axes` is `value`."""

    axes: tuple[Axis, ...]
    value: Expression

    @property
    def dtype(self) -> str:
        """The element type of the output."""
        return self.value.dtype

    @property
    def roots(self) -> tuple[Expression, ...]:
        """The expressions it is made of."""
        return (self.value,)


@dataclass(frozen=True)
class Scatter:
    """An output that changes at `index`, for each position of `over`: `value` is added, or `sets`.

    The positions run in order, the last axis fastest. Where an index falls outside the shape the
    value is not computed. The output begins as zeros where values are added; the sums, which are of
    the element type of the value, are `rounded` to another in the end, if one is said. Where values
    are set it begins as the array `base`, all of whose loads are at `index`; without one nobody may
    rely on what was not set.
    """

    shape: tuple[int, ...]
    index: tuple[Expression, ...]
    value: Expression
    over: tuple[Axis, ...]
    sets: bool = False
    base: Array | None = None
    rounded: str = ""

    @property
    def dtype(self) -> str:
        """The element type of the output."""
        return self.rounded or self.value.dtype

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
