"""An order in which gradients go as soon as they are made: updates run right after them."""

from collections.abc import Sequence
from typing import Any

from scull.executor.access import Touch
from scull.executor.alias import written
from scull.ir.operator import Operator


def early_updates(
    operators: Sequence[Operator], touched: Sequence[tuple[Touch, ...]]
) -> tuple[Operator, ...]:
    """`operators` with each update right behind the last one it waits for.

    An update makes no value, and what it reads is read no later than before: nothing lives longer
    for it, so that the peak never rises.
    """
    behind: list[int] = []  # for each operator the one it runs behind: most behind themselves
    users, writers = dict[Any, int](), dict[Any, int]()  # of what is touched, behind whom the last
    for i, (operator, touches) in enumerate(zip(operators, touched, strict=True)):
        waits = [(users if t.writes else writers).get(t.what, -1) for t in touches]
        behind.append(max(waits, default=-1) if is_update(operator) else i)
        for t in touches:
            users[t.what] = max(users.get(t.what, -1), behind[i])
            if t.writes:
                writers[t.what] = max(writers.get(t.what, -1), behind[i])
    order = sorted(range(len(operators)), key=lambda i: (behind[i], i))
    return tuple(operators[i] for i in order)


def is_update(operator: Operator) -> bool:
    """Whether an operator writes over what outlives the run, and does nothing else."""
    over = written(operator)
    kept = bool(over) and all(v.persistable for v in over)
    return kept and over.issuperset(operator.results()) and not operator.op.effects
