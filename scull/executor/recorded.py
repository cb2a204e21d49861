"""A plan whose instructions, and regions of machine code, write on timelines being filled."""

from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from scull.core.timeline import Timeline, active, applied, now
from scull.executor.binding import Bound
from scull.executor.instruction import Instruction, whole
from scull.executor.nested import Start, plainly
from scull.executor.plan import Plan
from scull.executor.tier import waiting


def recorded(bound: Bound) -> Bound:
    """`bound` with timed instructions: the same one in every run that a timeline sees."""
    for timeline in active:
        return kept(bound, timeline)
    return bound


def kept(bound: Bound, timeline: Timeline) -> Bound:
    """What `timeline` keeps for `bound`, made when it is first asked for."""
    found: Bound | None = timeline.kept.get(bound)
    if found is None:
        found = timeline.kept[bound] = copy(bound)
        found.plan, found.launches = timed_plan(bound.plan), {}  # which know plans by their ids
        found.steps, found.blank, found.straight = found.plan.loop, found.plan.blank, None
        if bound.tier is not None:
            found.tier = TimedTier(bound.tier, found.plan)
    return found


class TimedTier:
    """The steps of a tier as spans: a region is one, which tells the operators within.

    Args:
        tier: what has the steps.
        plan: the timed form of its plan.
    """

    def __init__(self, tier: Any, plan: Plan) -> None:
        self.tier, self.plan, self.waiting = tier, plan, waiting(plan)
        self.numbers = {(id(s.call), id(s.get)): i for i, s in enumerate(tier.plan.steps)}
        self.kept: dict[int, tuple[Any, Any]] = {}  # by the id of steps, which stay beside theirs

    def steps(self, frame: list[Any]) -> Any:
        """The steps of a run that begins with this frame."""
        rows = self.tier.steps(frame)
        if rows is self.tier.plan.loop:
            return self.plan.loop
        if rows is self.tier.waiting:
            return self.waiting
        if id(rows) not in self.kept:
            self.kept[id(rows)] = rows, tuple(map(self.timed, rows))
        return self.kept[id(rows)][1]

    def straight(self, bound: Bound, steps: Any) -> None:
        """No short way: every region is a span."""

    def timed(self, row: Any) -> Any:
        """One step, which is an instruction of the plan or a region."""
        call, get, put, frees = row
        number = self.numbers.get((id(call), id(get)))
        made = self.region(call) if number is None else self.plan.steps[number].call
        return made, get, put, frees

    def region(self, call: Any) -> Callable[[Any], Any]:
        """A region of machine code as a span."""
        numbers = [self.numbers[id(c), id(get)] for c, get, *_ in call.rows]
        types = Counter(self.plan.steps[i].operator.type for i in numbers)
        known = {"step": numbers[0], "operators": dict(types)}

        def calling(frame: Any) -> Any:
            operands = [frame[slot] for slot in call.slots]
            start = now()
            try:
                return call(frame)
            finally:
                applied("region", (), operands, {}, [frame[i] for i in call.puts], start, known)

        return calling


def timed_plan(plan: Plan) -> Plan:
    """The same plan, its graph and lifetimes too, with timed instructions."""
    found = copy(plan)
    steps = (s if s.is_shape else replace(s, call=timed(s, i)) for i, s in enumerate(plan.steps))
    vars(found)["steps"] = tuple(steps)
    vars(found).pop("instructions", None)  # were made of the steps before
    vars(found)["constants"] = {}  # whose steps are spans, too
    for name in ("loop", "blank", "known", "standing"):
        vars(found).pop(name, None)
    return found


def timed(step: Instruction, number: int) -> Callable[..., Any]:
    """The call of an instruction, which is the step `number` of its plan, as a span."""
    call, operator = timed_block(step) if step.nested else step.call, step.operator
    name, names, attrs = operator.type, operator.op.inputs, operator.attrs
    known = {"step": number, "line": str(operator.line or "a loaded file")}

    def calling(*operands: Any) -> Any:
        found = None
        start = now()
        try:
            found = call(*operands)
            return found
        finally:
            applied(name, names, operands, attrs, found, start, known)

    def scattering(frame: Any, *how: Any) -> Any:
        operands = [frame[i] for i in step.reads]
        start = now()
        try:
            return call(frame, *how)
        finally:
            results = [frame[i] for i in step.writes]
            applied(name, (), operands, attrs, results, start, known)

    return scattering if step.get is whole else calling


def timed_block(step: Instruction) -> Callable[..., Any]:
    """The call of an operator with blocks, whose instructions are timed, too."""
    inner: dict[int, Plan] = {}  # by the id of a plan, which the operator keeps

    def calling(frame: Any, start: Start = plainly) -> Any:
        def starting(plan: Plan, own: Any) -> Callable[[], None]:
            if id(plan) not in inner:
                inner[id(plan)] = timed_plan(plan)
            return start(inner[id(plan)], own)

        return step.call(frame, starting)

    return calling
