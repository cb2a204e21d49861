"""Python functions in the middle of a Program."""

import inspect
from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.python import PythonFunction, registered


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """Append a call of `func`, whose results every run puts into `out`.

    A loaded Program knows no functions: they live in this process alone.

    Args:
        func (callable): gets the values of `x` (each turns into an array by `numpy.array`) and
            returns those of `out`: an array, a Tensor, or a list of these.
        x (Variable | list[Variable]): what it reads.
        out (Variable | list[Variable]): what it fills, made beforehand with shape and dtype.
        backward_func (callable, optional): gets `x`, `out` and the gradients of `out`, and returns
            the gradients of `x`, None for one without. Without it `out` has no gradient.
        skip_vars_in_backward_input (Variable | list[Variable], optional): those of `x` and `out`
            that it does not get.

    Returns:
        Variable | list[Variable]: `out`.

    Raises:
        ArgumentTypeError: a function is not callable, or `x` or `out` are no Variables.
        ArgumentError: what is to be skipped is neither of `x` nor of `out`.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> program = paddle.static.Program()
        >>> with paddle.static.program_guard(program):
        ...     x = paddle.static.data("x", [2])
        ...     y = program.current_block().create_var("y", shape=[2], dtype="float32")
        ...     _ = paddle.static.py_func(lambda x: np.array(x) + 1, x, y)
        ...     feed = {"x": np.ones(2, "float32")}
        ...     print(paddle.static.Executor().run(feed=feed, fetch_list=[y])[0].tolist())
        [2.0, 2.0]
        >>> paddle.disable_static()
    """
    if not callable(func):
        raise ArgumentTypeError("func must be a Python function")
    if backward_func is not None and not callable(backward_func):
        raise ArgumentTypeError("backward_func must be a Python function")
    operands, results = variables(x, "X"), variables(out, "Out")
    skipped = variables(skip_vars_in_backward_input, "skip_vars_in_backward_input")
    for v in skipped:
        if v.name not in {u.name for u in (*operands, *results)}:
            raise ArgumentError(f"Variable {v.name} is not found in forward inputs and outputs")
    attrs = {
        "forward_callable_id": number_of(func, results),
        "backward_callable_id": -1 if backward_func is None else number_of(backward_func, operands),
        "backward_skip_vars": tuple(v.name for v in skipped),
    }
    given = {"X": operands}, {"Out": results}
    made = main_program().current_block().append_op("py_func", *given, attrs)
    made.attrs.update(attrs)  # whose numbers keep the functions
    for v in results if backward_func is None else ():
        v.stop_gradient = True
    return out


def variables(given: Any, parameter: str) -> list[Variable]:
    """A Variable, a list of them or nothing, as a list."""
    found = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for v in found:
        if not isinstance(v, Variable):
            raise ArgumentTypeError(
                f"The type of '{parameter}' in py_func must be Variable or a list of them, but "
                f"received {type(v)}."
            )
    return list(found)


def number_of(function: Callable[..., Any], results: list[Variable]) -> int:
    """The number by which a Program calls `function`, whose results are like `results`."""
    try:
        takes = bool(inspect.signature(function).parameters)
    except ValueError:  # one written in C says nothing of its parameters
        takes = True
    return registered(PythonFunction(function, tuple(v.meta for v in results), takes))
