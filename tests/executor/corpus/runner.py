"""Ways to run a plan, each in an order that a seed picks among the legal ones."""

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from scull.executor import crew, launch
from scull.executor.crew import run_crew, run_ordered
from scull.executor.lifetime import last_uses, shrunk
from scull.executor.plan import FIRST, Plan
from scull.executor.run import Ledger, run, run_checked
from scull.executor.schedule import Schedule, host_schedule
from scull.executor.work import HostWork
from scull.flags import flags
from scull.runtime.sim import Sim
from tests.executor.corpus.trial import Runner, Trial
from tests.executor.corpus.world import PATIENCE

Order = tuple[int, ...]
THREADS = (2, 3, 4)
STREAMS = (1, 2, 3)
DEVICE = Sim(seed=0)


def schedule_of(trial: Trial) -> Schedule:
    """The schedule of a trial's plan on the host, made once."""
    if trial.bound.schedule is None:
        trial.bound.schedule = host_schedule(trial.plan)
    return trial.bound.schedule


def order_of(schedule: Schedule, seed: int) -> Order:
    """Any order that `schedule` allows, picked by `seed`."""
    chance, waiting, order = random.Random(seed).random, list(schedule.counts), []
    ready = [i for i, count in enumerate(waiting) if not count]
    while ready:
        i = ready.pop(int(chance() * len(ready)))
        order.append(i)
        for j, _ in schedule.successors[i]:
            waiting[j] -= 1
            if not waiting[j]:
                ready.append(j)
    return tuple(order)


def reordered(plan: Plan, order: Sequence[int]) -> Plan:
    """`plan` in another order, with the frees of that order."""
    slots = {v: i + FIRST for i, v in enumerate(plan.variables[FIRST:])}
    steps = shrunk([plan.instructions[i].freeing(()) for i in order], slots, set(plan.kept))
    frees = last_uses(steps, plan.kept)
    return replace(plan, steps=tuple(s.freeing(f) for s, f in zip(steps, frees, strict=True)))


def as_planned(trial: Trial, frame: list[Any]) -> None:
    """The plain loop over the plan as it is."""
    run(trial.plan, trial.bound.steps, frame)


def checked(trial: Trial, frame: list[Any]) -> None:
    """The loop that counts bytes and poisons what is freed."""
    with flags(POISON=True):
        run_checked(trial.plan, frame, Ledger())


def in_order(order: Order) -> Runner:
    """The plain loop in this order."""

    def runner(trial: Trial, frame: list[Any]) -> None:
        plan = reordered(trial.plan, order)
        run(plan, tuple((s.call, s.get, s.put, s.frees) for s in plan.steps), frame)

    return runner


def plain(trial: Trial, seed: int) -> Runner:
    """The plain loop in an order picked by `seed`."""
    return in_order(order_of(schedule_of(trial), seed))


def by_counts(trial: Trial, seed: int) -> Runner:
    """One thread that counts who is left of the last users of each value."""
    schedule = schedule_of(trial)

    def runner(trial: Trial, frame: list[Any]) -> None:
        order = order_of(schedule, seed)
        run_ordered(schedule, HostWork(trial.plan, schedule, frame), order)

    return runner


def on_threads(trial: Trial, seed: int) -> Runner:
    """Several threads, which take at random what is ready."""
    schedule = schedule_of(trial)
    anywhere = replace(schedule, large=(True,) * len(schedule.large))  # small ones, too

    def runner(trial: Trial, frame: list[Any]) -> None:
        work = HostWork(trial.plan, schedule, frame)
        with shuffled(seed), left_behind():
            run_crew(anywhere, work, THREADS[seed % len(THREADS)])

    return runner


def on_sim(trial: Trial, seed: int) -> Runner:
    """A simulated device of one to three streams, launched from one thread or from several."""
    count = STREAMS[seed % len(STREAMS)]

    def runner(trial: Trial, frame: list[Any]) -> None:
        DEVICE.reseed(seed)
        bound = trial.bound
        bound.device, bound.ran, bound.threads = DEVICE, bool(seed & 8), THREADS[seed % 3]
        bound.launches = trial.launches.setdefault(count, {})
        whole = list(frame)  # copies to the device hold what is freed here
        with flags(DEVICE_STREAMS=count), shuffled(seed), left_behind():
            with patched(launch, "run_ordered", launched):
                launch.run_device(bound, whole)
            list.__setitem__(frame, slice(None), whole)

    def launched(schedule: Schedule, work: Any, order: Any) -> None:
        run_ordered(schedule, work, order_of(schedule, seed))

    return runner


@contextmanager
def patched(module: Any, name: str, value: Any) -> Iterator[None]:
    """`value` stands for `name` in `module` while this lasts."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@contextmanager
def shuffled(seed: int) -> Iterator[None]:
    """Queues of the crew are served in no order while this lasts."""
    chance = random.Random(seed)

    class Shuffled(deque[Any]):
        """A queue of which anyone may be next."""

        def popleft(self) -> Any:
            self.rotate(chance.randrange(len(self)))
            return super().popleft()

    with patched(crew, "deque", Shuffled):
        yield


@contextmanager
def left_behind() -> Iterator[None]:
    """Wait at the end for what an interrupted run left at work: it still reaches outside."""
    crews = []

    class Remembered(crew.Crew):
        """A crew of which one knows afterwards who is still at work."""

        def __init__(self, *args: Any) -> None:
            crews.append(self)
            super().__init__(*args)

        def ended(self) -> bool:
            """Whether, after a while, nobody is at work any more."""
            with self.change:
                return self.change.wait_for(lambda: not self.busy, PATIENCE)

    with patched(crew, "Crew", Remembered):
        try:
            yield
        finally:
            assert all(one.ended() for one in crews)


RUNNERS: dict[str, tuple[Callable[[Trial, int], Runner], int]] = {  # with orders over the corpus
    "plain": (plain, 1_000),
    "counts": (by_counts, 1_000),
    "threads": (on_threads, 10_000),
    "sim": (on_sim, 10_000),
}
