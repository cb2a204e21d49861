"""Primitives of dataflow while they run: tokens move between regions, each of one round of a frame.

A region runs when all it waits for has come; where a truth value says that it does not, it is dead,
and so is what depends on it. A frame begins at its first `enter`; its rounds overlap where values
allow, up to a limit.
"""

import random
from collections import deque
from typing import Any

from scull.core.op import meta_of
from scull.errors import ArgumentError, RunError, located
from scull.executor.instruction import DRAW, Instruction, whole
from scull.executor.partition import Growing
from scull.executor.region import (
    DEAD,
    FAR,
    Arm,
    Decision,
    Entry,
    FramePlan,
    Graph,
    Onward,
    Region,
    Token,
)
from scull.executor.run import explained
from scull.executor.sharing import run_shared
from scull.executor.text import operator_line
from scull.flags import flag
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import Path


class Round:
    """One round of a frame: its values, what its regions wait for, and the frames within."""

    __slots__ = (
        "frame",
        "frames",
        "later",
        "left",
        "merging",
        "number",
        "over",
        "regions",
        "turn",
        "values",
        "waiting",
    )

    def __init__(self, frame: "FrameRun", number: int, waiting: list[int], left: int) -> None:
        plan = frame.plan
        self.frame, self.number, self.regions = frame, number, plan.regions
        self.values, self.waiting, self.left = frame.values.copy(), waiting.copy(), left
        self.later: Round | None = None  # the next one
        self.merging = plan.merging.copy()
        self.frames: dict[str, FrameRun] = {}
        self.turn = -1  # which effect comes next, once the first may
        self.over: tuple[str, ...] = ()  # the frames with effects that are done before it


class FrameRun:
    """A frame while it runs."""

    def __init__(self, plan: FramePlan, around: Round | None, draw: Any) -> None:
        self.plan, self.around, self.limit = plan, around, plan.limit
        self.values: list[Any] = [DEAD] * plan.size  # with which a round begins
        self.values[0], self.values[DRAW] = None, draw
        for slot, value in plan.constants.items():
            self.values[slot] = value
        waits, self.count, begun = plan.counts[1]  # of rounds behind the first
        self.waits, self.at_once = waits.copy(), begun.copy()
        self.decisions: list[Decision] = []  # of what is the same in every round
        self.dead: list[Token] = []  # what is dead in every round
        self.rounds: dict[int, Round] = {}
        self.oldest = 0
        self.entered = 0
        self.deferred: list[tuple[Round, list[Any], Onward]] = []  # for rounds over the limit
        self.left: set[int] = set()  # the exits met alive
        self.turn = -1  # of which round effects come next


class Run:
    """One run of a block of dataflow, region by region, in an order that a seed picks."""

    def __init__(self, graph: Graph, values: dict[Variable, Any], draw: Any, seed: int) -> None:
        self.graph, self.draw = graph, draw
        self.chance = random.Random(seed) if seed >= 0 else None
        self.most = flag("MAX_ROUNDS") or FAR
        self.ready: deque[tuple[Round, Region]] = deque()
        self.values: dict[Variable, Any] = {}  # the results outside all frames
        self.root = self.begun_frame(graph.root, None)
        here = self.root.rounds[0]
        for v, slot in graph.outside.items():
            here.values[slot] = values[v]
        if graph.root.start is not None:
            self.arrive(here, graph.root.start)
        if graph.root.items:
            self.begin_turns(here)

    def run(self) -> dict[Variable, Any]:
        """Run all regions; the results outside all frames that are alive."""
        ready = self.ready
        threads = flag("HOST_THREADS") if self.graph.pays and self.chance is None else 1
        if threads > 1:
            run_shared(self, threads)
        while ready:
            if self.chance is not None:
                ready.rotate(self.chance.randrange(len(ready)))
            here, region = ready.popleft()
            self.compute(here, region)
            self.finish(here, region)
        self.refuse_waiting(self.root)
        return self.values

    def step(self) -> tuple[tuple[Operator, ...], tuple[tuple[str, int], ...]]:
        """Run one region; its operators, and in which rounds of which frames."""
        if self.chance is not None:
            self.ready.rotate(self.chance.randrange(len(self.ready)))
        here, region = self.ready.popleft()
        place = places(here)
        self.compute(here, region)
        self.finish(here, region)
        return region.operators, place

    def compute(self, here: Round, region: Region) -> None:
        """Run the operators of a region."""
        values = here.values
        call = get = None
        try:
            for call, get, put, frees in region.steps:
                values[put] = call(*get(values))
                for slot in frees:
                    values[slot] = None
        except Exception as error:
            step = next(s for s in region.instructions if s.call is call and s.get is get)
            raise placed(explained(error, step, values), here) from None

    def finish(self, here: Round, region: Region) -> None:
        """Bring what a region made to those who wait for it."""
        if region.token is not None:
            self.arrive(here, region.token)
        if region.onward is not None:
            self.go_on(here, region.onward)
        if region.sends:
            self.send(here, region)
        here.left -= 1
        if not here.left and not here.frames:
            self.settle(here.frame)

    # ---- tokens ----

    def arrive(self, here: Round, token: Token) -> None:
        """Let regions wait for less; what waits for nothing is ready."""
        takers, decisions = token
        waiting = here.waiting
        for number, count in takers:
            left = waiting[number] = waiting[number] - count
            if not left:
                self.ready.append((here, here.regions[number]))
        for decision in decisions:
            self.decide(here, decision)

    def decide(self, here: Round, decision: Decision) -> None:
        """Let run those on one side of a truth value, and not those on the other."""
        slot, sides, operator, repeats = decision
        pred = here.values[slot]
        if pred.size != 1:
            kind = ArgumentError(f"the condition is {meta_of(pred)}, not one truth value")
            raise self.said(kind, operator, here)
        holds = bool(pred.item())
        if repeats and here.number >= self.most and holds:
            law = RunError(f"the loop is to run more than MAX_ROUNDS={self.most} times")
            raise self.said(law, operator, here)
        waiting, regions = here.waiting, here.regions
        for number in sides[holds]:
            left = waiting[number] = waiting[number] - 1
            if not left:
                self.ready.append((here, regions[number]))
        for number in sides[not holds]:
            if waiting[number] < FAR:
                waiting[number] = 2 * FAR
                here.left -= 1
                if regions[number].is_missed:
                    for token in self.missed(here, regions[number]):
                        self.die(here, token)

    def die(self, here: Round, token: Token) -> None:
        """Nothing comes: who waits for it is dead."""
        waiting, regions, pending = here.waiting, here.regions, [token]
        while pending:
            takers, decisions = pending.pop()
            dead = [number for number, _ in takers]
            for decision in decisions:
                dead += [*decision.sides[0], *decision.sides[1]]
            for number in dead:
                if waiting[number] < FAR:
                    waiting[number] = 2 * FAR
                    here.left -= 1
                    pending += self.missed(here, regions[number])

    def missed(self, here: Round, region: Region) -> list[Token]:
        """Tell merges and frames that a region is dead; what does not come in this round either."""
        found = [region.token] if region.token is not None else []
        for arm in region.arms:
            here.merging[arm.merge] -= 1
            if not here.merging[arm.merge]:
                found.append(here.frame.plan.merges[arm.merge][0])
        for entry in region.entries:
            self.enter(here, entry, DEAD)
        if region.item >= 0 and region.item == here.turn:
            self.next_turn(here)
        return found

    # ---- to other rounds and frames ----

    def send(self, here: Round, region: Region) -> None:
        """Bring values elsewhere: to merges, into frames and out of them."""
        values = here.values
        for arm in region.arms:
            self.merge(here, arm)
        for entry in region.entries:
            self.enter(here, entry, values[entry.slot])
        for slot, number in region.exits:
            self.exit(here, number, values[slot])
        for slot, v in region.results:
            self.values[v] = list(found) if type(found := values[slot]) is Growing else found
        if region.item >= 0:
            self.next_turn(here)

    def merge(self, here: Round, arm: Arm) -> None:
        """The one value that is alive."""
        values, merging = here.values, here.merging
        assert merging[arm.merge] > 0, "two values are alive: the verifier refuses that"
        merging[arm.merge] = -FAR
        for source, target in arm.pairs:
            values[target] = values[source]
        self.arrive(here, here.frame.plan.merges[arm.merge][0])

    def enter(self, here: Round, entry: Entry, value: Any) -> None:
        """Into a frame of this round, which begins with the first that enters."""
        name = entry.frame.name
        frame = here.frames.get(name)
        if frame is None:
            frame = here.frames[name] = self.begun_frame(entry.frame, here)
            items = here.frame.plan.items
            if 0 <= here.turn < len(items) and items[here.turn] == name:
                frame.turn = 0
                self.begin_turns(frame.rounds[0])
        frame.entered += 1
        if entry.is_constant:
            self.enter_all(frame, entry, value)
        else:
            self.bring(frame.rounds[0], entry, list(value) if type(value) is Growing else value)
        self.settle(frame)

    def bring(self, here: Round, entry: Entry, value: Any) -> None:
        """Put a value into the places of a round."""
        if value is DEAD:
            self.die(here, entry.token)
            return
        for slot in entry.places:
            here.values[slot] = value
        for source, target in entry.fixed:
            here.values[target] = here.values[source]
        self.arrive(here, entry.token)

    def enter_all(self, frame: FrameRun, entry: Entry, value: Any) -> None:
        """The same for every round that is there and those that will be."""
        token = entry.token
        if value is DEAD:
            frame.dead.append(token)
        else:
            for slot in entry.places:
                frame.values[slot] = value
            for number, count in token.takers:
                frame.waits[number] -= count
                if not frame.waits[number]:
                    frame.at_once.append(number)
            frame.decisions += token.decisions
        for here in list(frame.rounds.values()):
            self.bring(here, entry, value)

    def exit(self, here: Round, number: int, value: Any) -> None:
        """Out of a frame."""
        frame = here.frame
        frame.left.add(number)
        slot, token = frame.plan.exits[number]
        assert frame.around is not None
        frame.around.values[slot] = value
        self.arrive(frame.around, token)

    def go_on(self, here: Round, onward: Onward) -> None:
        """Into the next round, which begins with the first that comes; dead ones begin none."""
        there, mine = here.later, here.values
        pairs, token = onward
        if there is None:
            frame, number = here.frame, here.number + 1
            if number >= frame.oldest + frame.limit:
                frame.deferred.append((here, [mine[source] for source, _ in pairs], onward))
                return
            there = here.later = self.begun(frame, number)
        theirs = there.values
        for source, target in pairs:
            theirs[target] = mine[source]
        self.arrive(there, token)
        if not there.left and not there.frames:
            self.settle(there.frame)

    def release(self, frame: FrameRun) -> None:
        """Let values into rounds that may go on by now."""
        last = frame.oldest + frame.limit - 1
        now = [t for t in frame.deferred if t[0].number < last]
        frame.deferred = [t for t in frame.deferred if t[0].number >= last]
        for here, found, (pairs, token) in now:
            there = here.later
            if there is None:
                there = here.later = self.begun(frame, here.number + 1)
            for (_, target), value in zip(pairs, found, strict=True):
                there.values[target] = value
            self.arrive(there, token)

    def begun(self, frame: FrameRun, number: int) -> Round:
        """A round of a frame behind the first."""
        here = frame.rounds[number] = Round(frame, number, frame.waits, frame.count)
        for i in frame.at_once:
            self.ready.append((here, here.regions[i]))
        for decision in frame.decisions:
            self.decide(here, decision)
        for token in frame.dead:
            self.die(here, token)
        if frame.turn == number:
            self.begin_turns(here)
        return here

    def begun_frame(self, plan: FramePlan, around: Round | None) -> FrameRun:
        """A frame, in its first round."""
        frame = FrameRun(plan, around, self.draw)
        waits, left, at_once = plan.counts[0]
        here = frame.rounds[0] = Round(frame, 0, waits, left)
        for i in at_once:
            self.ready.append((here, here.regions[i]))
        return frame

    def settle(self, frame: FrameRun) -> None:
        """Close the rounds that are over, and the frame when all are."""
        if frame.around is None or frame.entered < frame.plan.enters:
            return
        while (here := frame.rounds.get(frame.oldest)) and not here.left and not here.frames:
            del frame.rounds[frame.oldest]
            frame.oldest += 1
            if frame.deferred:
                self.release(frame)
        if not frame.rounds and frame.around.frames.get(frame.plan.name) is frame:
            self.close(frame, frame.around)  # unless one within did

    def close(self, frame: FrameRun, around: Round) -> None:
        """End a frame: what did not leave it is dead."""
        name = frame.plan.name
        del around.frames[name]
        for number, (_, token) in enumerate(frame.plan.exits):
            if number not in frame.left:
                self.die(around, token)
        if frame.plan.items:
            around.over += (name,)
            items = around.frame.plan.items
            if 0 <= around.turn < len(items) and items[around.turn] == name:
                self.next_turn(around)
        if not around.left and not around.frames:
            self.settle(around.frame)

    # ---- effects, in the order of the Program ----

    def begin_turns(self, here: Round) -> None:
        """Let the first effect of a round come."""
        here.turn = -1
        self.next_turn(here)

    def next_turn(self, here: Round) -> None:
        """Let the next effect come that is not dead; behind the last those of the next round."""
        frame = here.frame
        items = frame.plan.items
        while True:
            here.turn += 1
            if here.turn == len(items):
                break
            item = items[here.turn]
            if isinstance(item, str):
                if item in here.over:
                    continue
                if inner := here.frames.get(item):
                    inner.turn = 0
                    self.begin_turns(inner.rounds[0])
                return
            if here.waiting[item] < FAR:
                here.waiting[item] -= 1
                if not here.waiting[item]:
                    self.ready.append((here, here.regions[item]))
                return
        frame.turn = here.number + 1
        if there := frame.rounds.get(frame.turn):
            self.begin_turns(there)

    # ---- what goes wrong ----

    def refuse_waiting(self, frame: FrameRun) -> None:
        """Refuse to end while a region waits."""
        for here in frame.rounds.values():
            for inner in here.frames.values():
                self.refuse_waiting(inner)
            waiting = enumerate(here.waiting) if here.left else ()
            for number, count in sorted(waiting, key=lambda found: found[1]):
                if 0 < count < FAR:
                    o = frame.plan.regions[number].operators[0]
                    raise RunError(f"`{o.type}` at {o.line} waits for a value in vain")

    def said(self, error: Exception, o: Operator, here: Round) -> Exception:
        """`error` with the primitive it befell."""
        step = Instruction(o, whole, whole, slice(0, 0), (), ())
        return placed(explained(error, step, here.values), here)

    def __str__(self) -> str:
        return "\n".join(frame_lines(self.root, ()))


def places(here: Round) -> tuple[tuple[str, int], ...]:
    """The frames around a token and its rounds of them, the outermost first."""
    around = here.frame.around
    return () if around is None else (*places(around), (here.frame.plan.name, here.number))


def placed(error: Exception, here: Round) -> Exception:
    """`error` with the rounds it befell."""
    for name, number in reversed(places(here)):
        located(error, f"  in round {number} of `{name}`")
    return error


def frame_lines(frame: FrameRun, path: Path) -> list[str]:
    """The operators of a frame, the frames within it, and how far it is."""
    rounds = ", ".join(map(str, sorted(frame.rounds)))
    title = f"frame `{frame.plan.name}`: in rounds {rounds}" if path else "outside all frames"
    lines = [title, *map(operator_line, frame.plan.operators)]
    for number, here in sorted(frame.rounds.items()):
        for inner in here.frames.values():
            lines += [f"  of round {number}:"] if path else []
            lines += [f"  {s}" for s in frame_lines(inner, inner.plan.path)]
    return lines
