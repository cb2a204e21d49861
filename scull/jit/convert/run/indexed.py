"""What a `for` walks along when its length is known only when the Program runs."""

from typing import Any

from scull.core.meta import Kind
from scull.ir.variable import Variable
from scull.jit.convert.run.refusal import UNKNOWN, refused
from scull.jit.convert.run.value import as_number, is_array, variable
from scull.tensor import cast, minimum, reshape, sign, stack
from scull.tensor.array import array_length, array_read
from scull.tensor.attribute import shape as shape_of
from scull.tensor.creation import assign


class Walk:
    """Items that only a loop of a Program can walk along: `length` of them, by their numbers."""

    length: Any

    def __iter__(self) -> Any:
        law = f"how many items there are {UNKNOWN}"
        raise refused(law, "walk along them by a `for` statement that fills a list")

    def __len__(self) -> int:
        raise refused(f"how many items there are {UNKNOWN}")


class Range(Walk):
    """`range(start, stop, step)` of which one is a variable."""

    def __init__(self, *bounds: Any) -> None:
        first = (0, *bounds) if len(bounds) == 1 else bounds
        start, stop, step = (*first, 1)[:3]
        self.start, self.step = scalar(start), scalar(step)
        away, step = scalar(stop) - self.start, self.step
        if isinstance(step, int):
            one: Any = 1 if step > 0 else -1
            self.length = away if step == 1 else (away + step - one) // step
        else:
            self.length = (away + step - sign(step)) // step

    def item(self, at: Any) -> Any:
        scaled = at if is_plain(self.step, 1) else at * self.step
        return scaled if is_plain(self.start, 0) else scaled + self.start


class Rows(Walk):
    """The rows of a variable."""

    def __init__(self, value: Variable) -> None:
        self.value, self.length = value, shape_of(value)[0]

    def item(self, at: Any) -> Any:
        return self.value[at]


class Held(Walk):
    """The tensors of a variable that holds a list of them."""

    def __init__(self, value: Variable) -> None:
        self.value, self.length = value, reshape(array_length(value), [])

    def item(self, at: Any) -> Any:
        return array_read(self.value, place(at))


class Listed(Walk):
    """A list or another sequence of tensors or numbers of one kind."""

    def __init__(self, values: Any) -> None:
        self.values, self.length = values, len(values)
        self.stacked: Any = None

    def item(self, at: Any) -> Any:
        if isinstance(at, int):
            return self.values[at]
        if isinstance(self.values, range):
            return Range(self.values.start, self.values.stop, self.values.step).item(at)
        return stack([variable(v) for v in self.values])[at]


class Backwards(Walk):
    """`reversed(values)`."""

    def __init__(self, values: Any) -> None:
        self.values = indexed(values)
        self.length = self.values.length

    def item(self, at: Any) -> Any:
        return self.values.item(self.length - 1 - at)


class Numbered(Walk):
    """`enumerate(values, start)`."""

    def __init__(self, values: Any, start: Any = 0) -> None:
        self.values, self.start = indexed(values), start
        self.length = self.values.length

    def item(self, at: Any) -> Any:
        number = at if is_plain(self.start, 0) else at + self.start
        return number, self.values.item(at)


class Beside(Walk):
    """`zip(*columns)`."""

    def __init__(self, *columns: Any) -> None:
        self.columns = [indexed(c) for c in columns]
        known = [c.length for c in self.columns if isinstance(c.length, int)]
        found = [c.length for c in self.columns if not isinstance(c.length, int)]
        self.length = found[0]
        for other in [*found[1:], *([variable(min(known))] if known else [])]:
            self.length = minimum(self.length, other)

    def item(self, at: Any) -> Any:
        return tuple([c.item(at) for c in self.columns])


class Mapped(Walk):
    """`map(function, values)`."""

    def __init__(self, function: Any, values: Any) -> None:
        self.function, self.values = function, indexed(values)
        self.length = self.values.length

    def item(self, at: Any) -> Any:
        return self.function(self.values.item(at))


def is_plain(value: Any, number: int) -> bool:
    """Whether `value` is this number of Python."""
    return isinstance(value, int) and value == number


def scalar(value: Any) -> Any:
    """A number, or a variable of shape [] and int64."""
    if not isinstance(value, Variable):
        return int(value)
    value = reshape(value, []) if value.shape else assign(value)
    return as_number(value if value.dtype.name == "int64" else cast(value, "int64"))


def place(at: Any) -> Variable:
    """The number of an item as lists of tensors take it."""
    return reshape(cast(variable(at), "int64"), [1])  # type: ignore[no-any-return]


def is_unknown(values: Any) -> bool:
    """Whether the number of items of `values` is known only when the Program runs."""
    if isinstance(values, Variable):
        return values.kind is Kind.ARRAY or values.shape[:1] == (-1,)
    return isinstance(values, Walk)


def indexed(values: Any) -> Any:
    """`values` as items by their numbers."""
    if isinstance(values, Walk):
        return values
    if is_array(values):
        return Held(values)
    if isinstance(values, Variable) and is_unknown(values):
        return Rows(values)
    return Listed(values if isinstance(values, Variable | range) else list(values))
