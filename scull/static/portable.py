"""What a Program becomes when it is saved, so that PaddlePaddle's predictor runs it."""

from typing import Any

from scull.core.dtype import bool_
from scull.core.interpreter import interpreting
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.recorder import Recorder
from scull.ops import elementwise, like
from scull.ops.promotion import cast_to
from scull.utils import unique_name


def portable(program: Program) -> Program:
    """The Program, as Paddle would save it."""
    for block in program.blocks:
        without_shapes(block)
        with_equal_choices(block)
    return program


def without_shapes(block: Block) -> None:
    """Leave out the shapes recorded for gradients, but of `reshape2`.

    With them Paddle's predictor gives what is squeezed behind a convolution of rows another shape.
    """
    for o in block.ops:
        if o.op.xshape and o.type != "reshape2":
            o.outputs = (*o.outputs[:-1], None)


def with_equal_choices(block: Block) -> None:
    """Let each `where` have operands of one shape: Paddle's operator stretches none."""
    for o in [o for o in block.ops if o.type == "where" and not alike(o)]:
        count, place = len(block.ops), block.ops.index(o)
        with unique_name.guard("stretched_"), interpreting(Recorder(block)):
            o.inputs = stretched(*o.inputs)
        added = block.ops[count:]
        del block.ops[count:]
        for operator in reversed(added):
            block.insert(place, operator)


def alike(o: Operator) -> bool:
    return len({tuple(v.shape) for v in o.operands()}) == 1


def stretched(condition: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """The operands of `where` in the shape that they have together."""
    zeros = [cast_to(like.full_like(v, value=0.0), x.dtype) for v in (x, y, condition)]
    zero = elementwise.add(elementwise.add(zeros[0], zeros[1]), zeros[2])
    chosen = elementwise.add(cast_to(condition, x.dtype), zero)
    return cast_to(chosen, bool_), elementwise.add(x, zero), elementwise.add(y, zero)


__all__ = ["portable"]
