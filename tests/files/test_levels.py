"""Programs over sequences of several lengths, as PaddlePaddle 2.6.2 saved and ran them.

`tools/make_level_fixtures.py` wrote them, `tools/make_detection_fixtures.py` those of detectors,
with what is fed and what comes out.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ShapeError
from scull.files import proto
from scull.files.program import bytes_of, program_of

DATA = Path(__file__).resolve().parents[1] / "data" / "levels"
GRADIENT = "@GRAD"


def fed(array, lengths):
    """What is fed for one input."""
    if not lengths:
        return array
    return paddle.base.create_lod_tensor(array, lengths, paddle.CPUPlace())


@pytest.mark.parametrize("path", sorted(DATA.glob("*.npz")), ids=lambda path: path.stem)
def test_a_program_gives_the_values_and_levels_of_the_reference(path):
    with np.load(path) as held:
        said = json.loads(str(held["levels"]))
        feed = {n: fed(held[f"in {n}"], lengths) for n, lengths in said["fed"].items()}
        expected = {n: held[f"out {n}"] for n in said["found"]}
        data = held["program"].tobytes()
    program = program_of(data)
    assert bytes_of(program) == data
    names = list(expected)
    found = paddle.static.Executor().run(program, feed=feed, fetch_list=names, return_numpy=False)
    for name, value in zip(names, found, strict=True):
        most = np.abs(expected[name]).max(initial=0)
        np.testing.assert_allclose(np.array(value), expected[name], 1e-5, 1e-5 * most, err_msg=name)
        if GRADIENT not in name:
            assert value.recursive_sequence_lengths() == said["found"][name], name


def test_what_kept_nothing_for_a_gradient_puts_parts_together_as_what_did():
    with np.load(DATA / "split_rows.npz") as held:
        message = proto.ProgramDesc.FromString(held["program"].tobytes())
        x, mask, expected = (held[n] for n in ("in x", "in mask", "out merge_lod_tensor.Out_0"))
    operators = message.blocks[0].ops
    place = [o.type for o in operators].index("merge_lod_tensor")
    operators[place].type = "merge_lod_tensor_infer"
    del operators[place + 1 :]
    program = program_of(message.SerializeToString())
    names = ["merge_lod_tensor.Out_0"]
    found = paddle.static.Executor().run(program, feed={"x": x, "mask": mask}, fetch_list=names)
    np.testing.assert_allclose(found[0], expected, 1e-6)


def test_levels_that_a_file_names_itself_are_looked_at():
    with np.load(DATA / "pool_sum.npz") as held:
        message = proto.ProgramDesc.FromString(held["program"].tobytes())
    pool = next(o for o in message.blocks[0].ops if o.type == "sequence_pool")
    pool.inputs.add(parameter="X@LOD").arguments.append("own")
    own = message.blocks[0].vars.add(name="own").type
    own.type = proto.VarType.LOD_TENSOR
    own.lod_tensor.tensor.data_type = proto.VarType.INT64
    own.lod_tensor.tensor.dims[:] = [-1]
    del message.blocks[0].ops[1:]
    program, x = program_of(message.SerializeToString()), np.ones((6, 3), "float32")

    def run(*vector):
        feed = {"x": x, "own": np.array(vector, "int64")}
        (out,) = pool.outputs[1].arguments
        return paddle.static.Executor().run(program, feed=feed, fetch_list=[out])[0]

    assert run(1, 3, 0, 2, 6).tolist() == [[2.0] * 3, [4.0] * 3]
    for vector in ((), (-1,), (1,), (9,), (1, 1 << 62, 0), (1, 2, 5, 6), (1, 3, 0, 6, 2)):
        with pytest.raises(ArgumentError, match="level"):
            run(*vector)
    with pytest.raises(ShapeError, match="tell of 9"):
        run(1, 3, 0, 2, 9)


def test_levels_are_no_slots_that_anybody_is_told_of():
    told = [proto.OpProto.FromString(data) for data in paddle.base.core.get_all_op_protos()]
    slots = {v.name for o in told for v in (*o.inputs, *o.outputs)}
    assert {"sequence_pool", "lstm"} <= {o.type for o in told} and "X" in slots
    assert not any(name.endswith("@LOD") for name in slots)


@pytest.fixture
def static():
    paddle.enable_static()
    yield paddle.static
    paddle.disable_static()


def test_a_saved_model_is_fed_with_levels(static, tmp_path):
    program, startup = static.Program(), static.Program()
    path, two = str(tmp_path / "net"), paddle.nn.initializer.Constant(2.0)
    with static.program_guard(program, startup):
        x = static.data("x", [-1, 2], "float32", lod_level=1)
        w = static.create_parameter([2], "float32", default_initializer=two)
        y = static.nn.sequence_pool(x * w, "sum")
    exe = static.Executor()
    scope = static.Scope()
    with static.scope_guard(scope):
        exe.run(startup)
        static.save_inference_model(path, [x], [y], exe, program=program)
        loaded, feeds, fetches = static.load_inference_model(path, exe)
        assert loaded.global_block().ops[0].type == "feed"
        feed = {feeds[0]: fed(np.ones((3, 2), "float32"), [[1, 2]])}
        (found,) = exe.run(loaded, feed=feed, fetch_list=fetches)
    assert found.tolist() == [[2.0, 2.0], [4.0, 4.0]]
