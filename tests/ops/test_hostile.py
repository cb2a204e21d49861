"""No operator crashes, hangs or lets an error of NumPy through, whatever it is called with.

A short run tries some calls of each operator, `--sweep` all of them.
"""

import os
import signal
import sys

import numpy as np
import pytest

from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.core.op import BY_TYPE, REGISTRY
from scull.errors import ArgumentError
from tests.ops import hostile, trial
from tests.ops.case import Case, operators
from tests.ops.sample import call, f32

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="calls are made in a fork of this process"
)


@pytest.mark.parametrize("op", operators(), ids=lambda op: op.name)
def test_wild_operands_and_attributes_give_results_or_errors_with_a_law(op, request):
    sweep = request.config.getoption("sweep") or bool(os.environ.get("SCULL_SWEEP"))
    found = trial.faults(hostile.attempts(op, sweep))
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:20])


@pytest.fixture
def faults(monkeypatch):
    """What is found of an operator with this kernel, called with one wild attribute."""
    monkeypatch.setattr(trial, "SECONDS", 0.3)
    names = set(REGISTRY), set(BY_TYPE)

    def found(kernel):
        def shifted(x: Meta, *, by: int = 0) -> Meta:
            return x

        function = primitive(shifted)
        function.kernel(kernel)
        case = Case(function.op, 0, call(f32(2, 3)))
        return trial.faults([hostile.Attempt(case, case.inputs(), {"by": 7}, "by=7")])

    yield found
    for table, before in zip((REGISTRY, BY_TYPE), names, strict=True):
        for name in set(table) - before:
            del table[name]


def test_a_result_is_no_fault(faults):
    assert faults(lambda xp, x, *, out=None, by: x + by) == []


def test_an_error_with_a_law_is_no_fault(faults):
    def refuse(xp, x, *, out=None, by):
        raise ArgumentError(f"by is {by}")

    assert faults(refuse) == []


def test_an_error_of_python_is_found_in_every_way(faults):
    found = faults(lambda xp, x, *, out=None, by: {}[by])
    assert [text.split(": ", 3)[1] for text in found] == [f"by=7, {way}" for way in hostile.WAYS]
    assert all(trial.NO_LAW + "KeyError: 7" in text for text in found)


def test_a_crash_is_found(faults):
    (found,) = faults(lambda xp, x, *, out=None, by: os.kill(os.getpid(), signal.SIGSEGV))
    assert found.endswith("by=7, eager: the process died")


def test_a_call_that_does_not_end_is_found(faults):
    def endless(xp, x, *, out=None, by):
        while True:
            pass

    (found,) = faults(endless)
    assert found.endswith("by=7, eager: the process died")


def test_memory_that_is_not_there_is_an_error_with_a_law(faults):
    assert faults(lambda xp, x, *, out=None, by: np.zeros((2**31, 2**12))) == []
