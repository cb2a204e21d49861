"""Sizes that are known only when a Program runs are variables."""

from typing import Any

from scull.ir.variable import Variable
from scull.jit.convert.run.value import as_number
from scull.tensor.attribute import shape as shape_of


def shape(x: Any) -> Any:
    """`x.shape`, which is a list of a tensor, so of what stands for one, too."""
    if not isinstance(x, Variable):
        return x.shape
    if -1 not in x.shape:
        return list(x.shape)
    found = shape_of(x)
    return [as_number(found[i]) if n == -1 else n for i, n in enumerate(x.shape)]


def size_of(x: Any, axis: int) -> Any:
    """`x.shape[axis]`."""
    known = x.shape[axis]
    if not isinstance(x, Variable) or known != -1:
        return known
    return as_number(shape_of(x)[axis % len(x.shape)])


def size(x: Any) -> Any:
    """`x.size`."""
    return as_number(x.size()) if isinstance(x, Variable) else x.size
