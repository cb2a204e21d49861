"""Functions that the gradients of Variables pass through whenever a Program runs."""

from collections.abc import Callable
from typing import Any

from scull.core import session
from scull.core.eager import SILENT
from scull.core.interpreter import interpreting
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, TapeError, UnsupportedError
from scull.ir.operator import Operator
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.custom import recorder_of
from scull.ops.python import PythonFunction, as_array, registered


class Hook:
    """What `register_hook` returns: `remove()` takes the function away."""

    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        self.function: Callable[[Tensor], Any] | None = function

    def remove(self) -> bool:
        """Take the function away; whether it was still there."""
        was, self.function = self.function is not None, None
        return was

    def recorded(self, gradient: Variable) -> Variable:
        """What is to take the place of a gradient, when gradients are appended."""
        if self.function is None:
            return gradient
        block = gradient.block.program.current_block()
        found: Variable = block.variable(session.unique_name(gradient.name), gradient.meta)
        attrs = {
            "forward_callable_id": registered(PythonFunction(self.called, (gradient.meta,))),
            "backward_callable_id": registered(PythonFunction(refuse, (gradient.meta,))),
        }
        made = block.append_op("py_func", {"X": [gradient]}, {"Out": [found]}, attrs)
        made.attrs.update(attrs)  # whose numbers keep the functions
        return found

    def called(self, value: Any) -> Any:
        """The same when the Program runs."""
        gradient = Tensor(as_array(value))
        with interpreting(SILENT):
            found = None if self.function is None else self.function(gradient)
        return gradient if found is None else found


def refuse(*values: Any) -> None:
    """Refuse the gradient of a gradient that a hook made."""
    raise UnsupportedError(
        "a hook changed this gradient, and what it did is not on the tape: register it outside of "
        "the function that is made static"
    )


def register_hook(variable: Variable, function: Any) -> Hook:
    """Call `function` with the whole gradient of `variable`, as it is now, in every run.

    What reads the variable already counts too: the operator that catches its gradient stands
    right behind the one that makes it.
    """
    if not callable(function):
        raise ArgumentTypeError(f"a hook is called, and {type(function).__name__} cannot be")
    if variable.stop_gradient:
        raise TapeError("Cannot register hook on a tensor that stop gradient.")
    block = variable.block
    if main_program().current_block() is not block:
        raise UnsupportedError(
            f"`{variable.name}` is made outside this branch or loop: a hook on it has to be "
            "registered there"
        )
    made, place = Hook(function), 1 + last_write(variable)
    slots = {"X": [variable], "Made": [variable]}, {"Out": [variable]}
    recorder = recorder_of(made.recorded)
    operator = block._insert_op(place, "python_gradient", *slots, {"recorder": recorder})
    operator.attrs["recorder"] = recorder  # which holds the function
    return made


def last_write(variable: Variable) -> int:
    """The place of the operator that made `variable` what it is; -1 where it came in.

    Hooks before are none: the first one gets the gradient first, so it stands last.
    """
    places = [
        i
        for i, o in enumerate(variable.block.ops)
        if variable in set(o.results()) and not is_hook(o, variable)
    ]
    return max(places, default=-1)


def is_hook(operator: Operator, variable: Variable) -> bool:
    """Whether an operator only catches the gradient of `variable`."""
    return operator.type == "python_gradient" and variable in set(operator.inputs[1])
