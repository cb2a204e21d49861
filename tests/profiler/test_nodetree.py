"""Paddle's own files of results: read, and written so that Paddle reads them."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

from scull.errors import FileError
from scull.profiler import load_profiler_result
from scull.profiler.nodetree import messages, read, written
from scull.profiler.statistics import statistics
from tests.profiler.recording import recorded, results

REFERENCE = Path(__file__).resolve().parent.parent / "data" / "reference"
PADDLE = os.environ.get("SCULL_PADDLE_PYTHON")


def shape(node):
    """What a tree says: everything but attributes, which such files lack."""
    memory = [(m.timestamp_ns, m.increase_bytes, m.current_allocated) for m in node.mem_node]
    return (node.name, node.type, node.start_ns, node.end_ns, node.callstack, memory)


@given(results())
@settings(max_examples=50)
def test_any_result_comes_back_with_the_same_trees(result):
    found = read(written(result))
    assert found.extra == result.extra and found.index == result.index
    assert found.get_data().keys() == result.get_data().keys()
    for number, root in result.get_data().items():
        other = found.get_data()[number]
        assert list(map(shape, other.walk())) == list(map(shape, root.walk()))


def test_what_ran_comes_back(tmp_path):
    profiler = recorded()
    path = str(tmp_path / "result.pb")
    profiler.export(path, "pb")
    found = load_profiler_result(path)
    before, after = (statistics(r.get_data()) for r in (profiler.profiler_result, found))
    assert after.kinds == before.kinds and after.memory == before.memory
    [*trees] = found.get_data().values()
    linear = next(n for tree in trees for n in tree.walk() if n.name == "linear")
    assert linear.input_shapes["x"] == [[2, 4]] and linear.dtypes["x"] == ["float32"]


def test_a_file_of_paddle_holds_what_paddle_says_of_it():
    result = load_profiler_result(str(REFERENCE / "profile.pb"))
    assert result.get_version() == "1.0.2" and "MainThread" in result.get_extra_info().values()
    nodes = [node.name for root in result.get_data().values() for node in root.walk()]
    assert nodes.count("ProfileStep#1") == 1 and nodes.count("forward") == 2
    assert nodes.count("relu dygraph") == 2


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_file_that_was_cut_is_refused(tmp_path, cut):
    content = (REFERENCE / "profile.pb").read_bytes()[:cut]
    path = tmp_path / "result.pb"
    path.write_bytes(content)
    with pytest.raises(FileError):
        load_profiler_result(str(path))


def test_a_kind_of_span_nobody_knows_is_refused():
    trees = messages()["Trees"]()
    trees.ParseFromString((REFERENCE / "profile.pb").read_bytes())
    trees.thread_trees[0].host_nodes[1].host_trace_event.type = 99
    with pytest.raises(FileError, match="99"):
        read(trees.SerializeToString())


@pytest.mark.skipif(not PADDLE, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_paddle_reads_what_is_written(tmp_path):
    profiler = recorded()
    path = str(tmp_path / "result.pb")
    profiler.export(path, "pb")
    code = (
        "import sys, paddle\n"
        "result = paddle.profiler.load_profiler_result(sys.argv[1])\n"  # its trees die with it
        "pending = list(result.get_data().values())\n"
        "while pending:\n"
        "    node = pending.pop()\n"
        "    pending += node.children_node\n"
        "    print(node.start_ns, node.end_ns, node.type, len(node.mem_node))\n"
    )
    ran = subprocess.run([PADDLE, "-c", code, path], capture_output=True, text=True, check=True)
    trees = profiler.profiler_result.get_data().values()
    expected = [
        f"{n.start_ns} {n.end_ns} {n.type} {len(n.mem_node)}"
        for root in trees
        for n in (root, *root.walk())
    ]
    assert sorted(ran.stdout.split("\n")[:-1]) == sorted(expected)
