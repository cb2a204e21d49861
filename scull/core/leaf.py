"""What stands in lists within lists."""

from collections.abc import Iterable, Iterator
from typing import Any


def leaves(values: Iterable[Any]) -> Iterator[Any]:
    """What stands in `values` and in lists and tuples there, in order, however deep these lie."""
    waiting = [iter(values)]
    while waiting:
        for v in waiting[-1]:
            if isinstance(v, list | tuple):
                waiting.append(iter(v))
                break
            yield v
        else:
            waiting.pop()
