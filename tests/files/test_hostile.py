"""Files damaged at random, and what was found with them: a value or a typed error each time."""

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import scull as paddle
from scull.core.op import op_of
from scull.errors import (
    ArgumentError,
    FileError,
    MissingFileError,
    ProgramError,
    ScullError,
    UnknownOpError,
)
from scull.files import proto
from scull.files.model import load_model
from scull.files.pickles import load as load_pickle
from scull.files.program import bytes_of, program_of
from scull.files.record import checksum_of
from scull.files.tensor_stream import read_separate
from scull.flags import flags
from scull.ir.depth import DEEPEST
from scull.runtime.scope import Scope

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "files"
PARTS, CASES = 2, 5000
posix = pytest.mark.skipif(os.name != "posix", reason="limits of processes are those of POSIX")


def python(module: str, *arguments: str) -> subprocess.CompletedProcess:
    """A module run in a process of its own."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@posix
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_damaged_files_give_a_value_or_a_typed_error(part, tmp_path):
    log = tmp_path / "log.json"
    done = python("tools.fuzz", "--cases", str(CASES), "--seed", str(part), "--log", str(log))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = json.loads(log.read_text())
    assert found["next"] == CASES and sum(found["outcomes"].values()) == CASES
    assert found["most_bytes"][0] < 64 << 20


@posix
def test_trials_that_were_stopped_go_on_from_their_log(tmp_path):
    log = tmp_path / "log.json"
    for cases in (10, 25):
        done = python("tools.fuzz", "--cases", str(cases), "--log", str(log), "--kind", "tensor")
        assert done.returncode == 0 and json.loads(log.read_text())["next"] == cases
    assert python("tools.fuzz", "--cases", "30", "--log", str(log)).returncode == 1


def test_nothing_is_run_written_or_connected_while_files_are_read():
    done = python("tests.files.fuzz.audited", "200")
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    own = [event for event in found["violations"] if "<string>" in event]
    assert found["reads"] > 400 and len(own) == 2 and len(found["violations"]) == 2, found


# ---- what was found ----


def message_of(name: str):
    """The message of a file of the reference."""
    return proto.ProgramDesc.FromString((DATA / name).read_bytes())


@pytest.fixture
def linear():
    """An input, a product, a sum, a scaling, an output."""
    return message_of("linear.pdmodel")


def operator(message, type: str):
    return next(o for b in message.blocks for o in b.ops if o.type == type)


def names(slots) -> list[str]:
    """What stands in the slots of an operator."""
    return [name for slot in slots for name in slot.arguments]


def refused(message, law: str, kind: type = FileError) -> None:
    with pytest.raises(kind, match=law):
        program_of(message.SerializePartialToString())


def test_a_slot_that_comes_twice_is_refused(linear):
    slots = operator(linear, "matmul_v2").outputs
    slots.add(parameter=slots[0].parameter)
    refused(linear, "has a slot twice")


def test_an_operator_without_its_input_or_its_result_is_refused(linear):
    product = operator(linear, "matmul_v2")
    del product.outputs[:]
    refused(linear, "`matmul_v2`. has no result")
    del product.inputs[:]
    refused(linear, "lacks its input `X`")


def test_an_operator_without_an_attribute_it_needs_is_refused(linear):
    product = operator(linear, "matmul_v2")
    product.type = "unfold"
    del product.inputs[1:], product.attrs[:]
    product.outputs[0].parameter = "Y"
    refused(linear, "lacks its attribute `kernel_sizes`")


def test_a_size_below_minus_one_is_an_unknown_one(linear):
    variable = linear.blocks[0].vars[0]
    variable.type.lod_tensor.tensor.dims[:] = [-2, 3]
    program = program_of(linear.SerializeToString())
    assert tuple(program.global_block().vars[variable.name].shape) == (-1, 3)


def test_what_holds_inputs_is_no_operand(linear):
    next(s for s in operator(linear, "scale").inputs if s.parameter == "X").arguments[0] = "feed"
    refused(linear, "uses `feed`, which is no tensor")


@pytest.mark.parametrize("type", ["feed", "fetch"])
def test_edges_are_of_one_variable_and_of_one_number(linear, type):
    edge = operator(linear, type)
    linear.blocks[0].ops.add().CopyFrom(edge)
    with pytest.raises(FileError, match=f"two operators `{type}` are number 0"):
        load_model(linear.SerializeToString(), values_of_linear(), "", Scope())
    edge.inputs.add(parameter="Y", arguments=["feed"])
    refused(linear, "has inputs that")


@pytest.mark.parametrize("type", ["feed", "fetch"])
def test_an_edge_is_of_a_value(linear, type):
    edge = operator(linear, type)
    for slot in (*edge.inputs, *edge.outputs):
        slot.arguments[0] = type
    with pytest.raises(FileError, match=f"operator `{type}` is of `{type}`, which is no value"):
        load_model(linear.SerializeToString(), values_of_linear(), "", Scope())


def values_of_linear() -> io.BytesIO:
    return io.BytesIO((DATA / "linear.pdiparams").read_bytes())


def test_gradients_of_a_high_order_are_no_operators():
    assert op_of("tanh" + "_grad" * 3).type == "tanh" + "_grad" * 3
    for order in (9, 50, 3000):
        with pytest.raises(UnknownOpError):
            op_of("tanh" + "_grad" * order)


def with_block(message, owner: int, inner: int, parent: int):
    """The message with an operator of block `owner` that owns block `inner`."""
    while len(message.blocks) <= max(owner, inner):
        message.blocks.add(idx=len(message.blocks), parent_idx=parent)
    made = message.blocks[owner].ops.add(type="conditional_block")
    made.attrs.add(name="sub_block", type=proto.BLOCK, block_idx=inner)
    return message


def test_blocks_that_own_each_other_are_refused(linear):
    refused(with_block(linear, 1, 1, 0), "owns block 1, which lies in block 0")


def test_a_block_has_one_owner(linear):
    refused(with_block(with_block(linear, 0, 1, 0), 0, 1, 0), "two operators own block 1")


def test_a_list_of_blocks_is_shown_by_their_numbers(linear):
    operator(linear, "scale").attrs.add(name="within", type=proto.BLOCKS, blocks_idx=[0, 0])
    assert "within = blocks[[0, 0]]" in str(program_of(linear.SerializeToString()))


def test_an_operator_that_owns_a_block_names_it(linear):
    linear.blocks[0].ops.add(type="conditional_block")
    refused(linear, "lacks its attribute `sub_block`")


def test_blocks_lie_in_a_bounded_number_of_others(linear):
    for index in range(1, DEEPEST + 2):
        linear.blocks.add(idx=index, parent_idx=index - 1)
    refused(linear, f"lies within more than {DEEPEST} others")


def test_a_hundred_thousand_blocks_beside_many_variables_are_looked_at_once(linear):
    block = linear.blocks[0]
    for index in range(2000):
        block.vars.add().CopyFrom(block.vars[0])
        block.vars[-1].name = f"v{index}"
    for index in range(1, 5000):
        linear.blocks.add(idx=index, parent_idx=0)
    assert len(program_of(linear.SerializeToString()).blocks) == 5000


def test_a_loop_needs_a_condition_that_it_touches():
    message = message_of("flow_loop.program")
    loop = operator(message, "while")
    condition = next(slot for slot in loop.inputs if slot.parameter == "Condition")
    names = list(condition.arguments)
    del condition.arguments[:]
    refused(message, "has no condition")
    condition.arguments[:] = [names[0], names[0]]
    refused(message, "or several")


def test_dataflow_needs_its_attributes_and_its_slots(linear):
    made = linear.blocks[0].ops.add(type="enter")
    made.inputs.add(parameter="Data", arguments=names(operator(linear, "scale").inputs))
    made.outputs.add(parameter="Out", arguments=names(operator(linear, "scale").outputs))
    refused(linear, "lacks its attribute `frame_name`")
    made.inputs.add(parameter="Other", arguments=made.inputs[0].arguments)
    refused(linear, "has inputs that `enter` does not take")


def test_a_type_rule_that_stumbles_is_a_typed_error(linear):
    product = operator(linear, "matmul_v2")
    product.type, known = "sum", names(product.inputs)
    del product.inputs[:]
    product.inputs.add(parameter="X", arguments=["@EMPTY@"])
    refused(linear, "lacks its input `X`")
    product.inputs[0].arguments[:] = ["@EMPTY@", *known]
    with pytest.raises((ProgramError, FileError, ArgumentError)):
        paddle.ir.verify.verify(program_of(linear.SerializeToString()))


def test_a_list_that_says_no_element_type_is_written_with_one():
    message = message_of("flow_lists.program")
    kinds = proto.VarType
    found = next(v for v in message.blocks[0].vars if v.type.type == kinds.LOD_TENSOR)
    found.type.type = kinds.LOD_TENSOR_ARRAY
    data = bytes_of(program_of(message.SerializeToString()))
    assert bytes_of(program_of(data)) == data


def test_a_value_whose_file_is_missing_or_cannot_be_named_is_told(tmp_path):
    with pytest.raises(MissingFileError, match="the value of `w`"):
        read_separate(tmp_path, ["w"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="cannot be read"):
        read_separate(tmp_path, ["folder"])
    for name in ("n" * 300, "n/" * 2000 + "n"):
        with pytest.raises(FileError, match="too long for the name of a file"):
            read_separate(tmp_path, [name])


def test_a_record_that_names_a_file_too_long_is_refused(tmp_path):
    spec = [paddle.static.InputSpec([None, 2], "float32")]
    paddle.jit.save(paddle.nn.Linear(2, 1), str(tmp_path / "net"), input_spec=spec)
    path = tmp_path / ".net.commit"
    found = json.loads(path.read_text().replace('"net.pdmodel"', f'"net.{"x" * 300}"'))
    path.write_text(json.dumps(found | {"crc32": checksum_of(found["record"])}))
    with pytest.raises(FileError, match="too long for the name of a file"):
        paddle.jit.load(str(tmp_path / "net"))


def test_a_result_that_something_else_reads_stays_in_a_loaded_layer(linear, tmp_path):
    (scaled,) = names(operator(linear, "scale").outputs)
    block = linear.blocks[0]
    more = block.vars.add()
    more.CopyFrom(next(v for v in block.vars if v.name == scaled))
    more.name = "more"
    made = block.ops.add(type="relu")
    made.inputs.add(parameter="X", arguments=[scaled])
    made.outputs.add(parameter="Out", arguments=["more"])
    (tmp_path / "net.pdmodel").write_bytes(linear.SerializeToString())
    (tmp_path / "net.pdiparams").write_bytes((DATA / "linear.pdiparams").read_bytes())
    layer = paddle.jit.load(str(tmp_path / "net"))
    assert layer(paddle.ones([2, 4])).shape == [2, 3]


def test_a_loop_with_constants_made_of_lists_runs_within_its_memory():
    main = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main):
            start = paddle.full([1], 0, "int64")
            limit = paddle.full([1], 3, "int64")
            (found,) = paddle.static.nn.while_loop(
                lambda i: i < limit, lambda i: [i + paddle.full([1], 1, "int64")], [start]
            )
        again = program_of(bytes_of(main))
        with flags(MAX_MEMORY=1 << 20, MAX_ROUNDS=10):
            (value,) = paddle.static.Executor().run(again, fetch_list=[found.name])
    finally:
        paddle.disable_static()
    assert value.tolist() == [3]


def test_a_text_that_is_no_number_is_told_when_it_is_run_within_its_memory(linear):
    scale = operator(linear, "scale")
    scale.type, made = "fill_constant", names(scale.outputs)
    del scale.inputs[:], scale.attrs[:]
    scale.attrs.add(name="shape", type=proto.LONGS, longs=[1])
    text = scale.attrs.add(name="str_value", type=proto.STRING, s="nonesuch")
    program = program_of(linear.SerializeToString())
    for limit in (0, 1 << 20):
        with flags(MAX_MEMORY=limit), pytest.raises(ScullError):
            run_linear(program, made)
    text.type, text.block_idx = proto.BLOCK, 0
    refused(linear, "attribute `str_value` is of type BLOCK, and no text")


def test_a_gradient_without_an_operand_is_a_typed_error_within_its_memory(linear):
    product = operator(linear, "matmul_v2")
    product.type, known, made = "square_grad", names(product.inputs), names(product.outputs)
    del product.inputs[:], product.outputs[:], product.attrs[:]
    product.inputs.add(parameter="Out@GRAD", arguments=known[:1])
    product.outputs.add(parameter="X@GRAD", arguments=made)
    with flags(MAX_MEMORY=1 << 20), pytest.raises(ScullError):
        run_linear(program_of(linear.SerializeToString()), made)


def run_linear(program, fetched):
    """A run of the changed layer with ones for all it reads."""
    scope = Scope()
    for v in (v for v in program.list_vars() if v.is_parameter):
        scope.var(v.name).value = paddle.ones(v.shape).numpy()
    feed = {"image": paddle.ones([2, 4]).numpy()}
    return paddle.static.Executor().run(program, feed=feed, fetch_list=fetched, scope=scope)


def test_keys_that_are_complex_numbers_or_frozen_sets_are_counted():
    keys = [frozenset([i, -i - 1]) for i in range(5000)], [complex(i, i) for i in range(5000)]
    for some in keys:
        stream = io.BytesIO()
        pickle.dump(dict.fromkeys(some), stream, 4)
        stream.seek(0)
        with pytest.raises(FileError, match="more than 4096 keys are of several parts"):
            load_pickle(stream)
