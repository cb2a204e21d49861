"""Whether a value is one of a Program, and as what it goes into one."""

from typing import Any

import numpy as np

from scull.core.dtype import bool_, float64, int64
from scull.core.interpreter import current
from scull.core.meta import Kind, Meta, count
from scull.core.tensor import Tensor
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.jit.convert.run.refusal import refused
from scull.tensor import cast
from scull.tensor.array import array_length
from scull.tensor.creation import assign, full

NUMBERS = (bool, int, float)


def graph(value: Any) -> Variable | None:
    """The variable that `value` is, or stands for while a Program is recorded; None for others."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, Tensor) and not current().eager:
        found: Variable = assign(value)
        return found
    return None


def truth(value: Variable) -> Variable:
    """One truth value of a variable of one element; of a list whether something is in it."""
    if value.kind is Kind.ARRAY:
        return array_length(value) > 0  # type: ignore[no-any-return]
    if count(value.meta.shape) not in (1, -1):
        law = f"a condition has one element, and this is {value.meta}"
        raise refused(law, "use paddle.all or paddle.any")
    return value if value.dtype is bool_ else cast(value, bool_)  # type: ignore[no-any-return]


def is_number(value: Any) -> bool:
    """Whether it is a number of Python."""
    return isinstance(value, NUMBERS)


def meta_of_number(value: Any) -> Meta:
    """What a number is in a Program."""
    if isinstance(value, bool):
        return Meta((), bool_)
    return Meta((), full_dtype(value))


def full_dtype(value: Any) -> Any:
    """The element type of a number."""
    return int64 if isinstance(value, int) else float64


def variable(value: Any, meta: Meta | None = None) -> Variable:
    """`value` as a variable."""
    if isinstance(value, Variable):
        return value
    if not is_number(value):
        return assign(value)  # type: ignore[no-any-return]
    found = meta or meta_of_number(value)
    made = full(known_sizes(found), value, found.dtype)
    return as_number(made) if meta is None else made  # type: ignore[no-any-return]


def as_number(value: Variable) -> Variable:
    """`value`, which stands for a number of Python from now on."""
    value.number = True
    return value


def stands_for_number(value: Any) -> bool:
    """Whether it is a number of Python, or stands for one in a Program."""
    return value.number if isinstance(value, Variable) else is_number(value)


def known_sizes(meta: Meta) -> list[int]:
    """The shape of a meta, with 1 for sizes that are not known."""
    return [1 if n == -1 else int(n) for n in meta.shape]


def is_array(value: Any) -> bool:
    """Whether it is a variable that holds a list of tensors."""
    return isinstance(value, Variable) and value.kind is Kind.ARRAY


def is_value(value: Any) -> bool:
    """Whether it may become a variable."""
    return isinstance(value, Variable | Tensor | np.ndarray | np.generic) or is_number(value)


def is_outside(value: Variable, block: Any) -> bool:
    """Whether `value` is of `block` or of one around it."""
    return any(value.block is b for b in block.lineage())


def fresh(meta: Meta) -> Variable:
    """A new variable of the current block."""
    block = main_program().current_block()
    return block.create_var(shape=meta.shape, dtype=meta.dtype, type=meta.kind)  # type: ignore[no-any-return]
