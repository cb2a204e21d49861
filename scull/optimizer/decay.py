"""Weight decay: what is added to a gradient."""

from typing import Any

from scull.core.interpreter import current
from scull.core.op import op_of
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentTypeError
from scull.ir.recorder import Recorder
from scull.regularizer import L2Decay, WeightDecayRegularizer


def regularizer_of(decay: Any) -> Any:
    """`decay` as a regularizer: a number is that of L2."""
    if decay is None or isinstance(decay, WeightDecayRegularizer):
        return decay
    if isinstance(decay, int | float):
        return L2Decay(float(decay))
    raise ArgumentTypeError(
        f"weight_decay takes a number or a regularizer, not {type(decay).__name__}"
    )


def decayed(param: Any, grad: Any, decay: Any) -> Any:
    """`grad` with the decay of `param` added."""
    if decay is None:
        return grad
    if isinstance(grad, Tensor):
        if isinstance(grad.array, Rows):
            grad = Tensor(grad.array.dense())
        return op_of("sum").call([grad, decay(param, grad, None)])
    return recorded(param, grad, decay)


def recorded(param: Any, grad: Any, decay: Any) -> Any:
    """The same as operators of a Program; the gradient keeps its name."""
    recorder = current()
    assert isinstance(recorder, Recorder)
    program = grad.block.program
    with program.serving(2, (param.name, grad.name), "/regularization/"):
        term = decay(param, grad, grad.block)
        with recorder.into(grad):
            op_of("sum").call([grad, term])
    return grad
