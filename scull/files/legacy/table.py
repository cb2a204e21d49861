"""Which operators of older files become which of today's, in one table.

What scull runs as the file spells it stands in no row: it is kept, byte for byte.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from scull.errors import FileError, ScullError
from scull.files import proto
from scull.files.legacy import (
    fusion,
    loss,
    merged,
    number,
    recurrent,
    resize,
    shape,
    transformer,
    window,
)
from scull.files.legacy.call import Call, Known, Names, call_of, copy_of, kind_of, message_of
from scull.files.legacy.version import MEANT, check_versions, versions_of

Rewrite: TypeAlias = Callable[[Call, Names], list[Call] | None]

RESIZED = ("linear", "bilinear", "trilinear", "bicubic", "nearest")

# By type: the operators of today in its place, or None where it can stay.
TABLE: dict[str, Rewrite] = {
    "allclose": number.with_texts,
    "conditional_block_infer": number.for_inference,
    "cos_sim": loss.cosine,
    "diag": shape.on_diagonal,
    "expand": shape.tiled,
    "expand_grad": shape.tiled,
    "expand_as": shape.tiled_like,
    "fill_zeros_like": number.of_zeros,
    "fill_zeros_like2": number.of_zeros,
    "flatten": shape.recorded,
    "hard_shrink": number.doubled,
    "inplace_abn": number.then_activated,
    "isfinite": number.of_all,
    "isinf": number.of_all,
    "isnan": number.of_all,
    "leaky_relu": number.steeper,
    "margin_rank_loss": loss.margin,
    "merge_lod_tensor_infer": number.for_inference,
    "one_hot": shape.without_column,
    "recurrent": recurrent.looped,
    "smooth_l1_loss": loss.smooth,
    "squared_l2_distance": loss.squared_distance,
    "squeeze": shape.recorded,
    "sync_batch_norm": number.of_device,
    "sync_batch_norm_grad": number.of_device,
    "unsqueeze": shape.recorded,
    **dict.fromkeys(shape.RENAMED_AXES, shape.with_axes),
    **dict.fromkeys((f"{kind}_interp" for kind in RESIZED), resize.by_axis),
    **dict.fromkeys((f"{kind}_interp_grad" for kind in RESIZED), resize.by_axis),
    **dict.fromkeys(window.TYPES, window.joined),
    **merged.TABLE,
    **fusion.TABLE,
    **transformer.TABLE,
}


def modernised(program: Any) -> Any:
    """The message of a Program with the operators of today; itself where none is older.

    A Program with operators of versions newer than is known is refused.
    """
    types = {o.type for block in program.blocks for o in block.ops}
    versions = versions_of(program)
    check_versions(program, versions, types)
    if not types & (TABLE.keys() | MEANT.keys()):
        return program
    made = proto.ProgramDesc()
    made.CopyFrom(program)
    known = Known(made)
    changes = [rewrite_block(known, i, versions) for i in range(len(made.blocks))]
    return made if any(changes) else program


def rewrite_block(known: Known, index: int, versions: Mapping[str, int]) -> bool:
    """Put today's operators into a block; whether any was older."""
    block, names, changed = known.program.blocks[index], Names(known, index), False
    messages: list[Any] = []
    for place, message in enumerate(block.ops):
        found = None
        if message.type in TABLE or message.type in MEANT:
            where = f"block {index}, operator {place} (`{message.type}`)"
            call = call_of(message, versions.get(message.type, 0), where)
            found = today(call, names)
        changed |= found is not None
        messages += [message] if found is None else [message_of(c, message) for c in found]
    if changed:
        kept = [copy_of(m) for m in messages]
        del block.ops[:]
        block.ops.extend(kept)
    return changed


def today(call: Call, names: Names) -> list[Call] | None:
    """The operators in place of one; None where it stays."""
    if call.type in TABLE:
        try:
            return TABLE[call.type](call, names)
        except ScullError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise FileError(f"{call.where}: {error}") from None
    meant = {n: (kind_of(v), v) for n, v in MEANT[call.type].items() if n not in call.attrs}
    return [replace(call, attrs=call.attrs | meant)] if meant else None
