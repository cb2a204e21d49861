"""Operators that tell testing from training test; what then does nothing goes."""

from typing import Any

from scull.ir.operator import program_outputs
from scull.ir.variable import Variable
from scull.ops.create import scale
from scull.ops.dropout import dropout
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode
from scull.passes.rewrite import Rewrite, require, rewriting
from scull.passes.work import Pass, Work


def tested(work: Work) -> None:
    """Let operators test, and leave running statistics alone."""
    for graph in work.graphs():
        for node in graph.operators():
            o = node.operator
            if "is_test" in o.op.kinds:
                if not o.attrs["is_test"]:
                    work.fired(node, "the same for tests")
                o.attrs = o.attrs | {"is_test": True}
                drop_statistics(graph, node)


def drop_statistics(graph: IrGraph, node: IrOpNode) -> None:
    """Let an operator not write over what it reads."""
    o = node.operator
    for name, slot in zip(program_outputs(o.op), o.outputs, strict=True):
        if name in o.op.in_place and isinstance(slot, Variable):
            new = node.writing(slot)
            node.remove_output(new)
            new.remove_input(node)
            old = next((n for n in node.inputs if n.variable is slot), None)
            if old is not None:
                graph.move_readers(new, old)
            graph.forget(new)
    o.outputs = tuple(
        None if name in o.op.in_place else slot
        for name, slot in zip(program_outputs(o.op), o.outputs, strict=True)
    )


class DropNothing(Rewrite):
    """Dropout that drops nothing is a `scale`, which draws no random numbers."""

    effects = frozenset({"random"})

    def pattern(
        self, x: Any, *, chance: Any, kind: Any, fixed: Any, seed: Any, is_test: Any
    ) -> Any:
        options = {"fix_seed": fixed, "seed": seed, "is_test": is_test}
        return dropout(x, dropout_prob=chance, dropout_implementation=kind, **options)[0]

    def when(self, x: Any, is_test: bool, **options: Any) -> None:
        require(is_test, "it is for training")
        require(x.dtype.itemsize >= 4, f"`{x.name}` is {x.meta}, and half is computed as float32")

    def replace(self, x: Any, chance: float, kind: str, **options: Any) -> Any:
        return scale(x, scale=1.0 if kind == "upscale_in_train" else 1.0 - chance)


PASSES: tuple[Pass, ...] = (
    Pass("is_test_pass", "operators that tell testing from training test", tested),
    rewriting(
        "simplify_with_basic_ops_pass", "dropout for tests is the scale it is", DropNothing()
    ),
)
