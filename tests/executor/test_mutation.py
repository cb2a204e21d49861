"""Every edge of a graph, every wait and event of a device is needed: without it something shows."""

from collections import Counter
from dataclasses import replace

import pytest

from scull.executor import launch
from scull.executor.crew import run_ordered
from scull.executor.dependency import linked
from scull.executor.launch import Launches
from scull.executor.work import HostWork
from scull.flags import flags
from scull.runtime.sim import Sim
from tests.executor.corpus.program import NAMES, program
from tests.executor.corpus.runner import as_planned, in_order, order_of, patched, schedule_of
from tests.executor.corpus.trial import Trial

ENOUGH = 0.95
STREAMS = 2
ORDERS = 3  # of launches, in each of which a wait may be missed


def inverted(graph, edge):
    """An order that respects all edges but one, in which the one that should wait comes first."""
    count = len(graph.counts)
    return inverse([e for e in graph.edges if e is not edge], edge.after, count)


def inverse(rest, last, count):
    """An order that respects the edges `rest`, with `last` as early as that allows."""
    before = linked(rest, count).before[last] | 1 << last
    first = [i for i in range(count) if before >> i & 1]
    return (*first, *(i for i in range(count) if not before >> i & 1))


def counted(schedule, order):
    """One thread in an order that `schedule` does not allow."""

    def runner(trial, frame):
        run_ordered(schedule, HostWork(trial.plan, schedule, frame), order)

    return runner


def differs(trial, runner, expected):
    """Whether a run fails or gives something else."""
    try:
        return trial.run(runner) != expected
    except Exception:
        return True


def noticed(trial, edge, expected):
    """Whether a run without `edge` shows it."""
    order = inverted(trial.plan.graph, edge)
    runners = (in_order(order), counted(schedule_of(trial), order))
    return any(differs(trial, runner, expected) for runner in runners)


def needed(plan):
    """The edges of a plan but those from constants, which stand in a frame before it begins."""
    stand = [plan.steps[number] for number in plan.constants]
    return [e for e in plan.graph.edges if plan.instructions[e.before] not in stand]


def told(request, capsys, found, missed):
    """The share of those found, which is printed if that is asked for."""
    share = found.total() / (found.total() + missed.total())
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f"\n{share:.1%} noticed: {dict(found)}; missed: {dict(missed)}")
    return share


def test_a_run_without_any_one_edge_is_noticed(capsys, request):
    found, missed = Counter(), Counter()
    for name in NAMES:
        trial = Trial(program(name))
        expected = trial.run(as_planned)
        for edge in needed(trial.plan):
            kinds = "+".join(sorted({reason.kind for reason in edge.reasons}))
            (found if noticed(trial, edge, expected) else missed)[kinds] += 1
        assert trial.run(as_planned) == expected
    assert found.total() > 1500
    assert told(request, capsys, found, missed) >= ENOUGH


def launched(seed, whole=None, order=None):
    """A new device, on which tasks are launched in an order picked by `seed`, or in this one."""

    def ordered(schedule, work, planned):
        given = order if work.whole is whole else None  # and not of a block within
        run_ordered(schedule, work, given or order_of(schedule, seed))

    def runner(trial, frame):
        bound, own = trial.bound, list(frame)
        bound.device, bound.ran, bound.waits = Sim(seed=seed), False, False
        with flags(DEVICE_STREAMS=STREAMS), patched(launch, "run_ordered", ordered):
            if whole is not None:
                bound.launches = dict.fromkeys(bound.launches, whole)
            launch.run_device(bound, own)
        list.__setitem__(frame, slice(None), own)

    return runner


def without(trial, whole, wait):
    """The launches of a plan but for one wait."""
    waits = tuple(w for w in whole.streams.waits if w is not wait)
    return Launches(trial.plan, replace(whole.streams, waits=waits), whole.results)


def runs_without(trial, whole, wait):
    """Runs that may show that `wait` is missing."""
    fewer = without(trial, whole, wait)
    count = len(whole.streams.tasks)
    early = inverse(fewer.streams.waits, wait.after, count)
    yield launched(0, fewer, tuple(range(count)))
    for seed in range(ORDERS):
        yield launched(seed, fewer, early)
        yield launched(seed, fewer)


@pytest.mark.parametrize("part", range(6))
def test_a_device_without_any_one_wait_or_event_is_noticed(capsys, request, nightly, part):
    found, missed = Counter(), Counter()
    for name in NAMES[part :: 6 if nightly > 1 else 18]:
        trial = Trial(program(name))
        expected = trial.run(launched(0))
        (known,) = trial.bound.launches.items()
        for wait in known[1].streams.waits:
            runs = runs_without(trial, known[1], wait)
            seen = any(differs(trial, runner, expected) for runner in runs)
            (found if seen else missed)[wait.kind] += 1
            trial.bound.launches = dict([known])
        assert trial.run(launched(1)) == expected
    assert told(request, capsys, found, missed) >= ENOUGH
