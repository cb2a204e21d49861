"""New tensors: from numbers and arrays, filled, numbered, copied."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.door import shown_by
from scull.core.dtype import bool_, dtype_of, int64
from scull.core.interpreter import current
from scull.core.tensor import Leaf, Tensor, new
from scull.eager.change import replace
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.ops import create, fill, join, like, listing
from scull.ops.promotion import cast_to
from scull.ops.transfer import share_data
from scull.tensor.elements import array_of, check_place, constant, element_type, held_array
from scull.tensor.size import (
    called,
    dtype_or_default,
    held_number,
    is_static,
    needs_tensor,
    said,
    shape_inputs,
)


def to_tensor(
    data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> Tensor:
    """A tensor of the elements of `data`.

    Numbers of Python with a fraction, alone or in lists, become the default element type, whole
    ones int64; arrays and scalars of NumPy keep theirs.

    Args:
        data (number | list | tuple | ndarray | Tensor): the elements.
        dtype (str | DType, optional): the element type; by the rule above when None.
        place (str | Place, optional): where they live.
        stop_gradient (bool): whether no gradient is wanted.

    Returns:
        Tensor: a copy of `data`.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[1, 2], [3, 4]])
        Tensor(shape=[2, 2], dtype=int64, place=Place(cpu), stop_gradient=True,
               [[1, 2],
                [3, 4]])
    """
    check_place(place)
    if is_static():
        return apart(recorded(data, None if dtype is None else element_type(dtype)), stop_gradient)
    array = array_of(data, None if dtype is None else element_type(dtype))
    made: Tensor = new(Tensor)
    made.array = array
    made.node = None if stop_gradient else Leaf()
    made.name = session.unique_name("generated_tensor")
    return made


def apart(made: Any, stop_gradient: bool) -> Any:
    """What a Program has `made`, passing on no gradient, or where it is recorded from eager code
    none to what it was made of."""
    if not stop_gradient and current().captures:
        made = share_data(made)
    made.stop_gradient = stop_gradient
    return made


def recorded(data: Any, dtype: Any) -> Any:
    """The same in a Program, where variables may stand among the elements."""
    if not holds_variables(data):
        mode: Any = current()
        if isinstance(data, Tensor) and mode.captures:
            return recorded(mode.capture(data), dtype)
        return held_array(array_of(data, dtype))
    if isinstance(data, list | tuple):
        parts = [recorded(v, dtype) for v in data]
        first = parts[0].dtype if dtype is None else dtype
        return join.stack([cast_to(v, first) for v in parts])
    return assign(data if dtype is None else cast_to(data, dtype))


def holds_variables(data: Any) -> bool:
    """Whether `data` is a variable, or nested lists with some."""
    if isinstance(data, list | tuple):
        return any(map(holds_variables, data))
    return isinstance(data, Variable)


def assign(x: Any, output: Any = None) -> Any:
    """A copy of `x`, written to `output` if there is one.

    That goes on to need a gradient where it did, and passes it on to `x` where that needs one.

    Args:
        x (Tensor | ndarray | list | number): what is copied.
        output (Tensor, optional): where to.

    Returns:
        Tensor: the copy.

    Raises:
        ArgumentTypeError: `x` is no such thing, or a list of Variables.
        DtypeError: an array has elements that are not bool, float32, float64, int32 or int64.

    Examples:
        >>> import scull as paddle
        >>> paddle.assign([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """
    known = isinstance(x, Tensor | Variable)
    if not known and not isinstance(x, PLAIN):
        raise ArgumentTypeError(f"`x` is a tensor, an array, a number or a list, not {type(x)}")
    if holds_variables(x) and not known:
        raise ArgumentTypeError("a list of Variables is not assigned: stack or concatenate them")
    if isinstance(x, np.ndarray) and x.dtype.name not in HELD:
        raise DtypeError(f"an array that is assigned holds {', '.join(HELD)}, not {x.dtype.name}")
    if isinstance(output, Variable):
        if known:
            session.unique_name("assign")  # Paddle counts it, so that later names are the same
        source = x if known else constant(x)
        block = output.block.program.current_block()
        block.append_op("assign", inputs={"X": [source]}, outputs={"Out": [output]})
        if current().captures:
            output.stop_gradient = output.stop_gradient and source.stop_gradient
        return output
    found = create.assign(x) if known else constant(x)
    if output is None:
        return found
    needs_tensor(output, "assign", "output")
    return replace(output, found, "assign")


HELD = ("bool", "float32", "float64", "int32", "int64")
PLAIN = (bool, int, float, complex, np.generic, np.ndarray, list, tuple, range)


def clone(x: Any, name: str | None = None) -> Any:
    """A copy of `x` through which gradients flow.

    Args:
        x (Tensor): what is copied.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: the copy.

    Examples:
        >>> import scull as paddle
        >>> paddle.clone(paddle.ones([1])).tolist()
        [1.0]
    """
    return create.assign(x, name=name)


def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of one value.

    Args:
        shape (int | list | tuple | Tensor): the sizes; tensors may stand for some.
        fill_value (number | Tensor): the value.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape `shape`.

    Examples:
        >>> import scull as paddle
        >>> paddle.full([2], 3, "int64").tolist()
        [3, 3]
    """
    tensor, tensors, sizes = shape_inputs(shape)
    kind = dtype_or_default(
        "complex64" if dtype is None and isinstance(fill_value, complex) else dtype
    )
    if isinstance(fill_value, Tensor | Variable):
        value = fill_value if fill_value.dtype is kind else cast_to(fill_value, kind)
        return create.fill_constant(value, tensor, tensors, shape=sizes, dtype=kind, name=name)
    if isinstance(fill_value, complex):
        value = Tensor(np.array(fill_value, kind.array))
        return create.fill_constant(value, tensor, tensors, shape=sizes, dtype=kind, name=name)
    if name is None:
        called(None, "fill_constant")  # as in Paddle, which numbers these by twos
    value, text = said(fill_value, kind, "fill_value")
    attrs = {"shape": sizes, "value": value, "str_value": text, "dtype": kind}
    return create.fill_constant(None, tensor, tensors, **attrs, name=name)


def fill_constant(
    shape: Any,
    dtype: Any,
    value: Any,
    force_cpu: bool = False,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """A tensor of one value; `full` with its parameters in another order.

    Args:
        shape (list | tuple | Tensor): the sizes.
        dtype (str | DType): the element type.
        value (number): the value.
        force_cpu (bool): of no effect.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.fill_constant([1], "int32", 5).tolist()
        [5]
    """
    found = full(shape, value, dtype, name)
    return found if out is None else assign(found, out)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of zeros.

    Args:
        shape (int | list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.zeros([2]).tolist()
        [0.0, 0.0]
    """
    return full(shape, 0, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of ones.

    Args:
        shape (int | list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.ones([2], "int32").tolist()
        [1, 1]
    """
    return full(shape, 1, dtype, name)


def empty(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of any values; here they are zeros.

    Args:
        shape (int | list | tuple | Tensor): the sizes.
        dtype (str | DType, optional): the element type; the default one when None. In a Program
            bool, float16, float32, float64, int32, int64, complex64 or complex128.
        name (str, optional): the name of the output in a Program.

    Raises:
        DtypeError: a Program has no such tensor of `dtype`.

    Examples:
        >>> import scull as paddle
        >>> paddle.empty([2, 3]).shape
        [2, 3]
    """
    kind = dtype_or_default(dtype)
    if is_static() and kind.name not in EMPTY:
        raise DtypeError(f"`dtype` of empty is {kind.name}, not {', '.join(EMPTY)}")
    tensor, tensors, sizes = shape_inputs(shape)
    return fill.empty(tensor, tensors, shape=sizes, dtype=kind, name=name)


EMPTY = ("bool", "float16", "float32", "float64", "int32", "int64", "complex64", "complex128")


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of one value in the shape of `x`.

    Args:
        x (Tensor): whose shape is taken.
        fill_value (number): the value.
        dtype (str | DType, optional): the element type; that of `x` when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.full_like(paddle.ones([2]), 7).tolist()
        [7.0, 7.0]
    """
    needs_tensor(x, "full_like")
    kind = x.dtype if dtype is None else dtype_of(dtype)
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return like.full_like(x, value=value, dtype=kind, name=called(name, "full_like"))


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros in the shape of `x`.

    Args:
        x (Tensor): whose shape is taken.
        dtype (str | DType, optional): the element type; that of `x` when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.zeros_like(paddle.ones([2])).tolist()
        [0.0, 0.0]
    """
    needs_tensor(x, "zeros_like")
    return full_like(x, 0, dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones in the shape of `x`.

    Args:
        x (Tensor): whose shape is taken.
        dtype (str | DType, optional): the element type; that of `x` when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.ones_like(paddle.zeros([2]), "int64").tolist()
        [1, 1]
    """
    return full_like(x, 1, dtype, name)


def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Any values, here zeros, in the shape of `x`.

    Args:
        x (Tensor): whose shape is taken.
        dtype (str | DType, optional): the element type; that of `x` when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.empty_like(paddle.ones([2, 3])).shape
        [2, 3]
    """
    needs_tensor(x, "empty_like")
    return full_like(x, 0, dtype, name)


def sequence_kind(*values: Any) -> Any:
    """The element type of a sequence between `values`: int64 when all are whole."""
    whole = all(
        v.dtype.is_integer if isinstance(v, Tensor | Variable) else isinstance(v, int | np.integer)
        for v in values
    )
    return int64 if whole else session.default_dtype()


def end_of_sequence(value: Any, kind: Any) -> Any:
    """A bound of a sequence as a tensor of its element type."""
    if isinstance(value, Tensor | Variable):
        return cast_to(value, kind)
    return held_number(value, kind)


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None
) -> Any:
    """The numbers from `start` on, `step` apart, before `end`.

    Args:
        start (number | Tensor): the first; with no `end`, the end, and 0 is the first.
        end (number | Tensor, optional): the bound.
        step (number | Tensor): the distance.
        dtype (str | DType, optional): the element type; int64 for whole numbers when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.arange(1, 7, 2).tolist()
        [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    if not isinstance(step, Tensor | Variable) and step == 0:
        raise ArgumentError("The step of range op should not be 0.")
    kind = sequence_kind(start, end, step) if dtype is None else dtype_of(dtype)
    ends = [end_of_sequence(v, kind) for v in (start, end, step)]
    found = create.arange(*ends, name=name)
    if isinstance(found, Variable):
        told_length(found, length_between(start, end, step, kind))
    return found


EXACT = 1 << 53  # up to which every element type and Python agree on a whole number


def length_between(start: Any, end: Any, step: Any, kind: Any) -> int | None:
    """How many numbers `arange` gives, where plain numbers of some extent say it."""
    values = (start, end, step)
    if any(map(holds, values)) or not all(abs(v) < EXACT for v in values) or kind is bool_:
        return None
    first, last, by = (np.asarray(v).astype(kind.array) for v in values)
    led = by.item() and (last.item() - first.item()) * by.item() >= 0
    return create.steps_between(first, last, by) if led else None


def told_length(found: Any, count: Any) -> Any:
    """What is found, which in a Program has `count` numbers where that is known."""
    if isinstance(found, Variable) and count is not None and not holds(count):
        found.shape = [int(count)]
    return found


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`num` numbers from `start` to `stop`, equally far apart.

    Args:
        start (number | Tensor): the first.
        stop (number | Tensor): the last.
        num (int | Tensor): how many.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    kind = session.default_dtype() if dtype is None else dtype_of(dtype)
    first, last = end_of_sequence(start, kind), end_of_sequence(stop, kind)
    count = num if isinstance(num, Tensor | Variable) else held_number(num, "int32")
    return told_length(create.linspace(first, last, count, dtype=kind, name=name), num)


def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None
) -> Any:
    """`num` powers of `base`, whose exponents go from `start` to `stop` in equal steps.

    Args:
        start (number | Tensor): the first exponent.
        stop (number | Tensor): the last exponent.
        num (int | Tensor): how many.
        base (number | Tensor): what is raised.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: [num].

    Raises:
        ArgumentError: `num` is below 1.
        ShapeError: a tensor has not one element.

    Examples:
        >>> import scull as paddle
        >>> paddle.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    kind = dtype_or_default(dtype)
    ends = [end_of_sequence(v, v.dtype if holds(v) else kind) for v in (start, stop)]
    count = num if holds(num) else held_number(num, "int32")
    power = end_of_sequence(base, base.dtype if holds(base) else kind)
    return told_length(listing.logspace(*ends, count, power, dtype=kind, name=name), num)


def holds(value: Any) -> bool:
    """Whether `value` is a tensor."""
    return isinstance(value, Tensor | Variable)


__getattr__ = shown_by("scull.tensor")
