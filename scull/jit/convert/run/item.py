"""Items of lists and tensors, read and written."""

import operator
from collections.abc import Callable
from typing import Any

from scull.core.tensor import Tensor
from scull.eager.index import setitem
from scull.ir.variable import Variable
from scull.jit.convert.run.indexed import Listed, place
from scull.jit.convert.run.journal import changing
from scull.jit.convert.run.value import graph, is_array, variable
from scull.static.growing import extend, part
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
        if isinstance(index, slice):
            return sliced(values, index)
        return array_read(values, place(counted(values, index)))
    if isinstance(values, list | tuple | range) and isinstance(index, Variable):
        return Listed(values).item(index)
    return values[index]


def sliced(array: Any, index: slice) -> Any:
    """`array[start:stop:step]`."""
    return part(array, index.start, index.stop, 1 if index.step is None else index.step)


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
        changing(values)
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
    changing(values)
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
    return spread(left, right) if is_array(left) or is_array(right) else left + right


def spread(*parts: Any) -> Any:
    """`[*a, *b]` and so on, of which some may be lists of tensors that a Program holds."""
    arrays = [p for p in parts if is_array(p)]
    if not arrays:
        return [v for p in parts for v in p]
    made = part(arrays[0], 0, 0)
    for values in parts:
        extend(made, values if is_array(values) else [variable(v) for v in values])
    return made


def extended(values: Any, more: Any) -> Any:
    """What `values` is after `values += more`."""
    if not is_array(values):
        if is_array(more):
            return spread(values, more)
        changing(values)
        values += more
        return values
    extend(values, more if is_array(more) else [variable(v) for v in more])
    return values
