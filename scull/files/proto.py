"""The protobuf messages of Paddle's files, by name: `proto.ProgramDesc`, `proto.VarType`.

They are built from a shipped description in a pool of their own, so they live beside those of
Paddle itself, and protobuf is imported when the first name is asked for.
"""

import importlib
from functools import cache
from importlib.resources import files
from typing import Any

PACKAGE = "paddle.framework.proto"

MESSAGES = (
    "Version",
    "Complex",
    "Scalar",
    "OpDesc",
    "OpProto",
    "VarType",
    "VarDesc",
    "BlockDesc",
    "OpVersion",
    "OpVersionMap",
    "ProgramDesc",
)

ATTRIBUTE_KINDS = (
    "INT",
    "FLOAT",
    "STRING",
    "INTS",
    "FLOATS",
    "STRINGS",
    "BOOLEAN",
    "BOOLEANS",
    "BLOCK",
    "LONG",
    "BLOCKS",
    "LONGS",
    "FLOAT64S",
    "VAR",
    "VARS",
    "FLOAT64",
    "SCALAR",
    "SCALARS",
)

NAMES = ["DESCRIPTOR", "AttrType", *MESSAGES, *ATTRIBUTE_KINDS]


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return definitions()[name]


def __dir__() -> list[str]:
    return sorted(NAMES)


@cache
def definitions() -> dict[str, Any]:
    """Every public name of the description with its message class, enumeration or number."""
    protobuf = {
        name: importlib.import_module(f"google.protobuf.{name}")
        for name in ("descriptor_pb2", "descriptor_pool", "message_factory")
    }
    wrapper = importlib.import_module("google.protobuf.internal.enum_type_wrapper")
    data = files(__package__).joinpath("data", "framework.desc").read_bytes()
    (description,) = protobuf["descriptor_pb2"].FileDescriptorSet.FromString(data).file
    pool = protobuf["descriptor_pool"].DescriptorPool()
    pool.AddSerializedFile(description.SerializeToString())
    names: dict[str, Any] = {"DESCRIPTOR": pool.FindFileByName(description.name)}
    for name in MESSAGES:
        descriptor = pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
        names[name] = message_class(descriptor, protobuf["message_factory"])
    kinds = wrapper.EnumTypeWrapper(pool.FindEnumTypeByName(f"{PACKAGE}.AttrType"))
    return names | {"AttrType": kinds} | dict(kinds.items())


def message_class(descriptor: Any, factory: Any) -> Any:
    """The class of a message, with the messages inside as its attributes."""
    message = factory.GetMessageClass(descriptor)
    for name, nested in descriptor.nested_types_by_name.items():
        inner = message_class(nested, factory)
        if not hasattr(message, name):  # protobuf in pure Python leaves them out
            setattr(message, name, inner)
    return message
