"""Operators of a Program taken apart: into what their bodies, or given rules, make of them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
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
from scull.ir.verify import agrees
from scull.passes.site import Refused, require

Parts = Callable[[], Iterable[tuple[Variable, Any]]]  # records parts, pairs results with values
Rule = Callable[[Operator], Parts | None]


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

    def parts(o: Operator) -> Parts | None:
        chosen = o.type not in stay and (not only or o.type in only)
        body = body_of(o) if chosen else None
        return None if body is None else partial(by_body, o, body)

    for block in blocks:
        end = len(block.ops) - max(backward_length, 0)
        rewrite(block, parts, range(start_idx, end))


def rewrite(block: Block, parts: Rule, places: range | None = None) -> None:
    """Put in place of the operators of a block (at some places) what `parts` makes of them.

    `parts` gives None for an operator that stays; what it makes may refuse, and it stays too.
    """
    operators, block.ops = block.ops, []
    others = (o for b in block.program.blocks for o in b.ops)
    needed = (read([*operators, *others]),)
    try:
        for i, o in enumerate(operators):
            put(block, o, parts if places is None or i in places else lambda o: None, needed)
    except Exception:
        block.ops = operators
        raise


def read(operators: Iterable[Operator]) -> set[Variable]:
    """The variables that some operators read."""
    return {v for o in operators for v in o.operands()}


def put(block: Block, o: Operator, parts: Rule, needed: tuple[set[Variable], ...]) -> None:
    """Append `o`, or its parts, and theirs."""
    first, make = len(block.ops), parts(o)
    if make is None or not take_apart(block, o, make, needed):
        block.append(o)
        return
    made = block.ops[first:]
    del block.ops[first:]
    within = (*needed, read(made))
    for part in made:
        put(block, part, parts, within)


def body_of(o: Operator) -> Callable[..., Any] | None:
    """What makes an operator of others; None where an attribute of it is not known, or nothing."""
    if o.op.forward is not None or o.told:
        return None
    return o.op.body if o.op.composite else RULES.get(o.op.name)


def by_body(o: Operator, body: Callable[..., Any]) -> Iterator[tuple[Variable, Any]]:
    """The variables that `o` writes, each with what its body makes."""
    found = as_outputs(o.op, body(*o.inputs, **{n: o.attrs[n] for n in o.op.kinds}))
    return beside(o.outputs, found)


def beside(slots: Iterable[Any], found: Iterable[Any]) -> Iterator[tuple[Variable, Any]]:
    """The variables in slots, each with what was found for it; what nobody asked for is left."""
    for slot, value in zip(slots, found, strict=False):
        values = value if isinstance(value, list) else [value]
        yield from zip(each(slot), values, strict=False)


def take_apart(block: Block, o: Operator, make: Parts, needed: tuple[set[Variable], ...]) -> bool:
    """Record the parts of `o`, which write its results, and tell so; or they refuse.

    A result that nobody reads may be missing, or of another shape: it is left out then.
    """
    first = len(block.ops)
    try:
        with block.program.serving(o.role), interpreting(Recorder(block)):
            pairs = [(own, v) for own, v in make() if isinstance(own, Variable)]
            kept = {own for own, v in pairs if v is None or v is own}.intersection(o.operands())
            for own, v in pairs:
                known = own in kept or stands_for(v, own)
                read_on = any(own in variables for variables in needed)
                require(known or not read_on, f"`{own.name}` is none of them")
            for own, v in pairs:
                if stands_for(v, own):
                    made = {w for part in block.ops[first:] for w in part.results()}
                    give(block, own, v if v in made else op_of("assign").call(v), first)
    except Refused:
        for v in {v for part in block.ops[first:] for v in part.results()} - {*o.results()}:
            block.vars.pop(v.name, None)
        del block.ops[first:]
        return False
    return True


def stands_for(v: Any, own: Variable) -> bool:
    """Whether the value of `v` is one that `own` can have."""
    return v is not None and v is not own and agrees(own.meta, v.meta)


def give(block: Block, own: Variable, v: Variable, first: int) -> None:
    """Let `own` stand where `v` does in the operators from place `first` on."""
    for part in block.ops[first:]:
        part.replace(v, own, inputs=True, outputs=True)
    own.op = v.op
    block.vars.pop(v.name, None)
