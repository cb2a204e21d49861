"""Branches and loops as primitives of dataflow: one flat block in which values have frames.

Every variable is written once. A value goes into a branch by a `switch` and leaves it by a `merge`;
it goes into a loop by an `enter`, from round to round by a `next_iteration`, and leaves by an
`exit`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from scull.core.dtype import bool_, int32
from scull.core.meta import Kind, Meta
from scull.core.op import Op, op_of
from scull.errors import UnsupportedError
from scull.ir.block import Block
from scull.ir.clone import copied_variable
from scull.ir.depth import deep
from scull.ir.operator import Operator, each, effects
from scull.ir.program import Program
from scull.ir.reach import within
from scull.ir.told import stand_in
from scull.ir.variable import Variable
from scull.passes.constant import bound_to, empty_list
from scull.passes.doubt import is_doubtful, is_of, refuse_doubt, write_sum
from scull.passes.place import Frame, Guard, Place, Side, denied, holder
from scull.passes.reverse import recalled, write_loop_gradient

EDGE = ("feed", "fetch", "fetch_v2")
FORMS = ("logical_not", "cast", "assign")  # what makes one truth value of another
INDEX = Meta((), int32)
Lead = Callable[[Variable], Variable]  # from a value to what it is elsewhere


@deep
def lowered(program: Program, parallel_iterations: int = 10) -> Program:
    """`program` without branches and loops: primitives of dataflow stand for them.

    Values are the same, variables of the global block keep their names. So many rounds of a loop
    may go on at once.

    Raises:
        UnsupportedError: what a block does cannot be told by primitives; why is said.
    """
    return Lowering(program, parallel_iterations).run()


class Lowering:
    """Writes the flat block."""

    def __init__(self, program: Program, parallel_iterations: int) -> None:
        self.source, self.parallel = program, parallel_iterations
        self.made = Program()
        self.block: Block = self.made.global_block()
        self.root = Place()
        self.perhaps: dict[Variable, Guard | None] = {}  # values that may be dead where they stand
        self.homes: dict[Variable, Place] = {}  # where the truth values of guards are read
        self.forms: dict[Variable, Guard] = {}  # what follows from a truth value, and from which
        self.loops = 0
        self.sides: dict[Variable, Side] = {}  # the branches, by what keeps their runs
        self.frames: dict[Variable, Frame] = {}  # and the loops
        self.constants: dict[Any, Variable] = {}  # by what they are
        self.counts: dict[str, int] = {}
        self.changes: dict[Block, dict[Variable, None]] = {}
        self.names: dict[Variable, str] = {}  # what the source calls the variable of a value
        self.like: Operator | None = None  # what is being written for

    def run(self) -> Program:
        """The flat Program."""
        source, made = self.source, self.made
        self.begin()
        self.write_all(source.global_block().ops, self.root)
        self.finish()
        made.random_seed, made.derivatives = source.random_seed, source.derivatives
        made.scope_counts, made.lr_scheduler = dict(source.scope_counts), source.lr_scheduler
        made.lr_var = source.lr_var and self.root.values.get(source.lr_var)
        return made

    def begin(self) -> None:
        """Take over the variables that have a value before any operator runs."""
        block = self.source.global_block()
        written = {v for o in within(block) if o.type not in EDGE for v in o.results()}
        for b in self.source.blocks:
            for v in b.vars.values():
                if v.kind in (Kind.FEED, Kind.FETCH):
                    continue
                if v.persistable or v.is_data or (b is block and v not in written):
                    self.root.values[v] = self.block.add(copied_variable(v, self.block))

    def finish(self) -> None:
        """Give the outside its new values, and results the names they have in the source."""
        for v in self.root.written:
            value, outside = self.root.values[v], self.block.vars.get(v.name)
            if v.persistable or v.is_data:
                assert outside is not None
                self.write(op_of("assign"), (value,), (outside,), {})
            elif value.name != v.name and v.block is self.source.global_block():
                if outside is not None:
                    self.rename(outside, self.unused(v.name))
                self.rename(value, v.name)

    def rename(self, v: Variable, name: str) -> None:
        """Call a variable of the flat block otherwise."""
        del self.block.vars[v.name]
        v.name = name
        self.block.vars[name] = v

    def unused(self, name: str) -> str:
        """`name`, with a number where it is in use."""
        found = name
        while found in self.block.vars:
            self.counts[name] = self.counts.get(name, 0) + 1
            found = f"{name}.{self.counts[name]}"
        return found

    # ---- writing ----

    def variable(self, name: str, meta: Meta, stop_gradient: bool = False) -> Variable:
        """A new variable."""
        return self.block.variable(self.unused(name), meta, stop_gradient=stop_gradient)

    def version(self, v: Variable) -> Variable:
        """A new variable for a value of `v`."""
        name = self.names.get(v, v.name)
        made = self.variable(name, v.meta, v.stop_gradient)
        self.names[made] = name
        return made

    def write(self, op: Op, ins: tuple[Any, ...], outs: tuple[Any, ...], attrs: Any) -> Operator:
        """Append an operator that stands for the one being lowered."""
        made = Operator(self.block, op, ins, outs, {**op.attrs, **attrs})
        if self.like is not None:
            made.role, made.role_var = self.like.role, self.like.role_var
            made.namescope, made.device = self.like.namescope, self.like.device
            made.line = self.like.line
        return self.block.append(made)

    def moved(self, type: str, x: Variable, like: Variable, **attrs: Any) -> Variable:
        """The result of a primitive with one operand and one result."""
        made = self.version(like)
        self.write(op_of(type), (x,), (made,), attrs)
        return made

    def switched(self, place: Place, x: Variable, guard: Guard) -> Variable:
        """`x` where `guard` holds; both sides of a switch are kept for others."""
        pred, side = guard.pred, guard.holds
        if (x, pred) not in place.switches:
            sides = self.version(x), self.version(x)
            self.write(op_of("switch"), (x, pred), sides, {})
            place.switches[x, pred] = sides
        return place.switches[x, pred][side]

    def merged(self, values: list[Variable], like: Variable) -> Variable:
        """The one of `values` that is alive."""
        made = self.version(like)
        index = self.variable(f"{made.name}.index", INDEX, stop_gradient=True)
        self.write(op_of("merge"), (values,), (made, index), {})
        return made

    # ---- reading ----

    def value(self, place: Place, v: Variable) -> Variable:
        """What `v` is at `place`; what comes from around it is led in."""
        if v not in place.values:
            if v in place.recalls:
                place.values[v] = recalled(self, place, *place.recalls[v])
            elif place.around is not None:
                x = self.value(holder(place, v), v)
                place.values[v] = self.led_in(place, x)
            elif v.kind is Kind.ARRAY:
                return empty_list(self, v.meta)
            else:
                raise self.refused(f"`{v.name}` has no value when it is read")
        return place.values[v]

    def led_in(self, place: Place, x: Variable) -> Variable:
        """A value from around `place`, for operators there.

        What is around several branches goes into the innermost at once: the truth value of that
        is alive only where those of the others are as they must be.
        """
        assert place.around is not None
        if isinstance(place, Frame):
            made = self.entered(place, x)
        else:
            assert isinstance(place, Side)
            if self.perhaps.get(x, ()) == place.guard:
                return x
            made = self.switched(place.around, x, place.guard)
            if is_doubtful(self, place, x):
                self.perhaps[made] = self.perhaps[x]
        self.note_form(x, made, lambda v: self.led_in(place, v))
        return made

    def entered(self, frame: Frame, x: Variable) -> Variable:
        """A value from around a loop, in each of its rounds."""
        assert frame.around is not None and frame.goes_on is not None
        if x not in frame.entered:
            refuse_doubt(self, frame.around, x, "is read in a loop")
            attrs = {"frame_name": frame.name, "parallel_iterations": self.parallel}
            made = self.moved("enter", x, x, is_constant=True, **attrs)
            frame.entered[x] = self.switched(frame, made, Guard(frame.goes_on, True))
        return frame.entered[x]

    def brought(self, place: Place, x: Variable, at: Place) -> Variable:
        """The value `x`, which stands at `at`, led into the branches and loops within that."""
        if place is at:
            return x
        around = place.around
        if isinstance(place, Side):
            near = isinstance(at, Side) and at.home is place.home
            around = at if near else place.home
        assert around is not None
        return self.led_in(place, self.brought(around, x, at))

    def note_form(self, x: Variable, made: Variable, lead: Lead) -> None:
        """Remember of `made`, which is `x` elsewhere, which truth value it is another form of."""
        if x in self.forms and made is not x:
            form = self.forms[x]
            self.forms[made] = Guard(lead(form.pred), form.holds)

    def refused(self, law: str) -> UnsupportedError:
        """The error for what cannot be lowered."""
        o = self.like
        assert o is not None
        return UnsupportedError(f"`{o.type}` at {o.line or 'a loaded file'}: {law}")

    # ---- operators ----

    def write_all(self, operators: Iterable[Operator], place: Place) -> None:
        """Write what stands for `operators`."""
        for o in operators:
            if o.type in EDGE:
                continue
            before, self.like = self.like, o
            WRITERS.get(o.type, Lowering.write_plain)(self, o, place)
            self.like = before

    def write_plain(self, o: Operator, place: Place) -> None:
        """An operator without blocks."""
        alone = not o.operands() and o.type != "write_to_array"
        hoisted = alone and not effects(o)
        at = self.root if hoisted else place
        ins = tuple(self.values_in(at, s) for s in o.inputs)
        if o.type == "write_to_array":  # it reads what the list held before
            ins = (*ins[:2], self.value(place, o.results()[0]))
        told = {n: self.values_in(at, s) for n, s in o.told.items()}
        if alone and at is not self.root:
            ins, told = bound_to(self, place, o)
        results = {v: self.version(v) for v in o.results()}
        outs = tuple(
            [v and results[v] for v in s] if isinstance(s, list) else s and results[s]
            for s in o.outputs
        )
        attrs = o.attrs | {n: stand_in(o.op, n, v) for n, v in told.items()}
        made = self.write(o.op, ins, outs, attrs)
        made.told, made.extra, made.says_inputs = told, dict(o.extra), o.says_inputs
        made.is_target, made.wire = o.is_target, o.wire
        self.note(made, at)
        for v, value in results.items():
            place.set(v, self.from_root(place, value) if hoisted else value)

    def write_like(self, o: Operator, place: Place) -> None:
        """Zeros like something; like a list of tensors an empty one."""
        (out,) = o.results()
        if out.kind is Kind.ARRAY:
            place.set(out, self.from_root(place, empty_list(self, out.meta)))
        else:
            self.write_plain(o, place)

    def from_root(self, place: Place, x: Variable) -> Variable:
        """A value made outside all blocks, at `place`: what needs no operand is made once."""
        return self.brought(place, x, self.root)

    def values_in(self, place: Place, slot: Any) -> Any:
        """What stands in one slot, as it is at `place`."""
        if isinstance(slot, list | tuple):
            return [None if v is None else self.value(place, v) for v in slot]
        return None if slot is None else self.value(place, slot)

    def note(self, made: Operator, place: Place) -> None:
        """Remember what is known of the results of an operator."""
        operands = made.operands()
        for v in operands:
            if is_doubtful(self, place, v):
                self.perhaps.update(dict.fromkeys(made.results(), self.perhaps[v]))
        x = next(iter(operands), None)
        if made.type in FORMS and x is not None and (x.dtype is bool_ or x in self.forms):
            self.forms[made.results()[0]] = Guard(x, made.type != "logical_not")

    def guard_of(self, pred: Variable, holds: bool = True) -> Guard:
        """That `pred` is `holds`, told of the truth value it follows from."""
        while pred in self.forms:
            form = self.forms[pred]
            pred, holds = form.pred, holds == form.holds
        return Guard(pred, holds)

    def guard_at(self, place: Place, pred: Variable) -> Guard:
        """That `pred` holds, for what stands at `place`."""
        guard = self.guard_of(pred)
        self.homes.setdefault(guard.pred, place)
        return guard

    def write_branch(self, o: Operator, place: Place) -> None:
        """A block that runs when its condition holds."""
        if not o.attrs["is_scalar_condition"]:
            raise self.refused("its condition is whether there are elements, no truth value")
        (block,), (cond,) = o.blocks(), each(o.inputs[0])
        side = Side(place, self.guard_at(place, self.value(place, cond)))
        self.sides.update((scope, side) for scope in each(o.outputs[1]))
        self.write_all(block.ops, side)
        for v in side.written:
            if v.block is not block:
                self.write_outcome(place, v, side.values[v], side.guard)

    def write_outcome(self, place: Place, v: Variable, value: Variable, guard: Guard) -> None:
        """Let `v` be `value` where a guard holds, and what it was elsewhere."""
        before = self.value(place, v) if place.has(v) else None
        if before is None or self.perhaps.get(before, ()) == guard:
            self.perhaps.setdefault(value, guard)
            place.set(v, value)
            return
        other = denied(guard)
        made = self.met(guard, self.where(place, before, other), value, v)
        if self.perhaps.get(before, other) != other:
            self.perhaps[made] = None
        place.set(v, made)

    def where(self, place: Place, x: Variable, guard: Guard) -> Variable:
        """`x` where `guard` holds, and perhaps it is alive only there."""
        if self.perhaps.get(x, ()) == guard:
            return x
        made = self.switched(place, x, guard)
        if is_doubtful(self, place, x):
            self.perhaps[made] = self.perhaps[x]
        return made

    def filled(self, place: Place, x: Variable, wanted: Guard | None) -> Variable:
        """`x`; a list that is alive where another guard than the wanted one holds is empty else."""
        guard = self.perhaps.get(x)
        if x.kind is not Kind.ARRAY or guard in (None, wanted) or not is_doubtful(self, place, x):
            return x
        assert guard is not None
        empty = self.from_root(place, empty_list(self, x.meta))
        return self.met(guard, self.switched(place, empty, denied(guard)), x, x)

    def met(self, guard: Guard, other: Variable, value: Variable, like: Variable) -> Variable:
        """`value`, alive where a guard holds, and the `other`, alive where it does not."""
        return self.merged([other, value] if guard.holds else [value, other], like)

    def write_choice(self, o: Operator, place: Place) -> None:
        """A choice between two results."""
        values, mask = self.values_in(place, o.inputs[0]), self.value(place, o.inputs[1])
        if len(values) != 2:
            raise self.refused(f"it chooses among {len(values)} results, not two")
        guard = self.guard_at(place, mask if mask in self.forms else self.as_truth(mask))
        wanted = (denied(guard), guard)
        values = [self.filled(place, x, g) for x, g in zip(values, wanted, strict=True)]
        arms = [self.where(place, x, g) for x, g in zip(values, wanted, strict=True)]
        made = self.merged(arms, o.results()[0])
        if any(self.perhaps.get(x, g) != g for x, g in zip(values, wanted, strict=True)):
            self.perhaps[made] = None
        place.set(o.results()[0], made)

    def write_parting(self, o: Operator, place: Place) -> None:
        """A value handed to one of two results; the other stays as it was, or is not there."""
        x, mask, outs = self.value(place, o.inputs[0]), self.value(place, o.inputs[1]), o.results()
        if len(outs) != 2:
            raise self.refused(f"it hands on to one of {len(outs)} results, not of two")
        guard = self.guard_at(place, mask if mask in self.forms else self.as_truth(mask))
        sides = [self.version(v) for v in outs]
        self.write(
            op_of("switch"), (x, guard.pred), tuple(sides if guard.holds else sides[::-1]), {}
        )
        for v, value, side in zip(outs, sides, (denied(guard), guard), strict=True):
            if not o.role & 1:
                self.write_outcome(place, v, value, side)
                continue
            self.perhaps[value] = side  # of a gradient: there is none where none is handed on
            place.set(v, self.filled(place, value, None))

    def write_branch_gradient(self, o: Operator, place: Place) -> None:
        """The block of gradients of a branch: it runs where that ran, else gradients are zeros."""
        (scope,), (into,) = each(o.inputs[o.op.inputs.index("scope")]), o.blocks()
        ran = self.sides.get(scope)
        if ran is None:
            raise self.refused("the branch whose gradient it is stands in no block of the Program")
        forward, side = (
            into.program.blocks[into.forward_block_idx],
            Side(place, self.recalled_guard(place, ran.guard)),
        )
        side.recalls.update((v, (x, ran)) for v, x in ran.values.items() if v.block is forward)
        self.write_all(into.ops, side)
        takers = o.inputs[o.op.inputs.index("input")]
        for v, d in zip(takers, o.outputs[0], strict=False):
            inner = into.find(v.name + "@GRAD")
            if d is None or inner is None:
                continue
            if is_of(self, place, v, ran, side):
                place.set(d, self.value(side, inner))
                self.perhaps[place.values[d]] = side.guard
                continue
            other = denied(side.guard)
            if v.kind is Kind.ARRAY:
                none = self.switched(place, self.from_root(place, empty_list(self, v.meta)), other)
            else:
                like, none = self.switched(place, self.value(place, v), other), self.version(d)
                attrs = {"value": 0.0, "dtype": None}
                self.write(op_of("fill_any_like"), (like,), (none,), attrs)
            place.set(d, self.met(side.guard, none, self.value(side, inner), d))

    def recalled_guard(self, place: Place, ran: Guard) -> Guard:
        """What must hold at `place` for what needed that a guard holds."""
        pred = recalled(self, place, ran.pred, self.homes[ran.pred])
        return self.guard_of(pred, ran.holds)

    def as_truth(self, mask: Variable) -> Variable:
        """The truth value of a number."""
        made = self.variable(mask.name, mask.meta.with_dtype(bool_), stop_gradient=True)
        self.write(op_of("cast"), (mask,), (made,), {"in_dtype": mask.dtype, "out_dtype": bool_})
        return made

    def write_loop(self, o: Operator, place: Place) -> None:
        """A block that runs as long as its condition holds."""
        (block,), (cond,) = o.blocks(), each(o.inputs[o.op.inputs.index("cond")])
        frame = Frame(place, f"while_{self.loops}")
        self.loops += 1
        carried = list(dict.fromkeys([cond, *self.changed(block)]))
        merges = {v: self.head(frame, v) for v in carried}
        frame.goes_on = self.moved("loop_cond", self.out_of(merges[cond]), cond)
        for v in carried:
            head = self.out_of(merges[v])
            frame.values[v] = self.switched(frame, head, Guard(frame.goes_on, True))
        frame.first = dict(frame.values)
        self.frames.update((scopes, frame) for scopes in each(o.outputs[1]))
        self.write_all(block.ops, frame)
        for v in carried:
            refuse_doubt(self, frame, frame.values[v], "goes on to the next round")
            again = self.moved("next_iteration", frame.values[v], v)
            merges[v].inputs = ([*merges[v].inputs[0], again],)
        for v in carried:
            left = self.switched(frame, self.out_of(merges[v]), Guard(frame.goes_on, False))
            place.set(v, self.moved("exit", left, v))

    def changed(self, block: Block) -> dict[Variable, None]:
        """The variables around `block` that get a value within it, in order."""
        if block not in self.changes:
            found: dict[Variable, None] = {}
            for o in block.ops:
                found.update(dict.fromkeys(o.results()))
                for inner in o.blocks():
                    found.update(self.changed(inner))
            self.changes[block] = {v: None for v in found if v.block is not block}
        return self.changes[block]

    def out_of(self, merge: Operator) -> Variable:
        """The value that a `merge` makes."""
        found: Variable = merge.outputs[0]
        return found

    def head(self, frame: Frame, v: Variable) -> Operator:
        """The `merge` of the value that `v` has before a loop, and of that from the last round."""
        place = frame.around
        assert place is not None
        if not place.has(v):
            raise self.refused(f"`{v.name}` has no value before the loop that writes it")
        before = self.value(place, v)
        refuse_doubt(self, place, before, "begins a loop")
        first = self.moved(
            "enter", before, v, frame_name=frame.name, parallel_iterations=self.parallel
        )
        self.merged([first], v)
        return self.block.ops[-1]


WRITERS = {
    "fill_any_like": Lowering.write_like,
    "sum": write_sum,
    "conditional_block": Lowering.write_branch,
    "while": Lowering.write_loop,
    "select_input": Lowering.write_choice,
    "select_output": Lowering.write_parting,
    "conditional_block_grad": Lowering.write_branch_gradient,
    "while_grad": write_loop_gradient,
}
