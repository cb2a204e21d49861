"""What assigning to an attribute of a layer means: tables for parameters, buffers, sublayers."""

from collections.abc import Iterable
from typing import Any

from scull.core.interpreter import current
from scull.core.tensor import Parameter, Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import ParameterVariable, Variable
from scull.ops.create import assign

TABLES = ("_parameters", "_buffers", "_sub_layers")
changes = [0]  # how often a layer got another member, or began to train or to test


class Attributes:
    """The rules of access by name that a Layer follows."""

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in TABLES:
            if table in own and name in own[table]:
                return own[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter | ParameterVariable):
            put(self, "_parameters", name, value)
        elif isinstance(value, Attributes):
            put(self, "_sub_layers", name, value)
        elif not replaced(self, name, value):
            if isinstance(value, Tensor):
                put_buffer(self, name, value)
            else:
                object.__setattr__(self, name, value)
                changes[0] += name == "training"

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                self.__dict__["_non_persistable_buffer_names_set"].discard(name)
                changes[0] += 1
                return
        object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        return [
            *object.__dir__(self),
            *(n for table in TABLES for n in self.__dict__.get(table, ())),
        ]


def put(layer: Attributes, table: str, name: str, value: Any) -> None:
    """Keep `value` in one of the tables, and `name` nowhere else."""
    own = layer.__dict__
    if table not in own:
        raise ArgumentError("super().__init__() should be called first")
    for place in (own, *(own[t] for t in TABLES if t != table)):
        place.pop(name, None)
    own[table][name] = value
    changes[0] += 1


def put_buffer(layer: Attributes, name: str, value: Tensor) -> None:
    """Keep a tensor that `state_dict` leaves out, unless it was registered before."""
    known = name in layer.__dict__.get("_buffers", ())
    put(layer, "_buffers", name, value)
    if not known:
        layer.__dict__["_non_persistable_buffer_names_set"].add(name)


KINDS = (
    ("_parameters", "parameter", "Parameter"),
    ("_sub_layers", "sublayer", "Layer"),
    ("_buffers", "buffers", "core.Tensor"),
)


def replaced(layer: Attributes, name: str, value: Any) -> bool:
    """Whether `name` stands in a table; only None, or a tensor for a buffer, may take its place."""
    for table, kind, needed in KINDS:
        members = layer.__dict__.get(table, ())
        if name not in members:
            continue
        if table == "_buffers" and isinstance(value, Tensor):
            return False
        if table == "_buffers" and isinstance(value, Variable):
            mode: Any = current()
            if mode.captures and mode.replaces(layer, name, members[name]):
                del members[name]
                return False
            members[name] = rewritten(members[name], value)
        elif value is not None:
            raise ArgumentTypeError(
                f"assignment to {kind} '{name}' should be of type {needed} or None, "
                f"but got '{type(value).__name__}'"
            )
        else:
            members[name] = None
            changes[0] += 1
        return True
    return False


def rewritten(buffer: Any, value: Variable) -> Any:
    """The buffer after an operator of a Program wrote `value` into it."""
    mode: Any = current()
    if mode.captures and isinstance(buffer, Tensor):
        mode.rewrite(buffer, value)
        return buffer
    if not isinstance(buffer, Variable):
        return assign(value)
    with mode.into(buffer):
        assign(value)
    return buffer


def checked_name(name: Any, kind: str) -> None:
    """Refuse names that state_dict could not hold."""
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"The name of {kind} should be a string, but received {type(name).__name__}."
        )
    if "." in name:
        raise KeyError(
            f"The name of {kind} can not contain `.`, because when you access the newly added "
            f"{kind} in the form of `self.**.**`, it will cause AttributeError."
        )
    if name == "":
        raise KeyError(f"The name of {kind} can not be empty.")
