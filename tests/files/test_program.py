"""Programs as bytes and back."""

from pathlib import Path

import pytest

import scull as paddle
from scull.errors import FileError
from scull.files import wire
from scull.files.program import bytes_of, program_of
from scull.ir.text import program_text
from scull.ir.verify import verify
from tools.make_extra_attributes import TARGET, text

DATA = Path(__file__).parent.parent / "data"
PROGRAMS = sorted((DATA / "reference" / "programs").glob("*.pb"))
MODELS = sorted((DATA / "files").glob("*.pdmodel")) + sorted((DATA / "files").glob("*.program"))
MODELS += sorted((DATA / "models").rglob("*.pdmodel"))


@pytest.mark.parametrize("path", PROGRAMS + MODELS, ids=lambda p: p.name)
def test_a_program_read_and_written_unchanged_is_equal_byte_for_byte(path):
    data = path.read_bytes()
    assert bytes_of(program_of(data)) == data


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.name)
def test_a_program_of_the_reference_is_legal(path):
    verify(program_of(path.read_bytes()))


def test_the_attributes_that_only_files_have_are_those_of_all_recorded_operators():
    assert TARGET.read_text() == text()


def test_a_changed_attribute_is_the_only_change():
    data = (DATA / "reference" / "programs" / "regression.main.pb").read_bytes()
    program = program_of(data)
    scale = next(o for o in program.global_block().ops if o.type == "adam")
    scale._set_attr("beta1", 0.5)
    before, after = wire.read_program(data), wire.read_program(bytes_of(program))
    different = [
        (a, b) for a, b in zip(before.blocks[0].ops, after.blocks[0].ops, strict=True) if a != b
    ]
    assert len(different) == 1
    changed = [a.name for a in different[0][1].attrs if a not in list(different[0][0].attrs)]
    assert changed == ["beta1"]


def test_a_cloned_program_keeps_what_scull_does_not_interpret():
    data = (DATA / "files" / "convolution.pdmodel").read_bytes()
    program = program_of(data)
    clone = program.clone()
    kinds = lambda p: [o.attr("use_cudnn") for o in p.global_block().ops if o.type == "conv2d"]  # noqa: E731
    assert kinds(program) == kinds(clone) == [True]


def test_an_operator_nobody_declared_is_kept_and_printed():
    program = paddle.static.Program()
    data = bytes_of(program)
    message = wire.read_program(data)
    o = message.blocks[0].ops.add()
    o.type = "unheard_of"
    slot = o.inputs.add()
    slot.parameter = "Strange"
    again = program_of(message.SerializeToString())
    assert bytes_of(again) == message.SerializeToString()
    assert "unheard_of(inputs={Strange=[]}" in program_text(again)


def test_a_name_no_block_has_is_an_error_with_its_place():
    message = wire.read_program((DATA / "files" / "linear.pdmodel").read_bytes())
    message.blocks[0].ops[1].inputs[0].arguments[0] = "nowhere"
    with pytest.raises(FileError, match=r"block 0, operator 1 .*`nowhere`"):
        program_of(message.SerializeToString())


def test_an_unknown_element_type_is_an_error_naming_the_variable():
    message = wire.read_program((DATA / "files" / "linear.pdmodel").read_bytes())
    v = next(v for v in message.blocks[0].vars if v.type.HasField("lod_tensor"))
    v.type.lod_tensor.tensor.data_type = 9
    with pytest.raises(FileError, match=f"`{v.name}`"):
        program_of(message.SerializeToString())
