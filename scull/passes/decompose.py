"""Decomposition: composites as the operators they are made of, down to primitives.

So are gradient operators: they are composites of their rules.
"""

from collections.abc import Callable
from typing import Any

from scull.core import session
from scull.core.attribute import normalised
from scull.core.interpreter import interpreting
from scull.core.op import Op, as_outputs, op_of
from scull.core.operand import padded
from scull.errors import ScullError
from scull.ir.operator import ForeignOp, Operator, each, effects
from scull.ir.program import Program
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable
from scull.ir.verify import agrees
from scull.passes.fold import like
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode
from scull.passes.site import Refused, require
from scull.passes.work import Pass, Work

Stays = Callable[[Op], bool]


def decomposed(program: Program, stays: Stays = lambda op: False) -> Program:
    """A copy of `program` made of primitives, and of composites of which `stays` says so.

    An operator that cannot be taken apart is as it was: one whose body needs sizes that nobody
    knows, one with effects, one with blocks.

    Examples:
        >>> import scull as paddle
        >>> from scull.passes.decompose import decomposed
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.nn.functional.silu(paddle.static.data("x", [2]))
        >>> [o.type for o in decomposed(main).global_block().ops]
        ['sigmoid', 'elementwise_mul']
        >>> paddle.disable_static()
    """
    work = Work(program)
    take_apart(work, stays)
    return work.settle()


def take_apart(work: Work, stays: Stays = lambda op: False) -> None:
    """Put the parts of composites in their places."""
    for graph in work.graphs():
        for node in graph.operators():
            o = node.operator
            if isinstance(o.op, ForeignOp) or not o.op.composite or stays(o.op):
                continue
            try:
                made = parts(graph, node, stays)
            except Refused as reason:
                work.stays(node, str(reason))
                continue
            work.fired(node, ", ".join(f"`{part.type}`" for part in made))
            put(graph, node, made)


class Expander(Recorder):
    """Records the parts of composites in place of them."""

    def __init__(self, block: Any, stays: Stays) -> None:
        super().__init__(block)
        self.stays = stays

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if not op.composite or op.effects or op.has_blocks or self.stays(op):
            return super().apply(op, inputs, attrs)
        attrs.pop("name", None)
        known = {n: v for n, v in attrs.items() if n not in op.kinds}  # such as `wanted`
        given = {**op.attrs, **{n: v for n, v in attrs.items() if n in op.kinds}}
        normal = {n: normalised(op.kinds[n], n, v) for n, v in given.items()}
        return op.body(*padded(op, inputs), **normal, **known)


def parts(graph: IrGraph, node: IrOpNode, stays: Stays) -> list[Operator]:
    """The operators that an operator is made of, which write its results."""
    o, block = node.operator, graph.block
    require(not o.told, "a tensor gives an attribute")
    require(not effects(o), f"it {', '.join(sorted(effects(o)))}")
    before = len(block.ops)
    operands = given(graph, node)
    attrs = dict(o.attrs)
    if o.op.takes_wanted:
        attrs["wanted"] = tuple(n for n, s in zip(o.op.outputs, o.outputs, strict=False) if each(s))
    try:
        with interpreting(Expander(block, stays)), session.guarded(names=graph.names):
            found = as_outputs(o.op, o.op.body(*operands, **attrs))
            rows = zip(o.op.outputs, o.outputs, found, strict=False)
            filled = [zeros(o, name, slot, result) for name, slot, result in rows]
    except (ScullError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Refused(f"its parts cannot be told apart: {text}") from None
    finally:
        made = block.ops[before:]
        del block.ops[before:]
    targets = [(v, r) for s, r in zip(o.outputs, filled, strict=False) for v, r in pairs(s, r)]
    for target, result in targets:
        require(isinstance(result, Variable), f"`{target.name}` is nothing its parts make")
        same = agrees(target.meta, result.meta)
        require(same, f"`{target.name}` is {target.meta}, its parts make {result.meta}")
    for part in made:
        like(part, o)
    return written(graph, made, targets)


def given(graph: IrGraph, node: IrOpNode) -> list[Any]:
    """The operands for a body; in place of the record of a shape what had that shape."""
    o = node.operator
    found = list(o.inputs)
    if o.op.shape_record:
        place = o.op.inputs.index(o.op.shape_record)
        value = node.reading(found[place])
        maker = value.maker
        require(maker is not None and maker.operator.op.xshape, "the record of a shape is old")
        assert maker is not None
        forward = maker.operator
        source = forward.inputs[forward.op.inputs.index(forward.op.xshape)]
        changed = graph.changes(maker.reading(source), node.place)
        require(changed is None, str(changed))
        found[place] = source
    return found


def zeros(o: Operator, name: str, slot: Any, result: Any) -> Any:
    """A result; zeros where no rule gives a gradient that is asked for."""
    if result is not None or slot is None or o.op.forward is None or isinstance(slot, list):
        return result
    known = dict(zip(o.op.inputs, o.inputs, strict=True)).get(name[1:])
    return None if known is None else op_of("fill_any_like").call(known, value=0.0)


def pairs(slot: Any, result: Any) -> list[tuple[Variable, Any]]:
    """The variables of a slot with what stands for them."""
    if isinstance(slot, list):
        rest = list(result or []) + [None] * len(slot)
        return [(v, r) for v, r in zip(slot, rest, strict=False) if v is not None]
    return [] if slot is None else [(slot, result)]


def written(
    graph: IrGraph, made: list[Operator], targets: list[tuple[Variable, Variable]]
) -> list[Operator]:
    """The parts, of which the last write the results that are asked for."""
    own = {v for part in made for v in part.results()}
    names: dict[Variable, Variable] = {}
    copies = []
    for target, result in targets:
        if target is result and target in own:  # written in place
            continue
        fixed = result not in own or result in names or result.persistable
        if fixed or read_after(made, result, target):
            copies.append((target, result))
        else:
            names[result] = target
    for old, new in names.items():
        for part in made:
            part.replace(old, new, inputs=True, outputs=True)
        graph.block.vars.pop(old.name, None)
    for target, result in copies:
        source = names.get(result, result)
        copy = graph.block.made("assign", {"X": [source]}, {"Out": [target]}, {})
        if made:
            like(copy, made[-1])
        made.append(copy)
    return made


def read_after(made: list[Operator], result: Variable, target: Variable) -> bool:
    """Whether a part reads `target` when `result` is there already."""
    place = next(i for i, part in enumerate(made) if result in set(part.results()))
    return any(target in set(part.operands()) for part in made[place + 1 :])


def put(graph: IrGraph, node: IrOpNode, made: list[Operator]) -> None:
    """Let parts stand where their composite stood."""
    values = {v.held: v for v in node.inputs}
    ends = {v.held: v for v in node.outputs}
    last = {v: i for i, part in enumerate(made) for v in part.results()}
    for value in node.outputs:
        value.clear_inputs()
    node.clear_outputs()
    for i, part in enumerate(made):
        new = graph.node_of(part, (*node.place, i))
        for v in dict.fromkeys(part.operands()):
            graph.link_to(values.get(v) or graph.value(v), new)
        for v in dict.fromkeys(part.results()):
            values[v] = ends[v] if v in ends and last[v] == i else graph.version(v)
            graph.link_to(new, values[v])
    graph.discard([node])


PASSES = (Pass("decomposition_pass", "composites are their parts", take_apart, exact=False),)
