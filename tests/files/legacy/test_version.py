"""The versions of operators that files tell: older ones are understood, newer ones are refused."""

import json

import numpy as np
import pytest

from scull import static
from scull.core.op import op_of
from scull.errors import UnknownOpError, UnsupportedError
from scull.files import proto
from scull.files.legacy.version import known, op_versions, versions_of
from scull.files.program import bytes_of, program_of
from tests.files.legacy.packed import DATA

# What the reference says wrongly of older files, or scull spells otherwise.
OTHERWISE = {
    ("allclose", "atol"): "1e-8 in every release",
    ("linspace", "dtype"): "told where a file lacks it",
    ("pixel_shuffle", "data_format"): "NCHW in every release",
    ("trace", "axis1"): "0",
    ("trace", "axis2"): "1",
}


def message_with(type: str, *, release: int = 0, versions=None, **attrs):
    """A Program of one operator from X to Out."""
    message = proto.ProgramDesc()
    message.version.version = release
    block = message.blocks.add(idx=0, parent_idx=-1)
    for name in ("x", "out"):
        variable = block.vars.add(name=name)
        variable.type.type = proto.VarType.LOD_TENSOR
        variable.type.lod_tensor.tensor.data_type = proto.VarType.FP32
        variable.type.lod_tensor.tensor.dims.append(3)
    operator = block.ops.add(type=type)
    operator.inputs.add(parameter="X").arguments.append("x")
    operator.outputs.add(parameter="Out").arguments.append("out")
    for name, value in attrs.items():
        operator.attrs.add(name=name, type=proto.FLOAT, f=value)
    for name, version in (versions or {}).items():
        message.op_version_map.pair.add(op_name=name).op_version.version = version
    return message


def result_of(message, x=(-2.0, 0.5, 3.0)):
    """What the Program computes."""
    program = program_of(message.SerializeToString())
    feed = {"x": np.array(x, "float32")}
    (out,) = static.Executor().run(program, feed=feed, fetch_list=["out"], scope=static.Scope())
    return out.tolist()


def test_what_older_files_meant_by_an_absent_attribute_is_what_operators_take():
    differing = set()
    for type, steps in json.loads((DATA / "checkpoints.json").read_text()).items():
        try:
            op = op_of(type)
        except UnknownOpError:
            continue
        own = {op.attribute(n): default for n, default in op.attrs.items()}
        for name, meant in ((n, v) for step in steps for n, v in step.items()):
            told = tuple(own.get(name)) if isinstance(own.get(name), tuple) else own.get(name)
            if name in own and told != (tuple(meant) if isinstance(meant, list) else meant):
                differing.add((type, name))
    assert differing == set(OTHERWISE)


def test_the_versions_known_are_those_that_scull_notes_in_files():
    steps = json.loads((DATA / "checkpoints.json").read_text())
    noted = proto.OpVersionMap.FromString(op_versions()).pair
    assert {p.op_name: p.op_version.version for p in noted if p.op_name in steps} == {
        type: len(changes) for type, changes in steps.items()
    }
    assert all(known()[type] == len(changes) for type, changes in steps.items())


@pytest.mark.parametrize("release", [0, 2_006_002, 3_000_000])
def test_a_newer_version_of_an_operator_is_refused_by_type_and_versions(release):
    message = message_with("leaky_relu", release=release, versions={"leaky_relu": 7}, alpha=0.5)
    with pytest.raises(UnsupportedError) as caught:
        program_of(message.SerializeToString())
    assert "`leaky_relu` of version 7, known up to 1" in str(caught.value)
    assert ("3.0.0" in str(caught.value)) == (release == 3_000_000)


def test_all_newer_versions_are_told_at_once():
    versions = {"leaky_relu": 9, "relu": 3, "tanh": 8}
    message = message_with("leaky_relu", versions=versions, alpha=0.5)
    message.blocks[0].ops.add(type="relu")
    with pytest.raises(
        UnsupportedError, match=r"`leaky_relu` of version 9.*; `relu` of version 3"
    ) as e:
        program_of(message.SerializeToString())
    assert "tanh" not in str(e.value)  # the Program has none


@pytest.mark.parametrize("versions", [{"relu": 2}, {"elementwise_max": 2, "relu": 1}])
def test_versions_that_2_6_2_dropped_are_trusted_in_files_of_releases_before(versions):
    message = message_with("relu", release=2_003_001, versions=versions)
    assert result_of(message) == [0.0, 0.5, 3.0]


@pytest.mark.parametrize(
    ("release", "versions", "expected"),
    [
        (1_008_005, None, [-2.0, 1.0, 6.0]),
        (2_000_000, {"matmul": 1}, [-2.0, 1.0, 6.0]),
        (2_000_000, {"leaky_relu": 1}, [-4.0, 0.5, 3.0]),
        (2_006_002, None, [-4.0, 0.5, 3.0]),  # the bytes of a Program in memory tell no versions
        (0, None, [-4.0, 0.5, 3.0]),
    ],
)
def test_leaky_relu_means_what_the_version_of_the_file_meant(release, versions, expected):
    message = message_with("leaky_relu", release=release, versions=versions, alpha=2.0)
    assert result_of(message) == expected


def test_an_old_hard_shrink_that_doubled_numbers_is_refused_and_others_run():
    old = message_with("hard_shrink", release=1_008_005, threshold=1.0)
    assert result_of(old) == [-2.0, 0.0, 3.0]
    old = message_with("hard_shrink", release=1_008_005, threshold=-1.0)
    with pytest.raises(UnsupportedError, match=r"block 0, operator 0 \(`hard_shrink`\): version 0"):
        program_of(old.SerializeToString())


def test_versions_of_a_file_survive_a_round_trip():
    data = message_with("relu", release=2_003_001, versions={"relu": 2}).SerializeToString()
    assert bytes_of(program_of(data)) == data


def test_versions_are_those_of_the_map_and_none_for_files_of_one():
    message = message_with("relu", versions={"conv2d": 1})
    assert versions_of(message) == {"conv2d": 1}
    assert versions_of(message_with("relu", release=1_006_000)) == {}
