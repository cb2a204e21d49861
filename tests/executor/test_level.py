"""Levels of detail: what a run fetches has those of what was fed, as PaddlePaddle 2.6.2 says."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import RunError
from scull.passes.level import TYPES

REFERENCE = Path(__file__).parent.parent / "data" / "reference" / "levels.json"
LEVELS = [[0, 2, 3]]


@pytest.fixture(autouse=True)
def programs():
    """Default Programs of their own, in static mode."""
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def rows(levels=True):
    """Three rows in sequences of two and one."""
    made = paddle.base.core.LoDTensor()
    made.set(np.arange(3, dtype="float32").reshape(3, 1))
    if levels:
        made.set_recursive_sequence_lengths([[2, 1]])
    return made


def fetched(result, **options):
    return static.Executor().run(feed={"x": rows()}, fetch_list=[result], **options)[0]


@pytest.mark.parametrize(
    ("call", "levels"),
    [
        (paddle.assign, LEVELS),
        (lambda x: paddle.tanh(x * 2.0), LEVELS),
        (lambda x: paddle.reshape(x, [-1, 1]), LEVELS),
        (lambda x: paddle.concat([x, x]), [[0, 2, 3, 5, 6]]),
        (lambda x: paddle.concat([x, x], 1), LEVELS),
        (lambda x: paddle.concat([x, paddle.ones([1, 1])]), []),
        (lambda x: paddle.sum(x), []),
        (lambda x: paddle.transpose(x, [1, 0]), []),
        (lambda x: x[0:2], []),
        (lambda x: x[:, 0:1], LEVELS),
    ],
)
def test_what_is_fetched_has_the_levels_that_its_operators_pass_on(call, levels):
    x = static.data("x", [-1, 1], lod_level=1)
    value = fetched(call(x), return_numpy=False)
    assert value.lod() == levels


def test_an_array_cannot_hold_levels_and_says_which_result_has_them():
    x = static.data("x", [-1, 1], lod_level=1)
    y = paddle.scale(x, 2.0)
    with pytest.raises(RunError, match=f"LoD information.*`{y.name}` has the levels"):
        fetched(y)
    assert fetched(paddle.sum(y)) == 6


def test_a_tensor_fed_without_levels_gives_none():
    y = paddle.scale(static.data("x", [-1, 1], lod_level=1), 2.0)
    found = static.Executor().run(feed={"x": rows(levels=False)}, fetch_list=[y])[0]
    assert found.tolist() == [[0], [2], [4]]


def test_operators_pass_on_levels_as_those_of_the_reference_do():
    own = {(name, *slots.split()) for slots, types in TYPES.items() for name in types.split()}
    rows = json.loads(REFERENCE.read_text(encoding="utf-8"))
    known = {
        (name, given, taken)
        for name, slots in rows.items()
        for given, results in slots.items()
        for taken in results
        if taken != "XShape" and not name.endswith("_grad")
    }
    states = {
        ("batch_norm", "Mean", "MeanOut"),
        ("batch_norm", "Variance", "VarianceOut"),
        ("hierarchical_sigmoid", "W", "W_Out"),
        ("lod_reset", "X", "Out"),
    }
    assert own == known - states


@pytest.mark.parametrize(("levels", "distances"), [(True, [[0.0], [2.0]]), (False, [[2.0]])])
def test_distances_are_of_the_sequences_that_levels_tell_of(levels, distances):
    block = static.default_main_program().global_block()
    x, y = (static.data(n, [-1, 1], "int64", lod_level=1) for n in "xy")
    count, out = block.create_var(name="n", dtype="int64"), block.create_var(name="out")
    slots = {"SequenceNum": count, "Out": out}
    block.append_op("edit_distance", {"Hyps": x, "Refs": y}, slots, {"normalized": False})
    feed = {}
    for name, values, lengths in (("x", [1, 2, 3], [2, 1]), ("y", [1, 2, 4, 5], [2, 2])):
        array = np.array(values, "int64").reshape(-1, 1)
        held = paddle.base.create_lod_tensor(array, [lengths], paddle.CPUPlace())
        feed[name] = held if levels else array
    found = static.Executor().run(feed=feed, fetch_list=[out, count])
    assert found[0].tolist() == distances
    assert found[1].tolist() == [len(distances)]
