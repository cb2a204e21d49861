"""Gradients of blocks written as plain blocks, so that they have gradients themselves.

The gradient of a branch or a loop reads what runs of a block kept, and to what is kept so no
gradient comes. Here the block puts such values into lists, a tensor a run; the gradient becomes a
branch or a loop like any other, which reads the lists from the last run to the first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scull.autograd.truth import roots_of
from scull.core import session
from scull.core.dtype import bool_, int64
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.ir.block import Block
from scull.ir.operator import Operator, each
from scull.ir.reach import (
    changed,
    inner_gradients,
    reads_and_writes,
    results_of,
    seeds_of,
    within,
)
from scull.ir.variable import Variable

BACKWARD = 1  # the role of operators that compute gradients
GRADIENTS = ("conditional_block_grad", "while_grad")
NUMBER, TRUTH = Meta((1,), int64), Meta((1,), bool_)


def open_gradients(block: Block, targets: Iterable[Variable] | None = None) -> None:
    """Write those gradients of blocks plainly that `targets`, or all there is, depend on."""
    openings: dict[Block, Opening] = {}
    for o in reaching(block, targets):
        if o.type in GRADIENTS:
            home = home_of(o)
            openings.setdefault(home, Opening(home)).open(o)
        else:
            for inner in o.blocks():
                open_gradients(inner)


def home_of(o: Operator) -> Block:
    """The block with the operator whose gradient `o` is."""
    (into,) = o.blocks()
    home: Block = into.program.blocks[into.forward_block_idx].parent
    return home


def reaching(block: Block, targets: Iterable[Variable] | None) -> list[Operator]:
    """The operators of a block that `targets` depend on; all when they are None."""
    if targets is None:
        return list(block.ops)
    found, asked = [], set(targets)
    for o in reversed(block.ops):
        if asked & set(o.results()):
            found.append(o)
            asked.update(o.operands())
    return found[::-1]


@dataclass
class Record:
    """What the runs of a block leave, in lists."""

    owner: Operator
    top: Variable  # how many runs there were
    at: Variable  # which of them this is
    rounds: Variable | None = None  # how many a loop had this time
    lists: dict[Variable, Variable] = field(default_factory=dict)


class Opening:
    """Opens gradients of operators with blocks of one block, which holds the lists."""

    def __init__(self, home: Block) -> None:
        self.home = home
        self.records: dict[Block, Record] = {}
        self.positions: dict[Block, Variable] = {}  # up to which run each list is still to be read
        self.own: set[Variable] = set()  # lists, and numbers of runs
        self.outermost: Operator

    def open(self, o: Operator) -> None:
        """Write the gradient `o` plainly, and those in its block."""
        self.positions, self.outermost = {}, o
        self.write(o)

    def write(self, o: Operator) -> None:
        """The same, of one within another, too."""
        (into,) = o.blocks()
        block = into.program.blocks[into.forward_block_idx]
        for inner in list(into.ops):
            if inner.type in GRADIENTS:
                self.write(inner)
        is_loop = o.type == "while_grad"
        inside, seeds = inner_gradients(o), seeds_of(o) if is_loop else ()
        for name in list(into.vars):  # others will call the gradients of this block so
            into._rename_var(name, session.unique_name(name + "@PAST"))
        self.recall(into, block, is_loop)
        into.forward_block_idx = block.backward_block_idx = -1
        if is_loop:
            self.write_loop(o, inside, seeds, self.record(block))
        else:
            self.write_branch(o, inside)
        o.block.remove(o)

    # ---- what runs leave ----

    def record(self, block: Block) -> Record:
        """What notes the runs of `block`."""
        if block not in self.records:
            self.records[block] = self.noted(block)
        return self.records[block]

    def noted(self, block: Block) -> Record:
        """Let `block` number its runs."""
        owner = next(o for o in block.parent.ops if block in o.blocks())  # type: ignore[union-attr]
        top = variable(self.home, "runs", NUMBER)
        around = self.around(block)
        put(self.home, before(around[-1]), "fill_constant", (), top, dtype=int64, shape=[1])
        at = variable(block, "run", NUMBER)
        put(block, 0, "assign", (top,), at)
        put(block, 1, "scale", (at,), top, bias=1.0)
        for o in around:
            widen(o, [top], [top])
        self.own.add(top)
        record = Record(owner, top, at)
        if owner.type == "while":
            start = variable(owner.block, "start", NUMBER)
            record.rounds = variable(owner.block, "rounds", NUMBER)
            put(owner.block, before(owner), "assign", (top,), start)
            put(owner.block, before(owner) + 1, "elementwise_sub", (top, start), record.rounds)
        return record

    def around(self, block: Block) -> list[Operator]:
        """The operators around `block`, the nearest first, up to that of `home`."""
        found: list[Operator] = []
        while block is not self.home:
            outer = block.parent
            assert outer is not None
            found.append(next(o for o in outer.ops if block in o.blocks()))
            block = outer
        return found

    def listed(self, block: Block, v: Variable, *, first: bool) -> Variable:
        """The list of the values that `v` has as runs of `block` begin, or end."""
        record = self.record(block)
        if v not in record.lists:
            meta = v.meta.with_kind(Kind.ARRAY)
            made = variable(self.home, v.name, meta, stop_gradient=not passes(v))
            place = 2 if first else len(block.ops)
            put(block, place, "write_to_array", (v, record.at), made)
            for o in self.around(block):
                widen(o, [], [made])
            record.lists[v] = made
            self.own.add(made)
        return record.lists[v]

    def recall(self, into: Block, block: Block, is_loop: bool) -> None:
        """Let the gradient block `into` read what runs of `block` left from lists."""
        carried = changed(block) if is_loop else {}
        counted_back = changed(into)
        wanted = dict.fromkeys(v for o in within(into) for v in values_read(o))
        kept = [
            v
            for v in wanted
            if v.block is block or (v in carried and v not in counted_back)
            if v.kind is not Kind.SCOPES and v not in self.own
        ]
        if not kept:
            return
        read, anew = roots_of(block, kept)
        lists = {
            v: self.listed(block, v, first=v in carried)
            for v in read
            if v.block is block or v in carried or v not in wanted
        }
        position = self.position(block)
        now = variable(into, "run", NUMBER)
        put(into, 0, "scale", (position,), now, BACKWARD, bias=-1.0)
        put(into, 1, "assign", (now,), position, BACKWARD)
        for place, (v, past) in enumerate(lists.items(), 2):
            found = variable(into, v.name, v.meta, stop_gradient=past.stop_gradient)
            swap(into, v, found, outputs=False)
            put(into, place, "read_from_array", (past, now), found, BACKWARD)
            read[v] = found
        for place, o in enumerate(anew, 2 + len(lists)):
            for v in o.results():
                read[v] = variable(into, v.name, v.meta, stop_gradient=not passes(v))
                swap(into, v, read[v], outputs=False)
            again(into, place, o, read)

    def position(self, block: Block) -> Variable:
        """How many of the runs of `block` this gradient has not gone back over."""
        if block not in self.positions:
            top = self.record(block).top
            o = self.outermost
            made = self.positions[block] = variable(o.block, "position", NUMBER)
            self.own.add(made)
            put(o.block, before(o), "assign", (top,), made, BACKWARD)
        return self.positions[block]

    # ---- plain blocks ----

    def write_branch(self, o: Operator, inside: dict[Variable, Variable]) -> None:
        """A branch for the gradient of one: where it does not run, gradients are zeros."""
        around, (into,) = o.block, o.blocks()
        douts = dict.fromkeys(each(o.inputs[o.op.inputs.index("dout")]))
        for v in dict.fromkeys((*changed(into), *douts)):  # gradients that come are others', too
            if v in self.own:
                continue
            own = variable(into, v.name, v.meta)
            swap(into, v, own)
            inside = {x: own if d is v else d for x, d in inside.items()}
            if v in douts:
                put(into, 0, "assign", (v,), own, BACKWARD)
        last = {}
        for v, d in results_of(o).items():
            last[d] = made = variable(around, d.name, d.meta)
            empty(o, v, made)
            if v in inside:
                put(into, len(into.ops), "assign", (inside[v],), made, BACKWARD)
        reads, writes = reads_and_writes(into)
        scope = variable(around, "scope", o.inputs[-1].meta)
        told = {"sub_block": into, "is_scalar_condition": o.attrs["is_scalar_condition"]}
        place(o, "conditional_block", (list(o.inputs[0]), reads), (writes, scope), told)
        for d, made in last.items():
            put(around, before(o), "assign", (made,), d, BACKWARD)

    def write_loop(
        self, o: Operator, inside: dict[Variable, Variable], seeds: Any, record: Record
    ) -> None:
        """A loop for the gradient of one, with as many rounds."""
        around, (into,) = o.block, o.blocks()
        outs = set(each(o.inputs[o.op.inputs.index("out")]))
        state: dict[Variable, Variable] = {}
        for d, own in seeds:
            state[own] = variable(around, own.name, own.meta)
            put(around, before(o), "assign", (d,), state[own], BACKWARD)
        for v, own in inside.items():
            if own not in state and v in outs:
                state[own] = variable(around, own.name, own.meta)
                empty(o, v, state[own])
            elif own not in state:
                state[own] = variable(into, own.name, own.meta)
        for own, made in state.items():
            swap(into, own, made)
        last: dict[Variable, Variable] = {}
        for v, d in results_of(o).items():
            found = state[inside[v]] if v in inside else None
            last[d] = total = variable(around, d.name, d.meta)
            if v in outs and found is not None:
                last[d] = found
                continue
            empty(o, v, total)
            if found is not None:
                put(into, len(into.ops), "sum", ([total, found],), total, BACKWARD)
        self.count(o, into, record)
        for d, found in last.items():
            put(around, before(o), "assign", (found,), d, BACKWARD)

    def count(self, o: Operator, into: Block, record: Record) -> None:
        """Let `into` run in the place of `o` as often as the loop did."""
        around, rounds = o.block, record.rounds
        left, more = variable(around, "left", NUMBER), variable(around, "more", TRUTH)
        none, less = variable(around, "none", NUMBER), variable(into, "less", NUMBER)
        put(around, before(o), "assign", (rounds,), left, BACKWARD)
        put(around, before(o), "fill_constant", (), none, BACKWARD, dtype=int64, shape=[1])
        put(around, before(o), "greater_than", (left, none), more, BACKWARD)
        put(into, len(into.ops), "scale", (left,), less, BACKWARD, bias=-1.0)
        put(into, len(into.ops), "assign", (less,), left, BACKWARD)
        put(into, len(into.ops), "greater_than", (less, none), more, BACKWARD)
        reads, writes = reads_and_writes(into)
        scopes = variable(around, "scopes", o.inputs[-1].meta)
        told = {"sub_block": into, "is_test": False}
        carried = list(dict.fromkeys(v for v in (*reads, *writes) if v is not more))
        place(o, "while", (carried, [more]), (writes, scopes), told)


def variable(block: Block, name: str, meta: Any, *, stop_gradient: bool | None = None) -> Variable:
    """A new variable of a block; numbers and truths pass no gradient."""
    stops = not (meta.dtype.is_float or meta.dtype.is_complex)
    stops = stops if stop_gradient is None else stop_gradient
    return block.variable(session.unique_name(name + "@PAST"), meta, stop_gradient=stops)


def put(
    block: Block, place: int, type: str, ins: Any, out: Variable, role: int = 0, **attrs: Any
) -> None:
    """Insert an operator before that at `place`."""
    op = op_of(type)
    slots = (*ins, *(None for _ in op.inputs[len(ins) :]))
    made = Operator(block, op, slots, (out, *(None for _ in op.outputs[1:])), {**op.attrs, **attrs})
    made.role = role
    block.insert(place, made)


def again(block: Block, place: int, o: Operator, values: dict[Variable, Variable]) -> None:
    """Insert a copy of `o` for other `values`."""

    def slot(held: Any) -> Any:
        return [values[v] for v in held] if isinstance(held, list) else held and values[held]

    ins, outs = tuple(map(slot, o.inputs)), tuple(map(slot, o.outputs))
    made = Operator(block, o.op, ins, outs, dict(o.attrs))
    made.role, made.line = BACKWARD, o.line
    block.insert(place, made)


def empty(o: Operator, like: Variable, into: Variable) -> None:
    """Let `into` be zeros before `o`, or a list without tensors."""
    like = into if into.kind is Kind.ARRAY else like
    put(o.block, before(o), "fill_any_like", (like,), into, BACKWARD)


def place(o: Operator, type: str, ins: Any, outs: Any, attrs: dict[str, Any]) -> None:
    """Insert an operator with a block before `o`, in its stead."""
    made = Operator(o.block, op_of(type), ins, outs, attrs)
    made.role, made.device, made.line, made.namescope = o.role, o.device, o.line, o.namescope
    o.block.insert(before(o), made)


def before(o: Operator) -> int:
    """The place of `o` in its block."""
    return int(o.block.ops.index(o))


def swap(block: Block, old: Variable, new: Variable, *, outputs: bool = True) -> None:
    """Put `new` where `old` stands within a block."""
    for o in within(block):
        o.replace(old, new, inputs=True, outputs=outputs)
    if outputs and block.vars.get(old.name) is old:
        del block.vars[old.name]


def widen(o: Operator, reads: list[Variable], writes: list[Variable]) -> None:
    """Let an operator with a block say what the block reads and writes besides."""
    carried = (*reads, *writes) if o.type == "while" else reads
    at = o.op.inputs.index("x" if o.type == "while" else "input")
    known = list(dict.fromkeys((*each(o.inputs[at]), *carried)))
    o.inputs = (*o.inputs[:at], known, *o.inputs[at + 1 :])
    o.outputs = (list(dict.fromkeys((*each(o.outputs[0]), *writes))), *o.outputs[1:])


def values_read(o: Operator) -> list[Variable]:
    """What an operator reads itself; one with a block its condition."""
    if not o.op.has_blocks:
        return o.operands()
    return each(o.inputs[o.op.inputs.index("cond")])


def passes(v: Variable) -> bool:
    """Whether gradients may come to a value: those of what is kept for a gradient may, too."""
    hidden = v.op is not None and v in hidden_results(v.op)
    return (v.dtype.is_float or v.dtype.is_complex) and (hidden or not v.stop_gradient)


def hidden_results(o: Operator) -> set[Variable]:
    """The results that only the gradient of an operator reads."""
    slots = zip(o.op.outputs, o.outputs, strict=False)
    return {v for n, slot in slots if n in o.op.hidden for v in each(slot)}
