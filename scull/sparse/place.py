"""Places as numbers: coordinates counted through row by row, groups of equal ones, sums of those.

All of it works on arrays of NumPy; the sums are operators, through which gradients flow.
"""

import math
from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.ops.create import fill_constant
from scull.ops.index import gather, scatter
from scull.ops.segment import segment_pool

LARGEST = 2**63 - 1  # the numbers are int64


def spots(places: Any, sizes: Any) -> Any:
    """The number of each place, ``int64[elements]``, of coordinates ``[axes, elements]``."""
    if math.prod(sizes) > LARGEST:
        raise ArgumentError(f"{list(sizes)} has more places than an int64 can count")
    found = np.zeros(places.shape[1], np.int64)
    for coordinates, n in zip(places, sizes, strict=True):
        found = found * n + coordinates
    return found


def coordinates(numbers: Any, sizes: Any, dtype: Any = np.int64) -> Any:
    """The coordinates ``[axes, elements]`` of numbered places."""
    found = np.empty((len(sizes), len(numbers)), dtype)
    for axis in range(len(sizes) - 1, -1, -1):
        numbers, found[axis] = np.divmod(numbers, max(1, sizes[axis]))
    return found


def rise(numbers: Any) -> bool:
    """Whether each number is greater than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def picked(values: Tensor, which: Any) -> Tensor:
    """The rows `which` of values."""
    return gather(values, Tensor(which))


def merged(numbers: Any, values: Tensor) -> tuple[Any, Tensor]:
    """The numbers once each, rising, and the sums of the values of each."""
    if rise(numbers):
        return numbers, values
    order = numbers.argsort(kind="stable")
    once, groups = np.unique(numbers[order], return_inverse=True)
    ordered = picked(values, order)
    return once, ordered if len(once) == len(numbers) else pooled(ordered, groups)


def pooled(values: Tensor, groups: Any, how: str = "SUM") -> Tensor:
    """The rows of each group made one; the numbers of groups rise and leave none out."""
    return segment_pool(values, Tensor(groups), pooltype=how)[0] if len(groups) else values


def spread(values: Tensor, where: Any, count: int) -> Tensor:
    """Rows of zeros, so many, with `values` at the rows `where`; of equal ones the last counts."""
    zeros = fill_constant(shape=(count, *values.shape[1:]), dtype=values.dtype)
    return scatter(zeros, Tensor(where), values)
