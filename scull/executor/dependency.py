"""What must happen before what.

Read after write, write after read, write after write, and effects in order.
"""

import random

from scull.executor.alias import roots, written
from scull.ir.operator import Operator


def dependencies(operators: tuple[Operator, ...]) -> tuple[frozenset[int], ...]:
    """For every operator the places of those that must run before it."""
    family = roots(operators)
    writer: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    before: list[frozenset[int]] = []
    ordered: int | None = None
    for i, o in enumerate(operators):
        needs: set[int] = set()
        for v in o.operands():
            if family[v] in writer:
                needs.add(writer[family[v]])
        for v in (*o.results(), *written(o)):
            needs.update(readers.get(family[v], ()))
            if family[v] in writer:
                needs.add(writer[family[v]])
        if o.op.effects - {"random"}:
            if ordered is not None:
                needs.add(ordered)
            ordered = i
        for v in o.operands():
            readers.setdefault(family[v], []).append(i)
        for v in o.results():
            writer[family[v]] = i
            readers[family[v]] = [i] if v in set(o.operands()) else []
        before.append(frozenset(needs - {i}))
    return tuple(before)


def schedule(operators: tuple[Operator, ...], seed: int) -> tuple[Operator, ...]:
    """`operators` in any legal order, picked by `seed`; program order when it is negative."""
    if seed < 0:
        return operators
    chance = random.Random(seed)
    before = dependencies(operators)
    done: set[int] = set()
    ready = [i for i, needs in enumerate(before) if not needs]
    waiting = {i for i, needs in enumerate(before) if needs}
    order = []
    while ready:
        i = ready.pop(chance.randrange(len(ready)))
        order.append(operators[i])
        done.add(i)
        freed = [j for j in waiting if before[j] <= done]
        ready.extend(sorted(freed))
        waiting.difference_update(freed)
    return tuple(order)
