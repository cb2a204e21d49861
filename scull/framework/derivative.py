"""The gradient operators of one operator, described for code that puts them into a Program."""

from typing import Any

from scull.autograd.program import BACKWARD, Backward, make_gradient
from scull.core.interpreter import interpreting
from scull.ir.operator import each
from scull.ir.program import Program

SUFFIX = "@GRAD"


def get_grad_op_desc(
    op_desc: Any, no_grad_set: set[str], sub_blocks: Any = ()
) -> tuple[list[Any], dict[str, str]]:
    """What computes the gradients of one operator, and which variable each of them belongs to.

    Args:
        op_desc: `operator.desc`.
        no_grad_set (set): names of gradients that are not wanted.
        sub_blocks (list): blocks that an operator with bodies would differentiate into.

    Returns:
        tuple: descriptions of operators, which stand in no Program yet, and a dictionary from the
        name of a gradient to that of its variable.
    """
    operator = op_desc.operator
    if operator.op.gradient is None:
        return [], {}
    program = Program()
    scratch = program.global_block()
    excluded = {name.removesuffix(SUFFIX) for name in no_grad_set}
    pass_ = Backward(
        scratch, {}, excluded, operators=[operator], into=scratch, sources=operator.operands()
    )

    def derivative(v: Any) -> Any:
        name = v.name + SUFFIX
        return scratch.vars.get(name) or scratch.variable(name, v.meta)

    op = operator.op
    arrived = {
        v: derivative(v)
        for n, slot in zip(op.outputs, operator.outputs, strict=False)
        if n not in op.optional | set(op.hidden)
        for v in each(slot)
    }
    wanted: dict[int, list[Any]] = {}
    for i, v in pass_.receivers(operator):
        wanted.setdefault(i, []).append(derivative(v))
    with program.serving(BACKWARD), interpreting(pass_.recorder):
        make_gradient(pass_, operator, arrived, wanted)
    pairs = {d.name: d.name.removesuffix(SUFFIX) for made in wanted.values() for d in made}
    return [type(op_desc)(o) for o in scratch.ops], pairs
