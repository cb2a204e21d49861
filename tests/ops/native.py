"""The call and its gradients in a Program that is machine code, beside those by its kernels."""

from typing import Any

import numpy as np

from scull.autograd.program import gradients
from scull.flags import flags
from scull.runtime import llvm
from tests.ops.case import Case, has_rows
from tests.ops.closeness import check_close, wide
from tests.ops.program import (
    NOT_RECORDED,
    aims,
    has_program_gradient,
    recordable,
    recorded,
    sources_of,
    variables,
)
from tests.ops.value import expect

SHORT = ("float16", "bfloat16")


def compiled(case: Case) -> bool:
    """Whether a Program of the call can be machine code here."""
    return llvm.available() and recordable(case)


def check_program_as_code(case: Case) -> None:
    """The results, and gradients where there are any, are what kernels give, but for rounding.

    Or they are as near to what float64 gives: kernels round more often where numbers are short.
    """
    found, expected = results_of(case, "eager"), results_of(case, "off")
    try:
        check_close(found, expected, "the Program as machine code")
    except AssertionError:
        if not any(x.dtype.name in SHORT for x in expected):
            raise
        exact = results_of(case.in_double(), "off")
        for x, y, z in zip(found, expected, exact, strict=True):
            error = np.abs(wide(y) - wide(z)).max(initial=0)
            np.testing.assert_allclose(wide(x), wide(z), 0, 2 * error, err_msg=str(case))


def refused_as_code(case: Case) -> bool:
    """Whether elements of an input are the mistake, and a Program can be fed them."""
    told = case.sample.by_value and case.op.name not in NOT_RECORDED
    return told and llvm.available() and not has_rows(case.sample.inputs)


def check_refused_as_code(case: Case) -> None:
    """A Program that is machine code refuses what kernels refuse."""

    def run() -> None:
        recording = recorded(case)
        with flags(COMPILE="eager"):
            recording.run(variables(recording.outputs))

    expect(case, run)


def results_of(case: Case, mode: str) -> list[Any]:
    """What a Program of the call gives; what it hides is its gradient's own affair."""
    recording = recorded(case)
    pairs = zip(case.op.outputs, recording.outputs, strict=True)
    fetches = variables([slot for name, slot in pairs if name not in case.op.hidden])
    if has_program_gradient(case):
        targets, seeds, _ = aims(case, recording)
        made = gradients(targets, sources_of(case, recording), seeds) if targets else []
        fetches += [v for v in made if v is not None]
    with flags(COMPILE=mode):
        return recording.run(fetches)
