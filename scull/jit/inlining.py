"""The operators of one Program, recorded into another."""

from typing import Any

from scull.core import session
from scull.ir.block import Block, stamp
from scull.ir.clone import copied_operator, copied_variable
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable


def inlined(
    mode: Recorder, program: Program, known: dict[Variable, Variable], results: list[Variable]
) -> list[Variable]:
    """Append what `program` does to the block of `mode`; return what takes the place of `results`.

    `known` are the variables that stand for inputs and values.
    """
    target = mode.block.program
    twins = dict(known)
    blocks = {0: mode.block}
    for source in program.blocks[1:]:
        parent = blocks[max(source.parent_idx, 0)].idx
        made = Block(target, len(target.blocks), parent)
        target.blocks.append(made)
        blocks[source.idx] = made
    for source in program.blocks:
        block = blocks[source.idx]
        for v in source.vars.values():
            if v not in twins:
                made_variable = copied_variable(v, block)
                made_variable.name = free_name(block, v.name)
                twins[v] = block.add(made_variable)
    for source in program.blocks:
        for o in source.ops:
            blocks[source.idx].append(twin(o, blocks, twins, mode))
    return [twins[v] for v in results]


def free_name(block: Block, name: str) -> str:
    """A name like `name` that nothing has, nor will be given to what is recorded after it."""
    stem, _, number = name.rpartition("_")
    while True:
        made = session.unique_name(stem if number.isdigit() and stem else name)
        if block.find(made) is None:
            return made


def twin(
    o: Operator, blocks: dict[int, Block], twins: dict[Variable, Variable], mode: Recorder
) -> Operator:
    """The same operator on other variables and blocks."""
    block = blocks[o.block.idx]

    def placed(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [placed(v) for v in value]
        return blocks[value.idx] if isinstance(value, Block) else value

    inner = {n: v for n, v in o.attrs.items() if n in o.op.kinds and has_block(v)}
    plain = Operator(
        o.block, o.op, o.inputs, o.outputs, {n: v for n, v in o.attrs.items() if n not in inner}
    )
    plain.extra, plain.told, plain.says_inputs = dict(o.extra), o.told, o.says_inputs
    made = copied_operator(plain, block, twins)
    made.attrs |= {n: placed(v) for n, v in inner.items()}
    stamp(made, block.program)
    if not mode.record:
        for v in made.results():
            v.stop_gradient = v.stop_gradient or not v.persistable
    return made


def has_block(value: Any) -> bool:
    """Whether an attribute holds blocks."""
    return isinstance(value, Block) or (
        isinstance(value, list | tuple) and any(isinstance(v, Block) for v in value)
    )
