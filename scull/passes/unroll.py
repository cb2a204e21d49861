"""Loops whose rounds are counted before the run, written out; branches on known values, folded.

What is known are small values that operators make of nothing but constants. A loop is written out
as long as its condition is known to hold.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from scull.core.meta import Kind, count
from scull.core.op import as_outputs, op_of
from scull.core.refusal import lawful
from scull.errors import ScullError
from scull.flags import flag
from scull.ir.block import Block
from scull.ir.clone import copied, copied_variable
from scull.ir.depth import deep
from scull.ir.operator import Operator, each
from scull.ir.program import Program
from scull.ir.reach import blocks_within, changed
from scull.ir.variable import Variable

SMALL = 16  # elements of a value that is worth knowing
# The types of operators that are computed ahead when their operands are known.
COMPUTED = frozenset(
    {"fill_constant", "assign_value", "assign", "cast", "scale", "increment"}
    | {"less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal"}
    | {"logical_and", "logical_or", "logical_not", "logical_xor"}
    | {f"elementwise_{name}" for name in ("add", "sub", "mul", "min", "max")}
)
Twins = dict[Any, Any]  # variables and blocks by what they are copies of


class Decision(NamedTuple):
    """What became of one branch or loop, and why."""

    operator: str  # its type
    line: str
    done: str  # what was done; empty where it was left alone
    reason: str  # why it was left alone

    def __str__(self) -> str:
        return f"`{self.operator}` at {self.line}: {self.done or 'left alone: ' + self.reason}"


class Unrolled(NamedTuple):
    """A Program without the branches and loops that are decided before it runs."""

    program: Program
    report: tuple[Decision, ...]


@deep
def unrolled(program: Program, limit: int | None = None) -> Unrolled:
    """`program` with loops of known length written out and branches on known values folded.

    Values are the same. A loop that would become more than `limit` operators, as the flag
    UNROLL_LIMIT says when None, stays; `report` says of each branch and loop what became of it.
    """
    found = Unrolling(copied(program), flag("UNROLL_LIMIT") if limit is None else limit)
    made = found.run()
    return Unrolled(made, tuple(dict.fromkeys(found.report)))


class Undecided(Exception):
    """A loop cannot be written out; the message says why."""


class Unrolling:
    """Rewrites a copy of a Program."""

    def __init__(self, program: Program, limit: int) -> None:
        self.program, self.limit = program, limit
        self.known: dict[Variable, Any] = {}
        self.report: list[Decision] = []
        self.room: list[int] = []  # how many operators the loops being written out may still get
        self.names: dict[str, int] = {}
        self.kept = {  # whose gradient reads what a run of its block keeps
            v
            for b in program.blocks
            for o in b.ops
            if not o.type.startswith(("conditional_block", "while")) or o.type.endswith("_grad")
            for v in o.operands()
            if v.kind is Kind.SCOPES
        }
        self.graded = {  # in which gradients of blocks stand, that call variables by name
            around
            for b in program.blocks
            if any(o.op.has_blocks and o.type.endswith("_grad") for o in b.ops)
            for around in outward(b)
        }
        self.nested: set[Variable] = set()  # copies that stand in blocks of their own

    def run(self) -> Program:
        """The Program, rewritten."""
        top = self.program.global_block()
        top.ops = list(self.rewritten(top.ops, top))
        compact(self.program)
        self.tell_apart()
        self.program.changed()
        return self.program

    def rewritten(self, operators: Iterable[Operator], block: Block) -> Iterator[Operator]:
        """What stands for `operators` of a block."""
        for o in operators:
            rule = RULES.get(o.type)
            if rule is not None:
                yield from rule(self, o, block)
            else:
                self.forget_or_learn(o)
                yield self.counted(o)

    def counted(self, o: Operator) -> Operator:
        """`o`, which takes room in the loops that are being written out."""
        self.room = [n - 1 for n in self.room]
        if any(n < 0 for n in self.room):
            raise Undecided(f"it would become more than {self.limit} operators")
        return o

    def decided(self, o: Operator, done: str, reason: str = "") -> None:
        """Note what became of a branch or loop."""
        self.report.append(Decision(o.type, str(o.line or "a loaded file"), done, reason))

    # ---- values ----

    def forget_or_learn(self, o: Operator) -> None:
        """Know the results of `o` when its operands are known, and else no more."""
        found = self.computed(o) if all(v in self.known for v in o.operands()) else ()
        self.forget(o.results())
        for slot, value in zip(o.outputs, found, strict=False):
            self.known[slot] = np.array(value)

    def computed(self, o: Operator) -> tuple[Any, ...]:
        """The results of an operator whose operands are known, where it is computed ahead."""
        if o.type not in COMPUTED or o.told or not all(map(is_small, o.results())):
            return ()
        return computed_ahead(o, [self.values(slot) for slot in o.inputs])

    def values(self, slot: Any) -> Any:
        """The known values in one slot."""
        if isinstance(slot, list):
            return [None if v is None else self.known[v] for v in slot]
        return None if slot is None else self.known[slot]

    def forget(self, variables: Iterable[Variable]) -> None:
        """Know these no more."""
        for v in variables:
            self.known.pop(v, None)

    def truth(self, v: Variable) -> bool | None:
        """The truth value of `v`; None when it is not known."""
        value = self.known.get(v)
        return bool(value.item()) if value is not None and value.size == 1 else None

    # ---- operators ----

    def branch(self, o: Operator, block: Block) -> Iterator[Operator]:
        """A block that runs when its condition holds."""
        (body,), (condition, *_) = o.blocks(), each(o.inputs[0])
        holds = self.truth(condition) if o.attrs["is_scalar_condition"] else None
        reason = "its condition is known only when it runs" if holds is None else self.asked(o)
        if reason:
            self.decided(o, "", reason)
            yield from self.stays(o, body)
        elif holds:
            self.decided(o, "its block always runs")
            yield from self.inlined(body, block)
        else:
            self.decided(o, "its block never runs")

    def asked(self, o: Operator) -> str:
        """Why a block must stay although it is decided."""
        if any(v in self.kept for v in o.results()):
            return "its gradient reads what a run of its block keeps"
        graded = not self.graded.isdisjoint(o.blocks())
        return "a gradient in it reads what a run of its block keeps" if graded else ""

    def choice(self, o: Operator, block: Block) -> Iterator[Operator]:
        """A choice among results."""
        mask = self.known.get(each(o.inputs[1])[0])
        rows = each(o.inputs[0])
        if mask is None or mask.size != 1 or not 0 <= mask.item() < len(rows):
            self.forget(o.results())
            yield self.counted(o)
            return
        chosen = rows[int(mask.item())]
        made = Operator(block, op_of("assign"), (chosen,), o.outputs, {})
        made.role, made.role_var, made.line = o.role, o.role_var, o.line
        made.namescope, made.device = o.namescope, o.device
        self.decided(o, f"it always takes number {mask.item()}")
        self.forget_or_learn(made)
        yield self.counted(made)

    def loop(self, o: Operator, block: Block) -> Iterator[Operator]:
        """A block that runs as long as its condition holds."""
        (body,), (condition,) = o.blocks(), each(o.inputs[o.op.inputs.index("cond")])
        before = dict(self.known), len(self.report), set(block.vars), self.room
        found: list[Operator] = []
        reason = self.asked(o)
        try:
            if not reason:
                self.room = [*self.room, self.limit]
                rounds = self.write_out(found, body, block, condition)
                self.room.pop()
                self.decided(o, f"written out, {rounds} rounds")
        except Undecided as law:
            reason = str(law)
        if not reason:
            yield from found
            return
        self.known, noted, names, self.room = before
        del self.report[noted:]
        for name in block.vars.keys() - names:
            del block.vars[name]
        self.decided(o, "", reason)
        self.forget(changed(body))
        yield from self.stays(o, body)

    def write_out(
        self, found: list[Operator], body: Block, block: Block, condition: Variable
    ) -> int:
        """Add the operators of every round of a loop to `found`; how many rounds there are."""
        rounds = 0
        while (holds := self.truth(condition)) is not False:
            if holds is None:
                after = f" after {rounds} rounds" * bool(rounds)
                raise Undecided(f"its condition is known only when it runs{after}")
            if rounds == self.limit:
                raise Undecided(f"it has more than {self.limit} rounds")
            found.extend(self.inlined(body, block))
            rounds += 1
        return rounds

    def stays(self, o: Operator, body: Block) -> Iterator[Operator]:
        """An operator whose block stays; what is decided in it goes all the same."""
        before = dict(self.known)
        body.ops = list(self.rewritten(body.ops, body))
        self.known = before
        self.forget(changed(body))
        yield self.counted(o)

    # ---- copies of blocks ----

    def inlined(self, body: Block, block: Block) -> Iterator[Operator]:
        """A copy of the operators of `body`, in `block`."""
        twins = self.copied_variables(body, block, {})
        yield from self.rewritten([self.copied(o, block, twins) for o in body.ops], block)

    def copied_variables(self, source: Block, block: Block, twins: Twins) -> Twins:
        """`twins` and those of the variables of a block."""
        found = dict(twins)
        for v in source.vars.values():
            found[v] = copied_variable(v, block)
            while block.find(found[v].name) is not None:
                self.names[v.name] = self.names.get(v.name, 0) + 1
                found[v].name = f"{v.name}.{self.names[v.name]}"
            block.add(found[v])
        return found

    def copied(self, o: Operator, block: Block, twins: Twins) -> Operator:
        """A copy of an operator, with copies of the blocks it owns."""
        attrs = {
            n: self.copied_block(v, block, twins) if isinstance(v, Block) else v
            for n, v in o.attrs.items()
        }
        ins, outs = (tuple(twin(s, twins) for s in side) for side in (o.inputs, o.outputs))
        made = Operator(block, o.op, ins, outs, attrs, dict(o.extra))
        made.told = {n: twin(v, twins) for n, v in o.told.items()}
        made.role, made.role_var, made.line = o.role, o.role_var, o.line
        made.namescope, made.device, made.says_inputs = o.namescope, o.device, o.says_inputs
        return made

    def copied_block(self, source: Block, parent: Block, twins: Twins) -> Block:
        """A copy of a block, in `parent`."""
        made = self.program.block_inside(parent)
        found = dict(twins)
        for v in source.vars.values():
            found[v] = made.add(copied_variable(v, made))
            self.nested.add(found[v])
        made.ops = [self.copied(o, made, found) for o in source.ops]
        return made

    def tell_apart(self) -> None:
        """Give copies names that nothing around their blocks has: gradients look names up there."""
        for block in self.program.blocks[1:]:
            around = self.program.blocks[block.parent_idx]
            for v in [v for v in block.vars.values() if v in self.nested]:
                name = v.name
                if around.find(name) is None:
                    continue
                while block.find(v.name) is not None:
                    self.names[name] = self.names.get(name, 0) + 1
                    v.name = f"{name}.{self.names[name]}"
                block.vars = {w.name: w for w in block.vars.values()}


def twin(slot: Any, twins: Twins) -> Any:
    """What stands in one slot, copies in place of what has some."""
    if isinstance(slot, list | tuple):
        return [twin(v, twins) for v in slot]
    return twins.get(slot, slot)


def computed_ahead(o: Operator, operands: list[Any]) -> tuple[Any, ...]:
    """What the kernel of `o` gives; nothing where it refuses, as a run will then tell."""
    op, attrs = o.op, o.attrs | ({"out": None} if o.op.in_place else {})
    try:
        return as_outputs(op, (op.cpu or op.compute)(*operands, **attrs))
    except Exception as error:
        if not isinstance(lawful(error, op), ScullError):
            raise
        return ()


def is_small(v: Variable) -> bool:
    """Whether the value of `v` is worth knowing."""
    return v.kind is Kind.DENSE and not v.persistable and 0 <= count(v.meta.shape) <= SMALL


def outward(block: Block | None) -> Iterator[Block]:
    """A block and those around it."""
    while block is not None:
        yield block
        block = block.parent


def compact(program: Program) -> None:
    """Drop the blocks that no operator owns; number those that stay."""
    kept = list(blocks_within(program.global_block()))
    parents = {b: b.parent for b in kept}
    forwards = {b: program.blocks[b.forward_block_idx] for b in kept if b.forward_block_idx >= 0}
    for i, b in enumerate(kept):
        b.idx = i
    for b, parent in parents.items():
        b.parent_idx = -1 if parent is None else parent.idx
        forward = forwards.get(b)
        b.forward_block_idx = forward.idx if forward is not None and forward in parents else -1
    program.blocks, program.current_block_idx = kept, 0
    for b in kept:
        for o in b.ops:
            for v in o.results():
                v.op = o
    program.changed()


RULES = {
    "conditional_block": Unrolling.branch,
    "while": Unrolling.loop,
    "select_input": Unrolling.choice,
}
