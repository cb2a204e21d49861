"""Operators with blocks as planning sees them: they read and write what their blocks do.

So an operator with blocks is a function of variables around it, as every other is.
"""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from scull.core.meta import Kind
from scull.errors import ProgramError
from scull.executor.alias import shape_readers, written
from scull.ir.operator import Operator, each, effects
from scull.ir.reach import inner_gradients, results_of, seeds_of
from scull.ir.variable import Variable
from scull.ops.array import grown


@dataclass(frozen=True)
class Body:
    """One block of an operator: its operators, closed too, and what they touch outside it."""

    operators: tuple[Operator, ...]
    entries: tuple[Variable, ...]  # whose value from before may be read
    exits: tuple[Variable, ...]  # which get a value
    over: tuple[Variable, ...]  # whose memory alone is overwritten
    private: frozenset[Variable]  # overwritten and then replaced: a run has a copy of its own


@dataclass(frozen=True)
class Save:
    """A value that each run of a block keeps for its gradient block."""

    variable: Variable
    first: bool  # as the run finds it, not as it leaves it
    copied: bool  # another run overwrites it
    shape: bool  # its shape is enough


class BlockOp:
    """What planning asks of the declaration of an operator with blocks."""

    inputs, outputs = ("reads", "over", "shapes"), ("makes", "over")
    lists = output_lists = frozenset({"reads", "over", "makes", "shapes"})
    in_place = {"over": "over"}  # noqa: RUF012
    shape_only = frozenset({"shapes"})
    forward = xshape = cpu = over = shape_record = None
    recorded: dict[str, Any] = {}  # noqa: RUF012
    composite = takes_wanted = broadcasts = False
    hidden: tuple[str, ...] = ()
    unsaid = unprinted = frozenset[str]()
    has_blocks = True

    def __init__(self, source: Operator, body: Body, saves: tuple[Save, ...]) -> None:
        self.type = self.name = source.type
        self.source, self.body, self.saves = source, body, saves
        self.repeats = source.type.startswith("while")
        self.backward = source.type in BACKWARD
        self.scopes = source.inputs[-1] if self.backward else source.outputs[1]
        self.seeds = seeds_of(source) if source.type == "while_grad" else ()
        self.effects = frozenset(e for o in body.operators for e in effects(o))
        self.views: dict[str, str] = {}
        self.kinds: dict[str, Any] = {}
        self.attrs: dict[str, Any] = {}
        self.fixed: dict[str, Any] = {}

    def slot(self, name: str) -> str:
        """How texts spell a slot."""
        return name

    @property
    def begins(self) -> tuple[Variable, ...]:
        """The variables that may have a value when a run of its block begins."""
        body, inside = self.body, (v for _, v in self.seeds)
        found = (*body.entries, *body.exits, *body.over, *inside, *self.left_alone)
        return tuple(dict.fromkeys(found))

    @property
    def left_alone(self) -> tuple[Variable, ...]:
        """The gradients that a block is given and perhaps hands back as they are."""
        if not self.backward:
            return ()
        given = set(each(self.source.inputs[self.source.op.inputs.index("dout")]))
        return tuple(v for v in self.ends if v in given)

    @property
    def ends(self) -> tuple[Variable, ...]:
        """The variables whose values are asked for after a run of its block."""
        if self.backward:
            return tuple(inner_gradients(self.source).values())
        return (*self.body.exits, *(s.variable for s in self.saves))

    def infer(self, metas: Any, attrs: Any) -> tuple[Any, ...]:
        """Nothing: its blocks tell when they run."""
        return ()


def inner_block(o: Operator) -> Any:
    """The block of an operator; ProgramError where that is no block within its own."""
    (block,) = o.blocks()
    if block.parent_idx != o.block.idx or block.idx <= o.block.idx:
        raise ProgramError(
            f"`{o.type}` at {o.line or 'a loaded file'} stands in block {o.block.idx} and owns "
            f"block {block.idx}, which lies in block {block.parent_idx}"
        )
    return block


class Survey:
    """What was found of the blocks of a Program so far, so that each is walked once."""

    def __init__(self) -> None:
        self.saves: dict[Variable, tuple[Save, ...]] = {}  # what blocks keep in each variable
        self.bodies: dict[Any, Body] = {}  # of blocks around which every variable has a value
        self.changed: dict[Any, dict[Variable, None]] = {}
        self.overwritten: dict[Any, set[Variable]] = {}
        self.variables: set[Variable] = set()
        self.readers: dict[Variable, list[Operator]] = {}

    def look(self, program: Any) -> None:
        """Note all variables, and which gradients read what blocks keep."""
        if self.variables:
            return
        self.variables.update(program.variables())
        for o in (o for block in program.blocks for o in block.ops if o.type in BACKWARD):
            self.readers.setdefault(o.inputs[-1], []).append(o)

    def changes(self, block: Any) -> dict[Variable, None]:
        """The variables around `block` that get a value within it."""
        if block not in self.changed:
            found = self.changed[block] = {}
            for o in block.ops:
                inner = (v for within in o.blocks() for v in self.changes(within))
                found.update((v, None) for v in (*o.results(), *inner) if v.block is not block)
        return self.changed[block]

    def overwrites(self, block: Any) -> set[Variable]:
        """The variables whose memory is overwritten within `block`."""
        if block not in self.overwritten:
            found = self.overwritten[block] = {v for o in block.ops for v in written(o)}
            found.update(v for o in block.ops for b in o.blocks() for v in self.overwrites(b))
        return self.overwritten[block]


class Around(NamedTuple):
    """What is known where an operator stands."""

    defined: set[Variable]  # the variables that have a value before it
    asked: set[Variable]  # those that somebody reads
    survey: Survey

    @property
    def known(self) -> set[Variable] | None:
        """The variables that have a value; None for all there are."""
        return None if self.defined is self.survey.variables else self.defined


def closed(
    operators: Iterable[Operator],
    known: Iterable[Variable] | None,
    wanted: Iterable[Variable] = (),
    survey: Survey | None = None,
) -> tuple[Operator, ...]:
    """`operators`, in which those with blocks show all they touch.

    Before them the variables `known` have a value, or all when that is None; who runs them needs
    `wanted` afterwards. What is found of blocks is put into `survey`.
    """
    found = tuple(operators)
    if not found or not (
        len(found[0].block.program.blocks) > 1 or any(o.type in CLOSERS for o in found)
    ):
        return found
    survey = Survey() if survey is None else survey
    asked = {*wanted, *(v for o in found for v in o.operands())}
    around, made = Around(survey.variables if known is None else set(known), asked, survey), []
    for o in found:
        close = CLOSERS.get(o.type)
        if o.type in ABSENT and o.role & 1:
            close = close_absent
        made.append(o if close is None else close(o, around))
        around.defined.update(made[-1].results())
    return tuple(made)


def body_of(
    block: Any,
    known: Iterable[Variable] | None,
    survey: Survey,
    *,
    again: bool = False,
    wanted: Iterable[Variable] = (),
) -> Body:
    """A block that runs within an operator; `again`: perhaps more than once."""
    if known is None:
        if block not in survey.bodies:
            survey.bodies[block] = edges(block, closed(block.ops, None, wanted, survey))
        return survey.bodies[block]
    before = {*known, *(survey.changes(block) if again else ())}
    return edges(block, closed(block.ops, before, wanted, survey))


def edges(block: Any, operators: tuple[Operator, ...]) -> Body:
    """What closed operators of `block` touch around it."""
    entries: dict[Variable, None] = {}
    results: dict[Variable, None] = {}
    over: dict[Variable, None] = {}
    for o in operators:
        entries.update((v, None) for v in o.operands() if v.block is not block and v not in results)
        over_now = written(o)
        over.update((v, None) for v in o.operands() if v in over_now and v.block is not block)
        results.update((v, None) for v in o.results() if v not in over_now)
    exits = tuple(v for v in results if v.block is not block)
    only = tuple(v for v in over if v not in results)
    private = frozenset(v for v in over if v in results)
    return Body(operators, tuple(entries), exits, only, private)


def standing_for(
    o: Operator, op: BlockOp, reads: Any, over: Any, makes: Any, shapes: Any = ()
) -> Operator:
    """An operator with blocks as planning sees it: what it reads, overwrites and makes."""
    rest = [v for v in dict.fromkeys(reads) if v not in set(over)]
    return like(o, op, (rest, list(over), list(shapes)), (list(makes), list(over)))


def like(o: Operator, op: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> Operator:
    """The operator `o` with other variables."""
    made = Operator(o.block, op, inputs, outputs, dict(o.attrs))
    made.role, made.device, made.namescope, made.line = o.role, o.device, o.namescope, o.line
    return made


def close_forward(o: Operator, around: Around) -> Operator:
    """A branch, which perhaps does not run, or a loop: it keeps what it does not write."""
    block, (scopes,) = inner_block(o), each(o.outputs[1]) or (None,)
    saves = saves_of(scopes, around.survey) if scopes in around.asked else ()
    wanted = [s.variable for s in saves]
    again = o.type == "while"
    body = body_of(block, around.known, around.survey, again=again, wanted=wanted)
    conditions = each(o.inputs[o.op.inputs.index("cond")])
    may = [v for v in (*body.entries, *body.exits) if has_value(v, around)]
    makes = [*body.exits, *([scopes] if scopes in around.asked else [])]
    return standing_for(o, BlockOp(o, body, saves), [*conditions, *may], body.over, makes)


def has_value(v: Variable, around: Around) -> bool:
    """Whether `v` has a value before an operator, or must have one."""
    return v in around.defined or v.persistable or v.is_data


def saves_of(scopes: Variable, survey: Survey) -> tuple[Save, ...]:
    """What the runs of a block put into `scopes` for all the gradient blocks that read it."""
    if scopes not in survey.saves:
        survey.look(scopes.block.program)
        survey.saves[scopes] = found_saves(survey.readers.get(scopes, ()), survey)
    return survey.saves[scopes]


def found_saves(readers: Iterable[Operator], survey: Survey) -> tuple[Save, ...]:
    """What those gradients of one block read that its runs keep."""
    found: dict[Variable, Save] = {}
    for o in readers:
        (into,) = o.blocks()
        block = into.program.blocks[into.forward_block_idx]
        body = body_of(into, None, survey)
        around = survey.changes(block)
        written_over = survey.overwrites(block)
        counters = set(body.over)  # in a tuple `in` would ask `==`, which records an operator
        values = {v for p in body.operators for v in p.operands() if v not in shape_readers(p)}
        for v in body.entries:
            counted_back = v in counters  # the gradient block sets it back itself
            if v.block is block or (v in around and o.type == "while_grad" and not counted_back):
                first = v.block is not block
                is_shape = v not in values and (v not in found or found[v].shape)
                found[v] = Save(v, first, v in written_over, is_shape)
    return tuple(found.values())


def close_backward(o: Operator, around: Around) -> Operator:
    """The gradient of a branch or a loop: its block reads what runs of the other block kept."""
    names = o.op.inputs
    into, scopes = inner_block(o), o.inputs[-1]
    saves = saves_of(scopes, around.survey)
    kept = {s.variable for s in saves}
    douts = [v for v in each(o.inputs[names.index("dout")]) if v in around.defined]
    inside = set(inner_gradients(o).values())
    known = None if around.known is None else {*around.known, *kept, *inside}
    body = body_of(into, known, around.survey)
    others = (v for v in body.entries if v not in kept and v not in inside - set(douts))
    reads = [v for v in others if has_value(v, around)]
    results = results_of(o)
    op, given = BlockOp(o, body, saves), set(reads)
    over = [v for v in body.over if v in given]
    return standing_for(o, op, [scopes, *reads, *douts], over, results.values(), results)


def close_write(o: Operator, around: Around) -> Operator:
    """A write into an array, which changes the list that the array held before.

    Nobody else has that list: operators that hand on lists, and blocks that keep them, copy them.
    """
    if o.inputs[2] is not None:
        return o
    (array,) = o.results()
    if array not in around.defined:
        return like(o, o.op, (*o.inputs[:2], None), o.outputs)
    op = copy(o.op)
    op.cpu = o.op.cpu if array.persistable else grown
    return like(o, op, (*o.inputs[:2], array), o.outputs)


def close_choice(o: Operator, around: Around) -> Operator:
    """A choice among results, which is told how many there are; the others stay as they are.

    Of gradients there is none where none is handed on.
    """
    op, outs = copy(o.op), o.outputs[0]
    kernel = partial(op.cpu, several=len(outs))
    before = [v for v in outs if not o.role & 1 and v in around.defined]
    if not before:
        op.cpu = kernel
        return like(o, op, o.inputs, o.outputs)
    op.inputs, op.lists = (*op.inputs, "before"), op.lists | {"before"}

    def choosing(x: Any, mask: Any, held: Any, **attrs: Any) -> Any:
        others = dict(zip(before, held, strict=True))
        found = zip(outs, kernel(x, mask, **attrs), strict=True)
        return [as_before(others.get(v)) if made is None else made for v, made in found]

    op.cpu = choosing
    return like(o, op, (*o.inputs, before), o.outputs)


def as_before(value: Any) -> Any:
    """A copy of what a variable held, if it did: its result lies in no other value's memory."""
    return value if value is None else list(value) if isinstance(value, list) else value.copy()


def close_merge(o: Operator, around: Around) -> Operator:
    """A choice between lists of tensors, which begin empty."""
    if o.outputs[0].kind is not Kind.ARRAY:
        return o
    op, kernel = copy(o.op), o.op.cpu

    def choosing(x: Any, mask: Any, **attrs: Any) -> Any:
        return kernel([[] if v is None else v for v in x], mask, **attrs)

    op.cpu, op.over = choosing, None
    return like(o, op, o.inputs, o.outputs)


def close_absent(o: Operator, around: Around) -> Operator:
    """A gradient of what a branch makes that may not run: it is there where that is."""
    op = copy(o.op)
    op.cpu, op.over = partial(ABSENT[o.type], o.op.cpu), None
    return like(o, op, o.inputs, o.outputs)


def of_one(kernel: Any, x: Any, **attrs: Any) -> Any:
    """What a kernel makes of a value, if it is there."""
    return None if x is None else kernel(x, **attrs)


def of_like(kernel: Any, x: Any, **attrs: Any) -> Any:
    """Zeros, or ones, like a value that is there; like a list of tensors an empty one."""
    return [] if isinstance(x, list) else of_one(kernel, x, **attrs)


def of_several(kernel: Any, x: Any, **attrs: Any) -> Any:
    """What a kernel makes of those values that are there, if one is."""
    found = [v for v in x if v is not None]
    return kernel(found, **attrs) if found else None


def of_place(kernel: Any, x: Any, i: Any, like: Any, **attrs: Any) -> Any:
    """What stands in a list of tensors, if something does and nobody says what else to take."""
    there = like is not None or (x and int(i.item()) < len(x) and x[int(i.item())] is not None)
    return kernel(x, i, like, **attrs) if there else None


def of_chosen(kernel: Any, x: Any, mask: Any, **attrs: Any) -> Any:
    """That of several values which is chosen, if it is there."""
    absent = mask.size == 1 and 0 <= mask.item() < len(x) and x[int(mask.item())] is None
    return None if absent else kernel(x, mask, **attrs)


Closer = Callable[[Operator, Around], Operator]
BACKWARD = {"conditional_block_grad", "while_grad"}
ABSENT: dict[str, Callable[..., Any]] = {
    "assign": of_one,
    "fill_any_like": of_like,
    "sum": of_several,
    "read_from_array": of_place,
    "select_input": of_chosen,
}
CLOSERS: dict[str, Closer] = {
    "conditional_block": close_forward,
    "while": close_forward,
    "conditional_block_grad": close_backward,
    "while_grad": close_backward,
    "write_to_array": close_write,
    "select_input": close_merge,
    "select_output": close_choice,
}
