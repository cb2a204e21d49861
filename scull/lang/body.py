"""How an output of a kernel comes about: element by element, or by accumulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from scull.lang.expression import Array, Axis, Expression, constant


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
    value is not computed. The output begins as the array `base`, all of whose loads are at `index`.
    Without one it begins as zeros where values are added; where they are set, nobody may rely on
    what was not. Sums are of the element type of the value; in the end they are `rounded` to
    another, if one is said. With `anew`, they leave out what `base` has at the places added to.
    """

    shape: tuple[int, ...]
    index: tuple[Expression, ...]
    value: Expression
    over: tuple[Axis, ...]
    sets: bool = False
    base: Array | None = None
    rounded: str = ""
    anew: bool = False

    @property
    def dtype(self) -> str:
        """The element type of the output."""
        return self.rounded or self.value.dtype

    @property
    def roots(self) -> tuple[Expression, ...]:
        """The expressions it is made of."""
        return (*self.index, self.value)


Body: TypeAlias = Map | Scatter


def cleared(body: Scatter) -> Scatter:
    """The body that sets to 0 what another adds to."""
    nought = constant(0, body.value.dtype)
    return replace(body, value=nought, sets=True, rounded="", anew=False)


def with_roots(body: Body, roots: Sequence[Expression]) -> Body:
    """A body of other expressions."""
    *index, value = roots
    if isinstance(body, Map):
        return replace(body, value=value)
    return replace(body, index=tuple(index), value=value)
