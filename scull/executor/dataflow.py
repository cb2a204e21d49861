"""A block of dataflow as planning sees it: all its operators are one."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from scull.errors import UnsupportedError
from scull.executor.alias import shape_readers
from scull.executor.flow import Run
from scull.executor.instruction import DRAW, Instruction, whole
from scull.executor.partition import graph_of
from scull.ir.operator import Operator, effects
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import PRIMITIVES, check_dataflow, is_inner, makers_of


class DataflowOp:
    """What planning asks of the declaration of an operator: all operators of a block are one."""

    type = name = "dataflow"
    inputs, outputs = ("reads", "shapes"), ("makes",)
    lists = output_lists = frozenset({"reads", "makes", "shapes"})
    shape_only = frozenset({"shapes"})
    forward = xshape = cpu = over = shape_record = None
    composite = takes_wanted = broadcasts = False
    hidden: tuple[str, ...] = ()
    unsaid = unprinted = frozenset[str]()
    has_blocks = True

    def __init__(self, operators: tuple[Operator, ...]) -> None:
        self.operators = operators
        self.effects = frozenset(e for o in operators for e in effects(o))
        self.in_place: dict[str, str] = {}
        self.views: dict[str, str] = {}
        self.kinds: dict[str, Any] = {}
        self.attrs: dict[str, Any] = {}
        self.fixed: dict[str, Any] = {}
        self.recorded: dict[str, Any] = {}

    def slot(self, name: str) -> str:
        """How texts spell a slot."""
        return name

    def infer(self, metas: Any, attrs: Any) -> tuple[Any, ...]:
        """Nothing: its operators tell when they run."""
        return ()


def gathered(operators: tuple[Operator, ...], wanted: Iterable[Variable]) -> tuple[Operator, ...]:
    """The operators of a block of dataflow as one, that makes what is `wanted` or outlives it."""
    check_dataflow(operators, "block 0")
    for o in operators:
        if o.op.has_blocks:
            raise UnsupportedError(
                f"`{o.type}` at {o.line or 'a loaded file'} has a block and stands beside "
                "primitives of dataflow; lower it too"
            )
    makers = makers_of(operators, "block 0")
    operands = dict.fromkeys(v for o in operators for v in o.operands())
    reads = [v for v in operands if v not in makers or not is_inner(v)]
    asked = set(wanted)
    makes = [v for v in makers if v in asked or not is_inner(v)]
    shapes = {v for o in operators for v in shape_readers(o)}
    only = shapes - {v for o in operators for v in set(o.operands()) - set(shape_readers(o))}
    slots = ([v for v in reads if v not in only], [v for v in reads if v in only])
    first = operators[0]
    made = Operator(first.block, DataflowOp(operators), slots, (makes,), {})
    made.line = next(o.line for o in operators if o.type in PRIMITIVES)
    return (made,)


def bind_dataflow(operator: Operator, slots: dict[Variable, int], seed: int) -> Instruction:
    """The instruction that runs a block of dataflow, in an order that a `seed` picks."""
    graph = graph_of(operator.op.operators, operator.results(), fine=seed >= 0)
    reads = [(v, slots[v]) for v in operator.operands()]
    makes = [(v, slots[v]) for v in operator.results()]

    def call(frame: Any) -> tuple[()]:
        found = Run(graph, {v: frame[slot] for v, slot in reads}, frame[DRAW], seed).run()
        for v, slot in makes:
            value = found.get(v)
            frame[slot] = np.asarray(value) if isinstance(value, np.generic) else value
        return ()

    shapes = tuple(sorted(slots[v] for v in shape_readers(operator)))
    places = tuple(slot for _, slot in reads), tuple(slot for _, slot in makes)
    return Instruction(operator, call, whole, slice(0, 0), *places, shapes=shapes)
