"""Which form of branches and loops runs: as operators with blocks, as primitives, written out."""

from collections.abc import Callable

from scull.errors import ArgumentError
from scull.ir.program import Program
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled

FORMS: dict[str, Callable[[Program], Program]] = {
    "in-graph": lambda program: program,
    "primitives": lowered,
    "unrolled": lambda program: unrolled(program).program,
}


def formed(program: Program, forms: str) -> Program:
    """`program` in a form, or in several one after the other: "unrolled+primitives"."""
    if program.num_blocks == 1:
        return program
    for form in forms.split("+"):
        if form not in FORMS:
            known = ", ".join(FORMS)
            raise ArgumentError(f"CONTROL_FLOW is `{forms}`; a form of control flow is {known}")
        program = FORMS[form](program)
    return program
