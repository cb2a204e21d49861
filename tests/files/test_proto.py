"""The messages of Paddle's files."""

import subprocess
import sys
from pathlib import Path

import pytest

from scull.files import proto

DATA = Path(__file__).parents[1] / "data" / "files"


def test_every_public_name_is_there():
    assert proto.DESCRIPTOR.package == proto.PACKAGE
    for name in proto.MESSAGES:
        assert getattr(proto, name).DESCRIPTOR.full_name == f"{proto.PACKAGE}.{name}"
    assert [getattr(proto, name) for name in proto.ATTRIBUTE_KINDS] == list(range(18))
    assert dir(proto) == sorted(proto.NAMES)


def test_the_lists_are_those_of_the_description():
    assert set(proto.MESSAGES) == set(proto.DESCRIPTOR.message_types_by_name)
    assert list(proto.ATTRIBUTE_KINDS) == proto.AttrType.keys()


def test_field_numbers_are_those_of_the_format():
    fields = {field.name: field.number for field in proto.BlockDesc.DESCRIPTOR.fields}
    assert fields == {"idx": 1, "parent_idx": 2, "vars": 3, "ops": 4, "forward_block_idx": 5}
    assert proto.VarType.FP32 == 5 and proto.VarType.LOD_TENSOR == 7


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="'Nothing'"):
        _ = proto.Nothing


def run(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_module_does_not_import_protobuf():
    program = "import sys, scull.files.proto; print('google.protobuf' in sys.modules)"
    assert run(program) == "False"


BESIDE = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from scull.files import proto

ours = proto.ProgramDesc
description = descriptor_pb2.FileDescriptorProto()
proto.DESCRIPTOR.CopyToProto(description)
description.name = "paddle/fluid/framework/framework.proto"
pool = descriptor_pool.Default()
pool.AddSerializedFile(description.SerializeToString())
descriptor = pool.FindMessageTypeByName("paddle.framework.proto.ProgramDesc")
theirs = message_factory.GetMessageClass(descriptor)
print(ours is theirs, theirs.FromString(ours(version={"version": 3}).SerializeToString()))
"""


def test_the_messages_of_paddle_itself_can_be_registered_beside():
    assert run(BESIDE).split() == ["False", "version", "{", "version:", "3", "}"]


@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_every_implementation_of_protobuf_writes_the_same_bytes(implementation, monkeypatch):
    monkeypatch.setenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", implementation)
    program = (
        "import pathlib\nfrom scull.files import wire\n"
        f"data = pathlib.Path({str(DATA / 'training.program')!r}).read_bytes()\n"
        "nested = wire.proto.OpDesc.Attr(name='x', type=0).name == 'x'\n"
        "print(nested and wire.write_program(wire.read_program(data)) == data)"
    )
    assert run(program) == "True"
