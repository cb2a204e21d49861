"""Operators and variables of a reference Program, described as plain data."""

import json
import math
import os
import signal
from contextlib import contextmanager

from paddle.base import framework, unique_name
from paddle.base.proto import framework_pb2

SECONDS = 20  # what a child process may take

FIELDS = {
    "INT": "i",
    "FLOAT": "f",
    "STRING": "s",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
    "BOOLEAN": "b",
    "BOOLEANS": "bools",
    "BLOCK": "block_idx",
    "LONG": "l",
    "BLOCKS": "blocks_idx",
    "LONGS": "longs",
    "FLOAT64S": "float64s",
    "VAR": "var_name",
    "VARS": "vars_name",
    "FLOAT64": "float64",
    "SCALAR": "scalar",
    "SCALARS": "scalars",
}

# Attributes that nearly every operator carries at these values.
COMMON = {
    "op_device": [2, ""],
    "op_namescope": [2, "/"],
    "op_role_var": [5, []],
    "with_quant_attr": [6, False],
}


@contextmanager
def fresh_numbering():
    """Number names and name scopes from the start."""
    framework._name_scope = framework.NameScope()
    with unique_name.guard():
        yield


def isolated(function, *arguments):
    """Return what the function returns in a child process, None if that crashes or never ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        with open(writer, "w", encoding="utf-8") as stream:
            json.dump(function(*arguments), stream)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        text = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if status else json.loads(text)


def message(program):
    """Return the ProgramDesc message of a Program."""
    return framework_pb2.ProgramDesc.FromString(program.desc.serialize_to_string())


def number(value):
    """Return `value`, or its name where JSON has no such number."""
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def scalar(value) -> list:
    """Return the kind and the value of a Scalar message."""
    kind = framework_pb2.Scalar.Type.Name(value.type)
    fields = {"BOOLEAN": "b", "LONG": "i", "FLOAT64": "r"}
    if kind == "COMPLEX128":
        return [kind, [number(value.c.r), number(value.c.i)]]
    return [kind, number(getattr(value, fields[kind]))]


def attribute(desc) -> list:
    """Return the number of the attribute's type and its value."""
    kind = framework_pb2.AttrType.Name(desc.type)
    value = getattr(desc, FIELDS[kind])
    if kind == "SCALAR":
        return [desc.type, scalar(value)]
    if kind == "SCALARS":
        return [desc.type, [scalar(each) for each in value]]
    return [desc.type, [number(each) for each in value] if kind.endswith("S") else number(value)]


def operator(desc) -> dict:
    """Return the type, slots and attributes of an OpDesc, `op_callstack` apart.

    The attributes of COMMON are left out where all of them stand at their common values.
    """
    attributes = {each.name: attribute(each) for each in desc.attrs if each.name != "op_callstack"}
    fact = {
        "type": desc.type,
        "inputs": {slot.parameter: list(slot.arguments) for slot in desc.inputs},
        "outputs": {slot.parameter: list(slot.arguments) for slot in desc.outputs},
    }
    if all(attributes.get(name) == value for name, value in COMMON.items()):
        attributes = {name: each for name, each in attributes.items() if name not in COMMON}
    else:
        fact["all_attributes"] = True
    return fact | {"attributes": attributes}


def variable(desc) -> list:
    """Return the dtype or kind of a variable, its shape, and the flags that hold."""
    kind = framework_pb2.VarType.Type.Name(desc.type.type)
    tensors = {"LOD_TENSOR": "lod_tensor", "LOD_TENSOR_ARRAY": "tensor_array"}
    if kind in tensors:
        tensor = getattr(desc.type, tensors[kind]).tensor
    elif kind == "SELECTED_ROWS":
        tensor = desc.type.selected_rows
    else:
        return [kind]
    fact = [framework_pb2.VarType.Type.Name(tensor.data_type), list(tensor.dims)]
    if kind != "LOD_TENSOR":
        fact.append(kind)
    flags = ("persistable", "stop_gradient", "is_parameter", "need_check_feed")
    return fact + [flag for flag in flags if getattr(desc, flag)]
