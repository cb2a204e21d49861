"""What a run by counts needs of a plan: queues, counts, who follows whom, what goes when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scull.core.meta import Kind
from scull.executor.alias import written
from scull.executor.dependency import graph_of
from scull.executor.instruction import Instruction
from scull.executor.lifetime import Lifetime, lifetimes
from scull.executor.plan import Plan
from scull.executor.stream import ASYNCHRONOUS, DIRECT, Streams
from scull.executor.transfer import BLOCKING, COPY_OUT, HOST, WAITING
from scull.ir.operator import Operator

OWN = "own"  # what calls Python, for the thread that asked for the run
DEVICE = "device"  # what is launched and goes on by itself
LARGE = 1 << 18  # bytes that an instruction touches to be worth another thread
GUESS = 32  # for a size that is known only when run

Life = tuple[Any, bool, int]  # what goes, whether its shape stays, how many tasks end it


@dataclass(frozen=True)
class Schedule:
    """The tasks of a run: when each may start, on whose thread, and what goes after it."""

    queues: tuple[str, ...]
    large: tuple[bool, ...]  # worth another thread
    counts: tuple[int, ...]  # how many each waits for
    successors: tuple[tuple[tuple[int, str], ...], ...]  # who waits for each, and how
    lives: tuple[Life, ...]
    ends: tuple[tuple[int, ...], ...]  # the lives that each task is among the last users of
    pays: bool  # whether two large ones need not wait for each other
    waits: bool  # whether one may wait for something outside the run
    leavable: tuple[bool, ...]  # whether a run that ends by an error need not wait for it


def host_schedule(plan: Plan) -> Schedule:
    """The schedule of a plan on the host: every instruction is a task."""
    graph, steps = plan.graph, plan.instructions
    large = tuple(map(is_large, steps))
    earlier, pays = 0, False
    for i, worth in enumerate(large):
        if worth:
            pays = pays or bool(earlier & ~graph.before[i])
            earlier |= 1 << i
    queues = tuple(host_queue(step.operator) for step in steps)
    follow = tuple(tuple((j, DIRECT) for j in found) for found in graph.successors)
    lives, ends = ended(plan.lifetimes, len(steps))
    waits, leavable = BLOCKING in queues, tuple(is_leavable(step.operator) for step in steps)
    return Schedule(queues, large, graph.counts, follow, lives, ends, pays, waits, leavable)


def device_schedule(plan: Plan, streams: Streams) -> Schedule:
    """The schedule of a plan on a device: its tasks wait as the streams say."""
    tasks = streams.tasks
    counts = [0] * len(tasks)
    follow: list[list[tuple[int, str]]] = [[] for _ in tasks]
    for wait in streams.waits:
        counts[wait.after] += 1
        follow[wait.before].append((wait.after, wait.kind))
    queues, leavable = [], []
    for task in tasks:
        operator = None
        if task.instruction is not None:
            operator = plan.instructions[task.instruction].operator
        leavable.append(operator is not None and is_leavable(operator))
        if operator is not None and task.queue == HOST:
            queues.append(host_queue(operator))
        else:
            queues.append(DEVICES.get(task.queue, BLOCKING))
    large = tuple(queue in (BLOCKING, DEVICE) for queue in queues)
    graph = graph_of([task.touches for task in tasks], plan.sequential)
    lives, ends = ended(lifetimes(tasks, graph, streams.kept), len(tasks))
    successors = tuple(map(tuple, follow))
    rest = (tuple(counts), successors, lives, ends, True, True, tuple(leavable))
    return Schedule(tuple(queues), large, *rest)


DEVICES = dict.fromkeys(ASYNCHRONOUS, DEVICE) | {COPY_OUT: BLOCKING}


def host_queue(operator: Operator) -> str:
    """The queue of an operator that runs on the host."""
    effects = operator.op.effects
    return BLOCKING if effects & WAITING else OWN if "python" in effects else HOST


def is_leavable(operator: Operator) -> bool:
    """Whether an operator may wait for ever, does nothing else, and leaves nothing behind."""
    only_waits = operator.op.effects and operator.op.effects <= WAITING
    lasting = operator.op.has_blocks or any(v.persistable for v in written(operator))
    return bool(only_waits and not lasting)


def ended(
    lifetimes: Iterable[Lifetime], size: int
) -> tuple[tuple[Life, ...], tuple[tuple[int, ...], ...]]:
    """The lives that somebody ends, and by task those it ends."""
    found = [life for life in lifetimes if life.last]
    ends: list[list[int]] = [[] for _ in range(size)]
    for n, life in enumerate(found):
        for i in life.last:
            ends[i].append(n)
    lives = tuple((life.slot, life.keeps_shape, len(life.last)) for life in found)
    return lives, tuple(map(tuple, ends))


def is_large(step: Instruction) -> bool:
    """Whether an instruction is worth another thread, as far as that is known ahead."""
    return touched_bytes(step.operator) >= LARGE


def touched_bytes(operator: Operator) -> int:
    """The bytes an operator reads and fills, as far as they are known ahead; none for a view."""
    total = 0
    if operator.op.views:
        return total
    for v in (*operator.operands(), *operator.results()):
        size = v.dtype.itemsize if v.kind is Kind.DENSE else 0
        for n in v.shape:
            size *= GUESS if n == -1 else n
        total += size
    return total


def has_waiting(steps: Sequence[Instruction]) -> bool:
    """Whether an instruction may wait for something outside the run."""
    return any(step.operator.op.effects & WAITING for step in steps)
