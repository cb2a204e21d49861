"""The figures of machine code: networks are what they are called, contenders work by themselves."""

import importlib.util
import os
import subprocess
import sys
from math import prod
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import scull as paddle
from benchmarks.compiled import process, row
from benchmarks.compiled.catalog import workloads
from benchmarks.compiled.framework.paddle import training
from benchmarks.compiled.network import lenet, parameters_of, perceptron, values_of
from benchmarks.compiled.process import environment, python_of, started
from benchmarks.compiled.row import agree, row_of, turns
from benchmarks.compiled.workload import Fitted, Training
from scull.flags import flags

ROOT = Path(__file__).resolve().parents[2]
needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
TRAINED = {  # numbers that are learned, as the papers or other implementations count them
    "perceptron": 3 * (64 * 64 + 64) + 650,
    "mlp": 784 * 512 + 512 + 512 * 256 + 256 + 2570,
    "lenet": 431_080,
    "resnet50": 25_557_032,
    "mobilenet": 3_504_872,
    "bert": 109_482_240 - 2 * 768 - 384 * 768,  # one sort of tokens, 128 positions of 512
}


@pytest.mark.parametrize("name", TRAINED)
def test_a_network_has_as_many_parameters_as_it_is_known_for(name):
    work = workloads()[name]
    assert isinstance(work, Fitted)
    assert sum(prod(p.shape) for p in work.parameters if p.trained) == TRAINED[name]


def test_first_values_are_always_the_same_and_spread_as_asked():
    parameters = parameters_of(lenet, 1)
    first, again = values_of(parameters), values_of(parameters)
    assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))
    for p, value in zip(parameters, first, strict=True):
        assert value.shape == p.shape and value.dtype == np.float32
        assert value.std() == pytest.approx(p.scale, rel=0.1)


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "adamw"])
def test_a_step_of_training_learns_and_leaves_the_mode_as_code_has_it(optimizer):
    rng = np.random.default_rng(0)
    work = Training(
        title="", asked={}, peers=(), network=perceptron((6, 8, 3)), optimizer=optimizer, rate=0.1,
        inputs=(rng.standard_normal((16, 6), np.float32),), label=rng.integers(0, 3, 16),
    )  # fmt: skip
    with flags(COMPILE="off"):
        losses = work.result(training(work, 1, "scull"))
    paddle.disable_static()
    assert losses.shape == (20,) and losses[-1] < losses[0]


@needs_llvm
def test_contenders_are_processes_that_take_turns(tmp_path):
    with started("tiny", "scull", 1, str(tmp_path)) as own:
        assert own.result.shape == (2,)
        assert own.first > 0 and own.peak > 0
        found = turns({"scull": own}, 7)
        assert len(found["scull"]) == 7 and min(found["scull"]) > 0 and own.count > 1
    assert own.process.wait(10) == 0


def test_a_contender_that_ends_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "python_of", lambda name: sys.executable)
    with pytest.raises(RuntimeError, match="ended"), started("tiny", "absent", 1, str(tmp_path)):
        pass


def test_contenders_that_compute_something_else_are_refused():
    ours, other = (SimpleNamespace(result=np.array([1.0, x])) for x in (2.0, 2.01))
    agree(workloads()["tiny"], {"scull": ours, "torch": ours})
    with pytest.raises(AssertionError, match=r"torch differs by 0\.005"):
        agree(workloads()["tiny"], {"scull": ours, "torch": other})


def test_every_framework_is_told_how_many_threads_there_are():
    for threads in (1, 2):
        told = environment(threads)
        assert told["OMP_NUM_THREADS"] == told["SCULL_NUM_THREADS"] == str(threads)
        assert told["XLA_FLAGS"].endswith(f"intra_op_parallelism_threads={threads}")


@needs_llvm
def test_without_peers_a_row_says_so(monkeypatch):
    monkeypatch.setattr(row, "python_of", lambda n: python_of(n) if n == "scull" else None)
    found = row_of("tiny", workloads()["tiny"], 1, 5)
    assert found.name == "machine code, 1 thread: prediction of a tiny perceptron"
    assert (found.asked, found.measured) == (">= 2.0x", "no peer is installed")


def test_every_row_has_a_name_of_its_own_and_a_figure_that_is_asked():
    found = workloads()
    assert len({work.title for work in found.values()}) == len(found)
    assert all(work.asked.keys() <= {1, 2} and 1 in work.asked for work in found.values())


def test_a_process_of_machine_code_stays_one():
    code = "import benchmarks, scull; print(scull.flags.compile)"
    for told, found in (({}, "off"), ({"SCULL_COMPILE": "eager"}, "eager")):
        given = {k: v for k, v in os.environ.items() if k != "SCULL_COMPILE"} | told
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True)
        assert done.stdout.strip() == found, done.stderr
