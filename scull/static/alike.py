"""Methods of Tensors that code of eager mode calls, of Variables of functions made static."""

from typing import Any

import numpy as np

from scull.core.dtype import dtype_of
from scull.core.interpreter import current
from scull.core.op import op_of
from scull.eager.attach import attach
from scull.eager.conversion import wanted_type
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.ir.variable import Variable


def rewritten(variable: Variable, value: Variable, method: str) -> Variable:
    """`variable`, which has the elements of `value` from here on."""
    mode: Any = current()
    if not mode.captures:
        raise UnsupportedError(
            f"`{method}` changes a Tensor, and `{variable.name}` is a Variable of a Program that "
            "is built by operators: assign to it"
        )
    found: Variable = mode.rewritten(variable, value)
    return found


def filled(variable: Variable, value: float) -> Variable:
    """A variable of the same shape whose elements are `value`."""
    found: Variable = op_of("fill_any_like").call(variable, value=value, dtype=variable.dtype)
    return found


@attach(Variable)
class OfTensors:
    """What a Tensor does, recorded."""

    def fill_(self: Any, value: float) -> Any:
        """Make every element `value`.

        Args:
            value (int | float): the number.
        """
        if not isinstance(value, int | float | np.number):
            raise ArgumentTypeError(
                f"The type of 'value'  must be int or float, but received {type(value)}."
            )
        return rewritten(self, filled(self, float(value)), "fill_")

    def zero_(self: Any) -> Any:
        """Make every element 0."""
        return rewritten(self, filled(self, 0.0), "zero_")

    def to(self: Any, *args: Any, **options: Any) -> Any:
        """The elements in another element type, or that of another tensor; a place is as well.

        Args:
            args (str | DType | Tensor): the element type, or what has it.
            options: `device`, `dtype`, `blocking`, `other`.
        """
        wanted = wanted_type(args, options)
        return self if wanted is None or dtype_of(wanted) is self.dtype else self.astype(wanted)

    def contiguous(self: Any) -> Any:
        """The variable, whose memory the executor lays out."""
        return self

    def is_contiguous(self: Any) -> bool:
        """True."""
        return True
