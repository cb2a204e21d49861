"""A list that is filled item by item; where a Tensor decides on its length, within the Program."""

from collections.abc import Callable
from typing import Any

from scull.jit.convert.run.branch import if_else
from scull.jit.convert.run.builtin import LISTED
from scull.jit.convert.run.walk import for_loop

Function = Callable[..., Any]


def comprehension(values: Any, element: Function, test: Function | None, several: bool) -> Any:
    """`[element(v) for v in values if test(v)]`; `several` names take the parts of an item."""
    made: list[Any] = []

    def round_(item: Any) -> None:
        given = item if several else (item,)

        def add() -> None:
            made.append(element(*given))

        if test is None:
            add()
        else:
            if_else(test(*given), add, None, ("made",))

    for_loop(values, round_, ("made",), None)
    return made


def reduced(step: Callable[[Any, Any], Any], values: Any, found: Any) -> Any:
    """`step(step(found, first), second)` and so on."""

    def round_(item: Any) -> None:
        nonlocal found
        found = step(found, item)

    for_loop(values, round_, ("found",), None)
    return found


LISTED.extend([comprehension, reduced])
