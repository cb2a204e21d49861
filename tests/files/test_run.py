"""Programs from files when they run: whatever they declare, a result or a typed error."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentTypeError,
    FileError,
    ProgramError,
    ResourceError,
    UninitializedError,
)
from scull.files import proto
from scull.files.program import bytes_of, program_of
from scull.flags import flags
from scull.inference import Config, create_predictor
from scull.static import Executor, Program
from scull.static.nn import cond, while_loop
from tests.files.fuzz.trial import trial

DATA = Path(__file__).resolve().parents[1] / "data" / "files"
COUNT = 120


@pytest.fixture
def main():
    """A Program while it is written."""
    main = Program()
    paddle.enable_static()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, Program()):
        yield main
    paddle.disable_static()


def appended(block, type, x, out, **attrs):
    block.append_op(type=type, inputs={"X": x}, outputs={"Out": out}, attrs=attrs)


def run(program, feed, *fetched):
    return Executor().run(program, feed=feed, fetch_list=list(fetched))


def test_programs_written_at_random_run_or_raise():
    found = Counter(trial(11, number, "written")[1] for number in range(COUNT))
    assert found["ran"] > COUNT / 4, found


def test_memory_is_counted_by_what_is_computed_whatever_a_file_declares(main):
    x = paddle.static.data("x", [1, 1000], "float32")
    product = paddle.matmul(x, x, transpose_x=True)
    total = paddle.sum(product)
    paddle.assign(total)
    message = proto.ProgramDesc.FromString(bytes_of(main))
    declared = next(v for v in message.blocks[0].vars if v.name == product.name)
    declared.type.lod_tensor.tensor.dims[:] = [1, 1]
    program, feed = program_of(message.SerializeToString()), {"x": np.ones((1, 1000), "float32")}
    with flags(MAX_MEMORY=1 << 16), pytest.raises(ResourceError, match="takes 4000004 bytes"):
        run(program, feed, total.name)


def test_a_predictor_refuses_a_run_that_is_larger_than_its_file_declares(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return paddle.matmul(x, x, transpose_x=True).sum()

    spec = [paddle.static.InputSpec([None, 1000], "float32", "x")]
    paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=spec)
    message = proto.ProgramDesc.FromString((tmp_path / "net.pdmodel").read_bytes())
    for v in message.blocks[0].vars:
        if v.type.lod_tensor.tensor.dims == [1000, 1000]:
            v.type.lod_tensor.tensor.dims[:] = [1, 1]
    config, data = Config(), message.SerializeToString()
    config.set_model_buffer(data, len(data), b"", 0)
    with (
        create_predictor(config, max_memory=1 << 16) as predictor,
        pytest.raises(ResourceError, match="takes 4000004 bytes"),
    ):
        predictor(np.ones((1, 1000), "float32"))


def test_a_variable_may_be_written_with_several_sizes(main):
    x = paddle.static.data("x", [2, 3, 4, 5], "float32")
    y = paddle.static.data("y", [6, 7], "float32")
    block = main.global_block()
    both = block.create_var(name="both", shape=[6, 7], dtype="float32")
    first = block.create_var(name="first", shape=[2, 5, 3, 4], dtype="float32")
    attrs = {"src_layout": 1, "dst_layout": 2}
    appended(block, "transfer_layout", x, both, **attrs)
    appended(block, "assign", both, first)
    appended(block, "share_data", y, both)
    feed = {"x": np.ones((2, 3, 4, 5), "float32"), "y": np.ones((6, 7), "float32")}
    with flags(MAX_MEMORY=1 << 20):
        found = run(program_of(bytes_of(main)), feed, "first", "both")
    assert [v.shape for v in found] == [(2, 5, 3, 4), (6, 7)]


def test_an_input_that_is_written_in_place_may_be_fed_by_name(main):
    block = main.global_block()
    x, y = (block.create_var(name=n, shape=[1], dtype="float32") for n in "xy")
    appended(block, "increment", x, x, step=1.0)
    appended(block, "relu", x, y)
    program, fed = program_of(bytes_of(main)), np.zeros(1, "float32")
    (found,) = run(program, {"x": fed}, "y")
    assert found.tolist() == [1.0] and fed.tolist() == [0.0]
    with pytest.raises(UninitializedError, match="`increment` at a loaded file reads it"):
        run(program, {}, "y")
    del main.global_block().ops[:]
    appended(block, "relu", y, x)
    appended(block, "relu", x, y)
    appended(block, "relu", x, y)
    with pytest.raises(FileError, match="reads `y` before any operator writes it"):
        program_of(bytes_of(main))


def test_a_gradient_of_a_branch_needs_what_the_branch_kept(main):
    x = paddle.static.data("x", [2], "float32")
    x.stop_gradient = False
    out = cond(paddle.sum(x) > 0, lambda: x * x, lambda: x * 3.0)
    paddle.static.gradients([out], [x])
    message = proto.ProgramDesc.FromString(bytes_of(main))
    back = next(o for o in message.blocks[0].ops if o.type == "conditional_block_grad")
    slot = next(s for s in back.inputs if s.parameter == "Scope")
    del slot.arguments[:]
    with pytest.raises(FileError, match="lacks its input `Scope`"):
        program_of(message.SerializeToString())


def test_the_block_of_a_gradient_computes_it(main):
    x = paddle.static.data("x", [2], "float32")
    x.stop_gradient = False
    total = paddle.sum(x)
    out = cond(total > 0, lambda: x * x, lambda: x * 3.0)
    (found,) = paddle.static.gradients([out], [x])
    message = proto.ProgramDesc.FromString(bytes_of(main))
    back = next(o for o in message.blocks[0].ops if o.type == "conditional_block_grad")
    next(s for s in back.inputs if s.parameter == "Input").arguments[:] = [total.name]
    program = program_of(message.SerializeToString())
    with pytest.raises(ProgramError, match=f"does not compute `{total.name}@GRAD`"):
        run(program, {"x": np.ones(2, "float32")}, found.name)


def test_a_gradient_that_nobody_gives_a_loop_counts_for_none(main):
    x, n = paddle.static.data("x", [2], "float32"), paddle.static.data("n", [1], "int64")
    x.stop_gradient = False
    start = paddle.full([1], 0, "int64")
    _, out = while_loop(lambda i, _: i < n, lambda i, v: [i + 1, v * 2.0], [start, x])
    (found,) = paddle.static.gradients([out], [x])
    message = proto.ProgramDesc.FromString(bytes_of(main))
    operators = message.blocks[0].ops
    back = next(o for o in operators if o.type == "while_grad")
    given = {n for s in back.inputs if s.parameter == "Out@GRAD" for n in s.arguments}
    gone = [
        i for i, o in enumerate(operators) if given & {n for s in o.outputs for n in s.arguments}
    ]
    for i in reversed(gone):
        del operators[i]
    feed = {"x": np.ones(2, "float32"), "n": np.array([3])}
    whole, cut = (program_of(data) for data in (bytes_of(main), message.SerializeToString()))
    (value,) = run(whole, feed, found.name)
    assert value.tolist() == [8.0, 8.0]
    assert run(cut, feed, found.name) == [None]


def test_a_gradient_with_gaps_in_a_list_runs_within_its_memory(main):
    operands = [paddle.static.data(n, [2, 3], "float32") for n in "xy"]
    for v in operands:
        v.stop_gradient = False
    block = main.global_block()
    made = paddle.einsum("ij,kj->ik", *operands)
    (slots,) = (o.output("XShape") for o in block.ops if o.type == "einsum")
    last = paddle.exp(block.var(slots[-1]))
    found = paddle.static.gradients([last, made], operands)
    feed = {v.name: np.ones((2, 3), "float32") for v in operands}
    program = program_of(bytes_of(main))
    free = run(program, feed, *(v.name for v in found))
    with flags(MAX_MEMORY=1 << 20):
        bound = run(program, feed, *(v.name for v in found))
    assert [a.tobytes() for a in free] == [b.tobytes() for b in bound]


def test_a_copy_of_nothing_is_an_empty_list_or_a_typed_error_in_every_form(main):
    paddle.assign(paddle.static.data("x", [1], "bool"))
    message = proto.ProgramDesc.FromString(bytes_of(main))
    (copy,) = message.blocks[0].ops
    del copy.inputs[:]
    program, out = program_of(message.SerializeToString()), copy.outputs[0].arguments[0]
    for form in ("in-graph", "primitives"):
        with flags(CONTROL_FLOW=form):
            assert run(program, {}, out) == [[]]
            with flags(MAX_MEMORY=1 << 20), pytest.raises(ArgumentTypeError, match="to copy"):
                run(program, {}, out)


def test_a_branch_needs_one_truth_value(main):
    x = paddle.static.data("x", [2], "float32")
    cond(paddle.sum(x) > 0, lambda: x * x, lambda: x * 3.0)
    message = proto.ProgramDesc.FromString(bytes_of(main))
    branch = next(o for o in message.blocks[0].ops if o.type == "conditional_block")
    slot = next(s for s in branch.inputs if s.parameter == "Cond")
    for names in ([], [*slot.arguments, *slot.arguments]):
        slot.arguments[:] = names
        with pytest.raises(FileError, match="has no condition, or several"):
            program_of(message.SerializeToString())


def test_a_result_may_be_called_as_the_record_of_a_shape_is(main):
    x = paddle.static.data("x", [], "float32")
    block = main.global_block()
    both, last = (block.create_var(name=n, shape=[], dtype="float32") for n in ("both", "last"))
    outputs = {"Out": both, "XShape": both}
    block.append_op(type="squeeze2", inputs={"X": x}, outputs=outputs, attrs={"axes": []})
    appended(block, "exp", both, last)
    program, feed = program_of(bytes_of(main)), {"x": np.zeros((), "float32")}
    (free,) = run(program, feed, "last")
    with flags(MAX_MEMORY=1 << 20):
        (bound,) = run(program, feed, "last")
    assert bound.tolist() == free.tolist()
