"""What a region became is found again by what it says, and by nothing else."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull import lang
from scull.compiler import native, recall
from scull.compiler.recall import name_of
from scull.compiler.trace import Statement
from scull.flags import flags
from scull.lang.body import Map
from scull.lang.expression import Array, Reduce, constant
from scull.runtime import llvm
from scull.runtime.object_cache import object_cache
from tests.compiler.feature import FEATURES
from tests.compiler.graph import built
from tests.compiler.test_graphs import graph_of, results_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """A cache with nothing in it; Programs are written."""
    paddle.enable_static()
    with flags(CACHE_DIR=str(tmp_path)):
        yield tmp_path
    paddle.disable_static()


def said(size=4, dtype="float32", number=2.0, operation="sum", turned=False, twice=False, name="x"):
    """The name of a region of two statements, in which little can differ."""
    x, y = (Array(n, (size, size), dtype) for n in (name, "y"))
    out, total = Array("out", (size, size), dtype), Array("total", (size,), dtype)
    i, j, k = (lang.axis(size) for _ in range(3))
    place = (j, i) if turned else (i, j)
    first = Statement(out, Map((i, j), x[place] * constant(number, dtype) + y[i, j]), "add")
    fold = lang.sum if operation == "sum" else lang.max
    second = Statement(total, Map((i,), fold(out[i, k], over=k)), "reduce")
    statements = [first, second]
    outputs = [total, out] if twice else [total]
    return name_of(statements, [x, y], outputs, [])


def test_the_same_has_the_same_name_whatever_its_axes_and_arrays_are_called():
    assert said() == said() == said(name="another")


@pytest.mark.parametrize(
    "other",
    [
        {"size": 5},
        {"dtype": "float64"},
        {"number": 3.0},
        {"number": -2.0},
        {"operation": "max"},
        {"turned": True},
        {"twice": True},
        {"name": "y"},  # one input in both places
    ],
    ids=str,
)
def test_what_decides_about_code_is_part_of_the_name(other):
    assert said(**other) != said()


def test_a_zero_has_its_sign_and_a_sum_its_axes_in_the_name():
    assert said(number=0.0) != said(number=-0.0)
    x, i, j, k = Array("x", (3, 3, 3), "float32"), *(lang.axis(3) for _ in range(3))
    out = Array("out", (3,), "float32")
    names = set()
    for axes in ((j, k), (k, j)):
        fold = Reduce("float32", (x[i, j, k],), "sum", axes)
        names.add(name_of([Statement(out, Map((i,), fold), "sum")], [x], [out], []))
    assert len(names) == 2


def test_what_lies_over_what_is_part_of_the_name():
    x, out, i = Array("x", (3,), "float32"), Array("out", (3,), "float32"), lang.axis(3)
    statements = [Statement(out, Map((i,), x[i] + x[i]), "add")]
    assert name_of(statements, [x], [out], []) != name_of(statements, [x], [out], [x])


def test_another_compiler_another_cpu_or_fewer_vectors_have_other_names(monkeypatch):
    names = {said()}
    monkeypatch.setattr(recall, "sources", lambda packages: "changed")
    names.add(said())
    monkeypatch.undo()
    host = llvm.host()
    for change in ({"cpu": "another"}, {"features": "+none"}, {"version": "1.2.3"}):
        with monkeypatch.context() as patch:
            patch.setattr(llvm, "host", lambda change=change: replace(host, **change))
            names.add(said())
    assert len(names) == 5


def trained(rows=8):
    """The losses of some steps of training, and how often a region was thought of."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x, y = paddle.static.data("x", [rows, 6]), paddle.static.data("y", [rows, 1], "int64")
        loss = F.cross_entropy(paddle.nn.Linear(6, 3)(F.relu(paddle.nn.Linear(6, 6)(x))), y)
        paddle.optimizer.Adam(0.1).minimize(loss)
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((rows, 6), np.float32), "y": rng.integers(0, 3, (rows, 1))}
    exe = paddle.static.Executor()
    with flags(COMPILE="eager"), paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        return [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(4)]


@pytest.fixture
def thoughts(monkeypatch):
    """The regions that were thought of."""
    found = []
    original = native.thought_of

    def counting(*arguments):
        found.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(native, "thought_of", counting)
    return found


def test_a_program_seen_before_is_linked_and_not_thought_of_again(thoughts):
    first = trained()
    many, before = len(thoughts), object_cache().statistics
    assert many and trained() == first
    after = object_cache().statistics
    assert len(thoughts) == many and after.misses == before.misses
    assert trained(rows=9) and len(thoughts) > many


def test_what_is_to_be_seen_is_thought_of_anew(thoughts, capfd):
    first = trained()
    many = len(thoughts)
    with flags(DEBUG=3):  # which has instructions run, too, for their times
        assert trained() == pytest.approx(first, rel=1e-6)
    assert len(thoughts) > many and "kernel 0:" in capfd.readouterr().err


@pytest.mark.parametrize("harm", ["removed", "damaged"])
def test_where_a_file_is_missing_or_damaged_all_is_made_again(folder, thoughts, harm):
    first = trained()
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 3
    for path in files:
        content = path.read_bytes()
        if harm == "removed":
            path.unlink()
        else:
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert trained() == first
    assert all(path.is_file() for path in files)


def test_another_process_finds_it(folder):
    text = "from tests.compiler.test_recall import *\npaddle.enable_static()\nprint(trained())\n"
    text += "print(object_cache().statistics.misses)"
    told = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "SCULL_CACHE_DIR": str(folder)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout.splitlines())
    assert told[0][0] == told[1][0] and int(told[0][1]) > 0 and told[1][1] == "0"


def convolved_and_repeated():
    """A step of training through convolutions and a recurrent layer."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 5
    with paddle.static.program_guard(main, startup):
        h = x = paddle.static.data("x", [4, 8, 16, 16])
        for _ in range(3):
            h = F.relu(paddle.nn.BatchNorm2D(8)(paddle.nn.Conv2D(8, 8, 3, padding=1)(h)) + x)
        rows, _ = paddle.nn.LSTM(16, 16)(paddle.mean(h, 1))
        loss = paddle.mean(rows * rows)
        paddle.optimizer.Momentum(0.1).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    exe.run(main, feed={"x": np.ones([4, 8, 16, 16], "float32")}, fetch_list=[loss])


def test_code_does_not_depend_on_the_order_of_sets(tmp_path):
    text = "from tests.compiler.test_recall import *\npaddle.enable_static()\n"
    text += "convolved_and_repeated()\n"
    kept = []
    for seed in ("1", "2", "3"):
        folder = tmp_path / seed
        given = {"PYTHONHASHSEED": seed, "SCULL_CACHE_DIR": str(folder), "SCULL_COMPILE": "eager"}
        subprocess.run([sys.executable, "-c", text], env=os.environ | given, cwd=ROOT, check=True)
        kept.append({x.name for x in folder.rglob("*") if x.is_file()})
    assert len(kept[0]) > 20
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize("number", range(0, 500, 50))
def test_random_graphs_are_recalled_to_the_bit(number, thoughts):
    found, many = [], []
    for _ in range(2):
        values, left, _ = results_of(built(graph_of(number), FEATURES, False), "eager")
        found.append([np.asarray(x) for x in (*values, *left.values())])
        many.append(len(thoughts))
    assert many[0] == many[1]
    for x, y in zip(*found, strict=True):
        assert x.dtype == y.dtype and x.tobytes() == y.tobytes()
