"""Assignments to windows as Programs before Paddle 2.5 spell them: the values in lists by type."""

from dataclasses import replace
from itertools import chain
from typing import Any

from scull.errors import UnsupportedError
from scull.files import proto
from scull.files.legacy.call import Call, Names
from scull.files.wire import AttributeKind, attribute_value, set_attribute

TYPES = frozenset({"set_value", "set_value_grad"})
LISTS = {
    "bool_values": AttributeKind.INTS,
    "int32_values": AttributeKind.INTS,
    "int64_values": AttributeKind.LONGS,
    "fp16_values": AttributeKind.FLOATS,
    "fp32_values": AttributeKind.FLOATS,
    "fp64_values": AttributeKind.FLOAT64S,
}
OLD = {bool: "bool_values", int: "int64_values", float: "fp64_values"}


def joined(call: Call, names: Names) -> list[Call] | None:
    """The operator with its values in one list and its steps told, if the file has neither."""
    attrs = {name: value for name, value in call.attrs.items() if name not in LISTS}
    if len(attrs) < len(call.attrs):
        values: list[Any] = []
        for name, (_, found) in call.attrs.items():
            if name in LISTS:
                values += map(bool, found) if name == "bool_values" else found
        attrs["values"] = AttributeKind.SCALARS, values
    if "steps" not in attrs and not call.inputs.get("StepsTensorList"):
        attrs["steps"] = AttributeKind.LONGS, [1] * len(call.get("axes", ()))
    return None if attrs == call.attrs else [replace(call, attrs=attrs)]


def legacy(program: Any) -> Any:
    """The message of a Program with such values in lists by type."""
    made = proto.ProgramDesc()
    made.CopyFrom(program)
    for block in made.blocks:
        for operator in block.ops:
            if operator.type in TYPES:
                operator.CopyFrom(spread(operator))
    return made


def spread(message: Any) -> Any:
    """The message of an operator with its values in lists by type."""
    values: list[Any] = [attribute_value(a)[1] for a in message.attrs if a.name == "values"]
    lists: dict[str, list[Any]] = {name: [] for name in LISTS}
    for value in chain.from_iterable(values):
        if type(value) not in OLD:
            raise UnsupportedError("Invalid data type: before Paddle 2.5 no complex values are set")
        lists[OLD[type(value)]].append(int(value) if value is True or value is False else value)
    made = proto.OpDesc()
    made.CopyFrom(message)
    del made.attrs[:]
    made.attrs.extend([a for a in message.attrs if a.name != "values"])
    for name, kind in LISTS.items():
        set_attribute(made.attrs.add(), name, kind, lists[name])
    return made
