"""Numbers that become tensors, under Paddle's names."""

import ast
from typing import Any

from scull.ir.variable import Variable
from scull.jit.convert.run.value import is_number
from scull.tensor.creation import full

KINDS = {bool: "bool", int: "int64", float: "float64"}


def create_fill_constant_node(name: str, value: Any = 0) -> ast.Assign | None:
    """The statement that gives a number to a name as a tensor; None for what is no number.

    Args:
        name (str): the name.
        value (bool | int | float): the number.
    """
    if not is_number(value):
        return None
    shown = f"paddle.full(shape=[1], dtype={KINDS[type(value)]!r}, fill_value={value!r}"
    found: Any = ast.parse(f"{name} = {shown}, name={name!r})").body[0]
    return found  # type: ignore[no-any-return]


def to_static_variable(x: Any) -> Any:
    """A number as a tensor; what is none as it is.

    Args:
        x: the value.
    """
    return full([], x, KINDS[type(x)]) if is_number(x) else x


def create_bool_as_type(x: Any, value: bool = True) -> Any:
    """A truth value as a variable where `x` is one.

    Args:
        x: what decides.
        value (bool): the truth value.
    """
    return full([1], value, "bool") if isinstance(x, Variable) else value
