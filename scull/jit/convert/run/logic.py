"""`and`, `or`, `not`, comparisons, `in` and `assert`, of Python's values or of a Program's."""

import operator
from collections.abc import Callable, Iterable
from typing import Any

from scull.core.dtype import bool_
from scull.ir.variable import Variable
from scull.jit.convert.run.raising import raising
from scull.jit.convert.run.refusal import UNKNOWN, refused
from scull.jit.convert.run.value import graph, is_array, stands_for_number, truth, variable
from scull.ops.python import assert_true
from scull.tensor import where
from scull.tensor.creation import full
from scull.tensor.logic import any as any_of
from scull.tensor.logic import equal, logical_and, logical_not, logical_or

Later = Callable[[], Any]
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


def and_(first: Any, *rest: Later) -> Any:
    """`first and rest`."""
    return chained(False, logical_and, first, rest)


def or_(first: Any, *rest: Later) -> Any:
    """`first or rest`."""
    return chained(True, logical_or, first, rest)


def chained(
    decides: bool, join: Callable[[Any, Any], Any], first: Any, rest: Iterable[Later]
) -> Any:
    """A chain of `and` or `or`: of Python's values the first whose truth `decides` is the last."""
    for later in rest:
        known = graph(first)
        if known is None:
            if bool(first) is decides:
                return first
            first = later()
            continue
        second = later()
        other = graph(second)
        if is_chosen(known, second):
            first = chosen(decides, known, second)
        elif other is not None:
            first = join(whole(known), whole(other))
        else:
            first = second if bool(second) is decides else known
    return first


def is_chosen(first: Variable, second: Any) -> bool:
    """Whether a chain gives one of two values that are more than a truth: numbers, say."""
    if is_array(first) or first.dtype is bool_ or first.meta.shape not in ((), (1,)):
        return False
    if isinstance(second, Variable):
        return second.meta == first.meta
    return type(second) is int or (type(second) is float and first.dtype.is_float)


def chosen(decides: bool, first: Variable, second: Any) -> Variable:
    """`first or second` when `decides`, else `first and second`, of values of one kind."""
    number = first.number and stands_for_number(second)
    other = variable(second, first.meta)
    pair = (first, other) if decides else (other, first)
    made = where(truth(first), *pair)
    made.number = number
    return made  # type: ignore[no-any-return]


def whole(value: Variable) -> Any:
    """The truth values of a variable; of a list whether something is in it."""
    if is_array(value):
        return truth(value)
    return value if value.dtype.name == "bool" else value.cast("bool")  # type: ignore[attr-defined]


def not_(value: Any) -> Any:
    """`not value`."""
    known = graph(value)
    return not value if known is None else logical_not(whole(known))


def compare(left: Any, *parts: Any) -> Any:
    """`left < a < b` and the like: `parts` are signs and what comes behind them, later."""
    result: Any = True
    for sign, later in zip(parts[::2], parts[1::2], strict=True):
        right = later()
        found = compared(left, sign, right)
        left = right
        result = found if result is True else and_(result, lambda found=found: found)
        if graph(result) is None and not result:
            return result
    return result


def compared(left: Any, sign: str, right: Any) -> Any:
    """One comparison."""
    if sign == "in":
        return contains(left, right)
    if sign == "not in":
        return lacks(left, right)
    return COMPARED[sign](left, right)


def contains(item: Any, values: Any) -> Any:
    """`item in values`."""
    inside, sought = graph(values), graph(item)
    if inside is not None:
        return any_of(equal(inside, item if sought is None else sought))
    if isinstance(values, list | tuple | set | frozenset) and (
        sought is not None or any(graph(v) is not None for v in values)
    ):
        found: Any = False
        for value in values:
            found = or_(found, lambda value=value: item is value or item == value)
        return found
    return item in values


def lacks(item: Any, values: Any) -> Any:
    """`item not in values`."""
    return not_(contains(item, values))


def known(test: Any) -> Any:
    """A test that only Python can make."""
    if graph(test) is not None:
        law = f"a Tensor decides in a comprehension or a generator, and its value {UNKNOWN}"
        raise refused(law, "write a function with `for` and `if` statements that fills a list")
    return test


def assert_(test: Any, message: Later | None) -> None:
    """`assert test, message`."""
    holds = graph(test)
    if holds is not None:
        holds = truth(holds)
        said = None if message is None else message()
        shown = graph(said)
        text = "" if said is None or shown is not None else str(said)
        assert_true(holds, [holds if shown is None else shown], message=text)
    elif not test:
        raise raising(AssertionError(*([] if message is None else [message()])))


def constant(value: Any) -> Any:
    """A truth value as a variable."""
    return full([], bool(value), "bool")


def bind(name: Any, value: Any) -> Any:
    """Give `value` to the variable that the function `name` reads."""
    name.__closure__[0].cell_contents = value
    return value
