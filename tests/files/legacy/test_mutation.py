"""Files of older operators that are damaged give a Program or a typed error, never another."""

from collections.abc import Iterator
from typing import Any

import pytest

from scull import static
from scull.errors import FileError, ScullError
from scull.files import proto
from scull.files.legacy.table import TABLE
from scull.files.program import program_of
from tests.files.legacy.case import Case
from tests.files.legacy.cases import cases
from tests.files.legacy.packed import packed

CASES = list({case.type: case for case in cases() if case.type in TABLE}.values())
VALUES: dict[str, tuple[str, Any]] = {
    "BOOLEAN": ("b", True),
    "INT": ("i", -7),
    "FLOAT": ("f", float("nan")),
    "STRING": ("s", "text"),
    "INTS": ("ints", [0, 9]),
    "FLOATS": ("floats", [float("inf")]),
    "STRINGS": ("strings", ["a", "b"]),
}


def damaged(case: Case) -> Iterator[bytes]:
    """The Program of a case with one thing wrong in each."""
    whole = packed("operators.npz")[case.name].tobytes()
    one = proto.ProgramDesc.FromString(whole).blocks[0].ops[0]
    for place in range(len(one.attrs)):
        for kind, (field, value) in VALUES.items():
            message = proto.ProgramDesc.FromString(whole)
            attribute = message.blocks[0].ops[0].attrs[place]
            name = attribute.name
            attribute.Clear()
            attribute.name, attribute.type = name, getattr(proto, kind)
            if isinstance(value, list):
                getattr(attribute, field).extend(value)
            else:
                setattr(attribute, field, value)
            yield message.SerializeToString()
        message = proto.ProgramDesc.FromString(whole)
        del message.blocks[0].ops[0].attrs[place]
        yield message.SerializeToString()
    for part in ("inputs", "outputs"):
        for slot in range(len(getattr(one, part))):
            for names in ([], ["nothing"], ["X.0", "X.0", "Out_out"]):
                message = proto.ProgramDesc.FromString(whole)
                getattr(message.blocks[0].ops[0], part)[slot].arguments[:] = names
                yield message.SerializeToString()
    for dims in ([], [-1], [0, 0, 0, 0], [1] * 6, [2**40, 2**40]):
        message = proto.ProgramDesc.FromString(whole)
        for variable in message.blocks[0].vars:
            variable.type.lod_tensor.tensor.dims[:] = dims
        yield message.SerializeToString()
    message = proto.ProgramDesc.FromString(whole)
    for variable in message.blocks[0].vars:
        variable.type.Clear()
        variable.type.type = proto.VarType.RAW
    yield message.SerializeToString()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_old_operator_that_is_damaged_is_read_or_refused(case):
    names = [case.result(slot) for slot in case.fetched()]
    for data in damaged(case):
        try:
            program = program_of(data)
        except ScullError:
            continue
        if all(n in program.global_block().vars for n in names):
            scope = static.Scope()
            try:
                static.Executor().run(program, feed=case.feed(), fetch_list=names, scope=scope)
            except ScullError:
                continue


def test_a_slot_that_comes_twice_is_refused():
    message = proto.ProgramDesc.FromString(packed("operators.npz")["fc"].tobytes())
    message.blocks[0].ops[0].inputs.add(parameter="W").arguments.append("Input.0")
    with pytest.raises(FileError, match=r"block 0, operator 0 \(`fc`\)"):
        program_of(message.SerializeToString())


def test_names_of_new_variables_are_none_that_the_file_has():
    message = proto.ProgramDesc.FromString(packed("operators.npz")["one_hot"].tobytes())
    block = message.blocks[0]
    for name in ("X.0.label", "X.0.label_1"):
        block.vars.add(name=name).CopyFrom(block.vars[0])
        block.vars[-1].name = name
    block.ops.add().CopyFrom(block.ops[0])
    program = program_of(message.SerializeToString())
    labels = [o.output("Out")[0] for o in program.global_block().ops if o.type == "squeeze2"]
    assert labels == ["X.0.label_2", "X.0.label_3"]


def test_many_operators_with_one_name_get_a_record_each():
    message = proto.ProgramDesc.FromString(packed("operators.npz")["squeeze.1"].tobytes())
    one = message.blocks[0].ops[0]
    for _ in range(200):
        message.blocks[0].ops.add().CopyFrom(one)
    program = program_of(message.SerializeToString())
    assert len({o.output("XShape")[0] for o in program.global_block().ops}) == 201
