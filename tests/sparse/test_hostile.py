"""Functions of paddle.sparse refuse by a law of scull what they cannot take."""

import os
import sys

import pytest

import scull as paddle
from tests.ops.trial import faults
from tests.tensor.public_call import functions, wild_calls

MODULES = (paddle.sparse, paddle.sparse.nn.functional)
# A sketch that is made better 2**31 times has no end.
EVERY = [(m, n) for m in MODULES for n in functions(m) if n != "pca_lowrank"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls are made in a fork")
@pytest.mark.parametrize(
    ("module", "name"), EVERY, ids=lambda value: getattr(value, "__name__", value)
)
def test_wild_arguments_give_results_or_errors_with_a_law(module, name, request):
    sweep = request.config.getoption("sweep") or bool(os.environ.get("SCULL_SWEEP"))
    found = faults(wild_calls(module, name, sweep))
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:20])


def test_every_function_is_tried():
    assert len(EVERY) == len(paddle.sparse.__all__) + len(paddle.sparse.nn.functional.__all__) - 1
