"""What a legal Program is: checked for every loaded file, and after every pass in tests."""

from typing import Any

from scull.core.meta import Kind, Meta
from scull.core.op import BY_TYPE, Op
from scull.core.refusal import lawful
from scull.errors import ProgramError
from scull.ir.block import Block, is_undeclared
from scull.ir.operator import ForeignOp, Operator, each, program_outputs
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import PRIMITIVES, check_dataflow, is_dataflow

STRUCTURE = (*PRIMITIVES, "feed", "fetch", "fetch_v2")  # what these mean, others rely on
EDGES = {Kind.FEED: ("feed",), Kind.FETCH: ("fetch", "fetch_v2")}  # who uses these variables


def verify(program: Program, *, shapes: bool = True) -> None:
    """Raise ProgramError, naming block and operator, where `program` breaks a rule."""
    check_tree(program)
    owned = {
        *program.blocks[:1],
        *(b for own in program.blocks for o in own.ops for b in o.blocks()),
    }
    for block in program.blocks:
        places = [f"block {block.idx}, operator {i} (`{o.type}`)" for i, o in enumerate(block.ops)]
        for where, o in zip(places, block.ops, strict=True):
            check_slots(o, where)
            check_names(o, block, where, runs=block in owned)
        written = set[Variable]()
        if is_dataflow(block.ops):
            check_dataflow(block.ops, f"block {block.idx}")
            written.update(v for o in block.ops if o.type == "next_iteration" for v in o.results())
        for where, o in zip(places, block.ops, strict=True):
            check_order(o, block, written, where)
            if shapes and not isinstance(o.op, ForeignOp):
                check_shapes(o, where)
            written.update(o.results())


def check_tree(program: Program) -> None:
    """Blocks form a tree below block 0; an operator owns a block below its own, alone."""
    owned = set[int]()
    for place, block in enumerate(program.blocks):
        if block.idx != place or not (
            block.parent_idx < place and (place == 0) == (block.parent_idx < 0)
        ):
            raise ProgramError(
                f"block {place} has number {block.idx} and parent {block.parent_idx}"
            )
        for o in block.ops:
            for inner in o.blocks():
                if inner.program is not program or program.blocks[inner.idx] is not inner:
                    raise ProgramError(
                        f"`{o.type}` of block {place} owns a block that is not its Program's"
                    )
                if inner.idx in owned:
                    raise ProgramError(f"two operators own block {inner.idx}")
                owned.add(inner.idx)
                if inner.parent_idx != place:
                    raise ProgramError(
                        f"`{o.type}` of block {place} owns block {inner.idx}, which lies in block "
                        f"{inner.parent_idx}"
                    )


def starts_with_a_value(v: Variable, block: Block) -> bool:
    """Whether a variable may be read before an operator of `block` writes it."""
    outer = block.vars.get(v.name) is not v
    return outer or v.persistable or v.is_data or v.op is None or v.kind is not Kind.DENSE


def check_slots(o: Operator, where: str) -> None:
    """Required inputs are there; attributes are those declared."""
    op: Op | Any = o.op
    if isinstance(op, ForeignOp):
        known = BY_TYPE.get(op.type)
        if known is not None and (known.has_blocks or op.type in STRUCTURE):
            raise ProgramError(f"{where} has inputs that `{op.type}` does not take")
        return
    if len(o.inputs) != len(op.inputs) or len(o.outputs) != len(program_outputs(op)):
        raise ProgramError(f"{where} does not have the slots of its declaration")
    for n, slot in zip(op.inputs, o.inputs, strict=True):
        calls_with_none = n in op.lists and (op.has_blocks or "python" in op.effects)
        if n in op.needed and not each(slot) and op.forward is None and not calls_with_none:
            raise ProgramError(f"{where} lacks its input `{op.slot(n)}`")
        if (n in op.lists) != isinstance(slot, list) and slot is not None:
            raise ProgramError(f"{where} has the wrong kind of input `{op.slot(n)}`")
    gives = op.output_lists != frozenset(op.outputs) and op.forward is None and not op.has_blocks
    if gives and not o.results():
        raise ProgramError(f"{where} has no result")
    check_attributes(o, where)
    if o.op.has_blocks:
        check_block_inputs(o, where)


def check_block_inputs(o: Operator, where: str) -> None:
    """A branch or a loop has one condition; its gradient has what its rounds kept."""
    slots = dict(zip(o.op.inputs, o.inputs, strict=True))
    several = o.type.startswith("conditional_block") and not o.attrs.get("is_scalar_condition")
    conditions = len(each(slots.get("cond")))
    if "cond" in slots and not (conditions == 1 or (several and conditions)):
        raise ProgramError(f"{where} has no condition, or several")
    kept = next((n for n in ("scope", "step_scopes") if n in slots), None)
    if kept is not None and slots[kept] is None:
        raise ProgramError(f"{where} lacks its input `{o.op.slot(kept)}`")


def check_attributes(o: Operator, where: str) -> None:
    """Attributes are those declared; what has no default, and every block, is there."""
    op = o.op
    unknown = o.attrs.keys() - op.kinds.keys()
    if unknown:
        raise ProgramError(f"{where} has attributes nobody declared: {', '.join(sorted(unknown))}")
    for n, kind in op.kinds.items():
        if n not in o.told and (n not in o.attrs or (kind.wire == "BLOCK" and o.attrs[n] is None)):
            raise ProgramError(f"{where} lacks its attribute `{op.attribute(n)}`")


def check_names(o: Operator, block: Block, where: str, *, runs: bool) -> None:
    """Every variable is the one its name means from here, or a gradient nobody asks for."""
    for v in (*o.operands(), *o.results()):
        if v.kind in EDGES and o.type not in EDGES[v.kind]:
            raise ProgramError(f"{where} uses `{v.name}`, which is no tensor")
        if (o.op.has_blocks or not runs) and is_undeclared(v.name, block):
            continue
        if block.find(v.name) is not v:
            raise ProgramError(
                f"{where} uses `{v.name}`, which is not a variable of this block or one around it"
            )


def check_order(o: Operator, block: Block, written: set[Variable], where: str) -> None:
    """Nothing is read before it is written."""
    for v in o.operands():
        known = v in written or starts_with_a_value(v, block) or v.name.endswith("@GRAD")
        if not known and has_a_maker(v, block):
            raise ProgramError(f"{where} reads `{v.name}` before any operator writes it")


def has_a_maker(v: Variable, block: Block) -> bool:
    """Whether an operator of `block` gives a variable its value; others write over what is fed."""
    return any(v in {*o.results()} - {*o.operands()} for o in block.ops)


def check_shapes(o: Operator, where: str) -> None:
    """Results have the shapes and element types the type rule infers, as far as both are known."""
    op = o.op
    if op.forward is not None or op.has_blocks:
        return
    metas = tuple(
        [v and v.meta for v in s] if isinstance(s, list) else s and s.meta for s in o.inputs
    )
    try:
        results = op.noted(op.infer(metas, o.attrs))
    except Exception as error:
        raise lawful(error, op) from None
    for slot, inferred in zip(o.outputs, results, strict=False):
        pairs = (
            zip(slot, inferred, strict=False) if isinstance(inferred, list) else [(slot, inferred)]
        )
        for v, meta in pairs:
            if isinstance(v, Variable) and isinstance(meta, Meta) and not agrees(v.meta, meta):
                raise ProgramError(
                    f"{where} writes `{v.name}` as {meta}, which is declared {v.meta}"
                )


def agrees(declared: Meta, inferred: Meta) -> bool:
    """Whether two metas can be of one value."""
    if declared.kind is not Kind.DENSE or inferred.kind is not Kind.DENSE:
        return True
    return (
        declared.dtype is inferred.dtype
        and len(declared.shape) == len(inferred.shape)
        and all(a == b or -1 in (a, b) for a, b in zip(declared.shape, inferred.shape, strict=True))
    )
