"""Which variables share memory: results that are views of an operand, results written over one."""

from typing import Any

from scull.ir.operator import Operator, program_outputs
from scull.ir.variable import Variable


def shared(operator: Operator) -> list[tuple[Variable, Variable, bool]]:
    """Pairs (result, what it lies in) that share memory, and whether the operator writes it."""
    op, found = operator.op, []
    outs = dict(zip(program_outputs(op), operator.outputs, strict=True))
    ins = dict(zip(op.inputs, operator.inputs, strict=True))
    for result, whole in op.views.items():
        found.extend(pairs(outs.get(result), ins.get(whole) or outs.get(whole), False))
    for result, operand in op.in_place.items():
        both = pairs(outs.get(result), ins.get(operand), True)
        if all(r is x for r, x, _ in both):
            found.extend(both)
    return found


def pairs(result: Any, operand: Any, writes: bool) -> list[tuple[Variable, Variable, bool]]:
    """Matching variables of two slots; every view of a list result is of the one operand."""
    if isinstance(result, Variable) and isinstance(operand, Variable):
        return [(result, operand, writes)]
    if isinstance(result, list) and isinstance(operand, Variable):
        return [(v, operand, writes) for v in result if v is not None]
    if isinstance(result, list) and isinstance(operand, list):
        return [(v, x, writes) for v, x in zip(result, operand, strict=False)]
    return []


def written(operator: Operator) -> set[Variable]:
    """The operands whose memory the operator overwrites."""
    return {x for _, x, writes in shared(operator) if writes}


def roots(operators: tuple[Operator, ...]) -> dict[Variable, Variable]:
    """For every variable the one whose memory it may share; itself when it has its own."""
    root: dict[Variable, Variable] = {}

    def find(v: Variable) -> Variable:
        while root.get(v, v) is not v:
            v = root[v]
        return v

    for o in operators:
        for result, operand, _ in shared(o):
            a, b = find(result), find(operand)
            if a is not b:
                root[a] = b
        for v in (*o.operands(), *o.results()):
            root.setdefault(v, v)
    return {v: find(v) for v in root}


def copied_views(operators: tuple[Operator, ...], fetches: tuple[Variable, ...]) -> set[int]:
    """Places of views that must be copies: their memory is overwritten while still read."""
    family = roots(operators)
    last: dict[Variable, int] = {v: len(operators) for v in fetches}
    for i, o in enumerate(operators):
        for v in o.operands():
            last[v] = max(last.get(v, 0), i)
    result = set()
    for i, o in enumerate(operators):
        own = set(o.results())  # a view of another result sees what is written there
        views = [r for r, x, writes in shared(o) if not writes and x not in own]
        if not views:
            continue
        for j in range(i + 1, len(operators)):
            over = {family[v] for v in written(operators[j])}
            if any(family[v] in over and last.get(v, -1) > j for v in views):
                result.add(i)
    return result
