"""Random programs with control flow give one thing: as Python, Program, primitives, unrolled."""

import inspect
from itertools import combinations

import pytest

from tests.control.corpus import (
    COUNT,
    EXACTLY,
    FEATURES,
    NIGHTLY,
    exact,
    matrix,
    smooth,
    together,
)
from tests.control.shrink import shrunk
from tests.control.source import model_of, source
from tests.control.tree import Break, Store, has, within
from tests.control.trial import Trial
from tests.control.writer import features

PART = 10  # programs of one test


def failure(tree, number, is_exact=False):
    """What is wrong with a program; None where nothing is."""
    try:
        Trial(tree, number, is_exact).check()
    except Exception as law:
        return law
    return None


def check(numbers, tree_of, is_exact=False):
    """Try every program; of those that differ the first is shrunk."""
    laws = {n: failure(tree_of(n), n, is_exact) for n in numbers}
    wrong = [n for n, law in laws.items() if law is not None]
    if wrong:
        number = wrong[0]
        tree, law = tree_of(number), laws[number]
        small = shrunk(tree, lambda t: type(failure(t, number, is_exact)) is type(law))
        last = failure(small, number, is_exact)
        told = f"programs {wrong} of {numbers} differ; {number}: {law}\nthe smallest one: {last}"
        pytest.fail(f"{told}\n{source(small)}")


def part(request, start, suite, night):
    """The programs of one test: so many at night as then belong to it."""
    many = night if request.config.getoption("--nightly") else suite
    return range(start * many // suite, (start + PART) * many // suite)


@pytest.mark.parametrize("start", range(0, COUNT, PART))
def test_programs_give_one_thing_in_every_form(start, request):
    check(part(request, start, COUNT, NIGHTLY), smooth)


@pytest.mark.parametrize("start", range(0, EXACTLY, PART))
def test_gradients_have_the_same_bits_where_every_sum_is_exact(start, request):
    check(part(request, start, EXACTLY, EXACTLY * 10), exact, is_exact=True)


def test_every_two_features_stand_in_some_program(request, capsys):
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f"\n{matrix()}")
    counts = together()
    assert set().union(*counts) == set(FEATURES)
    assert [p for p in combinations(FEATURES, 2) if frozenset(p) not in counts] == []


def test_a_number_is_always_the_same_program():
    assert source(smooth(7)) == source(smooth(7)) != source(smooth(8))


def test_the_source_of_a_program_can_be_asked_for():
    tree = smooth(7)
    assert inspect.getsource(model_of(tree).forward).strip() in source(tree)


def test_what_fails_is_shrunk_to_what_it_needs():
    tree = next(t for t in map(smooth, range(COUNT)) if {"break", "store"} <= features(t))

    def fails(t):
        return has(t.body, Break) and has(t.body, Store)

    small = shrunk(tree, fails)
    assert fails(small) and len(list(within(small.body))) <= 4 < len(list(within(tree.body)))
    assert failure(small, 0) is None
