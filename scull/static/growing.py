"""Lists of tensors of a Program that grow and shrink as Python's do."""

from collections.abc import Callable
from typing import Any

from scull.core.meta import Kind
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import Variable
from scull.static.nn.loop import while_loop
from scull.tensor.array import array_length, array_read, array_write, create_array
from scull.tensor.creation import assign, full
from scull.tensor.elementwise import maximum, minimum
from scull.tensor.function import cast


def append(array: Any, x: Any) -> None:
    """Write `x` behind the last tensor of `array`."""
    x = x if isinstance(x, Variable) else assign(x)
    array_write(x, array_length(listed(array)), array)


def pop(array: Any, index: Any = -1) -> Any:
    """Take the tensor at place `index` out of `array`."""
    count = array_length(listed(array))
    at = place_in(count, index)
    found = array_read(array, at)
    assign(copied(array, count - 1, lambda i: i + cast(i >= at, "int64")), array)
    return found


def extend(array: Any, values: Any) -> None:
    """Write every tensor of `values`, a list of Python or of the Program, behind the last one."""
    if not isinstance(values, Variable):
        for x in values:
            append(array, x)
        return
    count = array_length(listed(values))

    def round_(i: Any) -> Any:
        append(array, array_read(values, i))
        return [i + 1]

    while_loop(lambda i: i < count, round_, [full([1], 0, "int64")])


def insert(array: Any, index: Any, x: Any) -> None:
    """Put `x` before the tensor at place `index`."""
    at = place_in(array_length(listed(array)), index)
    rest = part(array, at, None)
    made = copied(array, at, lambda i: i)
    append(made, x)
    extend(made, rest)
    assign(made, array)


def clear(array: Any) -> None:
    """Take all tensors out of `array`."""
    assign(create_array(listed(array).dtype), array)


def followed(array: Any, values: Any) -> Any:
    """A list of the tensors of `array`, and behind them those of `values`."""
    made = part(array, None, None)
    extend(made, joinable(array, values))
    return made


def preceded(array: Any, values: Any) -> Any:
    """A list of the tensors of `values`, and behind them those of `array`."""
    made = create_array(array.dtype)
    made.meta = array.meta
    extend(made, joinable(array, values))
    extend(made, array)
    return made


def joinable(array: Any, values: Any) -> Any:
    """`values`, a list of Python or of the Program that is put beside `array`."""
    if not isinstance(values, list) and getattr(values, "kind", None) is not Kind.ARRAY:
        raise ArgumentTypeError(
            f"`{array.name}` holds a list of tensors; what is added to it is a list, not "
            f"{type(values).__name__}"
        )
    return values


def repeated(array: Any, times: int) -> Any:
    """A list of the tensors of `array`, several times."""
    made = part(array, 0, 0)
    for _ in range(times):
        extend(made, array)
    return made


def backwards(array: Any) -> Any:
    """A list of the tensors of `array`, the last one first."""
    count = array_length(listed(array))
    return copied(array, count, lambda i: count - 1 - i)


def part(array: Any, start: Any, stop: Any, step: Any = 1) -> Any:
    """A list of those tensors of `array` that the slice `start:stop:step` takes, as Python does."""
    if not isinstance(step, int):
        raise ArgumentTypeError(f"the step of a slice is an int, not {type(step).__name__}")
    if step == 0:
        raise ArgumentError("the step of a slice is not 0")
    count, lowest = array_length(listed(array)), full([1], 0 if step > 0 else -1, "int64")
    highest = count if step > 0 else count - 1
    first, end = (lowest, highest) if step > 0 else (highest, lowest)
    first = first if start is None else minimum(maximum(place_in(count, start), lowest), highest)
    end = end if stop is None else minimum(maximum(place_in(count, stop), lowest), highest)
    distance, size = end - first if step > 0 else first - end, abs(step)
    many = distance if size == 1 else (distance + (size - 1)) // size
    return copied(array, many, lambda i: i * step + first)


def copied(array: Any, count: Any, place: Callable[[Any], Any]) -> Any:
    """A list of `count` tensors of `array`: `place` says where the one of a number is."""
    made = create_array(array.dtype)
    made.meta = array.meta

    def round_(i: Any) -> Any:
        array_write(array_read(array, place(i)), i, made)
        return [i + 1]

    while_loop(lambda i: i < count, round_, [full([1], 0, "int64")])
    return made


def place_in(count: Any, index: Any) -> Any:
    """A place in a list of `count` tensors, counted from its start."""
    if isinstance(index, Variable):
        at = cast(index, "int64").reshape([1])  # type: ignore[attr-defined]
        return at + count * cast(at < 0, "int64")
    return count + index if index < 0 else full([1], index, "int64")


def listed(array: Any) -> Any:
    """`array`, which is a variable that holds a list of tensors."""
    if array.kind is not Kind.ARRAY:
        raise ArgumentTypeError(f"`{array.name}` is {array.meta} and no list of tensors")
    return array
