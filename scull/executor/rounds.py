"""How often a loop runs, where constants tell it before the run."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from scull.executor.instruction import Instruction
from scull.ir.operator import Operator, each
from scull.ir.variable import Variable
from scull.passes.unroll import COMPUTED, computed_ahead, is_small

MOST = 20_000  # rounds that are counted one by one


class Known:
    """The small values that operators of some `types` make of nothing but constants."""

    types = COMPUTED

    def __init__(self, values: dict[Variable, Any]) -> None:
        self.values = values

    def learn(self, o: Operator) -> None:
        """Know the results of `o` when its operands are known, and else no more."""
        found: tuple[Any, ...] = ()
        if o.type in self.types and not o.told and all(v in self.values for v in o.operands()):
            found = self.computed(o)
        self.forget(o.results())
        for v, value in zip(o.results(), found, strict=False):
            self.values[v] = np.array(value)

    def computed(self, o: Operator) -> tuple[Any, ...]:
        """The results of an operator whose operands are known."""
        if not all(map(is_small, o.results())):
            return ()
        arrays = [[np.array(self.values[v]) for v in each(slot)] for slot in o.inputs]
        pairs = zip(o.op.inputs, arrays, strict=True)
        operands = [x if n in o.op.lists else x[0] if x else None for n, x in pairs]
        return computed_ahead(o, operands)

    def forget(self, variables: Iterable[Variable]) -> None:
        """Know these no more."""
        for v in variables:
            self.values.pop(v, None)

    def rounds(self, step: Instruction) -> int | None:
        """How often the loop of a step runs; None when nobody knows, or it is very often."""
        (condition,) = step.operator.op.source.inputs[1]
        inside = Known(dict(self.values))
        deciding = self.deciding([s.operator for s in step.nested.steps], condition)
        for number in range(MOST):
            holds = inside.values.get(condition)
            if holds is None or holds.size != 1:
                return None
            if not holds.item():
                return number
            for o in deciding:
                inside.learn(o)
        return None

    def deciding(self, operators: list[Operator], condition: Variable) -> list[Operator]:
        """Those of a round that the condition of the next one depends on."""
        asked, before = {condition}, 0
        while before != len(asked):
            before = len(asked)
            for o in operators:
                if asked & set(o.results()):
                    asked.update(o.operands())
        return [o for o in operators if asked & set(o.results())]
