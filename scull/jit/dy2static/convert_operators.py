"""What converted code calls, under Paddle's names."""

from collections.abc import Callable
from typing import Any

from scull.jit.convert.meanings import (
    and_,
    assert_,
    call,
    not_,
    or_,
    shape,
    size,
)
from scull.jit.convert.run.branch import record_branch
from scull.jit.convert.run.builtin import (
    BUILTINS,
    enumerate_,
    len_,
    print_,
    range_,
    zip_,
)
from scull.jit.convert.run.indexed import indexed, is_unknown
from scull.jit.convert.run.logic import compared
from scull.jit.convert.run.loop import looped
from scull.jit.convert.run.state import State
from scull.jit.convert.run.value import graph, is_array
from scull.tensor.logic import all as all_of
from scull.tensor.logic import any as any_of


class Values:
    """One of the values that a function gets and another sets."""

    def __init__(self, get: Callable[[], Any], set: Callable[[Any], Any], at: int) -> None:
        self.get, self.set, self.at = get, set, at

    def read(self) -> Any:
        return self.get()[self.at]

    def write(self, value: Any) -> None:
        values = list(self.get())
        values[self.at] = value
        self.set(tuple(values))


def state_of(get: Callable[[], Any], set: Callable[[Any], Any], names: Any) -> State:
    """The state that `get` reads and `set` writes."""
    made = State(())
    count = len(get() or ())
    made.names = [*(names or ()), *map(str, range(count))][:count]
    made.places = [Values(get, set, i) for i in range(count)]
    return made


def convert_ifelse(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    get_args: Callable[[], Any],
    set_args: Callable[[Any], Any],
    return_name_ids: Any,
    push_pop_names: Any = None,
) -> Any:
    """`if pred: true_fn()` `else: false_fn()`, which change what `get_args` gives."""
    holds = graph(pred)
    if holds is None:
        true_fn() if pred else false_fn()
    else:
        record_branch(holds, true_fn, false_fn, state_of(get_args, set_args, return_name_ids))
    return get_args()


def convert_while_loop(
    cond: Callable[[], Any],
    body: Callable[[], Any],
    getter: Callable[[], Any],
    setter: Callable[[Any], Any],
    return_name_ids: Any = None,
    push_pop_names: Any = None,
) -> None:
    """`while cond(): body()`, which changes what `getter` gives."""
    looped(cond, body, lambda: state_of(getter, setter, return_name_ids))


def convert_logical_and(x_func: Callable[[], Any], y_func: Callable[[], Any]) -> Any:
    """`x_func() and y_func()`."""
    return and_(x_func(), y_func)


def convert_logical_or(x_func: Callable[[], Any], y_func: Callable[[], Any]) -> Any:
    """`x_func() or y_func()`."""
    return or_(x_func(), y_func)


def convert_assert(cond: Any, message: Any = "") -> None:
    """`assert cond, message`."""
    assert_(cond, lambda: message)


def convert_shape_compare(left: Any, *args: Any) -> Any:
    """A chain of comparisons: `args` are signs, and operands or functions that give them.

    Of variables one truth value comes: whether all elements compare so, of `!=` whether one does.
    """
    result: Any = True
    for sign, part in zip(args[::2], args[1::2], strict=True):
        right = part() if callable(part) and graph(part) is None else part
        found = compared(left, sign, right)
        if graph(found) is not None:
            found = (any_of if sign == "!=" else all_of)(found)
        left, result = right, and_(result, lambda found=found: found)
        if graph(result) is None and not result:
            return result
    return result


def convert_var_dtype(var: Any, dtype: str) -> Any:
    """`bool(var)`, `int(var)` or `float(var)`."""
    kinds: dict[str, Any] = {"bool": bool, "int": int, "float": float}
    return BUILTINS[kinds[dtype]](var)


def convert_attr(x: Any, attr: str) -> Any:
    """`x.attr`."""
    return size(x) if attr == "size" else getattr(x, attr)


def convert_load(x: Any) -> Any:
    """A name that is read: a Tensor becomes a variable while a Program is recorded."""
    found = graph(x)
    return x if found is None else found


def convert_pop(target: Any, *args: Any) -> Any:
    """`target.pop(*args)`."""
    return target.pop(*args)


def indexable(x: Any, code: Any = None) -> Any:
    """`x` as something that has items by number."""
    if graph(x) is not None or is_array(x):
        return x
    return indexed(x) if is_unknown(x) else list(x)


convert_call, convert_len, convert_logical_not, convert_shape = call, len_, not_, shape
convert_enumerate, convert_print, convert_range, convert_zip = enumerate_, print_, range_, zip_
And, Or, Not, Call, Len = (
    convert_logical_and,
    convert_logical_or,
    convert_logical_not,
    convert_call,
    convert_len,
)
IfElse, While, Assert, AsDtype = (
    convert_ifelse,
    convert_while_loop,
    convert_assert,
    convert_var_dtype,
)
Shape, Pop, Indexable = convert_shape, convert_pop, indexable
