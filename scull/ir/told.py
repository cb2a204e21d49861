"""Attributes that Variables hold: their values are known when the Program runs."""

from typing import Any

from scull.core.meta import UNKNOWN
from scull.core.op import Op
from scull.errors import ArgumentTypeError, ShapeError
from scull.ir.variable import Variable

ONE, MANY = ("INT", "LONG"), ("INTS", "LONGS")


def holds_variables(value: Any) -> bool:
    """Whether an attribute is given by a Variable, or by a list of them."""
    if isinstance(value, list | tuple):
        return any([isinstance(v, Variable) for v in value])
    return isinstance(value, Variable)


def told_apart(op: Op, attrs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes whose values are known, and those that Variables hold."""
    told = {n: v for n, v in attrs.items() if n in op.kinds and holds_variables(v)}
    return {n: v for n, v in attrs.items() if n not in told} if told else attrs, told


def stand_in(op: Op, name: str, value: Any) -> Any:
    """What type rules see in the place of an attribute that Variables hold."""
    wire = op.kinds[name].wire
    if wire in MANY:
        return (UNKNOWN,) * number_of(name, value)
    if isinstance(value, Variable) and (wire in ONE or name in op.attrs):
        return UNKNOWN if wire in ONE else op.attrs[name]
    raise ArgumentTypeError(f"attribute `{name}` of `{op.type}` is no Variable's to hold")


def number_of(name: str, value: Any) -> int:
    """How many numbers the attribute `name` has."""
    if isinstance(value, list | tuple):
        return len(value)
    if value.meta.shape[:1] == (-1,):
        raise ShapeError(f"the Variable that holds `{name}` has itself an unknown size")
    return int(value.meta.shape[0]) if value.meta.shape else 1


def value_of(wire: str, found: Any) -> Any:
    """The value of an attribute from the arrays that hold it when run."""
    if wire in MANY:
        parts = found if isinstance(found, list) else [found]
        return tuple([int(n) for part in parts for n in part.reshape(-1).tolist()])
    return int(found.item()) if wire in ONE else found.item()
