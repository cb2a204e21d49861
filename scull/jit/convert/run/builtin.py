"""What functions of Python mean when values of a Program are given to them."""

import builtins
import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.run.indexed import (
    Backwards,
    Beside,
    Mapped,
    Numbered,
    Range,
    Walk,
    indexed,
    is_unknown,
)
from scull.jit.convert.run.journal import writing
from scull.jit.convert.run.logic import and_, known, or_
from scull.jit.convert.run.reads import reading
from scull.jit.convert.run.value import as_number, graph, is_array, truth
from scull.static.growing import part
from scull.static.printing import Print
from scull.tensor import abs as absolute
from scull.tensor import cast, reshape, stack, where, zeros_like
from scull.tensor import sum as total
from scull.tensor.array import array_length
from scull.tensor.attribute import shape as shape_of


def print_(*values: Any, **options: Any) -> None:
    """`print`: tensors are printed by every run, the rest while it is recorded."""
    found = [graph(v) for v in values]
    if all(v is None for v in found):
        builtins.print(*values, **options)
        return
    for value, variable in zip(values, found, strict=True):
        if variable is None:
            builtins.print(value, **options)
        elif variable.kind is not Kind.ARRAY:
            Print(variable)


def len_(value: Any) -> Any:
    """`len`."""
    if is_array(value):
        return as_number(reshape(array_length(value), []))
    if isinstance(value, Walk):
        return value.length
    if isinstance(value, Variable) and value.shape[:1] == (-1,):
        return as_number(shape_of(value)[0])
    return builtins.len(value)


def casting(kind: type, dtype: str) -> Callable[..., Any]:
    """`bool`, `int` or `float`: elements of 32 bits as in Paddle, unless they have 64 already."""

    @functools.wraps(kind, updated=())
    def function(*values: Any) -> Any:
        found = graph(values[0]) if len(values) == 1 else None
        if found is None:
            return kind(*values)
        if kind is bool and is_array(found):
            return reshape(truth(found), [])
        wide = found.dtype.name if found.dtype.name == dtype[:-2] + "64" else dtype
        made = cast(found, wide)
        made.stop_gradient = True  # as a number of Python it would carry none
        return made if dtype == "bool" else as_number(made)

    return function


def abs_(value: Any) -> Any:
    """`abs`."""
    found = graph(value)
    return builtins.abs(value) if found is None else absolute(found)


def range_(*bounds: Any) -> Any:
    """`range`."""
    found = [graph(b) for b in bounds]
    if all(f is None for f in found):
        return builtins.range(*bounds)
    return Range(*[b if f is None else f for b, f in zip(bounds, found, strict=True)])


def enumerate_(values: Any, start: Any = 0) -> Any:
    """`enumerate`."""
    if is_unknown(values) or isinstance(start, Variable):
        return Numbered(values, start)
    return builtins.enumerate(values, start)


def zip_(*columns: Any, strict: bool = False) -> Any:
    """`zip`."""
    if any(map(is_unknown, columns)):
        return Beside(*columns)
    return builtins.zip(*columns, strict=strict)


def sequence(kind: type) -> Callable[..., Any]:
    """`list` or `tuple`; of a list that a Program holds, or of a walk, another such list."""

    @functools.wraps(kind, updated=())
    def function(*values: Any) -> Any:
        if values and is_array(values[0]):
            return part(values[0], None, None)
        if values and isinstance(values[0], Walk):
            return LISTED[0](values[0], lambda v: v, None, False)
        return kind(*values)

    return function


def reversed_(values: Any) -> Any:
    """`reversed`."""
    return Backwards(values) if is_unknown(values) else builtins.reversed(values)


def map_(function: Any, *columns: Any) -> Any:
    """`map`."""
    called = CALL[0](function)
    if any(map(is_unknown, columns)):
        if len(columns) > 1:
            return Mapped(lambda items: called(*items), Beside(*columns))
        return Mapped(called, columns[0])
    return builtins.map(called, *columns)


def filter_(function: Any, values: Any) -> Any:
    """`filter`."""
    called = bool if function is None else CALL[0](function)
    return builtins.filter(lambda value: known(called(value)), values)


def isinstance_(value: Any, kinds: Any) -> bool:
    """`isinstance`: what stands for a tensor while a Program is recorded is one."""
    if isinstance(value, Variable):
        asked = kinds if isinstance(kinds, tuple) else (kinds,)
        if Tensor in asked:
            return True
    return builtins.isinstance(value, kinds)


class OfTensors(type):
    """The kind of a class that is a pattern: what stands for a tensor is of it."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance_(value, Tensor)


class AnyTensor(metaclass=OfTensors):
    """What `case Tensor()` asks for."""


def kind(found: Any) -> Any:
    """The class that a pattern names, as it is asked for while a Program is recorded."""
    return AnyTensor if found is Tensor else found


def getattr_(owner: Any, name: str, *default: Any) -> Any:
    """`getattr`."""
    reading(owner, name)
    return builtins.getattr(owner, name, *default)


def hasattr_(owner: Any, name: str) -> bool:
    """`hasattr`."""
    reading(owner, name)
    return builtins.hasattr(owner, name)


def setattr_(owner: Any, name: str, value: Any) -> None:
    """`setattr`."""
    writing(owner, name)
    builtins.setattr(owner, name, value)


def extreme(kind: Callable[..., Any], beyond: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`min` or `max`: of several values the first that no other is `beyond`."""

    def choose(found: Any, value: Any) -> Any:
        return where(beyond(value, found), value, found)

    @functools.wraps(kind)
    def function(*values: Any, **options: Any) -> Any:
        several = list(values)
        if len(values) == 1 and is_iterable(values[0]):
            several = list(values[0])
            values = (several,)  # what it was taken from may be used up
        found = [graph(v) for v in several]
        if options or len(several) < 2 or all(f is None for f in found):
            return kind(*values, **options)
        first = next(f for f in found if f is not None)
        given = [alike(v, first) if f is None else f for v, f in zip(several, found, strict=True)]
        return functools.reduce(choose, given)

    return function


def alike(value: Any, variable: Variable) -> Any:
    """A number as a variable beside another."""
    return zeros_like(variable) + value


def is_iterable(values: Any) -> bool:
    """Whether Python walks over it, and no Program."""
    return isinstance(values, Iterable) and not isinstance(values, Variable | Walk | Tensor)


def sum_(values: Any, *start: Any, **options: Any) -> Any:
    """`sum`."""
    if not isinstance(values, Variable) or not is_unknown(values):
        return builtins.sum(values, *start, **options)
    rows = stack(values) if is_array(values) else values
    return total(rows, axis=0) + (start[0] if start else options.get("start", 0))


def reduce_(function: Any, values: Any, *start: Any) -> Any:
    """`functools.reduce`."""
    called = CALL[0](function)
    if not is_unknown(values):
        return functools.reduce(called, values, *start)
    if start:
        return LISTED[1](called, values, start[0])
    line = indexed(values)
    rest = part(values, 1, None) if is_array(values) else values[1:]
    return LISTED[1](called, rest, line.item(0))


def every(values: Any) -> Any:
    """`all`."""
    if is_unknown(values):
        return LISTED[1](lambda a, b: and_(a, lambda: b), values, True)
    found: Any = True
    for value in values:
        found = value if found is True else and_(found, lambda value=value: value)
        if graph(found) is None and not found:
            return False
    return found if graph(found) is not None else True


def some(values: Any) -> Any:
    """`any`."""
    if is_unknown(values):
        return LISTED[1](lambda a, b: or_(a, lambda: b), values, False)
    found: Any = False
    for value in values:
        found = value if found is False else or_(found, lambda value=value: value)
        if graph(found) is None and found:
            return True
    return found if graph(found) is not None else False


CALL: list[Any] = []  # how functions that are given to these are called
LISTED: list[Any] = []  # how a comprehension fills a list, and how one value is made of many
BUILTINS: dict[Any, Any] = {
    builtins.abs: abs_,
    builtins.all: every,
    builtins.any: some,
    builtins.bool: casting(bool, "bool"),
    builtins.enumerate: enumerate_,
    builtins.filter: filter_,
    builtins.float: casting(float, "float32"),
    builtins.getattr: getattr_,
    builtins.hasattr: hasattr_,
    builtins.int: casting(int, "int32"),
    builtins.isinstance: isinstance_,
    builtins.len: len_,
    builtins.list: sequence(list),
    builtins.map: map_,
    builtins.max: extreme(max, operator.gt),
    builtins.min: extreme(min, operator.lt),
    builtins.print: print_,
    builtins.range: range_,
    builtins.reversed: reversed_,
    builtins.setattr: setattr_,
    builtins.sum: sum_,
    builtins.tuple: sequence(tuple),
    builtins.zip: zip_,
    functools.reduce: reduce_,
}
