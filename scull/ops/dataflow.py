"""Primitives of control flow between values: who takes a value, which round of a loop it is of.

An operator runs when its operands are there, all of one frame and one round of it; where a value is
dead, results are. Those have no kernels: the executor moves the values.
"""

from typing import Any

from scull.core.dtype import bool_, float32, int32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Kind, Meta, count
from scull.errors import ArgumentError, DtypeError, ShapeError


def one_truth_value(pred: Meta) -> None:
    """Refuse what is not one bool."""
    if pred.dtype is not bool_:
        raise DtypeError(f"pred is {pred.dtype.name}, not bool")
    if count(pred.shape) not in (1, -1):
        raise ShapeError(f"pred {pred} has not one element")


@primitive(outputs=("false", "true"), views={"false": "data", "true": "data"})
def switch(data: Meta, pred: Meta) -> Any:
    """`data` on the side that `pred` says; the other side is dead."""
    one_truth_value(pred)
    return data, data


@primitive(outputs=("out", "index"), views={"out": "x"})
def merge(x: list[Meta]) -> Any:
    """The one of `x` that is alive, and which that is; dead when all are."""
    if len({len(m.shape) for m in x}) > 1:
        return x[-1], Meta((), int32)
    sizes = zip(*[m.shape for m in x], strict=True)
    common = [n[0] if len(set(n)) == 1 else UNKNOWN for n in sizes]
    return x[-1].with_shape(common), Meta((), int32)


@primitive(views={"out": "data"})
def enter(
    data: Meta, *, frame_name: str, is_constant: bool = False, parallel_iterations: int = 10
) -> Meta:
    """`data` in a frame of this name within its own; in every round of it when `is_constant`."""
    if parallel_iterations < 1:
        raise ArgumentError(f"parallel_iterations is {parallel_iterations}, at least 1 is needed")
    if not frame_name:
        raise ArgumentError("a frame needs a name")
    return data


@primitive(views={"out": "data"})
def exit(data: Meta) -> Meta:
    """`data` in the frame around its own."""
    return data


@primitive(views={"out": "data"})
def next_iteration(data: Meta) -> Meta:
    """`data` in the next round of its frame."""
    return data


@primitive(views={"out": "pred"})
def loop_cond(pred: Meta) -> Meta:
    """Whether a loop goes on."""
    one_truth_value(pred)
    return pred


@primitive()
def empty_list() -> Meta:
    """A list without tensors."""
    return Meta((), float32, Kind.ARRAY)


empty_list.kernel(lambda xp, *, out=None: [])

for operator in (switch, merge, enter, exit, next_iteration, loop_cond, empty_list):
    operator.no_grad("gradients are made of branches and loops, before they become primitives")
    operator.no_lowering("it moves values and computes none")
