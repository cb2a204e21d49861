"""Batches of what a reader yields."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from scull.errors import ArgumentError


def batch(reader: Callable[[], Any], batch_size: int, drop_last: bool = False) -> Any:
    """A reader that yields lists of `batch_size` of what `reader` yields.

    Args:
        reader (callable): called without arguments, it gives an iterable of samples.
        batch_size (int): how many samples are in a list.
        drop_last (bool): whether a last list with fewer is left out.

    Returns:
        callable: the reader of lists.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.batch(lambda: range(5), batch_size=2)())
        [[0, 1], [2, 3], [4]]
    """
    if batch_size <= 0:
        raise ArgumentError(f"batch_size should be a positive integer value, but got {batch_size}")

    def batches() -> Iterator[list[Any]]:
        iterator = iter(reader())
        while samples := list(islice(iterator, batch_size)):
            if len(samples) == batch_size or not drop_last:
                yield samples

    return batches
