"""Every pass by its name.

Names are those that Paddle's passes to the same end have.
"""

from scull.passes import (
    attend,
    dead,
    decompose,
    fold,
    fuse,
    group,
    identity,
    layout,
    normalize,
    subexpression,
    testing,
)
from scull.passes.selection import PLANNED
from scull.passes.work import Pass, Work


def left_to_the_plan(work: Work) -> None:
    """Nothing: whoever plans a run decides it."""


MODULES = (
    *(testing, identity, fold, subexpression, dead, normalize),
    *(attend, fuse, group, layout, decompose),
)
PASSES: dict[str, Pass] = {each.name: each for module in MODULES for each in module.PASSES}
PASSES |= {n: Pass(n, f"{text}: by the plan", left_to_the_plan) for n, text in PLANNED.items()}
