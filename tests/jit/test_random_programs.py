"""Random Layers give one thing: in eager mode, as a Program, saved and loaded, in pieces."""

from itertools import combinations

import pytest

from tests.jit.random_program.corpus import (
    FEATURES,
    NIGHTLY,
    SUITE,
    matrix,
    text,
    together,
    trial,
)
from tests.jit.random_program.shrink import shrunk
from tests.jit.random_program.trial import failure
from tests.jit.random_program.writer import PYTHON

PART = 10  # Layers of one test


def check(kind, number):
    pieces = kind == "pieces"
    law = failure(trial(kind, number), pieces)
    if law is None:
        return

    def fails(source):
        try:
            found = failure(trial(kind, number, source), pieces)
        except Exception:
            return False  # Python refuses it
        return type(found) is type(law)

    small = shrunk(text(kind, number), fails)
    last = failure(trial(kind, number, small), pieces)
    pytest.fail(f"{kind} {number}: {law}\nthe smallest one: {last}\n{small}")


def part(request, kind, start):
    """The Layers of one test: so many at night as then belong to it."""
    suite = SUITE[kind]
    many = NIGHTLY[kind] if request.config.getoption("--nightly") else suite
    return range(start * many // suite, (start + PART) * many // suite)


@pytest.mark.parametrize("start", range(0, SUITE["smooth"], PART))
def test_layers_give_one_thing_in_eager_mode_as_a_program_and_loaded(start, request):
    for number in part(request, "smooth", start):
        check("smooth", number)


@pytest.mark.parametrize("start", range(0, SUITE["exact"], PART))
def test_gradients_have_the_same_bits_where_every_sum_is_exact(start, request):
    for number in part(request, "exact", start):
        check("exact", number)


@pytest.mark.parametrize("start", range(0, SUITE["pieces"], PART))
def test_pieces_of_graph_give_what_eager_mode_gives(start, request):
    for number in part(request, "pieces", start):
        check("pieces", number)


def test_the_features_of_the_layers_stand_together(request, capsys):
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f"\n{matrix()}")
    counts = together()
    assert set().union(*counts) == set(FEATURES)
    pairs = list(combinations(FEATURES, 2))
    assert sum(frozenset(p) in counts for p in pairs) > 0.9 * len(pairs)


def test_what_fails_is_shrunk_to_what_it_needs():
    source = next(s for n in range(99) if "while True:" in (s := text("smooth", n)))
    small = shrunk(source, lambda s: "while True:" in s)
    assert small.splitlines()[1:] == [] or len(small.splitlines()) < 6


def test_a_number_is_always_the_same_layer():
    assert text("smooth", 7) == text("smooth", 7) != text("smooth", 8)
    assert len(PYTHON) > 30
