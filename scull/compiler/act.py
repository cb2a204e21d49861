"""What a region does between loops and branches besides computing: it ends, or changes lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from scull.lang.expression import Array


@dataclass(frozen=True)
class Act:
    """A node without bodies."""

    origin: str
    bodies: ClassVar[tuple[tuple[Any, ...], ...]] = ()

    @property
    def asked(self) -> set[Array]:
        """What it takes from around it."""
        return set()

    @property
    def left(self) -> set[Array]:
        """What bodies have to make: there are none."""
        return set()

    @property
    def made(self) -> set[Array]:
        """What there is after it."""
        return set()

    def with_bodies(self, bodies: Sequence[Sequence[Any]]) -> Self:
        """The same: it has none."""
        return self


@dataclass(frozen=True)
class Demand(Act):
    """The run ends, and instructions explain, where a condition does not hold."""

    condition: Array

    @property
    def asked(self) -> set[Array]:
        """The condition."""
        return {self.condition}


@dataclass(frozen=True)
class Clear(Act):
    """A list of tensors holds nothing any more. `place` stands for its memory, which grows."""

    place: Array

    @property
    def made(self) -> set[Array]:
        """The list."""
        return {self.place}


@dataclass(frozen=True)
class Write(Act):
    """A list of tensors holds a copy of `x` at the place that `index` tells."""

    place: Array
    index: Array
    x: Array

    @property
    def asked(self) -> set[Array]:
        """What is written, and where."""
        return {self.place, self.index, self.x}

    @property
    def made(self) -> set[Array]:
        """The list."""
        return {self.place}


@dataclass(frozen=True)
class Read(Act):
    """`out` is what a list of tensors holds at a place, or zeros; `there`: whether it does."""

    place: Array
    index: Array
    out: Array
    there: Array

    @property
    def asked(self) -> set[Array]:
        """The list, and where it is read."""
        return {self.place, self.index}

    @property
    def made(self) -> set[Array]:
        """What is read."""
        return {self.out, self.there}


@dataclass(frozen=True)
class Give(Act):
    """A list of tensors of `length` leaves the region: `out` tells where a copy of it lies.

    Its three words are an address, the number of rows there, and how long a row is. Who takes the
    copy drops it.
    """

    place: Array
    length: Array
    out: Array

    @property
    def asked(self) -> set[Array]:
        """The list."""
        return {self.place, self.length}

    @property
    def made(self) -> set[Array]:
        """Where it lies."""
        return {self.out}


@dataclass(frozen=True)
class Hand(Act):
    """What a loop kept leaves the region, with the memory it lies in: `out` tells where.

    Its three words are those of `place`, and that memory, which who takes it frees.
    """

    place: Array
    out: Array

    @property
    def asked(self) -> set[Array]:
        """Where it lies."""
        return {self.place}

    @property
    def made(self) -> set[Array]:
        """The same, to be told outside."""
        return {self.out}
