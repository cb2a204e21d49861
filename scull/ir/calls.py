"""How many operators there are of each name, by the element type in which they compute."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scull.ir.block import Block
    from scull.ir.operator import Operator

COLUMNS = {"float16": 0, "bfloat16": 1, "float32": 2}
OTHER = 3

Counts = dict[str, list[int]]  # by name: in float16, bfloat16, float32 and others


def count(found: Counts, name: str, dtype: str) -> None:
    """Count one more operator."""
    found.setdefault(name, [0, 0, 0, 0])[COLUMNS.get(dtype, OTHER)] += 1


def counts_of(blocks: "Iterable[Block]") -> Counts:
    """Those of the operators in blocks of a Program."""
    found: Counts = {}
    for block in blocks:
        for o in block.ops:
            count(found, o.type, dtype_of(o))
    return found


def dtype_of(o: "Operator") -> str:
    """The first of the `COLUMNS` among inputs; what makes something of nothing has its result's."""
    names = o.input_arg_names or o.output_arg_names
    variables = [o.block._find_var_recursive(name) for name in names]
    held = [v.dtype.name for v in variables if v is not None and v.dtype is not None]
    return next((name for name in held if name in COLUMNS), "")


def table(found: Counts) -> str:
    """The counts as Paddle prints them."""
    heads = f"<{' Op Name ':-^40} | {' FP16 Calls ':-^17} | {' BF16 Calls ':-^17} | "
    lines = [f"<{' op list ':-^120}>", f"{heads}{' FP32 Calls':-^17} | {' Other Calls ':-^17}>"]
    for name, row in sorted(found.items()):
        lines.append(f"  {name:<40}|  " + "|  ".join(f"{n:<17}" for n in row))
    total = f" op count: {len(found)} "
    return "\n".join([*lines, f"<{total:-^120}>", ""])
