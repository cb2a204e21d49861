"""Operands of a call before it is made: what is known of each, and whether it may stand there."""

from types import NoneType
from typing import Any

from numpy import generic, ndarray

from scull.core.meta import WEAK, Meta, promote
from scull.core.op import Op, meta_of
from scull.core.tensor import Leaf, Methods, Rows, Tensor
from scull.errors import ArgumentTypeError

NUMBER = bool | int | float | complex  # the numbers of Python, which may stand beside a tensor


def padded(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """`inputs` with the defaults of those that were not given."""
    missing = len(op.inputs) - len(inputs)
    if missing <= 0:
        return inputs
    return (*inputs, *(op.defaults[-missing:] if len(op.defaults) >= missing else [None] * missing))


def meta_or_none(x: Any) -> Any:
    """The meta of an operand, of each in a list; None for an absent one."""
    if type(x) is list:
        return [meta_of(v) for v in x]
    return x if x is None else meta_of(x)


def weak_meta(x: Any) -> Any:
    """The meta of an operand, where a Python number has a weak element type."""
    if is_number(x):
        return Meta((), WEAK)
    if type(x) is list or type(x) is tuple:
        return [weak_meta(v) for v in x]
    return None if x is None else meta_of(x)


def strengthened(metas: tuple[Any, ...]) -> tuple[Any, ...]:
    """Python numbers take the element type of the tensors beside them."""
    if not any(isinstance(m, Meta) and m.dtype is WEAK for m in metas):
        return metas
    dtype = promote(*[m.dtype for m in metas if isinstance(m, Meta) and m.dtype.name != "bool"])
    return tuple(
        m.with_dtype(dtype) if isinstance(m, Meta) and m.dtype is WEAK else m for m in metas
    )


def refuse_strangers(op: Op, inputs: tuple[Any, ...]) -> None:
    """Refuse what is no tensor, a list where one is asked for, one where a list is, and gaps."""
    if len(inputs) > len(op.inputs):
        most = len(op.inputs)
        raise ArgumentTypeError(f"{op.name}() takes {most} tensors, but got {len(inputs)}")
    if op.forward is not None:
        return  # what a gradient operator is not given, it does without
    for name, x in zip(op.inputs, padded(op, inputs), strict=True):
        several = name in op.lists
        absent = x is None and name not in op.needed
        void = several and is_list(x) and not x and "python" not in op.effects
        if void and not absent and name in op.needed:
            raise ArgumentTypeError(f"{op.name}(): argument `{name}` has no Tensor in it")
        if not absent and not (is_list(x) if several else is_operand(x)):
            asked = "list of Tensor" if several else "Tensor"
            raise ArgumentTypeError(
                f"{op.name}(): argument `{name}` must be {asked}, but got {called(x)}"
            )
    refuse_lone_numbers(op, inputs)


def firsts(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`inputs` with the first tensor of each tuple that stands for one; None without such a tuple.

    So a layer takes what a recurrent one before it returns: its outputs and its states.
    """
    apart = [
        type(x) is tuple and n not in op.lists and isinstance(x[0] if x else None, Tensor)
        for n, x in zip(op.inputs, inputs, strict=False)
    ]
    if not any(apart):
        return None
    return tuple(x[0] if a else x for a, x in zip(apart, inputs, strict=True))


def with_every_row(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`inputs` with the whole of each matrix of which some rows are stored, as of gradients of
    embeddings; None where none is, or `op` knows such matrices, or something computed one.
    """
    some = [isinstance(x, Tensor) and type(x.array) is Rows for x in inputs]
    computed = any(
        s and type(x.node) not in (NoneType, Leaf) for s, x in zip(some, inputs, strict=True)
    )
    if op.rows_kernel or op.by_rows or computed or not any(some):
        return None
    return tuple(
        Tensor(x.array.dense(), stop_gradient=x.node is None) if s else x
        for s, x in zip(some, inputs, strict=True)
    )


def concrete(x: Any) -> Any:
    """`x`, which is no Tensor; a Variable of a Program is refused, for it has no value."""
    if isinstance(x, Methods):
        name = getattr(x, "name", "an operand")
        raise ArgumentTypeError(
            f"`{name}` is a Variable, and eager mode computes; call paddle.enable_static() "
            "first, or return it where it was kept while a function was made static"
        )
    return x


def refuse_lone_numbers(op: Op, inputs: tuple[Any, ...]) -> None:
    """Refuse numbers with no tensor beside them, which would give them their element type."""
    places = [i for i, x in enumerate(inputs) if is_number(x)]
    if places and all(x is None or is_number(x) for x in inputs):
        name, kind = op.inputs[places[0]], type(inputs[places[0]]).__name__
        raise ArgumentTypeError(f"{op.name}(): argument `{name}` must be Tensor, but got {kind}")


def is_number(x: Any) -> bool:
    """Whether `x` is a number of Python; NumPy's float64 is one of Python's floats too."""
    return isinstance(x, NUMBER) and not isinstance(x, generic)


def is_operand(x: Any) -> bool:
    """Whether `x` may stand where an operator takes a tensor."""
    return isinstance(x, NUMBER | ndarray | generic) or hasattr(x, "meta")


def is_list(x: Any) -> bool:
    """Whether `x` may stand where an operator takes a list of tensors."""
    return type(x) in (list, tuple) and all(map(is_operand, x))


def called(x: Any) -> str:
    """What `x` is, as errors say it: of a list also the first that may not stand in it."""
    strange = [v for v in x if not is_operand(v)] if type(x) in (list, tuple) else []
    return f"{type(x).__name__} with {called(strange[0])}" if strange else type(x).__name__
