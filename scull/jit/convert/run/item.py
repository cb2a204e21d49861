"""Items of lists and tensors, read and written."""

import operator
from collections.abc import Callable
from typing import Any

from scull.core.tensor import Tensor
from scull.eager.index import setitem
from scull.ir.variable import Variable
from scull.jit.convert.run.attempt import array_of
from scull.jit.convert.run.indexed import Listed, place
from scull.jit.convert.run.refusal import refused
from scull.jit.convert.run.value import graph, is_array, variable
from scull.static.growing import part
from scull.tensor import reshape, where
from scull.tensor.array import array_length, array_read, array_write
from scull.tensor.creation import assign

CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}


def item(values: Any, index: Any) -> Any:
    """`values[index]`."""
    if is_array(values):
        if isinstance(index, slice) and index.step in (None, 1):
            return part(values, index.start, index.stop)
        return array_read(values, place(counted(values, index)))
    if isinstance(values, list | tuple | range) and isinstance(index, Variable):
        return Listed(values).item(index)
    return values[index]


def counted(array: Variable, index: Any) -> Any:
    """A place of a list of tensors, counted from its start."""
    if isinstance(index, int) and index < 0:
        return reshape(array_length(array), []) + index
    return index


def set_item(values: Any, index: Any, value: Any) -> Any:
    """What `values` is after `values[index] = value`."""
    if is_array(values):
        return array_write(variable(value), place(counted(values, index)), values)
    if isinstance(values, list) and isinstance(index, Variable):
        for i, old in enumerate(values):
            same = reshape(index, []) == i
            values[i] = where(same, variable(value), variable(old))
        return values
    if isinstance(values, Variable):
        return setitem(values, index, value)
    recorded = graph(values) if isinstance(values, Tensor) else None
    if recorded is not None:
        assign(setitem(recorded, index, value), recorded)
        return values
    values[index] = value
    return values


def write_item(values: Any, index: Any, value: Any) -> None:
    """`values[index] = value` of what has no name of its own."""
    found = set_item(values, index, value)
    if found is not values and isinstance(values, Variable):
        assign(found, values)


def change_item(values: Any, index: Any, sign: str, value: Any) -> Any:
    """What `values` is after `values[index] += value` and the like."""
    return set_item(values, index, CHANGES[sign](item(values, index), value))


def rewrite_item(values: Any, index: Any, sign: str, value: Any) -> None:
    """`values[index] += value` of what has no name of its own."""
    write_item(values, index, CHANGES[sign](item(values, index), value))


def joined(left: Any, right: Any) -> Any:
    """`left + right`, of which one is a list."""
    if not (is_array(left) or is_array(right)):
        return left + right
    made = part(left, None, None) if is_array(left) else array_of(left)
    return extended(made, right)


def extended(values: Any, more: Any) -> Any:
    """What `values` is after `values += more`."""
    if not is_array(values):
        values += more
        return values
    if is_array(more):
        raise refused("two lists of tensors that a Program holds are not joined")
    for value in more:
        values.append(variable(value))
    return values
