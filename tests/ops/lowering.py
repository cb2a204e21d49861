"""Lowerings: the loop language's meaning beside the kernel, and machine code beside that."""

from contextlib import suppress
from typing import Any

import numpy as np

from scull import lang
from scull.compiler.native import compile
from scull.core.op import meta_of
from scull.errors import UnsupportedError
from scull.lang.dtype import element
from scull.lang.expression import Reduce
from scull.lang.walk import ordered
from scull.runtime import llvm
from tests.ops.case import DRAW, Case, flat, has_rows
from tests.ops.closeness import check_close, check_same

NOT_LOWERED = {"complex64", "complex128"}


def lowered(case: Case) -> bool:
    """Whether the call has a lowering that can be run."""
    if case.sample.error or case.op.lowering is None:
        return False
    if has_rows(case.sample.inputs):
        return False
    return not any(x.dtype.name in NOT_LOWERED for x in flat(case.sample.inputs))


def kernel_of(case: Case) -> Any:
    """The loops of the call; those of list outputs are in line."""
    results = [x for r in case.results for x in (r if isinstance(r, list) else [r])]
    outs = [x if x is None else meta_of(x) for x in results]
    rule, metas = case.op.lowering, case.metas()
    if "random" not in case.op.effects:
        return lang.trace(rule, metas, outs, case.attrs, case.op.name)

    def drawing(index: Any, draw: Any, *inputs: Any, **attrs: Any) -> Any:
        return rule(index, *inputs, draw=(draw[0], draw[1]), **attrs)

    return lang.trace(
        drawing, (lang.Array("draw", (2,), "uint64"), *metas), outs, case.attrs, case.op.name
    )


def arrays_of(case: Case) -> list[Any]:
    """The arrays that the loops read."""
    draw = [np.array(DRAW, np.uint64)] if "random" in case.op.effects else []
    return [*draw, *(np.ascontiguousarray(x).reshape(x.shape) for x in flat(case.inputs()))]


def check_lowering(case: Case) -> None:
    """The lowering, run by the emulator, gives what the kernel gives."""
    with suppress(UnsupportedError):  # it says why, where a value decides what the loops are
        found = lang.run(kernel_of(case), arrays_of(case))
        check_close(found, case.results, "the lowering")


def compiled(case: Case) -> bool:
    """Whether the call can become machine code here."""
    return llvm.available() and lowered(case)


def check_machine_code(case: Case, level: str = "") -> None:
    """The lowering as machine code has the bits that the emulator gives, sums but for rounding.

    The code is for this CPU, or for one that has no more than a level of vectors.
    """
    with suppress(UnsupportedError):
        kernel, arrays = kernel_of(case), arrays_of(case)
        expected = lang.run(kernel, arrays)
        found = [np.full_like(x, 77) for x in expected]
        compile(kernel, level)(arrays, found)
        check = check_close if adds_floats(kernel) else check_same
        check(found, expected, "the machine code")


def adds_floats(kernel: Any) -> bool:
    """Whether a kernel has sums or products of floats, whose order is the compiler's."""
    nodes = ordered([root for body in kernel.bodies for root in body.roots])
    folds = [n for n in nodes if isinstance(n, Reduce) and n.operation in ("sum", "prod")]
    return any(element(n.dtype).kind == "float" for n in folds)
