"""Whether a Program computes by levels of detail: where sequences of several lengths begin."""

from collections.abc import Iterable

from scull.ir.program import Program

# Operators that give their results levels, whatever their operands have.
GIVERS = frozenset(
    {"generate_proposals", "im2sequence", "lod_reset", "multiclass_nms", "multiclass_nms2"}
    | {"sequence_unpad"}
)


def has_levels(program: Program, feeds: Iterable[str]) -> bool:
    """Whether `program` computes by levels, makes some, or is declared to be fed with some."""
    fed = map(program.global_block().find, feeds)
    return any(v is not None and v.lod_level for v in fed) or any(
        o.op.levels or o.op.tells or o.op.type in GIVERS
        for block in program.blocks
        for o in block.ops
    )
