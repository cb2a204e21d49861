"""Scans of rules as loops of a region."""

from collections.abc import Sequence
from typing import Any

from scull import lang
from scull.compiler.flow import Carry, Loop
from scull.compiler.rows import RowsTracer
from scull.compiler.trace import Statement, Traced
from scull.lang.body import Map
from scull.lang.expression import Array


class Scanner(RowsTracer):
    """Calls of operators write statements, scans loops of statements."""

    def scan(
        self,
        step: Any,
        first: Sequence[Traced],
        rows: Sequence[Traced],
        count: int,
        backwards: bool,
    ) -> tuple[list[Any], list[Any]]:
        """The values that `count` steps leave, and what all of them make."""
        nows = [self.given(x.meta) for x in first]
        inside = [self.given(x.meta.with_shape(x.shape[1:])) for x in rows]
        around, self.statements = self.statements, []
        try:
            following, made = step(list(nows), list(inside))
            taken: set[Array] = set()
            carries = tuple(
                Carry(now.array, x.array, self.settled(value, taken))
                for now, x, value in zip(nows, first, following, strict=True)
            )
        finally:
            body, self.statements = self.statements, around
        whole = [self.given(x.meta.with_shape((count, *x.shape))) for x in made]
        reads = tuple((x.array, y.array) for x, y in zip(inside, rows, strict=True))
        writes = tuple((x.array, y.array) for x, y in zip(made, whole, strict=True))
        around.append(
            Loop(
                self.origin,
                carries,
                tuple(body),
                count=count,
                reads=reads,
                writes=writes,
                backwards=backwards,
            )
        )
        return list(nows), whole

    def settled(self, value: Traced, taken: set[Array]) -> Array:
        """An array of this body, made by a statement and not yet `taken`, with a value."""
        array = value.array
        if array in taken or all(
            not isinstance(node, Statement) or node.out != array for node in self.statements
        ):
            copy, axes = self.given(value.meta), tuple(map(lang.axis, array.shape))
            self.statements.append(Statement(copy.array, Map(axes, array[axes]), "assign"))
            array = copy.array
        taken.add(array)
        return array
