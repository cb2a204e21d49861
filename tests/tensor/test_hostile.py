"""Public functions refuse by a law of scull what they cannot take, in eager and in static mode.

A short run tries some calls of each function, `--sweep` all of them.
"""

import os
import sys

import pytest

import scull as paddle
from tests.ops.trial import faults
from tests.tensor.public_call import functions, wild_calls

MODULES = (paddle, paddle.nn.functional, paddle.fft, paddle.signal, paddle.audio.functional)
EVERY = [(m, n) for m in MODULES for n in functions(m)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls are made in a fork")
@pytest.mark.parametrize(
    ("module", "name"), EVERY, ids=lambda value: getattr(value, "__name__", value)
)
def test_wild_arguments_give_results_or_errors_with_a_law(module, name, request):
    sweep = request.config.getoption("sweep") or bool(os.environ.get("SCULL_SWEEP"))
    found = faults(wild_calls(module, name, sweep))
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:20])


def test_most_public_functions_are_tried():
    assert len(EVERY) > 300
