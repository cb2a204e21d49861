"""Copies of Programs: whole, without training, or only what some results need."""

from collections.abc import Iterable
from typing import Any

from scull.errors import ArgumentError
from scull.ir.block import Block, is_undeclared
from scull.ir.operator import Operator, program_outputs
from scull.ir.program import Program
from scull.ir.reach import within
from scull.ir.variable import ParameterVariable, Variable

BACKWARD, OPTIMIZE = 1, 2
PARAMETER = ("trainable", "optimize_attr", "regularizer", "do_model_average", "need_clip")
VARIABLE = (
    "stop_gradient",
    "persistable",
    "is_data",
    "need_check_feed",
    "lod_level",
    "belong_to_optimizer",
)


def copied(program: Program, kept: list[list[Operator]] | None = None) -> Program:
    """A copy of `program`; of each block only the operators `kept`, and the variables they need."""
    made = Program()
    sources = program.blocks if kept is None else owned(program, kept)
    places = {b.idx: i for i, b in enumerate(sources)}  # what is nobody's block is left out
    for b in sources[1:]:
        made.blocks.append(
            Block(made, places[b.idx], places[b.parent_idx], places.get(b.forward_block_idx, -1))
        )
    blocks = list(zip(sources, made.blocks, strict=True))
    for source, block in blocks:
        block.backward_block_idx = places.get(source.backward_block_idx, -1)
    made.random_seed, made.derivatives = program.random_seed, program.derivatives
    made.current_block_idx = places.get(program.current_block_idx, 0)
    twins: dict[Variable, Variable] = {}
    needed = (
        None
        if kept is None
        else {v for ops in kept for o in ops for v in (*o.operands(), *o.results())}
    )
    for source, block in blocks:
        for name in sorted(source.vars):
            v = source.vars[name]
            if needed is None or v in needed or v.is_data:
                twins[v] = block.add(copied_variable(v, block))
    for source, block in blocks:
        for o in source.ops if kept is None else kept[source.idx]:
            block.append(copied_operator(o, block, twins, places))
    if kept is None:
        made.scope_counts, made.lr_scheduler = dict(program.scope_counts), program.lr_scheduler
        made.lr_var = program.lr_var and twins[program.lr_var]
    return made


def owned(program: Program, kept: list[list[Operator]]) -> list[Block]:
    """The global block, and the blocks of the operators `kept` in it and in each other."""
    found, pending = {0}, [program.blocks[0]]
    while pending:
        for o in kept[pending.pop().idx]:
            pending += [b for b in o.blocks() if b.idx not in found]
            found.update(b.idx for b in o.blocks())
    return [b for b in program.blocks if b.idx in found]


def copied_variable(v: Variable, block: Block) -> Variable:
    """The same variable for another block."""
    options = {n: getattr(v, n) for n in VARIABLE}
    if isinstance(v, ParameterVariable):
        options |= {n: getattr(v, n) for n in PARAMETER}
        made: Variable = ParameterVariable(v.name, v.meta, block, **options)
    else:
        made = Variable(v.name, v.meta, block, **options)
    made.wire = v.wire
    return made


def copied_operator(
    o: Operator,
    block: Block,
    twins: dict[Variable, Variable],
    places: dict[int, int] | None = None,
) -> Operator:
    """The same operator on the variables of another Program, whose blocks stand at `places`."""

    def twin(slot: Any) -> Any:
        if isinstance(slot, list | tuple):
            return [twin(v) for v in slot]
        if isinstance(slot, Variable) and slot not in twins and is_undeclared(slot.name, o.block):
            twins[slot] = copied_variable(slot, block)  # one that no block has
        return slot if slot is None else twins[slot]

    blocks = block.program.blocks
    attrs = {
        n: blocks[v.idx if places is None else places[v.idx]] if isinstance(v, Block) else v
        for n, v in o.attrs.items()
    }
    made = Operator(
        block, o.op, tuple(map(twin, o.inputs)), tuple(map(twin, o.outputs)), attrs, dict(o.extra)
    )
    made.told, made.aside = {n: twin(v) for n, v in o.told.items()}, o.aside
    made.role, made.role_var, made.namescope, made.device = (
        o.role,
        o.role_var,
        o.namescope,
        o.device,
    )
    made.line, made.says_inputs, made.is_target, made.wire = (
        o.line,
        o.says_inputs,
        o.is_target,
        o.wire,
    )
    return made


def for_test(program: Program) -> Program:
    """A copy without gradients and updates; operators that tell testing from training test."""
    kept = [[o for o in b.ops if not o.role & (BACKWARD | OPTIMIZE)] for b in program.blocks]
    made = copied(program, kept)
    for block in made.blocks:
        for o in block.ops:
            if "is_test" in o.op.kinds:
                o.attrs["is_test"] = True
            elif "is_test" in o.op.fixed:
                o.extra["is_test"] = True
            o.outputs = tuple(
                None if n == "reserve_space" else s
                for n, s in zip(program_outputs(o.op), o.outputs, strict=True)
            )
    return made


def pruned(program: Program, feeds: Iterable[str], targets: Iterable[Any]) -> Program:
    """A copy with only what `targets`, variables, names or operators, need when `feeds` are given.

    An update is needed only as a target: what reads a parameter reads what it was before.
    """
    given = names_of(feeds)
    wanted = found_targets(program, targets)
    replaced = makers(program.global_block(), given)
    goals = {v for v in wanted if isinstance(v, Operator)}
    needed = {v for v in wanted if isinstance(v, Variable)}
    kept: list[Operator] = []
    for o in reversed(program.global_block().ops):
        fills = {v for v in o.results() if v in needed and replaced.get(v) is not o}
        if o in goals or (fills and not updates(o)):
            kept.append(o)
            needed.update(o.operands())
            needed.update(v for b in o.blocks() for inner in within(b) for v in inner.operands())
    rest = [list(b.ops) for b in program.blocks[1:]]
    made = copied(program, [list(reversed(kept)), *rest])
    block, source = made.global_block(), program.global_block()
    for v in [*wanted, *(source.var(n) for n in given if source.has_var(n))]:
        if isinstance(v, Variable) and not block.has_var(v.name):
            block.add(copied_variable(v, block))
    return made


def makers(block: Block, given: set[str]) -> dict[Variable, Operator]:
    """Of what is given the operators in whose place it is: that fill it before anybody reads it.

    What is written over later is needed, as it changes what was given.
    """
    found: dict[Variable, Operator] = {}
    met: set[Variable] = set()
    for o in block.ops:
        met.update(o.operands())
        found.update((v, o) for v in o.results() if v.name in given and v not in met)
        met.update(o.results())
    return found


def names_of(feeds: Iterable[str]) -> set[str]:
    """The names of what is fed."""
    for name in feeds:
        if not isinstance(name, str):
            raise ArgumentError(
                "All feeded_var_names of Program._prune_with_input() can only be str, but received "
                f"{type(name)}."
            )
    return set(feeds)


def found_targets(program: Program, targets: Iterable[Any]) -> list[Variable | Operator]:
    """The variables and operators that `targets` mean; by name where they are of a copy.

    A name without a variable means nothing.
    """
    found: list[Variable | Operator] = []
    for target in targets:
        if not isinstance(target, Variable | Operator | str):
            raise ArgumentError(
                "All targets of Program._prune_with_input() can only be Variable or Operator, but "
                f"received {type(target)}."
            )
        if isinstance(target, Operator):
            found.append(target)
            continue
        named = program.global_block().find(target if isinstance(target, str) else target.name)
        found += [named] if named is not None else []
    return found


def updates(o: Operator) -> bool:
    """Whether an operator changes what outlives the run, for an optimizer."""
    if o.type in ("feed", "fetch"):
        return True
    return bool(o.role & OPTIMIZE) and any(v.persistable for v in o.results())
