"""Over the corpus any legal order gives the bits that each operator's meaning gives."""

from zlib import crc32

import pytest

from tests.executor.corpus.cover import FEATURES, IMPOSSIBLE, matrix, optimizers, pairs, sets
from tests.executor.corpus.meaning import run_meaning
from tests.executor.corpus.program import NAMES, program
from tests.executor.corpus.runner import RUNNERS, as_planned, checked, order_of, schedule_of
from tests.executor.corpus.training import OPTIMIZERS
from tests.executor.corpus.trial import Trial


def test_every_pair_of_features_that_can_occur_does_in_one_of_60_programs_or_more(request, capsys):
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f"\n{matrix()}")
    together = set().union(*map(pairs, sets().values()))
    assert together == pairs(FEATURES) - IMPOSSIBLE.keys()
    assert len(NAMES) >= 60
    assert set(optimizers().values()) == set(OPTIMIZERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_gives_what_its_operators_mean_one_by_one(name):
    trial = Trial(program(name))
    expected = trial.run(run_meaning)
    assert trial.run(as_planned) == expected
    assert trial.run(checked) == expected
    assert trial.run(as_planned) == expected


@pytest.mark.parametrize("way", RUNNERS)
@pytest.mark.parametrize("name", NAMES)
def test_any_legal_order_gives_the_same_bits(name, way, nightly):
    trial = Trial(program(name))
    expected, (make, orders) = trial.run(run_meaning), RUNNERS[way]
    for i in range(-(-orders * nightly // len(NAMES))):
        seed = crc32(f"{name} {way} {i}".encode())
        assert trial.run(make(trial, seed)) == expected, f"seed {seed}"


def test_orders_differ_and_each_is_legal():
    trial = Trial(program("mixed 0"))
    schedule = schedule_of(trial)
    orders = {order_of(schedule, seed) for seed in range(100)}
    assert len(orders) > 90
    for order in orders:
        assert sorted(order) == list(range(len(order)))
        for edge in trial.plan.graph.edges:
            assert order.index(edge.before) < order.index(edge.after)


@pytest.mark.parametrize("name", NAMES[:: len(NAMES) // 12])
def test_a_plan_made_in_another_order_gives_the_same_bits(name):
    case = program(name)
    expected = Trial(case).run(run_meaning)
    for seed in range(8):
        assert Trial(case, case.plan(seed)).run(as_planned) == expected, f"seed {seed}"


@pytest.mark.parametrize("way", ["counts", "threads", "sim"])
@pytest.mark.parametrize("name", NAMES[::3])
def test_runs_in_a_row_go_on_from_where_the_one_before_ended(name, way):
    found = []
    for make in (RUNNERS["plain"][0], RUNNERS[way][0]):
        trial = Trial(program(name))
        trial.begin()
        found.append([])
        for seed in range(4):
            frame = trial.frame()
            make(trial, seed)(trial, frame)
            found[-1].append(trial.outcome(frame))
    assert found[0] == found[1]
