"""What a legal Program is: checked for every loaded file, and after every pass in tests."""

from typing import Any

from scull.core.meta import Kind, Meta
from scull.core.op import Op
from scull.errors import ProgramError
from scull.ir.block import Block, is_undeclared
from scull.ir.operator import ForeignOp, Operator, each, program_outputs
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import check_dataflow, is_dataflow


def verify(program: Program, *, shapes: bool = True) -> None:
    """Raise ProgramError, naming block and operator, where `program` breaks a rule."""
    check_tree(program)
    owned = {
        *program.blocks[:1],
        *(b for own in program.blocks for o in own.ops for b in o.blocks()),
    }
    for block in program.blocks:
        defined = {
            v for b in block.lineage() for v in b.vars.values() if starts_with_a_value(v, b, block)
        }
        if is_dataflow(block.ops):
            check_dataflow(block.ops, f"block {block.idx}")
            defined.update(v for o in block.ops if o.type == "next_iteration" for v in o.results())
        for place, o in enumerate(block.ops):
            where = f"block {block.idx}, operator {place} (`{o.type}`)"
            check_slots(o, where)
            check_names(o, block, where, runs=block in owned)
            check_order(o, defined, where)
            if shapes and not isinstance(o.op, ForeignOp):
                check_shapes(o, where)
            defined.update(o.results())


def check_tree(program: Program) -> None:
    """Blocks form a tree below block 0; a sub-block attribute names a block below its own."""
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
                if inner.parent_idx != place:
                    raise ProgramError(
                        f"`{o.type}` of block {place} owns block {inner.idx}, which lies in block "
                        f"{inner.parent_idx}"
                    )


def starts_with_a_value(v: Variable, owner: Block, block: Block) -> bool:
    """Whether a variable may be read before an operator of `block` writes it."""
    return (
        owner is not block or v.persistable or v.is_data or v.op is None or v.kind is not Kind.DENSE
    )


def check_slots(o: Operator, where: str) -> None:
    """Required inputs are there; attributes are those declared."""
    op: Op | Any = o.op
    if isinstance(op, ForeignOp):
        return
    if len(o.inputs) != len(op.inputs) or len(o.outputs) != len(program_outputs(op)):
        raise ProgramError(f"{where} does not have the slots of its declaration")
    for n, slot in zip(op.inputs, o.inputs, strict=True):
        if n in op.needed and not each(slot) and op.forward is None and n not in op.lists:
            raise ProgramError(f"{where} lacks its input `{op.slot(n)}`")
        if (n in op.lists) != isinstance(slot, list) and slot is not None:
            raise ProgramError(f"{where} has the wrong kind of input `{op.slot(n)}`")
    unknown = o.attrs.keys() - op.kinds.keys()
    if unknown:
        raise ProgramError(f"{where} has attributes nobody declared: {', '.join(sorted(unknown))}")


def check_names(o: Operator, block: Block, where: str, *, runs: bool) -> None:
    """Every variable is the one its name means from here, or a gradient nobody asks for."""
    for v in (*o.operands(), *o.results()):
        if (o.op.has_blocks or not runs) and is_undeclared(v.name, block):
            continue
        if block.find(v.name) is not v:
            raise ProgramError(
                f"{where} uses `{v.name}`, which is not a variable of this block or one around it"
            )


def check_order(o: Operator, defined: set[Variable], where: str) -> None:
    """Nothing is read before it is written."""
    for v in o.operands():
        if v not in defined and not v.name.endswith("@GRAD"):
            raise ProgramError(f"{where} reads `{v.name}` before any operator writes it")


def check_shapes(o: Operator, where: str) -> None:
    """Results have the shapes and element types the type rule infers, as far as both are known."""
    op = o.op
    if op.forward is not None or op.has_blocks:
        return
    metas = tuple([v.meta for v in s] if isinstance(s, list) else s and s.meta for s in o.inputs)
    for slot, inferred in zip(o.outputs, op.noted(op.infer(metas, o.attrs)), strict=False):
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
