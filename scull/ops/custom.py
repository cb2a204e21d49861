"""A piece of a Program whose gradient a Python function records."""

from collections.abc import Callable
from itertools import count
from typing import Any

from scull.autograd.program import MAKERS, TAKERS, Backward
from scull.core.attribute import Long
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.core.op import op_of
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.operator import Operator
from scull.ir.variable import Variable

numbers = count()


class Recorder(int):
    """The number of a function that records gradients, with the function.

    The attributes of operators keep it: it goes with the last Program that names it.
    """

    function: Callable[..., Any]


def recorder_of(function: Callable[..., Any]) -> Recorder:
    """A new number for `function`."""
    made = Recorder(next(numbers))
    made.function = function
    return made


@primitive(outputs=("out[]",))
def python_gradient(x: list[Meta], made: list[Meta], *, recorder: Long = -1) -> Any:
    """What was `made` of `x`; from its gradients the function `recorder` makes those of `x`."""
    return list(made)


@python_gradient.kernel
def python_gradient_kernel(xp: Any, x: Any, made: Any, *, out: Any = None, recorder: int) -> Any:
    return [xp.array(v) for v in made]


def make_python_gradient(
    pass_: Backward, o: Operator, arrived: dict[Variable, Any], wanted: dict[int, list[Variable]]
) -> None:
    """Record the function on the gradients of the results, zeros where none came."""
    recorder = o.attrs["recorder"]
    if not isinstance(recorder, Recorder):
        raise ArgumentError("this process knows no gradient of the operator `python_gradient`")
    douts = [
        op_of("fill_any_like").call(v, value=0.0, dtype=v.dtype)
        if arrived.get(v) is None
        else arrived[v]
        for v in o.results()
    ]
    program = pass_.into.program
    with program.inside(pass_.into):
        found = recorder.function(*douts)
    results = list(found) if isinstance(found, list | tuple) else [found]
    operands = o.inputs[0]
    takers = {v for _, v in pass_.receivers(o)}
    if len(results) > len(operands) or takers.intersection(operands[len(results) :]):
        raise ArgumentError(
            f"backward_fn returned {len(results)} gradients for {len(operands)} inputs"
        )
    places = iter(wanted[0])
    for v, result in zip(operands, results, strict=False):  # the last ones may take none
        if v not in takers:
            continue
        if not isinstance(result, Variable):
            raise ArgumentTypeError(
                f"backward_fn returned {type(result).__name__} as the gradient of `{v.name}`"
            )
        pass_.recorder.append(op_of("assign"), (result,), (next(places),), {})


TAKERS["python_gradient"] = lambda o: [(0, v) for v in o.inputs[0]]
MAKERS["python_gradient"] = make_python_gradient
python_gradient.no_grad("a Python function records it")
python_gradient.no_lowering("it names a Python function")
