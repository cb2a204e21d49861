"""What a Program means: each operator in turn, on values that share no memory with others.

This asks for no graph, no lifetimes and no views, so that it shows where a plan is wrong in these.
"""

from typing import Any

import numpy as np

from scull.core.tensor import Rows
from scull.executor.alias import written
from tests.executor.corpus.trial import Trial


def run_meaning(trial: Trial, frame: list[Any]) -> None:
    """Run the plan of `trial`, which is in the order of the Program, without freeing anything."""
    slots = {v: slot for slot, v in enumerate(trial.plan.variables) if v is not None}
    for step in trial.plan.instructions:
        own = list(frame)
        for slot in step.reads:
            own[slot] = apart(frame[slot])
        own[step.put] = step.call(*step.get(own))
        for slot in step.writes:
            list.__setitem__(frame, slot, own[slot])
        for slot in map(slots.get, written(step.operator)):
            frame[slot][...] = own[slot]


def apart(value: Any) -> Any:
    """A copy of all that `value` holds."""
    if isinstance(value, list):
        return [apart(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.copy(order="K")  # sums go by the order in memory
    return value.copy() if isinstance(value, Rows) else value
