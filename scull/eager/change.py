"""Changes in place: compute, write into the same memory, note the change, hand on the node."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from scull.autograd.version import changed, succeeded
from scull.core.interpreter import current, interpreting, is_recording
from scull.core.op import op_of
from scull.core.place import Place
from scull.core.refusal import explained
from scull.core.tensor import Leaf, Tensor
from scull.eager.attach import attach
from scull.eager.conversion import dense
from scull.eager.index import fitted, getitem, simple, tensor_item, write_array, written
from scull.eager.property import tensor_of
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    ScullError,
    ShapeError,
)


def refuse_leaf(tensor: Any) -> None:
    """Refuse to overwrite a leaf that needs a gradient while the tape records."""
    if type(tensor.node) is Leaf and is_recording():
        raise ArgumentError(
            f"Leaf Tensor ({tensor.name}) that doesn't stop gradient can't use inplace strategy."
        )


def overwrite(tensor: Any, array: Any, how: str, writes: int = 1) -> None:
    """Let `array` be the elements of `tensor`: in its own memory where they fit."""
    current().settle()
    own = tensor.array
    same = own.shape == array.shape and own.dtype == array.dtype
    if same and type(own) is np.ndarray and own.flags.writeable:
        own[...] = array
        changed(own, how, writes)
        return
    tensor.array = array
    if type(array) is np.ndarray and not np.may_share_memory(own, array):
        succeeded(array, own, how, writes)


def adopt(tensor: Any, found: Any, how: str, writes: int = 1) -> Any:
    """Let `tensor` have the elements of the result `found`, and its place on the tape."""
    overwrite(tensor, found.array, how, writes)
    if is_recording():
        tensor.node = found.node
    return tensor


def replace(tensor: Any, found: Any, how: str, writes: int = 1) -> Any:
    """Let `tensor` have the elements of `found`, and its place on the tape where that has one."""
    mode: Any = current()
    if mode.captures:
        return mode.rewritten(tensor, found)
    overwrite(tensor, found.array, how, writes)
    if found.node is not None and is_recording():
        tensor.node = found.node
    return tensor


def untouched(tensor: Any, others: tuple[Any, ...]) -> Any:
    """What an operator reads in place of `tensor`: a copy where the tape may keep it."""
    needs = tensor.node is not None or any(
        isinstance(v, Tensor) and v.node is not None for v in others
    )
    return tensor_of(tensor.array.copy(), tensor.node) if needs and is_recording() else tensor


def in_place(
    function: Callable[..., Any], view: bool = False, writes: int = 1
) -> Callable[..., Any]:
    """`function`, whose result overwrites its first operand; the name gets an underscore.

    With `view` the result is the operand's own memory in another shape, and nothing is written.
    A function without a gradient leaves the operand where it is on the tape, be it a leaf.
    `writes` is how many changes the version of the operand counts.
    """
    name = function.__name__ + "_"
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def change(x: Any = None, /, *args: Any, **options: Any) -> Any:
        if x is None:
            x = options.pop(first, None)
        mode: Any = current()
        if mode.captures:
            return mode.rewritten(x, function(x, *args, **options))
        if not isinstance(x, Tensor):
            return function(x, *args, **options)
        if mode.setting is not None:  # what changes in place keeps its element type
            with interpreting(mode.below):
                return change(x, *args, **options)
        found = function(x if view else untouched(x, args), *args, **options)
        if found is x:
            return x
        if found.node is not None:
            refuse_leaf(x)
        grows = found.array.ndim > x.array.ndim
        if found.array.size != x.array.size or (grows and not view):
            raise ShapeError(
                f"The shape of broadcast output {found.shape} is different from that of "
                f"inplace tensor {x.shape} in the Inplace operation."
            )
        if view and np.may_share_memory(x.array, found.array):
            x.array, x.node = found.array, found.node if is_recording() else x.node
            changed(x.array, name)
            return x
        return replace(x, found, name, writes)

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"As `{function.__name__}`, written into `x` itself, which is returned."
    return change


def assign_item(x: Any, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    mode = current()
    if mode.setting is not None:
        with interpreting(mode.below):
            assign_item(x, index, value)
        return
    mode.settle()
    refuse_leaf(x)
    array = x.array
    if x.node is None and type(array) is np.ndarray and type(value) in (int, float, bool):
        place = simple(array.shape, index)
        if place is not None:
            array[place] = value
            changed(array, "__setitem__")
            return
    needs = x.node is not None or (isinstance(value, Tensor) and value.node is not None)
    if needs and is_recording():
        adopt(x, written(untouched(x, (value,)), index, value), "__setitem__")
        return
    array = fitted(value, x.dtype).array
    try:
        write_array(x.array, index, array)
    except ValueError as error:
        if isinstance(error, ScullError):
            raise
        found = list(getitem(x.array, index).shape)
        law = ShapeError(f"a value of shape {list(array.shape)} does not fit {found}")
        raise explained(law, op_of("set_value"), (x, value), {}) from None
    changed(x.array, "__setitem__")


def draw_into(x: Any, numbers: Any, how: str, writes: int = 1, leaf: bool = False) -> Any:
    """Fill `x` with random numbers, which pass no gradient on; with `leaf` be it a leaf."""
    if not leaf:
        refuse_leaf(x)
    if x.array.dtype.kind not in "fV":
        raise ArgumentTypeError(f"random numbers of {x.dtype.name} have no fractions")
    found = tensor_of(np.asarray(numbers).astype(x.array.dtype))
    if x.node is not None and is_recording():
        found = written(untouched(x, ()), ..., found)
    return replace(x, found, how, writes)


def precise(x: Any) -> Any:
    """The element type random numbers for `x` are computed in."""
    return np.float64 if x.array.dtype == np.float64 else np.float32


@attach(Tensor)
class Changed:
    """Methods that overwrite a tensor."""

    __getitem__ = tensor_item
    __setitem__ = assign_item

    def fill_(x: Any, value: float) -> Tensor:
        """Make every element `value`.

        Args:
            value (int | float): the number.

        Examples:
            >>> import scull as paddle
            >>> paddle.zeros([2]).fill_(3.0).tolist()
            [3.0, 3.0]
        """
        if not isinstance(value, int | float | np.number):
            raise ArgumentTypeError(
                f"The type of 'value'  must be int or float, but received {type(value)}."
            )
        assign_item(x, ..., value)
        return x

    def zero_(self: Any) -> Tensor:
        """Make every element 0."""
        assign_item(self, ..., 0)
        return self

    def set_value(self: Any, value: Any) -> None:
        """Take the elements of `value`, of the same shape and element type, whatever the tape says.

        Args:
            value (Tensor | ndarray): the elements.
        """
        mode: Any = current()
        if mode.captures:
            mode.overwrite(self, value)
            return
        array = dense(value) if isinstance(value, Tensor) else np.asarray(value)
        if array.shape != self.array.shape:
            raise ArgumentError(
                f"Variable Shape not match, Variable [ {self.name} ] need tensor with shape "
                f"{self.shape} but load set tensor with shape {array.shape}"
            )
        if array.dtype != self.array.dtype:
            raise ArgumentError(
                f"Variable dtype not match, Variable [ {self.name} ] need tensor with dtype "
                f"{self.array.dtype}  but load tensor with dtype {array.dtype}"
            )
        overwrite(self, array, "set_value")

    def copy_(self: Any, other: Tensor, blocking: bool = True) -> Tensor:
        """Take the elements of `other`, whatever the tape says.

        Args:
            other (Tensor): of the same shape and element type.
            blocking (bool): of no effect.
        """
        self.set_value(other)
        return self

    def set(self: Any, array: Any, place: Place | None = None) -> None:
        """Take the elements of any array, whatever its shape.

        Args:
            array (ndarray): the elements.
            place (Place, optional): of no effect.
        """
        self.array = np.array(array)

    def _inplace_assign(self: Any, other: Tensor) -> None:
        adopt(self, other, "_inplace_assign")

    _set_impl = _inplace_assign

    def _share_buffer_to(self: Any, other: Any) -> None:
        other.array = self.array

    _share_underline_tensor_to = _share_buffer_to

    def _clear_data(self: Any) -> None:
        self.array = np.zeros(0, self.array.dtype)

    _clear = _clear_data

    def _bump_inplace_version(self: Any) -> None:
        changed(self.array, "_bump_inplace_version")
