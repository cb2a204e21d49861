"""A computation repeated along an axis, for rules that compilers alone use."""

from collections.abc import Callable, Sequence
from typing import Any

from scull.core.interpreter import current

Step = Callable[[list[Any], list[Any]], tuple[Sequence[Any], Sequence[Any]]]


def scan(
    step: Step,
    first: Sequence[Any],
    rows: Sequence[Any],
    count: int,
    *,
    backwards: bool = False,
) -> tuple[list[Any], list[Any]]:
    """The values that `count` steps leave, and all that they make, put together along a new axis.

    A step gets the values that the one before left, `first` at the beginning, and the row of each
    of `rows` with its number; going `backwards` the last row comes first. It gives the values for
    the next step, and what it makes: each lies in the results where the rows do.
    """
    found: tuple[list[Any], list[Any]] = current().scan(step, first, rows, count, backwards)
    return found
