"""Programs and parameters in bfloat16, and the blocks of code that ask for them."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from scull.core.dtype import bfloat16, float32
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Scope
from scull.static.amp.bf16.amp_lists import AutoMixedPrecisionListsBF16
from scull.static.amp.casting import (
    KINDS,
    READERS,
    TYPED,
    inputs_of,
    insert_casts,
    inserted_cast,
    is_typed_float,
    makers_of,
    names_of,
    outputs_of,
    retyped,
)
from scull.static.amp.fp16_utils import cast_parameters_to_fp16, program_of
from scull.static.scope import name_scope

GUARD = "__use_bf16__"
NORMS = {"batch_norm", "fused_bn_add_activation", "layer_norm"}
NARROW, WIDE = ".cast_bf16", ".cast_fp32"


def bf16_guard() -> AbstractContextManager[None]:
    """Where pure bfloat16 is asked for with a guard: operators made within get it, no others."""
    return name_scope(prefix=GUARD)


def convert_float_to_uint16(in_list: Any) -> Any:
    """The upper halves of float32 numbers, which are bfloat16 rounded to zero, as uint16.

    Args:
        in_list (array): numbers.

    Returns:
        numpy.ndarray: uint16 of the same shape.
    """
    bits = np.asarray(in_list, "float32").view("uint32")
    return (bits >> 16).astype("uint16")


def stays_wide(o: Operator, slot: str) -> bool:
    """Whether a normalisation has float32 in an input slot."""
    return o.type in NORMS and slot not in ("X", "Z")


def results_of(o: Operator) -> list[Variable]:
    """The results that may have bfloat16."""
    pairs = [(slot, v) for slot, vs in outputs_of(o) for v in vs]
    return [v for slot, v in pairs if v.kind in KINDS and (o.type not in NORMS or slot == "Y")]


def cast_between(block: Block, o: Operator, narrows: bool) -> None:
    """Cast what an operator reads; with `narrows` to bfloat16, which its results have then."""
    ways = (float32, bfloat16, NARROW) if narrows else (bfloat16, float32, WIDE)
    source, target, suffix = ways
    insert_casts(block, o, source, target, lambda slot: stays_wide(o, slot), suffix)
    for v in results_of(o) if narrows else ():
        if v.dtype is float32:
            retyped(v, bfloat16)
            if is_typed_float(o, "out_dtype"):
                o.set("out_dtype", bfloat16)


def rewrite_program_bf16(main_prog: Program, amp_lists: Any = None) -> None:
    """Let operators of the white list, and those of the gray list after them, compute in bfloat16.

    Args:
        main_prog (Program): without gradients; its first block is rewritten in place.
        amp_lists (AutoMixedPrecisionListsBF16, optional): which operators.
    """
    lists = amp_lists or AutoMixedPrecisionListsBF16()
    block = program_of(main_prog).global_block()
    wide: set[Operator] = set()
    narrow: set[Operator] = set()
    for o in block.ops:
        if o.type in READERS:
            continue
        if o.type in lists.fp32_list or (lists.fp32_varnames or set()) & names_of(o):
            wide.add(o)
        elif o.type in lists.bf16_list:
            narrow.add(o)
        elif o.type in lists.gray_list:
            makers = list(makers_of(o))
            if any(m in wide or m.type in lists.fp32_list for m in makers):
                wide.add(o)
            elif any(m in narrow or m.type in lists.bf16_list for m in makers):
                narrow.add(o)
        else:
            wide.add(o)
    for o in list(block.ops):
        if o in narrow and is_typed_float(o, "dtype"):
            o.set("dtype", bfloat16)
        if o in narrow or o in wide:
            cast_between(block, o, o in narrow)
    main_prog.changed()


def cast_model_to_bf16(
    program: Program,
    startup_prog: Program | None = None,
    amp_lists: Any = None,
    use_bf16_guard: bool = True,
) -> set[str]:
    """Let a Program without gradients compute in bfloat16, its parameters and inputs too.

    Args:
        program (Program): rewritten in place.
        startup_prog (Program, optional): whose initializers fill bfloat16 then.
        amp_lists (AutoMixedPrecisionListsBF16, optional): which operators stay in float32.
        use_bf16_guard (bool): whether only operators made within `bf16_guard` are meant.

    Returns:
        set[str]: the names of variables that have bfloat16 now, and are filled with float32.
    """
    lists = amp_lists or AutoMixedPrecisionListsBF16()
    wide: set[Operator] = set()
    names: set[str] = set()
    for block in program_of(program).blocks:
        for o in block.ops:
            if o.type in READERS:
                continue
            if keeps_wide(o, lists, use_bf16_guard):
                wide.add(o)
            else:
                names |= narrowed(o)
        if startup_prog is not None:
            cast_initializers(startup_prog, lists, block.ops, wide, names)
    for block in program.blocks:
        for o in list(block.ops):
            if o in wide:
                cast_around(block, o, wide)
    program.changed()
    return names


def keeps_wide(o: Operator, lists: Any, guarded: bool) -> bool:
    """Whether an operator stays in float32."""
    if o.type in lists.unsupported_list or any("learning_rate" in n for n in names_of(o)):
        return True
    return guarded and GUARD not in o.namescope


def narrowed(o: Operator) -> set[str]:
    """Give bfloat16 to what an operator reads and makes; the names of what it reads."""
    read = [v for slot, vs in inputs_of(o) if not stays_wide(o, slot) for v in vs]
    changed = [v for v in read if v.kind in KINDS and v.dtype is float32]
    for v in (*changed, *results_of(o)):
        if v.dtype is float32:
            retyped(v, bfloat16)
    for name in TYPED:
        if is_typed_float(o, name):
            o.set(name, bfloat16)
    return {v.name for v in changed}


def cast_initializers(
    startup: Program, lists: Any, ops: list[Operator], wide: set[Operator], names: set[str]
) -> None:
    """Let initializers fill bfloat16 where all readers have it; these need no cast afterwards."""
    for o in startup.global_block().ops:
        made = {v.name for v in o.results()}
        readers = [r for r in ops if made & {v.name for v in r.operands()}]
        if o.type not in lists.bf16_initializer_list or wide.intersection(readers) or not readers:
            continue
        for v in o.results():
            if v.dtype is float32:
                retyped(v, bfloat16)
        names -= made
        if is_typed_float(o, "dtype"):
            o.set("dtype", bfloat16)


def cast_around(block: Block, o: Operator, wide: set[Operator]) -> None:
    """Cast what an operator of float32 reads, and its results for those that read bfloat16."""
    cast_between(block, o, False)
    for v in o.results():
        if v.kind not in KINDS or v.dtype is not bfloat16 or v.name not in block.vars:
            continue
        retyped(v, float32)
        place = block.ops.index(o) + 1
        later = [r for r in block.ops[place:] if r not in wide]
        readers = [r for r in later if any(x is v for x in r.operands())]
        if readers:
            made = inserted_cast(block, place, o, v, bfloat16, v.name + NARROW)
            for r in readers:
                r.replace(v, made, inputs=True, outputs=False)


def cast_parameters_to_bf16(
    place: Any,
    program: Program,
    scope: Scope | None = None,
    to_bf16_var_names: Iterable[str] | None = None,
) -> None:
    """Round the values of parameters in a scope to bfloat16.

    Args:
        place: kept for Paddle's signature.
        program (Program): whose parameters.
        scope (Scope, optional): the global one when None.
        to_bf16_var_names (set[str]): what `cast_model_to_bf16` returned.
    """
    cast_parameters_to_fp16(place, program, scope, to_bf16_var_names, bfloat16)
