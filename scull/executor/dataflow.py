"""Primitives of dataflow while they run: values move as tokens, each of one frame and one round.

An operator runs when a token has come for each of its operands; where one is dead, its results are.
A frame begins at its first `enter`; its rounds overlap where values allow, up to a limit.
"""

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scull.core.op import meta_of
from scull.errors import ArgumentError, RunError, UnsupportedError
from scull.executor.alias import shape_readers
from scull.executor.instruction import DRAW, Instruction, bind, whole
from scull.executor.run import explained
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import (
    PRIMITIVES,
    Path,
    check_dataflow,
    comes_back,
    is_inner,
    makers_of,
    paths_of,
)

FIRST = 2  # the first slot of a frame of values that belongs to a variable


class Dead:
    """The token of a value that nobody computes."""

    def __repr__(self) -> str:
        return "dead"


DEAD = Dead()


class DataflowOp:
    """What planning asks of the declaration of an operator: all operators of a block are one."""

    type = name = "dataflow"
    inputs, outputs = ("reads", "shapes"), ("makes",)
    lists = output_lists = frozenset({"reads", "makes", "shapes"})
    shape_only = frozenset({"shapes"})
    forward = xshape = cpu = over = shape_record = None
    composite = takes_wanted = broadcasts = False
    hidden: tuple[str, ...] = ()
    has_blocks = True

    def __init__(self, operators: tuple[Operator, ...]) -> None:
        self.operators = operators
        self.drawing = [o for o in operators if draws(o)]
        self.effects = frozenset(e for o in operators for e in effects(o))
        self.in_place: dict[str, str] = {}
        self.views: dict[str, str] = {}
        self.kinds: dict[str, Any] = {}
        self.attrs: dict[str, Any] = {}
        self.recorded: dict[str, Any] = {}

    def infer(self, metas: Any, attrs: Any) -> tuple[Any, ...]:
        """Nothing: its operators tell when they run."""
        return ()


def draws(o: Operator) -> bool:
    """Whether an operator takes the next random numbers there are."""
    return "random" in o.op.effects and not o.attrs.get("seed")


def effects(o: Operator) -> frozenset[str]:
    """What an operator does besides its results."""
    found: frozenset[str] = o.op.effects
    return found if draws(o) else found - {"random"}


def gathered(operators: tuple[Operator, ...], wanted: Iterable[Variable]) -> tuple[Operator, ...]:
    """The operators of a block of dataflow as one, that makes what is `wanted` or outlives it."""
    check_dataflow(operators, "block 0")
    for o in operators:
        if o.op.has_blocks:
            raise UnsupportedError(
                f"`{o.type}` at {o.line or 'a loaded file'} has a block and stands beside "
                "primitives of dataflow; lower it too"
            )
    makers = makers_of(operators, "block 0")
    operands = dict.fromkeys(v for o in operators for v in o.operands())
    reads = [v for v in operands if v not in makers or not is_inner(v)]
    asked = set(wanted)
    makes = [v for v in makers if v in asked or not is_inner(v)]
    shapes = {v for o in operators for v in shape_readers(o)}
    only = shapes - {v for o in operators for v in set(o.operands()) - set(shape_readers(o))}
    slots = ([v for v in reads if v not in only], [v for v in reads if v in only])
    first = operators[0]
    made = Operator(first.block, DataflowOp(operators), slots, (makes,), {})
    made.line = next(o.line for o in operators if o.type in PRIMITIVES)
    return (made,)


def bind_dataflow(operator: Operator, slots: dict[Variable, int], seed: int) -> Instruction:
    """The instruction that runs a block of dataflow, in an order that a `seed` picks."""
    graph = graph_of(operator.op.operators)
    reads = [(v, slots[v]) for v in operator.operands()]
    makes = [(v, slots[v]) for v in operator.results()]

    def call(frame: Any) -> tuple[()]:
        draw = frame[DRAW].reserve(graph.draws) if graph.draws else None
        found = Run(graph, {v: frame[slot] for v, slot in reads}, draw, seed).run()
        for v, slot in makes:
            value = found.get(v)
            frame[slot] = np.asarray(value) if isinstance(value, np.generic) else value
        return ()

    shapes = tuple(sorted(slots[v] for v in shape_readers(operator)))
    places = tuple(slot for _, slot in reads), tuple(slot for _, slot in makes)
    return Instruction(operator, call, whole, slice(0, 0), *places, shapes=shapes)


@dataclass(eq=False)
class Node:
    """One operator, and who takes its results."""

    operator: Operator
    step: Instruction
    path: Path
    reads: tuple[Variable, ...]
    makes: tuple[Variable | None, ...]
    takers: tuple[list[tuple["Node", int]], ...]  # by result: who reads it, and where
    after: list["Node"] = field(default_factory=list)  # whose effects come later
    waits: int = 0  # for how many tokens
    first: int = 0  # of a `merge`: for how many in round 0

    def __post_init__(self) -> None:
        self.is_merge = self.operator.type == "merge"
        self.move: Any = STEPS.get(self.operator.type, Run.compute)


@dataclass(frozen=True)
class Graph:
    """A block of dataflow, ready to run."""

    nodes: tuple[Node, ...]
    outside: dict[Variable, list[tuple[Node, int]]]  # who reads what comes from around it
    enters: dict[str, int]  # how many tokens enter each frame
    draws: int


def graph_of(operators: tuple[Operator, ...]) -> Graph:
    """The operators of a block, each with those that take its results."""
    makers, paths = makers_of(operators, "block 0"), paths_of(operators, "block 0")
    numbers = {o: i for i, o in enumerate(filter(draws, operators))}
    nodes = {o: node_of(o, numbers.get(o, 0), paths[o]) for o in operators}
    outside: dict[Variable, list[tuple[Node, int]]] = {}
    takers = {v: row for n in nodes.values() for v, row in zip(n.makes, n.takers, strict=True) if v}
    enters: dict[str, int] = {}
    last: dict[Path, Node] = {}  # the one before with effects
    for o, node in nodes.items():
        back = 0
        for port, v in enumerate(node.reads):
            inner = v in makers and is_inner(v)
            (takers[v] if inner else outside.setdefault(v, [])).append((node, port))
            back += inner and comes_back(v, makers)
        node.waits = len(node.reads)
        node.first = node.waits - back
        if o.type == "enter":
            enters[o.attrs["frame_name"]] = enters.get(o.attrs["frame_name"], 0) + 1
        if effects(o) - {"random"}:
            if node.path in last:
                last[node.path].after.append(node)
                node.waits += 1
            last[node.path] = node
    return Graph(tuple(nodes.values()), outside, enters, len(numbers))


def node_of(o: Operator, number: int, path: Path) -> Node:
    """An operator bound to a small frame of its own; `number` draws come before its."""
    reads = tuple(o.operands() if o.type == "merge" else dict.fromkeys(o.operands()))
    makes = o.outputs if o.type in PRIMITIVES else tuple(o.results())
    slots: dict[Variable, int] = {}
    for v in (*reads, *o.results()):
        slots.setdefault(v, len(slots) + FIRST)
    return Node(o, bind(o, slots, number, False), path, reads, makes, tuple([] for _ in makes))


class Round:
    """One round of a frame: the tokens that wait for others, and the frames within."""

    def __init__(self) -> None:
        self.active = 0  # operators about to run
        self.waiting: dict[Node, list[Any]] = {}  # tokens by operand, then how many are missing
        self.frames: dict[str, FrameRun] = {}


class FrameRun:
    """A frame while it runs."""

    def __init__(self, name: str, around: "tuple[FrameRun, int] | None", limit: int) -> None:
        self.name, self.around, self.limit = name, around, limit
        self.rounds: dict[int, Round] = {0: Round()}
        self.oldest = 0
        self.entered = 0
        self.constants: list[tuple[Node, Any]] = []
        self.deferred: deque[tuple[int, Node, Any]] = deque()  # for rounds over the limit
        self.left: dict[Node, bool] = {}  # the exits met so far, and whether alive


Entry = tuple[FrameRun, int, Node, list[Any]]


class Run:
    """One run of a block of dataflow, operator by operator in an order that a seed picks."""

    def __init__(self, graph: Graph, values: dict[Variable, Any], draw: Any, seed: int) -> None:
        self.graph, self.draw = graph, draw
        self.chance = random.Random(seed) if seed >= 0 else None
        self.ready: deque[Entry] = deque()
        self.values: dict[Variable, Any] = {}  # the results outside all frames
        self.root = FrameRun("", None, 1)
        for node in graph.nodes:
            if not node.waits:
                self.queue(self.root, 0, node, [])
        for v, takers in graph.outside.items():
            for node, port in takers:
                self.deliver(self.root, 0, node, port, values[v])

    def run(self) -> dict[Variable, Any]:
        """Run all operators; the results outside all frames that are alive."""
        while self.ready:
            self.advance(*self.picked())
        self.refuse_waiting(self.root.rounds[0])
        return self.values

    def step(self) -> tuple[Operator, tuple[tuple[str, int], ...]]:
        """Run one operator that is ready; which, and in which rounds of which frames."""
        frame, number, node, tokens = self.picked()
        place = self.place(frame, number)
        self.advance(frame, number, node, tokens)
        return node.operator, place

    def picked(self) -> Entry:
        """What runs next."""
        if self.chance is not None:
            self.ready.rotate(self.chance.randrange(len(self.ready)))
        return self.ready.popleft()

    def advance(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Run one operator."""
        node.move(self, frame, number, node, tokens)
        here = frame.rounds[number]
        for later in node.after:
            self.count(frame, number, later)
        here.active -= 1
        if not here.active and frame is not self.root:
            self.settle(frame)

    def place(self, frame: FrameRun, number: int) -> tuple[tuple[str, int], ...]:
        """The frames around a token and its rounds of them, the outermost first."""
        if frame.around is None:
            return ()
        return (*self.place(*frame.around), (frame.name, number))

    # ---- tokens ----

    def send(self, frame: FrameRun, number: int, node: Node, place: int, token: Any) -> None:
        """Give the result at a place to all who read it."""
        made = node.makes[place]
        if frame is self.root and token is not DEAD and made is not None:
            self.values[made] = token
        here = frame.rounds[number]
        for taker, port in node.takers[place]:
            if taker.waits == 1 and not taker.is_merge:
                here.active += 1
                self.ready.append((frame, number, taker, [token]))
            else:
                self.deliver(frame, number, taker, port, token)

    def send_all(self, frame: FrameRun, number: int, node: Node, tokens: Iterable[Any]) -> None:
        """Give every result to all who read it."""
        for place, token in enumerate(tokens):
            self.send(frame, number, node, place, token)

    def deliver(self, frame: FrameRun, number: int, node: Node, port: int, token: Any) -> None:
        """Put a token where it waits for others; what has all of them is ready."""
        tokens = self.tokens(frame, number, node)
        if node.is_merge and token is not DEAD:
            if any(t is not DEAD for t in tokens[:-1]):
                raise self.said(RunError("two of its values are alive"), node, frame, number)
            alone = [DEAD] * len(node.reads)
            alone[port] = token
            self.queue(frame, number, node, alone)
        tokens[port] = token
        self.count(frame, number, node)

    def tokens(self, frame: FrameRun, number: int, node: Node) -> list[Any]:
        """The tokens that came for an operator so far, and how many are missing."""
        waiting = frame.rounds[number].waiting
        found = waiting.get(node)
        if found is None:
            missing = node.waits
            if node.is_merge and node.first < node.waits:  # the others are of later rounds
                missing = node.waits - node.first if number else node.first
            found = waiting[node] = [*[DEAD] * len(node.reads), missing]
        return found

    def count(self, frame: FrameRun, number: int, node: Node) -> None:
        """Note that one thing less is missing."""
        tokens = self.tokens(frame, number, node)
        tokens[-1] -= 1
        if not tokens[-1]:
            del frame.rounds[number].waiting[node]
            tokens.pop()
            if not node.is_merge or all(t is DEAD for t in tokens):
                self.queue(frame, number, node, tokens)

    def queue(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Let an operator run."""
        frame.rounds[number].active += 1
        self.ready.append((frame, number, node, tokens))

    # ---- operators ----

    def compute(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """An operator that is no primitive."""
        if any(t is DEAD for t in tokens):
            self.send_all(frame, number, node, [DEAD] * len(node.takers))
            return
        step = node.step
        local = [None, self.draw, *tokens, *[None] * len(node.takers)]
        try:
            local[step.put] = step.call(*step.get(local))
        except Exception as error:
            raise self.placed(explained(error, step, local), frame, number) from None
        self.send_all(frame, number, node, local[FIRST + len(tokens) :])

    def switch(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """To the side that a truth value says."""
        data, pred = tokens if len(tokens) == 2 else tokens * 2
        sides = [DEAD, DEAD]
        if data is not DEAD and pred is not DEAD:
            sides[self.truth(frame, number, node, pred)] = data
        self.send_all(frame, number, node, sides)

    def truth(self, frame: FrameRun, number: int, node: Node, pred: Any) -> bool:
        """The one truth value of a token."""
        if pred.size != 1:
            law = ArgumentError(f"the condition is {meta_of(pred)}, not one truth value")
            raise self.said(law, node, frame, number)
        return bool(pred.item())

    def merge(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """The token that is alive, and which that is."""
        alive = [i for i, t in enumerate(tokens) if t is not DEAD]
        found = tokens[alive[0]] if alive else DEAD
        which = np.array(alive[0], "int32") if alive else DEAD
        self.send_all(frame, number, node, (found, which))

    def loop_cond(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Whether a loop goes on."""
        if tokens[0] is not DEAD:
            self.truth(frame, number, node, tokens[0])
        self.send_all(frame, number, node, tokens)

    def enter(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Into a frame of this round, which begins with the first that enters."""
        attrs, frames = node.operator.attrs, frame.rounds[number].frames
        name = attrs["frame_name"]
        if name not in frames:
            frames[name] = FrameRun(name, (frame, number), attrs["parallel_iterations"])
        inner = frames[name]
        inner.entered += 1
        if attrs["is_constant"]:
            inner.constants.append((node, tokens[0]))
            for i in list(inner.rounds):
                self.send_all(inner, i, node, tokens)
        else:
            self.send_all(inner, 0, node, tokens)
        self.settle(inner)

    def exit(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Out of a frame; dead tokens leave when the frame is done, where none alive did."""
        alive = tokens[0] is not DEAD
        frame.left[node] = frame.left.get(node, False) or alive
        if alive:
            assert frame.around is not None
            self.send_all(*frame.around, node, tokens)

    def next_iteration(self, frame: FrameRun, number: int, node: Node, tokens: list[Any]) -> None:
        """Into the next round, which begins with the first that comes; dead ones begin none."""
        if tokens[0] is not DEAD:
            frame.deferred.append((number + 1, node, tokens[0]))
            self.release(frame)

    def release(self, frame: FrameRun) -> None:
        """Let tokens into rounds that may go on by now."""
        later = deque(t for t in frame.deferred if t[0] >= frame.oldest + frame.limit)
        now = [t for t in frame.deferred if t[0] < frame.oldest + frame.limit]
        frame.deferred = later
        for number, node, token in now:
            if number not in frame.rounds:
                frame.rounds[number] = Round()
                for constant, value in frame.constants:
                    self.send_all(frame, number, constant, [value])
            self.send_all(frame, number, node, [token])

    def settle(self, frame: FrameRun) -> None:
        """Close the rounds that are over, and the frame when all are."""
        entered = frame.entered == self.graph.enters.get(frame.name)
        if frame.around is None or not entered or not frame.rounds:
            return
        while (here := frame.rounds.get(frame.oldest)) and not here.active and not here.frames:
            self.refuse_waiting(here)
            del frame.rounds[frame.oldest]
            frame.oldest += 1
            self.release(frame)
        if not frame.rounds:
            around, number = frame.around
            del around.rounds[number].frames[frame.name]
            for node, alive in frame.left.items():
                if not alive:
                    self.send_all(around, number, node, [DEAD])
            self.settle(around)

    # ---- what goes wrong ----

    def refuse_waiting(self, here: Round) -> None:
        """Refuse to end a round in which an operator waits."""
        for node in here.waiting:
            law = f"`{node.operator.type}` at {node.operator.line} waits for a value in vain"
            raise RunError(law)

    def said(self, error: Exception, node: Node, frame: FrameRun, number: int) -> Exception:
        """`error` with the primitive it befell."""
        local = [None, self.draw] + [None] * (len(node.reads) + len(node.takers))
        return self.placed(explained(error, node.step, local), frame, number)

    def placed(self, error: Exception, frame: FrameRun, number: int) -> Exception:
        """`error` with the rounds it befell."""
        for name, i in reversed(self.place(frame, number)):
            error.add_note(f"  in round {i} of `{name}`")
        return error

    def __str__(self) -> str:
        return "\n".join(frame_lines(self.graph, self.root, ()))


STEPS: dict[str, Any] = {
    "switch": Run.switch,
    "merge": Run.merge,
    "loop_cond": Run.loop_cond,
    "enter": Run.enter,
    "exit": Run.exit,
    "next_iteration": Run.next_iteration,
}


def frame_lines(graph: Graph, frame: FrameRun, path: Path) -> list[str]:
    """The operators of a frame, the frames within it, and how far it is."""
    rounds = ", ".join(map(str, sorted(frame.rounds)))
    title = f"frame `{frame.name}`: in rounds {rounds}" if path else "outside all frames"
    lines = [title, *(node_line(n) for n in graph.nodes if n.path == path)]
    for number, here in sorted(frame.rounds.items()):
        for inner in here.frames.values():
            lines += [f"  of round {number}:"] if path else []
            lines += [f"  {s}" for s in frame_lines(graph, inner, (*path, inner.name))]
    return lines


def node_line(node: Node) -> str:
    """An operator, what it reads and makes, its attributes."""
    o = node.operator
    ins, outs = (", ".join(v.name for v in side) for side in (o.operands(), o.results()))
    attrs = ", ".join(f"{n}={v}" for n, v in o.attrs.items())
    return f"  {o.type} -> (({ins}), ({outs}), {{{attrs}}})"
