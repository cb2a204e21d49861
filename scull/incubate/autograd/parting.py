"""Operators of a Program taken apart into those their bodies are made of."""

from collections.abc import Callable, Iterable
from typing import Any

from scull.core.interpreter import interpreting
from scull.core.op import as_outputs, op_of
from scull.errors import ArgumentTypeError
from scull.framework.core import _is_fwd_prim_enabled
from scull.incubate.autograd.rules import RULES
from scull.ir.block import Block
from scull.ir.operator import Operator, each
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable


def to_prim(
    blocks: Any,
    blacklist: Iterable[str] = frozenset(),
    whitelist: Iterable[str] = frozenset(),
    start_idx: int = -1,
    backward_length: int = -1,
) -> None:
    """Put in place of operators those that their bodies are made of; values do not change.

    Nothing is done unless primitive operators were asked for, by `core._set_prim_all_enabled`.

    Args:
        blocks (Block | list[Block]): where.
        blacklist (set[str]): types of operators that stay.
        whitelist (set[str]): types of the only operators that do not, if there are any.
        start_idx (int): the operators before this place stay.
        backward_length (int): so many operators at the end stay.
    """
    blocks = [blocks] if isinstance(blocks, Block) else blocks
    if not isinstance(blocks, list | tuple) or not all(isinstance(b, Block) for b in blocks):
        raise ArgumentTypeError("to_prim takes a Block or a sequence of Blocks")
    if not _is_fwd_prim_enabled():
        return
    stay, only = set(blacklist), set(whitelist)

    def chosen(o: Operator) -> bool:
        return o.type not in stay and (not only or o.type in only) and body_of(o) is not None

    for block in blocks:
        operators, block.ops = block.ops, []
        end = len(operators) - max(backward_length, 0)
        for i, o in enumerate(operators):
            put(block, o, chosen if start_idx <= i < end else None)


def put(block: Block, o: Operator, chosen: Callable[[Operator], bool] | None) -> None:
    """Append `o`, or its parts where it is `chosen`, and theirs."""
    if chosen is None or not chosen(o):
        block.append(o)
        return
    first = len(block.ops)
    take_apart(block, o)
    parts = block.ops[first:]
    del block.ops[first:]
    for part in parts:
        put(block, part, chosen)


def body_of(o: Operator) -> Callable[..., Any] | None:
    """What makes an operator of others; None where an attribute of it is not known, or nothing."""
    if o.op.forward is not None or o.told:
        return None
    return o.op.body if o.op.composite else RULES.get(o.op.name)


def take_apart(block: Block, o: Operator) -> None:
    """Record the body of `o` in place of it, with its variables as results."""
    first, body = len(block.ops), body_of(o)
    assert body is not None
    with block.program.serving(o.role), interpreting(Recorder(block)):
        found = as_outputs(o.op, body(*o.inputs, **{n: o.attrs[n] for n in o.op.kinds}))
        for slot, value in zip(o.outputs, found, strict=False):
            values = value if isinstance(value, list) else [value]
            for own, v in zip(each(slot), values, strict=False):
                if v is None:
                    continue
                made = {w for part in block.ops[first:] for w in part.results()}
                give(block, own, v if v in made else op_of("assign").call(v), first)


def give(block: Block, own: Variable, v: Variable, first: int) -> None:
    """Let `own` stand where `v` does in the operators from place `first` on."""
    for part in block.ops[first:]:
        part.replace(v, own, inputs=True, outputs=True)
    own.op = v.op
    block.vars.pop(v.name, None)
