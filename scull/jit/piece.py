"""A Program that runs as one operator of the tape, forward and backward by the executor."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray

from scull.autograd.program import gradients
from scull.autograd.version import changed
from scull.core import session
from scull.core.interpreter import is_recording, modes
from scull.core.random import Draw
from scull.core.tensor import Leaf, Node, Parameter, Part, Tensor, new, tick
from scull.core.timeline import active
from scull.eager.change import overwrite
from scull.errors import ArgumentError
from scull.executor.alias import written
from scull.executor.binding import Bound, planned
from scull.executor.closed import BACKWARD
from scull.executor.executor import Executor, executed
from scull.executor.recorded import recorded
from scull.executor.run import run
from scull.flags import changes
from scull.ir.block import Block
from scull.ir.clone import copied
from scull.ir.operator import Operator, each
from scull.ir.program import Program
from scull.ir.reach import read
from scull.ir.variable import Variable
from scull.runtime.cell import TensorCell
from scull.runtime.scope import Scope

HOST = Executor()


class Run:
    """A Program planned for values that stand in a row: those it begins with, those it gives.

    Its plan holds under the flags of one moment; `now` gives the one of this moment. What `trains`
    computes gradients, or is there for gradients.
    """

    def __init__(
        self,
        program: Program,
        entries: list[str],
        exits: list[str],
        scope: Scope,
        trains: bool = False,
    ) -> None:
        self.program, self.entries, self.results, self.scope = program, entries, exits, scope
        self.trains = trains
        self.era = changes[0]
        plan = planned(program, tuple(entries), tuple(exits))
        slots = {v.name: slot for v, slot, _ in plan.feeds}
        self.fills = [(i, slots[name]) for i, name in enumerate(entries) if name in slots]
        self.overwritten = [slot for _, slot, over in plan.feeds if over]
        self.takes = list(plan.fetches)  # the slot of each result, and whether it is copied
        self.exits = [slot for slot, _ in plan.fetches]
        self.copies = [copy for _, copy in plan.fetches]
        self.bound = bound = Bound(plan, scope, trains=trains)
        self.captured = [(cell.tensor, slot) for cell, slot in bound.cells]
        over = {v.name for step in plan.instructions for v in written(step.operator)}
        self.changes = [cell for cell, _ in bound.cells if cell.name in over]
        alone = bound.turn is not None or bound.waits or bound.checked or bound.threads > 1
        apart = self.overwritten or self.changes or bound.draws or bound.stores
        self.straight = not (alone or apart)

    def now(self) -> "Run":
        """This one, or the same under the flags of this moment."""
        if self.era == changes[0]:
            return self
        return Run(self.program, self.entries, self.results, self.scope, self.trains)

    def frame(self, values: list[Any]) -> list[Any]:
        """A frame with what a run begins with."""
        frame = self.bound.blank.copy()
        for i, slot in self.fills:
            frame[slot] = values[i]
        for tensor, slot in self.captured:
            frame[slot] = tensor.array
        return frame

    def __call__(self, values: list[Any], draw: Draw | None = None) -> list[Any]:
        """What the Program gives for `values`; its random numbers are those of `draw` if given."""
        return [*map(self.over(values, draw).__getitem__, self.exits)]

    def over(self, values: list[Any], draw: Draw | None = None) -> list[Any]:
        """The frame of a run that is over."""
        if active or not self.straight:
            return self.by_turns(values, draw)
        bound = self.bound
        frame = self.frame(values)
        run(bound.plan, bound.steps if bound.tier is None else bound.tier.steps(frame), frame)
        return frame

    def tensors(self, inputs: list[Tensor], draw: Draw | None = None) -> list[Tensor]:
        """What the Program gives for `inputs`, off the tape."""
        return owned(self.over([t.array for t in inputs], draw), self.takes)

    @cached_property
    def quick(self) -> Callable[[list[Tensor]], Tensor] | None:
        """The same for a single result, without a look at anything that may be in the way.

        None where a run always has more to do.
        """
        if not self.straight or len(self.takes) != 1:
            return None
        ((exit, copy),) = self.takes
        fills, captured, bound = self.fills, self.captured, self.bound
        plan, steps, blank, tier = bound.plan, bound.steps, bound.blank, bound.tier

        def tensor(inputs: list[Tensor]) -> Tensor:
            frame = blank.copy()
            for i, slot in fills:
                frame[slot] = inputs[i].array
            for t, slot in captured:
                frame[slot] = t.array
            run(plan, steps if tier is None else tier.steps(frame), frame)
            value = frame[exit]
            made: Tensor = new(Tensor)
            made.array = np.array(value) if copy or type(value) is not ndarray else value
            made.node = None
            return made

        return tensor

    def by_turns(self, values: list[Any], draw: Draw | None) -> list[Any]:
        """The same as `over`, when no other run is in its way."""
        if self.bound.turn is None:
            return self.ran(values, draw)
        with self.bound.turn:
            return self.ran(values, draw)

    def ran(self, values: list[Any], draw: Draw | None) -> list[Any]:
        """The frame of one run with all that may belong to it."""
        bound = recorded(self.bound) if active else self.bound
        frame = self.frame(values)
        for slot in self.overwritten:
            frame[slot] = frame[slot].copy()
        if bound.draws:
            generator = session.generator()
            ahead = bound.draws > 0
            frame[1] = (draw or generator.reserve(bound.draws)) if ahead else generator
        executed(HOST, bound, frame)
        for cell in self.changes:
            changed(cell.value, "a function made static")
        return frame

    def drawn(self) -> Draw | None:
        """The random numbers that the next run takes, which nobody else gets; None without any."""
        count = self.bound.draws
        return session.generator().reserve(count) if count > 0 else None


class Piece:
    """A Program as a function of Tensors, and of those Tensors that it captured."""

    def __init__(
        self,
        name: str,
        program: Program,
        entries: list[Variable],
        exits: list[Variable],
        captured: dict[Variable, Tensor],
        order: int = 1,
    ) -> None:
        self.name, self.recorded = name, program
        self.silent = [v.stop_gradient for v in (*entries, *captured)]
        self.entries, self.exits = [v.name for v in entries], [v.name for v in exits]
        self.captured = {v.name: t for v, t in captured.items()}
        self.tensors = list(captured.values())
        self.order = order  # of the derivatives that it would give
        self.updated: list[Tensor] = []  # by optimizers within it
        self.closed = False  # whether it differentiates itself, and the tape does not
        self.scope = Scope()
        for name_, tensor in self.captured.items():
            self.scope.cells[name_] = TensorCell(name_, tensor)
        self.differentiable = [is_differentiable(v) for v in exits]
        changed = {v.name for o in program.global_block().ops for v in o.results()}
        self.mutated = [n for n in self.entries if n in changed]  # written over, as in eager mode
        self.alone: Run | None = None
        self.derivatives: dict[tuple[bool, ...], Derivative | None] = {}

    def __call__(self, inputs: list[Tensor], draw: Draw | None = None) -> list[Tensor]:
        """The results for `inputs`, on the tape where one of the operands is."""
        if self.closed:
            self.verify()
        elif not modes or is_recording():
            edges = [t.node for t in inputs]
            if self.tensors:
                edges += [t.node for t in self.tensors]
            if any(edges):
                derivative = self.derivative(tuple([e is not None for e in edges]))
                if derivative is not None:
                    return derivative.recorded(inputs, edges, draw)
        found = self.off_tape().tensors(inputs, draw)
        if not self.mutated:
            return found
        self.hand_back(inputs, [t.array for t in found[len(self.exits) :]])
        return found[: len(self.exits)]

    def off_tape(self) -> Run:
        """The run of the Program without gradients."""
        alone = self.alone
        if alone is None:
            results = [*self.exits, *self.mutated]
            alone = self.alone = Run(self.recorded, self.entries, results, self.scope)
        elif alone.era != changes[0]:
            alone = self.alone = alone.now()
        return alone

    @property
    def quick(self) -> Callable[[list[Tensor]], Tensor] | None:
        """What serves calls that nobody wants gradients of; None where there is more to do."""
        return None if self.closed or self.mutated else self.off_tape().quick

    def verify(self) -> None:
        """Raise Stale where a captured Tensor wants a gradient that it did not, or the reverse."""
        for t, silent in zip(self.tensors, self.silent[len(self.entries) :], strict=True):
            if isinstance(t, Parameter) and t.stop_gradient is not silent:
                raise Stale
        for t in self.updated:
            if type(t.node) is Leaf and t.node.total is not None and not t.node.cleared:
                raise OutsideGradientError(
                    f"`{t.name}` has a gradient from before this step, which updates it by the "
                    "gradients computed within; call clear_grad() first, or pass full_graph=False, "
                    "so that it runs in pieces"
                )

    def hand_back(self, inputs: list[Tensor], arrays: list[Any]) -> None:
        """Write over the inputs that the function wrote over, those on the tape apart."""
        for name, array in zip(self.mutated, arrays, strict=True):
            given = inputs[self.entries.index(name)]
            if given.node is None:
                overwrite(given, array, "a function made static")

    # ---- the names of Paddle's partial program ----

    @property
    def program(self) -> Program:
        """The Program that runs: with gradients, when some were wanted."""
        return next((d.program for d in self.derivatives.values() if d is not None), self.recorded)

    train_program = _train_program = infer_program = _infer_program = program

    def derivative(self, wanted: tuple[bool, ...]) -> "Derivative | None":
        """How to differentiate it by the operands that are `wanted`; None where that is zero.

        Inputs described as such that stop gradients do.
        """
        if wanted not in self.derivatives:
            asked = [w and not s for w, s in zip(wanted, self.silent, strict=True)]
            if asked[len(self.entries) :] != list(wanted[len(self.entries) :]):
                raise Stale
            made = Derivative(self, asked)
            self.derivatives[wanted] = made if any(made.reached) else None
        return self.derivatives[wanted]


class OutsideGradientError(ArgumentError):
    """A step that is one Program does not know a gradient from before."""


class Stale(Exception):
    """What wants a gradient is not what wanted one when the function was recorded."""


class Derivative:
    """A Piece run so that gradients by some of its operands can be had, as the tape asks it.

    Its Program is cut where the gradient operators begin: what the front computes and the back
    reads is saved on the tape.
    """

    broadcasts = False
    gradient_kernel = True
    inputs = ()

    def __init__(self, piece: Piece, wanted: list[bool]) -> None:
        self.piece, self.name = piece, piece.name
        operands = [*piece.entries, *piece.captured]
        self.program = copied(piece.recorded)
        block = self.program.global_block()
        asked = [block.find(n) for n, wants in zip(operands, wanted, strict=True) if wants]
        for v in asked:
            v.stop_gradient = False
        before = set(block.ops)
        targets = dict.fromkeys(
            n for n, d in zip(piece.exits, piece.differentiable, strict=True) if d
        )
        seeds = {n: seeded(block, n) for n in targets}
        found: list[Any] = []
        with session.guarded(names=session.Names("gradient/" * piece.order)):
            if targets:
                found = gradients([block.vars[n] for n in targets], asked, list(seeds.values()))
        given = iter(found)
        self.grads = [next(given, None) if wants else None for wants in wanted]
        self.reached = [g is not None for g in self.grads]
        self.seeds = {n: s.name for n, s in seeds.items()}
        cut = 1 + max((i for i, o in enumerate(block.ops) if o in before), default=-1)
        self.split(cut)
        self.outputs = tuple(piece.exits)
        self.optional = frozenset(n for n in piece.exits if n not in self.seeds)

    def split(self, cut: int) -> None:
        """Plan the operators before and after `cut`."""
        piece, block = self.piece, self.program.global_block()
        names = [g.name for g in self.grads if g is not None]
        front, back = part(self.program, 0, cut), part(self.program, cut, len(block.ops))
        made = {v.name for o in block.ops[:cut] for v in o.results()}
        known = made | set(piece.entries) | set(piece.captured)
        reads = needed(block.ops[cut:], names, known - set(self.seeds.values()))
        free = shapes_only(block.ops[cut:]) - set(names)
        free |= {n for n in reads if n in made and n in piece.captured}
        self.kept = tuple(n for n in reads if n not in free)  # what nobody may change meanwhile
        self.saved = [*self.kept, *(n for n in reads if n in free)]
        ahead = [*piece.exits, *(n for n in self.saved if n in made and n not in piece.captured)]
        self.ahead = len(ahead)
        self.forward = Run(front, piece.entries, [*ahead, *piece.mutated], piece.scope, True)
        row = [*ahead, *piece.mutated, *piece.entries, *piece.captured]
        self.saves = [row.index(n) for n in self.saved]
        self.backward = Run(back, [*self.saved, *self.seeds.values()], names, Scope(), True)
        self.alone = len(piece.exits) == 1 and bool(self.seeds)
        self.rewrites = [i for i, n in enumerate(piece.captured) if n in made]

    def recorded(
        self, inputs: list[Tensor], edges: list[Any], draw: Draw | None = None
    ) -> list[Tensor]:
        """Run forward and write the tape."""
        forward = self.forward
        if forward.era != changes[0]:
            forward = self.forward = forward.now()
        if draw is None and forward.bound.draws > 0:
            draw = forward.drawn()
        values, tensors = [t.array for t in inputs], self.piece.tensors
        begun = [tensors[i].array.copy() for i in self.rewrites]
        found = forward(values, draw)
        node: Any = new(Node)
        node.op, node.attrs, node.grad, node.hooks, node.order = self, None, None, None, tick()
        node.edges = edges
        row = [*found, *values, *[t.array for t in tensors]]
        node.saved = [row[i] for i in self.saves]
        if self.piece.mutated:
            self.piece.hand_back(inputs, found[self.ahead :])
        outs = owned(found, enumerate(forward.copies[: len(self.outputs)]))
        if self.alone:
            made = outs[0]
            made.node, shapes = node, [(made.array.shape, made.array.dtype)]
        else:
            shapes = self.parted(node, outs)
        node.shapes = (values, begun, draw), shapes
        return outs

    def parted(self, node: Any, outs: list[Tensor]) -> list[Any]:
        """Let the results that may get a gradient be parts of `node`; their shapes and types."""
        shapes: list[Any] = []
        for i, (name, made) in enumerate(zip(self.outputs, outs, strict=True)):
            if name in self.seeds:
                made.node = Part(node, i)
                shapes.append((made.array.shape, made.array.dtype))
            else:
                shapes.append(None)
        return shapes

    def arrived(self, dout: Any) -> list[Any]:
        """The gradients that arrive, in the order of the seeds."""
        if self.alone:
            return [dout]
        by_name = dict(zip(self.outputs, dout, strict=True))
        return [by_name[n] for n in self.seeds]

    def pull(self, node: Any, dout: Any) -> list[Any]:
        """The gradients for the edges as arrays."""
        backward = self.backward
        if backward.era != changes[0]:
            backward = self.backward = backward.now()
        given = iter(backward([*node.saved, *self.arrived(dout)]))
        return [next(given) if reached else None for reached in self.reached]

    def pull_tensors(self, node: Any, dout: Any) -> list[Any]:
        """The gradients as Tensors: forward and backward at once, as a Piece on the tape.

        It draws the random numbers of the first time, and changes nothing that was captured.
        """
        (values, begun, draw), shapes = node.shapes
        captured = [t.array for t in self.piece.tensors]
        for i, array in zip(self.rewrites, begun, strict=True):
            captured[i] = array
        pairs = zip((*values, *captured), node.edges, strict=True)
        given = [tied(array, edge) for array, edge in pairs]
        known = dict(zip(self.outputs, shapes, strict=True))
        douts = zip(self.seeds, self.arrived(dout), strict=True)
        seeds = [Tensor(np.zeros(*known[n])) if g is None else g for n, g in douts]
        found = iter(self.whole([*given, *seeds], draw))
        return [next(found) if reached else None for reached in self.reached]

    @cached_property
    def whole(self) -> Piece:
        """Forward and backward as one function of all operands and of the gradients that arrive."""
        program = copied(self.program)
        block = program.global_block()
        operands = [*self.piece.entries, *self.piece.captured, *self.seeds.values()]
        entries = [block.vars[n] for n in operands]
        for v in entries:
            v.stop_gradient = v.dtype.array.kind in "iub"
        exits = [block.vars[g.name] for g in self.grads if g is not None]
        order = self.piece.order + 1
        made = Piece(f"{self.name}_grad", program, entries, exits, {}, order)
        made.mutated = []  # the first run wrote over what is written over
        return made


def tied(array: Any, edge: Any) -> Tensor:
    """An operand of the first run as a Tensor on the tape."""
    made = new(Tensor)
    made.array, made.node = array, edge
    return made


def owned(values: list[Any], takes: Iterable[tuple[int, bool]]) -> list[Tensor]:
    """Some of `values` as Tensors with memory of their own: their places, and which are copied."""
    outs = []
    for place, copy in takes:
        value = values[place]
        made = new(Tensor)
        made.array = value if type(value) is ndarray and not copy else np.array(value)
        made.node = None
        outs.append(made)
    return outs


def is_differentiable(v: Variable) -> bool:
    """Whether a gradient may arrive at a result."""
    return not v.stop_gradient and v.dtype.array.kind not in "iub"


def seeded(block: Block, name: str) -> Variable:
    """The variable of the gradient that arrives at an exit."""
    meta = block.vars[name].meta
    return block.add(Variable(f"{name}@SEED", meta, block, stop_gradient=True))


def part(program: Program, start: int, stop: int) -> Program:
    """A copy of `program` with only these operators of its global block."""
    made = copied(program)
    block = made.global_block()
    later = block.ops[stop:]
    block.ops = block.ops[start:stop]
    aside = Block(made, len(made.blocks), 0)  # gradients that read what blocks keep
    aside.ops = [o for o in later if o.type in BACKWARD]
    made.blocks.append(aside)
    made.changed()
    return made


def needed(operators: list[Operator], results: list[str], known: set[str]) -> list[str]:
    """What `operators` read, and what of `results` they do not make, among `known`."""
    made: set[str] = set()
    found: dict[str, None] = {}
    for o in operators:
        within = [v for b in o.blocks() for v in read(b)]  # copies that no operand names, too
        found.update((v.name, None) for v in (*o.operands(), *within) if v.name in known - made)
        made.update(v.name for v in o.results())
    found.update((n, None) for n in results if n in known - made)
    return list(found)


def shapes_only(operators: list[Operator]) -> set[str]:
    """What `operators` read of which none looks at an element."""
    shapes: set[str] = set()
    elements: set[str] = set()
    for o in operators:
        for name, slot in zip(o.op.inputs, o.inputs, strict=True):
            found = shapes if name in o.op.shape_only else elements
            found.update(v.name for v in each(slot))
        elements.update(v.name for t in o.told.values() for v in each(t))
    return shapes - elements
