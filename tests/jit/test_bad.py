"""Programs with a mistake: what was broken, where, and the same in every mode."""

import importlib
from types import FunctionType

import numpy as np
import pytest

import scull as paddle
from tests.jit.bad import fine
from tests.jit.bad.case import (
    CARETS,
    TO_STATIC,
    Bad,
    caught,
    law,
    lines,
    ours,
    story,
    told,
    without_carets,
)

GROUPS = ["shapes", "elements", "index", "control", "call"]


def programs(group):
    """The programs with a mistake in one module, by name."""
    found = vars(importlib.import_module(f"tests.jit.bad.{group}"))
    return {n.replace("_", " "): v for n, v in found.items() if isinstance(v, Bad)}


ALL = [(g, n, case) for g in GROUPS for n, case in programs(g).items()]
EACH = pytest.mark.parametrize(("group", "name", "case"), ALL, ids=[n for _, n, _ in ALL])


@pytest.mark.parametrize("group", GROUPS)
def test_a_mistake_is_told_with_its_law_and_place(group, golden):
    text = "\n\n".join(story(name, case) for name, case in programs(group).items())
    recorded = golden(f"bad/{group}")
    if CARETS:
        assert text == recorded
    else:
        assert text == "\n".join(without_carets(recorded.splitlines()))


@EACH
def test_a_mistake_breaks_the_same_law_in_every_mode(group, name, case):
    laws = {law(caught(case, way)) for way in case.ways}
    assert (len(laws) == 1) is (case.differs is None), laws


@EACH
def test_a_traceback_ends_at_the_user_without_the_framework_between(group, name, case):
    for way in case.ways:
        error = caught(case, way)
        assert lines(error) or "  at tests/jit/bad/" in told(error)
        if way == TO_STATIC:
            assert ours(error) == 1  # the call itself


def test_there_are_more_than_a_hundred_programs_with_a_mistake():
    assert len(ALL) > 100


FINE = {n.replace("_", " "): v for n, v in vars(fine).items() if isinstance(v, FunctionType)}


@pytest.mark.parametrize("name", FINE)
def test_what_looks_like_a_mistake_gives_what_eager_mode_gives(name):
    function = paddle.jit.to_static(FINE[name], full_graph=True)
    for start in ([1.0, 2.0], [-1.0, 0.5]):
        if name == "a loop that widens its variable" and start[0] < 0:
            continue  # it would not end
        x = paddle.to_tensor(start)
        np.testing.assert_array_equal(function(x).numpy(), FINE[name](x).numpy(), strict=True)
