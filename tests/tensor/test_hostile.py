"""Public functions refuse by a law of scull what is no tensor, in eager and in static mode."""

import sys

import pytest

import scull as paddle
from tests.ops.trial import faults
from tests.tensor.public_call import functions, wild_calls

EVERY = [(m, n) for m in (paddle, paddle.nn.functional) for n in functions(m)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls are made in a fork")
@pytest.mark.parametrize(
    ("module", "name"), EVERY, ids=lambda value: getattr(value, "__name__", value)
)
def test_what_is_no_tensor_is_refused_or_taken(module, name):
    found = faults(list(wild_calls(module, name)))
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:20])


def test_most_public_functions_are_tried():
    assert len(EVERY) > 300
