"""Operators that call Python in the middle of a Program, and that stop it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count as count_up
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from scull.autograd.program import BACKWARD, MAKERS, Backward, gradient_slot
from scull.core.attribute import Long, Strings
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta, count
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, ScopeTensor


@dataclass(frozen=True, eq=False)
class PythonFunction:
    """What a Program calls, and the metas of its results as far as they are known."""

    call: Callable[..., Any]
    metas: tuple[Any, ...]
    takes_operands: bool = True


class Number(int):
    """By what Programs name a function, which lives as long as one of them holds its number."""

    function: PythonFunction


FUNCTIONS: WeakValueDictionary[int, PythonFunction] = WeakValueDictionary()
numbers = count_up()


def registered(function: PythonFunction) -> int:
    """The number by which Programs call `function` from now on."""
    number = Number(next(numbers))
    number.function = FUNCTIONS[int(number)] = function
    return number


def function_of(number: int) -> PythonFunction:
    """The function of a number."""
    found = FUNCTIONS.get(number)
    if found is None:
        raise ArgumentError(f"this process knows no Python function by the number {number}")
    return found


@primitive(outputs=("out[]",), effects=("python", "writes"), infer_first=True)
def py_func(
    x: list[Meta],
    *,
    forward_callable_id: int = 0,
    backward_callable_id: int = -1,
    backward_skip_vars: Strings = (),
) -> Any:
    """What a Python function gives for `x`."""
    return list(function_of(forward_callable_id).metas)


@py_func.kernel
def py_func_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    forward_callable_id: int,
    placed: Any = None,
    **_: Any,
) -> Any:
    """`placed` says which results a Program has a place for."""
    function = function_of(forward_callable_id)
    operands = [ScopeTensor(Cell("", v)) for v in x] if function.takes_operands else []
    found = function.call(*operands)
    results = list(found) if isinstance(found, list | tuple) else [found]
    needed = [True] * len(function.metas) if placed is None else placed
    if found is None and not needed:
        results = []
    if len(results) != len(needed):
        raise ArgumentError(f"a Python function gave {len(results)} results, not {len(needed)}")
    for i, (result, has_place) in enumerate(zip(results, needed, strict=True)):
        if has_place and result is None:
            raise ArgumentError(f"a Python function gave None as its result {i}")
    return [v if v is None else as_array(v) for v in results]


def as_array(value: Any) -> Any:
    """A result as an array."""
    return value.array if isinstance(value, Tensor) else np.asarray(value)


def make_py_func_gradient(
    pass_: Backward, o: Operator, arrived: dict[Variable, Any], wanted: dict[int, list[Variable]]
) -> None:
    """Append the call of the function for gradients.

    It gets what `o` read and wrote, but for what is skipped, then the gradients of its results.
    """
    skipped = set(o.attrs["backward_skip_vars"])
    known = [v for v in (*o.operands(), *o.results()) if v.name not in skipped]
    douts = [gradient_slot(py_func.op, "out", v, arrived) for v in o.results()]
    made = iter(wanted.get(0, ()))
    takers = {v for _, v in pass_.receivers(o)}
    slot = [next(made) if v in takers else None for v in o.operands()]
    attrs = {**py_func.op.attrs, "forward_callable_id": o.attrs["backward_callable_id"]}
    operator = Operator(pass_.into, py_func.op, ([*known, *douts],), (slot,), attrs)
    operator.role, operator.line = BACKWARD, o.line
    operator.namescope, operator.device = o.namescope, o.device
    pass_.into.append(operator)


MAKERS["py_func"] = make_py_func_gradient
py_func.no_grad("a Python function may have a gradient, which the Program then calls")
py_func.no_lowering("it calls Python")


@primitive(type="assert", outputs=(), effects=("writes",), infer_first=True, unprinted=("message",))
def assert_true(
    cond: Meta, data: list[Meta] | None = None, *, summarize: Long = -1, message: str = ""
) -> tuple[()]:
    """Nothing, if `cond` holds; else an error that shows `summarize` elements of each of `data`.

    It says `message`, if there is one.
    """
    if cond.dtype is not bool_:
        raise DtypeError(f"cond is {cond.dtype.name}, not bool")
    if count(cond.shape) not in (1, -1):
        raise ShapeError(f"cond has {count(cond.shape)} elements, not one")
    return ()


@assert_true.kernel
def assert_kernel(
    xp: Any, cond: Any, data: Any = None, *, out: Any = None, summarize: int, message: str
) -> tuple[()]:
    if cond.size != 1:
        raise ShapeError(f"cond has {cond.size} elements, not one")
    if not cond.item():
        shown = "".join(f"\n  {shortened(x, summarize)}" for x in data or ())
        raise AssertError((message or "what was to hold does not") + ":" * bool(shown) + shown)
    return ()


def shortened(x: Any, count: int) -> str:
    """The element type, the shape and some elements of an array."""
    values = x.reshape(-1)
    some = values[: count if count >= 0 else None].tolist()
    rest = ", ..." if len(some) < values.size else ""
    return f"{x.dtype.name}{list(x.shape)} {', '.join(map(str, some))}{rest}"


assert_true.no_grad("it has no result")
assert_true.no_lowering("it stops a Program")
